import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it } from 'vitest';
import { compiledAtOnce, importedParts, withLaterParts } from '../../scripts/laterParts.mjs';
import { temporaryDirectory } from '../support/temporary.ts';

const file = (fileName: string, ...lines: string[]) => ({ fileName, code: `${lines.join('\n')}\n` });

const files = [
  file(
    'index.js',
    'import { r as make } from "./parts/core-1.js";',
    'import { n as base } from "./parts/base-1.js";',
    'export { base, make };',
  ),
  file('parts/base-1.js', 'const log = [];', 'export { log as n };'),
  file(
    'parts/host-1.js',
    'import { n as log } from "./base-1.js";',
    'import { t as judge } from "./words-1.js";',
    'const judged = () => judge(3);',
    'export { judged, log };',
  ),
  file(
    'parts/words-1.js',
    'import { n as log } from "./base-1.js";',
    'log.push("words");',
    'function judge(n) {',
    'return n + 1;',
    '}',
    'export { judge as t };',
  ),
  file(
    'parts/core-1.js',
    'import { n as log } from "./base-1.js";',
    'import { t as judge } from "./words-1.js";',
    'import path, { sep } from "node:path";',
    'log.push("core" + (path.sep + sep).length);',
    'class Made {',
    '}',
    'function make(n) {',
    'return n === 0 ? 1 : judge(n) * 2;',
    '}',
    'export { Made, make as r };',
  ),
  file(
    'parts/agent-1.js',
    'import { Made } from "./core-1.js";',
    'const Agent = class extends Made {};',
    'export { Agent };',
  ),
];
const parts = {
  atOnce: new Set(['index.js', 'parts/base-1.js', 'parts/host-1.js']),
  asked: new Set(['parts/core-1.js']),
  called: new Set(['parts/words-1.js']),
};

/** What the files export. */
interface Loaded {
  readonly base: readonly string[];
  readonly make: (n: number) => number;
  readonly judged: () => number;
  readonly $core: () => { readonly Made: new () => object };
  readonly Agent: new () => object;
}

/** Writes the files, with what gives a part by import; gives what imports one. */
function written(
  output: readonly { readonly fileName: string; readonly code?: string }[],
): (path: string) => Promise<Loaded> {
  const directory = temporaryDirectory();
  mkdirSync(join(directory, 'parts'));
  writeFileSync(join(directory, 'package.json'), '{"type":"module","imports":{"#later":"./parts/later.js"}}');
  writeFileSync(join(directory, 'parts/later.js'), importedParts([...parts.asked, ...parts.called]));
  for (const { fileName, code = '' } of output) writeFileSync(join(directory, fileName), code);
  return (path) => import(pathToFileURL(join(directory, path)).href) as Promise<Loaded>;
}

describe('a part that is made later', () => {
  it('[U-1] is made by the first call of its functions, once, and a turn after it what is called where something has failed', async () => {
    const at = written(withLaterParts(files, parts));
    const { base, make } = await at('index.js');
    const { judged } = await at('parts/host-1.js');
    expect(base).toEqual([]);
    expect(make(0)).toBe(1);
    expect(base).toEqual(['core2']);
    await new Promise(setImmediate);
    expect(base).toEqual(['core2', 'words']);
    expect([make(1), make(2), judged()]).toEqual([4, 6, 4]);
    expect(base).toEqual(['core2', 'words']);
  });

  it('[U-1] is one for all: who is loaded later has its classes', async () => {
    const at = written(withLaterParts(files, parts));
    const { Agent } = await at('parts/agent-1.js');
    const { $core } = await at('parts/host-1.js');
    expect(new Agent()).toBeInstanceOf($core().Made);
  });

  it('[U-1] imports nothing: a loader that copies what is required copies no more than it', () => {
    const code = withLaterParts(files, parts).find(({ fileName }) => fileName === 'parts/core-1.js')?.code ?? '';
    expect(code).not.toMatch(/^import/m);
    expect(compiledAtOnce('export const part=function(e){return e};')).toBe(
      'export const part=(function(e){return e});',
    );
  });

  it('has nothing but functions for what is loaded at once: the build fails otherwise', () => {
    const more = file('index.js', 'import { Made } from "./parts/core-1.js";', 'export { Made };');
    expect(() => withLaterParts([more, ...files.slice(1)], parts)).toThrow('Made is no function');
  });

  it('leaves the first line of a program where it is', () => {
    const program = file('cli/main.js', '#!/usr/bin/env node', 'import { t } from "../parts/words-1.js";', 't(1);');
    const code = withLaterParts([...files, program], parts).at(-1)?.code ?? '';
    expect(code.split('\n').slice(0, 2)).toEqual([
      '#!/usr/bin/env node',
      'import { $words } from "../parts/host-1.js";',
    ]);
  });

  it('is where it was when the import of the library leaves none', () => {
    expect(withLaterParts(files, { ...parts, asked: new Set(), called: new Set() })).toEqual(files);
  });
});
