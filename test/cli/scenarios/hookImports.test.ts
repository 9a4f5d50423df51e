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

/** What a built file requires as it is loaded, and what Node brings that it asks for then or later. */
const builtImportsOf = (file: URL): string[] => {
  const code = readFileSync(file, 'utf8');
  const atOnce = code.match(/^(?:const|let) (?:[\w$]+=require\("[^"]+"\)[,;])+$/gm)?.join('') ?? '';
  const found = [...atOnce.matchAll(/require\("([^"]+)/g), ...code.matchAll(/\bgetBuiltinModule\(["'`]([^"'`]+)/g)];
  return found.map(([, from]) => from ?? '');
};

describe('the built hook', () => {
  it('[H-3] is its entry, the last timer before everything else, and two files, which need nothing but Node', () => {
    const entry = new URL('../../../dist/cli/main.js', import.meta.url);
    expect(builtImportsOf(entry).filter((from) => !from.startsWith('node:'))).toEqual([]);
    const hook = builtImportsOf(new URL('hookMain.js', entry));
    expect(hook).toContain('node:child_process');
    expect(hook.filter((from) => !from.startsWith('node:')).toSorted()).toEqual(['./main.js', './parse.js']);
    expect(builtImportsOf(new URL('parse.js', entry)).filter((from) => !from.startsWith('node:'))).toEqual([]);
  });
});
