import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { tops } from '../../scripts/rooms.mjs';

const root = new URL('../../', import.meta.url);
const page = readFileSync(new URL('CONTRIBUTING.md', root), 'utf8');
const there = (path: string): boolean => existsSync(new URL(path, root));

describe('CONTRIBUTING.md', () => {
  it('names files that are there', () => {
    // Options and patterns (`*`, capitals that stand for a name) are no paths.
    const quoted = [
      ...page.matchAll(
        new RegExp(
          `(?<![\\w/.])(?:${[...tops, 'test', 'docs', 'scripts', 'bench', 'plugins'].join('|')})/[\\w./-]*\\w`,
          'g',
        ),
      ),
    ].map(([path]) => path);
    const paths = quoted.filter((path) => !/[A-Z]{4,}/.test(path) || path.includes('.'));
    expect(quoted).toContain('test/calls/callPath.test.ts');
    expect(paths.filter((path) => !there(path))).toEqual([]);
  });

  it('names every kind of simulation, and every script that is run by name', () => {
    const { scripts } = JSON.parse(readFileSync(new URL('package.json', root), 'utf8')) as {
      scripts: Record<string, string>;
    };
    const named = (name: string): boolean => new RegExp(`\`npm (run )?${name}[ \`]`).test(page);
    const inner = ['build', 'start', 'test', 'prepack'];
    expect(Object.keys(scripts).filter((name) => !inner.includes(name) && !named(name))).toEqual([]);
    const worlds = readFileSync(new URL('test/simulation/worlds.ts', root), 'utf8');
    const kinds = [...worlds.matchAll(/option: '(--\w+)'/g)].map(([, kind]) => kind);
    expect(kinds.length).toBeGreaterThan(4);
    expect(kinds.filter((kind) => !page.includes(`npm run simulate -- ${kind} `))).toEqual([]);
  });
});
