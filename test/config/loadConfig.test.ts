import { mkdirSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { readConfigFile } from '../../src/config/configFile.ts';
import { defineConfig, loadConfig } from '../../src/config/loadConfig.ts';
import { createGateway } from '../../src/gateway/gateway.ts';
import type { BackoffInput } from '../../src/policy/backoff.ts';
import type { Duration, DurationLimit } from '../../src/policy/text/duration.ts';
import { runFresh } from '../support/freshProcess.ts';
import { folderWith, problemsOf } from './folder.ts';

const none = { env: {}, file: false } as const;

describe('the sources of a configuration', () => {
  it('may all be silent', async () => {
    expect(await loadConfig({ cwd: folderWith({}), env: {} })).toEqual({
      options: {},
      origins: {},
      files: [],
      warnings: [],
    });
  });

  it.each(['unwedge.config.mjs', 'unwedge.config.js', 'unwedge.config.json'])(
    'hold %s of the directory',
    async (name) => {
      const values = '{ "alerts": { "failures": 2 } }';
      const cwd = folderWith({
        'package.json': '{ "type": "module" }',
        [name]: name.endsWith('json') ? values : `export default ${values};`,
      });
      const { options, origins, files } = await loadConfig({ cwd, env: {} });
      expect({ options, origins, files }).toEqual({
        options: { alerts: { failures: 2 } },
        origins: { 'alerts.failures': { from: 'file', file: join(cwd, name) } },
        files: [join(cwd, name)],
      });
    },
  );

  it.each([
    ['export default () => ({ synchronous: "FULL" });', 'a function'],
    ['export default async () => ({ synchronous: "FULL" });', 'an async function'],
  ])('may be %s', async (text) => {
    const { options } = await loadConfig({ cwd: folderWith({ 'unwedge.config.mjs': text }), env: {} });
    expect(options).toEqual({ synchronous: 'FULL' });
  });

  it('take JSON as JSON5 has it, with the key for editors', async () => {
    const text = '\uFEFF{ // ours\n $schema: "./s.json", synchronous: "FULL", }';
    const { options } = await loadConfig({ cwd: folderWith({ 'unwedge.config.json': text }), env: {} });
    expect(options).toEqual({ synchronous: 'FULL' });
  });

  it('win over each other: openclaw.json, file, environment, overrides', async () => {
    const retry = (maxAttempts: number): string => JSON.stringify({ toolCallRetry: { maxAttempts } });
    const cwd = folderWith({
      'openclaw.json': '{ gateway: { port: 1, toolCallRetry: { enabled: true, maxAttempts: 1, backoffMs: [1] } } }',
      'unwedge.config.json': retry(2),
    });
    const at = async (more: Parameters<typeof loadConfig>[0]) => {
      const { options, origins } = await loadConfig({ cwd, env: {}, openclaw: 'openclaw.json', ...more });
      return [options.toolCallRetry?.maxAttempts, origins['toolCallRetry.maxAttempts']?.from];
    };
    const env = { UNWEDGE_TOOL_CALL_RETRY_MAX_ATTEMPTS: '3' };
    expect(await at({ file: false })).toEqual([1, 'openclaw']);
    expect(await at({})).toEqual([2, 'file']);
    expect(await at({ env })).toEqual([3, 'environment']);
    expect(await at({ env, overrides: { toolCallRetry: { maxAttempts: 4 } } })).toEqual([4, 'override']);
  });

  it('[G-10] are put together key by key', async () => {
    const cwd = folderWith({
      'openclaw.json': '{ gateway: { toolCallRetry: { enabled: false, backoffMs: [1, 2] } } }',
      'unwedge.config.json': '{ toolCallRetry: { backoffMs: ["3s"] } }',
    });
    const { options } = await loadConfig({ cwd, env: {}, openclaw: 'openclaw.json' });
    expect(options).toEqual({ toolCallRetry: { enabled: false, backoffMs: [3000] } });
  });

  it('may each say a part of what belongs together', async () => {
    const cwd = folderWith({ 'unwedge.config.json': '{ alerts: { webhook: { headers: { a: "b" } } } }' });
    const env = { UNWEDGE_ALERTS_WEBHOOK_URL: 'https://alerts.example' };
    const { options } = await loadConfig({ cwd, env });
    expect(options).toEqual({ alerts: { webhook: { url: 'https://alerts.example', headers: { a: 'b' } } } });
  });

  it('replace the waits of a policy as a whole', async () => {
    const policy = (backoff: BackoffInput) => ({ policies: { presets: { own: { retry: { backoff } } } } });
    const first = { kind: 'exponential', initialMs: 1, maxMs: 2, jitter: { kind: 'none' } } as const;
    const second = { kind: 'constant', delayMs: 5 } as const;
    const cwd = folderWith({ 'unwedge.config.json': JSON.stringify(policy(first)) });
    const { options } = await loadConfig({ cwd, env: {}, overrides: policy(second) });
    expect(options).toEqual(policy(second));
  });

  it('switch off what an earlier one says, and on again', async () => {
    const cwd = folderWith({ 'unwedge.config.json': '{ alerts: { failures: 2 }, retention: false }' });
    const env = { UNWEDGE_RETENTION_MAX_AGE: '1h' };
    const { options } = await loadConfig({ cwd, env, overrides: { alerts: false } });
    expect(options).toEqual({ alerts: false, retention: { maxAgeMs: 3_600_000 } });
  });

  it('name the file: an option, else UNWEDGE_CONFIG, else none when told so', async () => {
    const cwd = folderWith({
      'unwedge.config.json': '{ store: "found" }',
      'a.json': '{ store: "a" }',
      'b.json': '{ store: "b" }',
    });
    const env = { UNWEDGE_CONFIG: 'b.json' };
    const storeOf = async (more: Parameters<typeof loadConfig>[0]) =>
      (await loadConfig({ cwd, ...more })).options.store;
    expect(await storeOf({ env: {} })).toBe(join(cwd, 'found'));
    expect(await storeOf({ env })).toBe(join(cwd, 'b'));
    expect(await storeOf({ env, file: 'a.json' })).toBe(join(cwd, 'a'));
    expect(await storeOf({ env, file: false })).toBeUndefined();
  });

  it('mean a store in a file from where the file lies', async () => {
    const folder = folderWith({ 'a.json': '{ store: "x.sqlite" }', 'b.json': '{ store: ":memory:" }' });
    const storeOf = async (file: string) => (await loadConfig({ env: {}, file: join(folder, file) })).options.store;
    expect(await storeOf('a.json')).toBe(join(folder, 'x.sqlite'));
    expect(await storeOf('b.json')).toBe(':memory:');
    expect((await loadConfig({ ...none, overrides: { store: 'y.sqlite' } })).options.store).toBe('y.sqlite');
  });

  it("[G-10] hold the user's openclaw.json only when that is asked for", async () => {
    const home = folderWith({});
    mkdirSync(join(home, '.openclaw'));
    writeFileSync(join(home, '.openclaw', 'openclaw.json'), '{ gateway: { toolCallRetry: { maxAttempts: 2 } } }');
    vi.stubEnv('HOME', home);
    onTestFinished(() => void vi.unstubAllEnvs());
    expect((await loadConfig(none)).options).toEqual({});
    expect((await loadConfig({ ...none, openclaw: true })).options).toEqual({ toolCallRetry: { maxAttempts: 2 } });
  });

  it('say nothing where openclaw.json is missing', async () => {
    expect((await loadConfig({ ...none, openclaw: join(folderWith({}), 'openclaw.json') })).files).toEqual([]);
  });

  it('give a module anew when its file has changed', async () => {
    const cwd = folderWith({ 'unwedge.config.mjs': 'export default { alerts: { failures: 1 } };' });
    const file = join(cwd, 'unwedge.config.mjs');
    expect((await loadConfig({ env: {}, file })).options.alerts).toEqual({ failures: 1 });
    writeFileSync(file, 'export default { alerts: { failures: 2 } };');
    utimesSync(file, 1, 1);
    expect((await loadConfig({ env: {}, file })).options.alerts).toEqual({ failures: 2 });
  });
});

describe('what a configuration holds', () => {
  it('[L-3] [Q-4] take a number without an end for the word of a duration alone', async () => {
    const load = (overrides: object) => loadConfig({ cwd: folderWith({}), env: {}, overrides });
    const idleMs = Number.POSITIVE_INFINITY;
    const { options } = await load({ policies: { integrations: { kb: { idleMs } } } });
    expect(options.policies?.integrations?.['kb']).toEqual({ idleMs });
    expect(await problemsOf(load({ store: Number.POSITIVE_INFINITY }))).toEqual([
      'overrides: store: expected a non-empty string, got Infinity',
    ]);
  });

  it('[L-3] takes durations in ms or as text, and gives ms', async () => {
    const overrides = defineConfig({ supervisor: { periodMs: '1.5s' }, sessions: { watchdog: { turnMs: 250 } } });
    const { options } = await loadConfig({ ...none, overrides });
    expect(options).toEqual({ supervisor: { periodMs: 1500 }, sessions: { watchdog: { turnMs: 250 } } });
  });

  it.each([
    ['500ms', 500],
    ['30s', 30_000],
    ['5m', 300_000],
    ['1h', 3_600_000],
    ['0.5ms', 0.5],
  ])('[L-3] reads %s', async (text, ms) => {
    const { options } = await loadConfig({ ...none, overrides: { supervisor: { periodMs: text as Duration } } });
    expect(options.supervisor?.periodMs).toBe(ms);
  });

  it.each(['infinity', Number.POSITIVE_INFINITY])('switches a limit off by %s', async (idleMs) => {
    const { options } = await loadConfig({
      ...none,
      overrides: { policies: { presets: { mcp: { idleMs: idleMs as DurationLimit } } } },
    });
    expect(options.policies?.presets?.['mcp']?.idleMs).toBe(Number.POSITIVE_INFINITY);
  });

  it('leaves out what is undefined', async () => {
    const overrides = { store: undefined, alerts: { failures: undefined, quietMs: 5 } };
    expect((await loadConfig({ ...none, overrides })).options).toEqual({ alerts: { quietMs: 5 } });
  });

  it('[G-10] compiles patterns, and takes those of a module as they are', async () => {
    const own = /own/;
    const { options } = await loadConfig({
      ...none,
      overrides: { toolCallRetry: { transientPatterns: ['/warm(ing)? up/i', 'plain', own] } },
    });
    const [compiled, ...others] = options.toolCallRetry?.transientPatterns ?? [];
    expect(typeof compiled === 'object' && compiled.test('The model is WARMING UP')).toBe(true);
    expect(others).toEqual(['plain', own]);
  });

  it('[G-10] matches a pattern as text or as an expression, and warns of one that is none, with its file', async () => {
    const toolCallRetry = "{ transientPatterns: ['weird \\\\(9[0-9]\\\\)', 'odd (', '/odd(?=x)/'] }";
    const cwd = folderWith({ 'openclaw.json': `{ gateway: { toolCallRetry: ${toolCallRetry} } }` });
    const { options, warnings } = await loadConfig({ cwd, env: {}, openclaw: 'openclaw.json' });
    const [weird] = options.toolCallRetry?.transientPatterns ?? [];
    expect(typeof weird === 'object' && weird.test('weird (95)')).toBe(true);
    expect(warnings).toEqual([
      expect.stringMatching(/^openclaw\.json: .*`gateway\.toolCallRetry\.transientPatterns\[1\]`.* as text$/),
      expect.stringMatching(/^openclaw\.json: .*`gateway\.toolCallRetry\.transientPatterns\[2\]`.* as text$/),
    ]);
  });

  it('[U-1] is what a gateway takes, and steers it', async () => {
    const text = `{ policies: {
      presets: { slow: { extends: 'sdk', attemptMs: '15m' } },
      integrations: { kb: { extends: 'slow', maxAttempts: 2 } },
    } }`;
    const { options } = await loadConfig({ cwd: folderWith({ 'unwedge.config.json': text }), env: {} });
    const gateway = createGateway({ ...options });
    onTestFinished(() => gateway.stop());
    const { policy } = gateway.integration('kb', { policy: { maxAttempts: 9 } }, () => 'ok');
    expect([policy.limits.attemptMs, policy.retry.maxAttempts]).toEqual([900_000, 2]);
  });
});

describe('a configuration file', () => {
  it.each([
    ['threw.mjs', 'const a = 1;\nthrow new TypeError("no token");', '(line 2:7) threw TypeError: no token'],
    ['calls.mjs', 'export default () => { throw new Error("late"); };', '(line 1:30) threw Error: late'],
    ['none.mjs', 'export const config = {};', 'has no default export'],
    ['text.mjs', 'export default "store";', 'expected an object, got string'],
    ['list.json', '[]', 'expected an object, got an array'],
    ['null.json', 'null', 'expected an object, got null'],
    ['broken.json', '{ "store": }', "is no JSON: SyntaxError: JSON5: invalid character '}' at 1:12"],
    ['other.yaml', 'store: x', 'expected a file that ends in .mjs, .js or .json'],
  ])('is refused by its name: %s', async (name, text, said) => {
    const cwd = folderWith({ [name]: text });
    expect(await problemsOf(loadConfig({ cwd, file: name, env: {} }))).toEqual([`${name}: ${said}`]);
  });

  it.each(['nofile', 'none.json', 'none.mjs'])(
    'that is not there is said to be missing, whatever its name: %s',
    async (name) => {
      const problems = await problemsOf(loadConfig({ cwd: folderWith({}), file: name, env: {} }));
      expect(problems).toEqual([`${name}: cannot be read: there is no such file`]);
    },
  );

  it('that cannot be parsed says where', async () => {
    const cwd = folderWith({ 'syntax.mjs': 'export default {\n  store: ;\n};' });
    const [line] = await problemsOf(loadConfig({ cwd, file: 'syntax.mjs', env: {} }));
    expect(line).toMatch(/^syntax\.mjs: \(line 2.* threw /);
  });

  it('has to be there when it was named', async () => {
    const cwd = folderWith({});
    const said = 'gone.json: cannot be read: there is no such file';
    expect(await problemsOf(loadConfig({ cwd, file: 'gone.json', env: {} }))).toEqual([said]);
    expect(await problemsOf(loadConfig({ cwd, env: { UNWEDGE_CONFIG: 'gone.json' } }))).toEqual([said]);
  });

  it('is one, not two', async () => {
    const cwd = folderWith({ 'unwedge.config.mjs': 'export default {};', 'unwedge.config.json': '{}' });
    expect(await problemsOf(loadConfig({ cwd, env: {} }))).toEqual([
      `unwedge.config.mjs and unwedge.config.json: expected one configuration file in ${cwd}, got 2`,
    ]);
  });

  it('that does not end is given up', async () => {
    const cwd = folderWith({ 'hangs.mjs': 'export default () => new Promise(() => {});' });
    await expect(readConfigFile(join(cwd, 'hangs.mjs'), 5)).rejects.toThrow('gave no configuration within 5ms');
  });

  it('is named whole where it lies elsewhere', async () => {
    const file = join(folderWith({ 'a.json': '{ foo: 1 }' }), 'a.json');
    const [line] = await problemsOf(loadConfig({ cwd: folderWith({}), file, env: {} }));
    expect(line).toContain(`${file}:1:3: unknown key foo`);
  });
});

describe('loadConfig', () => {
  it('[U-1] [R-17] brings no schema library, and its own parts only when it is called', async () => {
    const { packages } = await runFresh(`
      import { loadConfig } from 'unwedge/config';
      await loadConfig({ file: false, env: {} });`);
    expect(packages).toEqual(['xstate']);
  });

  it.each([
    [{ flie: 'x' }, 'Unknown option `options.flie`'],
    [{ file: '' }, '`options.file`'],
    [{ cwd: 5 }, '`options.cwd`'],
    [{ openclaw: '' }, '`options.openclaw`'],
    [{ overrides: [] }, '`options.overrides`'],
  ])('refuses its own options by name: %j', async (options, named) => {
    await expect(loadConfig(options as Parameters<typeof loadConfig>[0])).rejects.toThrow(named);
  });
});
