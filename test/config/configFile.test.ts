import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { loadConfig } from '../../src/config/loadConfig.ts';
import { runFresh } from '../support/freshProcess.ts';
import { folderWith, problemsOf } from './folder.ts';

/** What is wrong with a module, without its name. */
async function inModule(text: string): Promise<readonly string[]> {
  const lines = await problemsOf(loadConfig({ cwd: folderWith({ 'unwedge.config.mjs': text }), env: {} }));
  return lines.map((line) => line.replace('unwedge.config.mjs: ', ''));
}

describe('a configuration file', () => {
  it('[L-2] [Q-4] has nothing told of it that a terminal obeys', async () => {
    const told = async (text: string) =>
      (await problemsOf(loadConfig({ cwd: folderWith({ 'unwedge.config.json': text }), env: {} }))).join('\n');
    expect(await told('{ a: \u202e }')).toContain(String.raw`invalid character '\u202e'`);
    expect(await told('{ "\u009b": 1 }')).toContain(String.raw`unknown key ["\u009b"]`);
    expect(await told('{ "inbox": "\u009b31m" }')).toContain(String.raw`got "\u009b31m"`);
  });

  it('is a regular file: of a pipe nobody waits for the writer', async () => {
    const cwd = folderWith({});
    execFileSync('mkfifo', [join(cwd, 'unwedge.config.json'), join(cwd, 'openclaw.json')]);
    expect(await problemsOf(loadConfig({ cwd, env: {}, openclaw: 'openclaw.json' }))).toEqual([
      'openclaw.json: cannot be read: it is no regular file',
      'unwedge.config.json: cannot be read: it is no regular file',
    ]);
  });
});

describe('a module', () => {
  it.each([
    ['a getter', '{ get store() { throw new Error("no"); } }', '(line 1:38) threw Error: no'],
    ['a trap', 'new Proxy({}, { ownKeys() { throw new RangeError("no"); } })', '(line 1:50) threw RangeError: no'],
    ['nothing', '() => { throw null; }', 'threw null'],
    ['an object without a prototype', '() => { throw Object.create(null); }', 'threw an object'],
    ['what cannot be looked at', '() => { throw { get message() { throw 1; } }; }', 'threw an object'],
  ])('that throws %s is told in a line', async (_, value, said) => {
    expect(await inModule(`export default ${value};`)).toEqual([said]);
  });

  it('is looked at once: what a getter gives then counts', async () => {
    const text = 'let asked = 0; export default { alerts: { get failures() { return ++asked; } } };';
    const { options } = await loadConfig({ cwd: folderWith({ 'unwedge.config.mjs': text }), env: {} });
    expect(options).toEqual({ alerts: { failures: 1 } });
  });

  it('may hold itself, which is wrong but has an end', async () => {
    const text = 'const all = { policies: {} }; all.policies.integrations = { a: all }; export default all;';
    expect(await inModule(text)).toEqual([expect.stringContaining('unknown key policies.integrations.a.policies')]);
  });

  it('has no way to make what it gives something else', async () => {
    const text = 'export default { ["__proto__"]: { store: "x" } };';
    expect(await inModule(text)).toEqual([expect.stringContaining('unknown key __proto__')]);
  });

  it('that gives every object a wrong value stops nothing', async () => {
    const cwd = folderWith({ 'unwedge.config.mjs': 'Object.prototype.store = 5; export default {};' });
    const { printed } = await runFresh(`
      const { loadConfig } = await import('unwedge/config');
      const error = await loadConfig({ cwd: ${JSON.stringify(cwd)}, env: {} }).catch((reason) => reason);
      console.log(JSON.stringify(error.name));
    `);
    expect(printed).toBe('ConfigError');
  });

  it.each([
    ['new Map()', 'expected an object, got an object of a class'],
    ['[]', 'expected an object, got an array'],
    ['5', 'expected an object, got number'],
  ])('that gives %s gives no configuration', async (value, said) => {
    expect(await inModule(`export default ${value};`)).toEqual([said]);
  });
});
