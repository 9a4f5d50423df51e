import { describe, expect, it } from 'vitest';
import { planChunks } from '../../scripts/chunks.mjs';
import { withoutFacades, withRuntimeInlined } from '../../scripts/facades.mjs';

const module = (bytes: number, ...imports: string[]) => ({ bytes, imports });
const start = (name: string, ...ids: string[]) => ({ name, weight: 1, ids: new Set(ids) });

describe('the plan of files', () => {
  it('has what several starts need in a file of its own, when it is large', () => {
    const modules = new Map([
      ['a', module(200_000, 'both')],
      ['b', module(200_000, 'both')],
      ['both', module(200_000)],
    ]);
    const files = planChunks(modules, [start('one', 'a', 'both'), start('two', 'b', 'both')]);
    expect(Object.fromEntries(files)).toEqual({ a: 'one', b: 'two', both: 'one-two' });
  });

  it('puts together what costs less than a file', () => {
    const modules = new Map([
      ['a', module(1000, 'both')],
      ['both', module(200_000)],
    ]);
    const files = planChunks(modules, [start('one', 'a', 'both'), start('two', 'both')]);
    expect(files.get('a')).toBe(files.get('both'));
  });

  it('keeps what loads a dear module of Node from a start that does without', () => {
    const modules = new Map([
      ['a', module(1000, 'both', 'node:child_process')],
      ['both', module(200_000)],
    ]);
    const files = planChunks(modules, [start('one', 'a', 'both'), start('two', 'both')]);
    expect(files.get('a')).not.toBe(files.get('both'));
  });

  it('[U-8] keeps what an entry is for from those who import another', () => {
    const modules = new Map([
      ['main', module(10)],
      ['agents/agent', module(10)],
    ]);
    const plan = (room: string) =>
      planChunks(modules, [
        { ...start('library', 'main'), main: true },
        { ...start('agents', 'main', 'agents/agent'), room },
      ]);
    expect(new Set(plan('agents').values()).size).toBe(2);
    // What serves any purpose is not one.
    expect(new Set(plan('codex').values()).size).toBe(1);
  });
});

describe('a built file that only passes on', () => {
  it('is left out, and what it passes on is asked for where it stands', () => {
    const files = [
      { fileName: 'index.js', isEntry: true, code: 'import "./parts/none-1.js";\nawait import("./parts/door-1.js");' },
      { fileName: 'parts/door-1.js', code: 'export { t as open, n } from "./house-1.js";\n' },
      { fileName: 'parts/none-1.js', code: 'export {};\n' },
      { fileName: 'parts/house-1.js', code: 'await import("./door-1.js");' },
    ];
    expect(withoutFacades(files).map(({ fileName, code }) => [fileName, code])).toEqual([
      ['index.js', 'await import("./parts/house-1.js").then((part) => ({ open: part.t, n: part.n }));'],
      ['parts/house-1.js', 'await import("./house-1.js").then((part) => ({ open: part.t, n: part.n }));'],
    ]);
  });

  it('stays when it is an entry, or does something', () => {
    const files = [
      { fileName: 'index.js', isEntry: true, code: 'export { a } from "./parts/a-1.js";\n' },
      { fileName: 'parts/b-1.js', code: 'export { a } from "./a-1.js";\nconsole.log(1);\n' },
    ];
    expect(withoutFacades(files)).toEqual(files);
  });
});

describe('the runtime of the bundler', () => {
  const runtime = { fileName: 'parts/rolldown-runtime-1.js', code: 'var once = 1;\nexport { once as t };\n' };
  const user = { fileName: 'parts/a-1.js', code: 'import { t as once } from "./rolldown-runtime-1.js";\nonce();\n' };

  it('stands in the one file that needs it', () => {
    const files = withRuntimeInlined([runtime, user]);
    expect(files).toEqual([{ fileName: 'parts/a-1.js', code: 'var once = 1;\nonce();\n' }]);
  });

  it('has a file of its own when several need it', () => {
    const files = [runtime, user, { ...user, fileName: 'parts/b-1.js' }];
    expect(withRuntimeInlined(files)).toEqual(files);
  });
});
