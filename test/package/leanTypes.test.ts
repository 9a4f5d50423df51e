import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { leanTypes } from '../../scripts/leanTypes.mjs';
import { temporaryDirectory } from '../support/temporary.ts';

/** What is left of these files. */
function lean(files: Readonly<Record<string, string>>): (path: string) => string | undefined {
  const tree = temporaryDirectory();
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(tree, path)), { recursive: true });
    writeFileSync(join(tree, path), text);
  }
  leanTypes(tree, ['index.d.ts']);
  return (path) => (existsSync(join(tree, path)) ? readFileSync(join(tree, path), 'utf8') : undefined);
}

describe('the declarations of the package', () => {
  it('[U-10] are those that an entry leads to, with their comments', () => {
    const left = lean({
      'index.d.ts': "export { type A } from './a.ts';\nexport {};\n",
      'a.d.ts':
        "import { type B, type C } from './b.ts';\n/** What A is. */\nexport interface A { b: B }\n/** Unused. */\nexport interface Z { c: C }\n",
      'b.d.ts': 'export interface B { readonly one: 1 }\nexport interface C { readonly two: 2 }\n',
      'c.d.ts': 'export interface D {}\n',
    });
    expect(left('a.d.ts')).toBe(
      "import { type B } from './b.ts';\n/** What A is. */\nexport interface A { b: B }\nexport {};\n",
    );
    expect(left('b.d.ts')).toBe('export interface B { readonly one: 1 }\nexport {};\n');
    expect(left('c.d.ts')).toBeUndefined();
  });

  it('[U-10] follow types that are imported where they are used, values in types, and whole modules', () => {
    const left = lean({
      'index.d.ts': "export * from './all.ts';\nexport declare const list: import('./a.ts').A;\n",
      'all.d.ts': 'declare const table: { x: number };\nexport type T = typeof table;\n',
      'a.d.ts': 'interface Own { p: 1 }\nexport interface A extends Own {}\nexport interface Other {}\n',
    });
    expect(left('all.d.ts')).toContain('declare const table');
    expect(left('a.d.ts')).toBe('interface Own { p: 1 }\nexport interface A extends Own {}\nexport {};\n');
  });

  it('[U-10] are not kept for a member or a parameter of the same name', () => {
    const left = lean({
      'index.d.ts': "export type { A } from './a.ts';\n",
      'a.d.ts': 'export declare const signal: 1;\nexport interface A { signal: string; of(signal: number): void }\n',
    });
    expect(left('a.d.ts')).not.toContain('declare const signal');
  });

  it('[R-17] [U-10] say of derived options what is given, key by key, with the comments, and nothing of the table', () => {
    const left = lean({
      'index.d.ts': "export type { A, B } from './a.ts';\n",
      'a.d.ts': [
        "import type { Given, Made, Key } from './keys.ts';",
        'declare const aKeys: {',
        '    /** Its name. */',
        '    name: Key<string, string>;',
        '    /** Its limit. @defaultValue 1 */',
        "    limitMs: import('./keys.ts').Key<number, Duration | undefined>;",
        '    /** Told. */',
        '    told: Key<never, never>;',
        '};',
        'type Duration = number | string;',
        '/** What A takes. */',
        'export interface A<T> extends Base, Given<typeof aKeys> {',
        '    readonly told: T;',
        '}',
        'export interface B extends Made<typeof aKeys> {',
        '}',
        'interface Base {',
        '}',
      ].join('\n'),
      'keys.d.ts': 'export type Key<T, G> = [T, G];\nexport type Given<K> = K;\nexport type Made<K> = K;\n',
    });
    expect(left('keys.d.ts')).toBeUndefined();
    const text = left('a.d.ts');
    expect(text).not.toContain('aKeys');
    expect(text).toContain('export interface A<T> extends Base {');
    expect(text).toContain('/** Its limit. @defaultValue 1 */\n    readonly limitMs?: Duration | undefined;');
    expect(text).toContain('/** Its name. */\n    readonly name: string;');
    expect(text?.match(/told/g)).toHaveLength(2);
    expect(text).toContain('    readonly limitMs: number;');
  });
});
