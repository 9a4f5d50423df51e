import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

interface Import {
  readonly from: string;
  /** Values that are taken from there, by their names. */
  readonly names: readonly string[];
}

/** What a file imports when it is loaded: neither types nor what is imported later. */
const importsOf = (path: string): Import[] =>
  [...readFileSync(path, 'utf8').matchAll(/^(?:import|export)\s(?!type\b)([\w*{][^;'=()]*?)\sfrom\s'([^']+)'/gm)].map(
    ([, names = '', from = '']) => ({
      from,
      names: [...names.matchAll(/(?<!\btype )\b(?!type |as )\w+/g)].map(([name]) => name),
    }),
  );

/** Of a face the bundler takes what is asked for. */
const takenFrom = (path: string, asked: readonly string[]): Import[] =>
  importsOf(path).filter(({ names }) => !path.endsWith('/face.ts') || names.some((name) => asked.includes(name)));

describe('the entry of unwedge hook', () => {
  it('[H-3] loads only what Node brings and light files of ours', () => {
    const packages = new Set<string>();
    const seen = new Set<string>();
    const walk = (path: string, asked: readonly string[]): void => {
      if (seen.has(path) && !path.endsWith('/face.ts')) return;
      seen.add(path);
      for (const { from, names } of takenFrom(path, asked)) {
        if (from.startsWith('.')) walk(resolve(dirname(path), from), names);
        else packages.add(from);
      }
    };
    walk(fileURLToPath(new URL('../../../cli/hook/hookMain.ts', import.meta.url)), []);
    expect(seen.size).toBeGreaterThan(10);
    expect([...packages].filter((name) => !name.startsWith('node:'))).toEqual([]);
    // Each takes as long to load as everything of ours together.
    for (const slow of ['node:crypto', 'node:http', 'node:module', 'node:sqlite']) expect(packages).not.toContain(slow);
    expect(
      [...seen].filter((path) => /\/(src\/store|postgres)\//.test(path) && !/\/(?:paths|face)\.ts$/.test(path)),
    ).toEqual([]);
  });
});

/** The same of a built file, which may have no white space to spare, and takes what Node brings from Node itself. */
const builtImportsOf = (file: URL): string[] => {
  const code = readFileSync(file, 'utf8');
  const found = [/\b(?:import|export)[^'"()=]*?\bfrom\s*["']([^"']+)["']/g, /\bgetBuiltinModule\(["'`]([^"'`]+)/g];
  return found.flatMap((pattern) => [...code.matchAll(pattern)].map(([, from]) => from ?? ''));
};

describe('the built hook', () => {
  it('[H-3] is its entry, the last timer before everything else, and two files, which import nothing but Node', () => {
    const entry = new URL('../../../dist/cli/main.js', import.meta.url);
    const hook = /["'`](\.\.\/parts\/hook-[\w-]+\.js)["'`]/.exec(readFileSync(entry, 'utf8'))?.[1] ?? '';
    const outer = builtImportsOf(new URL(hook, entry));
    const parts = outer.filter((from) => !from.startsWith('node:'));
    const [first = '', shared = '', ...others] = parts.toSorted();
    expect(first).toMatch(/^\.\/first-/);
    expect(others).toEqual([]);
    expect(builtImportsOf(entry).sort()).toEqual([first.replace('./', '../parts/'), 'node:module']);
    expect(builtImportsOf(new URL(first, new URL(hook, entry)))).toEqual(['node:fs']);
    const inner = builtImportsOf(new URL(shared, new URL(hook, entry)));
    expect([...outer, ...inner]).toContain('node:child_process');
    expect(inner.filter((from) => !from.startsWith('node:') && from !== first)).toEqual([]);
  });
});
