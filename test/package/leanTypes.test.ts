import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { leanTypes } from '../../scripts/leanTypes.mjs';
import { temporaryDirectory } from '../support/temporary.ts';

/** What these files are rolled up to. */
function lean(
  files: Readonly<Record<string, string>>,
  ...entries: readonly string[]
): (path: string) => string | undefined {
  const tree = temporaryDirectory();
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(tree, path)), { recursive: true });
    writeFileSync(join(tree, path), text);
  }
  leanTypes(tree, ['index.d.ts', ...entries]);
  return (path) => (existsSync(join(tree, path)) ? readFileSync(join(tree, path), 'utf8') : undefined);
}

describe('the declarations of the package', () => {
  it('[U-10] are those that an entry leads to, in one file, with the comments of what can be named', () => {
    const left = lean({
      'index.d.ts': "export { type A } from './a.ts';\nexport {};\n",
      'a.d.ts':
        "import { type B, type C } from './b.ts';\n/** What A is. */\nexport interface A {\n    /** A member. */\n    b: B;\n}\n/** Unused. */\nexport interface Z { c: C }\n",
      'b.d.ts':
        '/** Nobody can name it. */\nexport interface B { readonly one: 1 }\nexport interface C { readonly two: 2 }\n',
      'c.d.ts': 'export interface D {}\n',
    });
    expect(left('index.d.ts')).toBe(
      '/** What A is. */\nexport interface A {\n\t/** A member. */\n\tb: B;\n}\ninterface B { readonly one: 1 }\nexport {};\n',
    );
    expect(['a', 'b', 'c', 'shared'].map((name) => left(`${name}.d.ts`))).toEqual([
      undefined,
      undefined,
      undefined,
      undefined,
    ]);
  });

  it('[U-10] follow types that are imported where they are used, values in types, and whole modules', () => {
    const left = lean({
      'index.d.ts': "export * from './all.ts';\nexport declare const list: import('./a.ts').A;\n",
      'all.d.ts': 'declare const table: { x: number };\nexport type T = typeof table;\n',
      'a.d.ts': 'interface Own { p: 1 }\nexport interface A extends Own {}\nexport interface Other {}\n',
    });
    const lines = left('index.d.ts')?.split('\n');
    expect(lines?.sort().filter((line) => line !== '')).toEqual([
      'declare const table: { x: number };',
      'export declare const list: A;',
      'export type T = typeof table;',
      'export {};',
      'interface A extends Own {}',
      'interface Own { p: 1 }',
    ]);
  });

  it('[U-10] are not kept for a member or a parameter of the same name', () => {
    const left = lean({
      'index.d.ts': "export type { A } from './a.ts';\n",
      'a.d.ts': 'export declare const signal: 1;\nexport interface A { signal: string; of(signal: number): void }\n',
    });
    expect(left('index.d.ts')).not.toContain('declare const signal');
  });

  it('[U-10] of several entries are written once, and what a package gives is asked by those entries alone that need it', () => {
    const left = lean(
      {
        'index.d.ts': "export type { Both, Klass } from './both.ts';\nexport type { Own } from './own.ts';\n",
        'room/index.d.ts':
          "import type { Span } from 'traced';\nimport type { Both as B } from '../both.ts';\nexport interface Traced extends B { span: Span }\nexport { Klass } from '../both.ts';\n",
        'both.d.ts': 'export interface Both { name: string }\nexport declare class Klass {}\n',
        'own.d.ts': "import type { Both } from './both.ts';\nexport interface Own { both: Both }\n",
      },
      'room/index.d.ts',
    );
    expect(left('shared.d.ts')).toBe(
      'export interface Both { name: string }\nexport declare class Klass {}\nexport {};\n',
    );
    expect(left('index.d.ts')).toBe(
      "import type { Both } from './shared.js';\nexport interface Own { both: Both }\nexport type { Both, Klass } from './shared.js';\nexport {};\n",
    );
    expect(left('room/index.d.ts')?.split('\n')).toEqual([
      expect.stringMatching(/^import type \{ (?:Both|Span) \} from '(?:traced|\.\.\/shared\.js)';$/),
      expect.stringMatching(/^import type \{ (?:Both|Span) \} from '(?:traced|\.\.\/shared\.js)';$/),
      'export interface Traced extends Both { span: Span }',
      "export { Klass } from '../shared.js';",
      'export {};',
      '',
    ]);
  });

  it('[U-10] keep apart what two files name alike, what hides a name of the platform, and what is exported by another name', () => {
    const left = lean({
      'index.d.ts':
        "import type { Rule } from './b.ts';\nexport type { Rule } from './a.ts';\nexport type { Inner as Outer } from './b.ts';\nexport interface Uses { rule: Rule; made: Request }\n",
      'a.d.ts': 'interface Request { own: 1 }\nexport interface Rule { a: Request }\n',
      'b.d.ts': "export interface Rule { b: import('./c.ts').Rule }\nexport interface Inner {}\n",
      'c.d.ts': 'export type Rule = 1;\n',
    });
    expect(left('index.d.ts')?.split('\n').sort()).toEqual(
      [
        'export interface Rule { a: Request_2 }',
        'interface Request_2 { own: 1 }',
        'export interface Outer {}',
        'export interface Uses { rule: Rule_2; made: Request }',
        'interface Rule_2 { b: Rule_3 }',
        'type Rule_3 = 1;',
        'export {};',
        '',
      ].sort(),
    );
    const hidden = {
      'index.d.ts': "export type { A } from './a.ts';\nexport type { B } from './b.ts';\n",
      'a.d.ts': "import type { T as U } from './t.ts';\nexport interface A<T> { u: U; t: T }\n",
      'b.d.ts': 'export type T = 2;\nexport interface B { t: T }\n',
      't.d.ts': 'export type T = 1;\n',
    };
    expect(lean(hidden)('index.d.ts')).toContain('export interface A<T> { u: T_2; t: T }\n');
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
    const text = left('index.d.ts');
    expect(text).not.toContain('type Key');
    expect(text).not.toContain('aKeys');
    expect(text).toContain('export interface A<T> extends Base {');
    expect(text).toContain('/** Its limit. @defaultValue 1 */\n\treadonly limitMs?: Duration | undefined;');
    expect(text).toContain('/** Its name. */\n\treadonly name: string;');
    expect(text?.match(/told/g)).toHaveLength(2);
    expect(text).toContain('\treadonly limitMs: number;');
  });
});
