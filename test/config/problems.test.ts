import { programForm } from '../../src/policy/text/commandText.ts';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { UnwedgeConfig } from '../../src/config/configTypes.ts';
import { loadConfig } from '../../src/config/loadConfig.ts';
import { ConfigError } from '../../src/config/problems.ts';
import { folderWith, problemsOf } from './folder.ts';

/** What is wrong with a JSON file. */
const inJson = (text: string): Promise<readonly string[]> =>
  problemsOf(loadConfig({ cwd: folderWith({ 'unwedge.config.json': text }), env: {} }));

/** What is wrong with values of a module, or of code; not typed, as mistakes are not. */
const inCode = (overrides: object): Promise<readonly string[]> =>
  problemsOf(loadConfig({ file: false, env: {}, overrides: overrides as UnwedgeConfig }));

function circular(): object {
  const inner: Record<string, unknown> = {};
  inner['self'] = inner;
  return inner;
}

describe('the problems of a configuration', () => {
  it('are all told at once, each with source, place, path, value and what was expected', async () => {
    const lines = await inJson(`{
      // Two values, two keys
      alerts: { failurs: 3, windowMs: "soon", integrations: { "my server": { failures: 0 }, kb: true } },
      retentio: {},
      toolCallRetry: { transientPatterns: ["/(?=a)b/", "fine", "/(a)\\\\1/"], maxAttempts: 1.5 },
      policies: {
        presets: { one: { extends: "two" }, two: { extends: "one" }, slow: { extends: "sdkk" } },
        integrations: { kb: { attemptMs: "soon" }, x: { attemptMs: 5, limits: { attemptMs: 6 } } },
      },
      sessions: { watchdog: { recoveryMs: "1s" } },
    }`);
    expect(lines.join('\n')).toMatchInlineSnapshot(`
      "unwedge.config.json:3:17: unknown key alerts.failurs; did you mean failures?
      unwedge.config.json:3:29: alerts.windowMs: expected a duration above 0 (ms, or text such as 30s), got "soon"
      unwedge.config.json:3:78: alerts.integrations["my server"].failures: expected a positive integer, got 0
      unwedge.config.json:3:93: alerts.integrations.kb: expected an object, or false, got true
      unwedge.config.json:4:7: unknown key retentio; did you mean retention?
      unwedge.config.json:5:44: toolCallRetry.transientPatterns[0]: expected a regular expression of RE2, got "/(?=a)b/": error parsing regexp: invalid or unsupported Perl syntax: \`(?=\`
      unwedge.config.json:5:64: toolCallRetry.transientPatterns[2]: expected a regular expression of RE2, got "/(a)\\\\1/": error parsing regexp: invalid escape sequence: \`\\1\`
      unwedge.config.json:5:77: toolCallRetry.maxAttempts: expected a positive integer, got 1.5
      unwedge.config.json:7:52: policies.presets.two.extends: expected not to lead back to itself, got one → two → one
      unwedge.config.json:7:78: policies.presets.slow.extends: expected the name of a preset, got "sdkk"; did you mean sdk?
      unwedge.config.json:8:31: policies.integrations.kb.attemptMs: expected a duration above 0 (ms, or text such as 30s), or "infinity", got "soon"
      unwedge.config.json:8:57: policies.integrations.x.attemptMs: expected to be left out beside \`limits.attemptMs\`, which is the same
      unwedge.config.json:10:31: sessions.watchdog.recoveryMs: expected a duration above \`releaseMs\` (5s), got 1000"
    `);
  });

  it('[R-12] name the successor of a key that is no more', async () => {
    expect(await inJson('{ policies: { integrations: { kb: { retry: { retryUnspecified: true } } } } }')).toEqual([
      'unwedge.config.json:1:46: unknown key policies.integrations.kb.retry.retryUnspecified; did you mean repeatAfter?',
    ]);
  });

  it('tell keys that a JSON file gives more than once', async () => {
    const lines = await inJson(`{
      alerts: { failures: 3, windowMs: "1m", "failures": 4, failures: 0 },
      policies: { integrations: { kb: {}, db: { extends: "sdk" }, kb: { extends: "sdk" } } },
      alerts: { failures: 5 },
    }`);
    expect(lines).toEqual([
      'unwedge.config.json:2:61: alerts.failures: expected to be given once, is at 2:17 too',
      'unwedge.config.json:3:67: policies.integrations.kb: expected to be given once, is at 3:35 too',
      'unwedge.config.json:4:7: alerts: expected to be given once, is at 2:7 too',
    ]);
  });

  it('[G-10] are keys of ours that openclaw.json gives twice, with both places', async () => {
    const cwd = folderWith({
      'openclaw.json': `{
        models: { a: 1, a: 2 }, gateway: { port: 1, port: 2 },
        gateway: { port: 1, port: 2, toolCallRetry: {}, toolCallRetry: { maxAttempts: 2, maxAttempts: 3 } } }`,
    });
    expect(await problemsOf(loadConfig({ cwd, env: {}, openclaw: 'openclaw.json' }))).toEqual([
      'openclaw.json:3:9: gateway: expected to be given once, is at 2:33 too',
      'openclaw.json:3:57: gateway.toolCallRetry: expected to be given once, is at 3:38 too',
      'openclaw.json:3:90: gateway.toolCallRetry.maxAttempts: expected to be given once, is at 3:74 too',
    ]);
  });

  it('are told of every source', async () => {
    const cwd = folderWith({
      'openclaw.json': '{ gateway: { toolCallRetry: { maxAttempts: 0, attempts: 3 } } }',
      'unwedge.config.json': '{ store: 5 }',
    });
    const env = { UNWEDGE_CONTROL: 'perhaps', UNWEDGE_DB: 'fine' };
    const overrides = { alerts: { failures: -1 } };
    const lines = await problemsOf(loadConfig({ cwd, env, openclaw: 'openclaw.json', overrides }));
    expect(lines.join('\n')).toMatchInlineSnapshot(`
      "openclaw.json:1:31: gateway.toolCallRetry.maxAttempts: expected a positive integer, got 0
      openclaw.json:1:47: unknown key gateway.toolCallRetry.attempts; did you mean maxAttempts?
      unwedge.config.json:1:3: store: expected a non-empty string, got 5
      UNWEDGE_CONTROL: expected true or false, got "perhaps"
      overrides: alerts.failures: expected a positive integer, got -1"
    `);
  });

  it('are told though a later source says it better', async () => {
    const cwd = folderWith({ 'unwedge.config.json': '{ alerts: { failures: "many" } }' });
    const [line, ...others] = await problemsOf(loadConfig({ cwd, env: { UNWEDGE_ALERTS_FAILURES: '3' } }));
    expect([line, others]).toEqual([
      'unwedge.config.json:1:13: alerts.failures: expected a positive integer, got "many"',
      [],
    ]);
  });

  it('are data too', async () => {
    const cwd = folderWith({ 'unwedge.config.json': '{\n  store: 5,\n  foo: 1\n}' });
    const error: unknown = await loadConfig({ cwd, env: {} }).catch((reason: unknown) => reason);
    const source = { from: 'file', file: join(cwd, 'unwedge.config.json') };
    expect((error as ConfigError).problems).toMatchObject([
      { path: 'store', value: '5', expected: 'a non-empty string', source, at: { line: 2, column: 3 } },
      { path: 'foo', value: undefined, source, at: { line: 3, column: 3 } },
    ]);
  });

  it('show nothing of a secret but what it is', async () => {
    const lines = await inCode({
      alerts: {
        webhook: { url: 'ftp://hidden-1', headers: { authorization: 42, 'x-key': 'hidden\n2' } },
        command: { command: 'true', env: { TOKEN: 7, OTHER: ['hidden-3'] } },
      },
      store: '',
      toolCallRetry: { maxAttempts: 'sk-hidden4hidden4hidden4' },
    });
    expect(lines.join('\n')).not.toContain('hidden-');
    expect(lines.join('\n')).toMatchInlineSnapshot(`
      "overrides: store: expected a non-empty string, got ""
      overrides: alerts.command.env.TOKEN: expected a string, got a number that is not shown
      overrides: alerts.command.env.OTHER: expected a string, got an array of 1
      overrides: alerts.webhook.url: expected an http or https address, got a string that is not shown
      overrides: alerts.webhook.headers.authorization: expected a string, got a number that is not shown
      overrides: toolCallRetry.maxAttempts: expected a positive integer, got "[redacted]""
    `);
  });

  it('[O-8] show nothing of a secret that is put in the wrong shape', async () => {
    const alerts = {
      webhook: { url: 'https://x.example', headers: 'hidden-1' },
      command: { command: 'true', env: 'hidden-2' },
    };
    expect(await inCode({ alerts })).toEqual([
      'overrides: alerts.command.env: expected an object of strings, got a string that is not shown',
      'overrides: alerts.webhook.headers: expected an object of strings, got a string that is not shown',
    ]);
  });

  it.each([
    ['webhook', 'https://hooks.example/hidden'],
    ['command', 'curl -H hidden'],
  ])('[O-8] show nothing of what is put in the place of a whole %s', async (key, value) => {
    expect(await inCode({ alerts: { [key]: value } })).toEqual([
      `overrides: alerts.${key}: expected an object, got a string that is not shown`,
    ]);
  });

  it('[O-8] show no secret among the names', async () => {
    const lines = await inCode({
      'sk-hidden4hidden4hidden4': 1,
      policies: { integrations: { 'sk-hidden4hidden4hidden4': 5 } },
    });
    expect(lines).toHaveLength(2);
    expect(lines.join()).not.toContain('hidden');
  });

  it('name the key that is wrong beside the one that a variable sets', async () => {
    const env = { UNWEDGE_ALERTS_WEBHOOK_ATTEMPT: '5s' };
    expect(await problemsOf(loadConfig({ file: false, env }))).toEqual([
      'UNWEDGE_ALERTS_WEBHOOK_ATTEMPT: alerts.webhook.url: expected an http or https address, got nothing',
    ]);
  });

  it.each([
    ['a Map', new Map([['failures', 0]]), 'alerts'],
    [
      'an instance',
      new (class Own {
        failures = 3;
      })(),
      'alerts',
    ],
    ['Headers', { webhook: { url: 'https://x.example', headers: new Headers({ a: 'b' }) } }, 'alerts.webhook.headers'],
  ])('of a class are not taken for data: %s', async (_, alerts, path) => {
    expect(await inCode({ alerts })).toEqual([`overrides: ${path}: expected a plain object, got one of a class`]);
  });

  it('name a variable of a program that cannot be one', async () => {
    expect(await inCode({ alerts: { command: { command: 'true', env: { 'A=B': 'x' } } } })).toEqual([
      'overrides: unknown key alerts.command.env["A=B"]; choose another name',
    ]);
  });

  it('show nothing of what the environment keeps secret', async () => {
    const env = { MY_API_KEY: 'hidden-hidden', UNWEDGE_SYNCHRONOUS: 'hidden-hidden' };
    expect(await problemsOf(loadConfig({ file: false, env }))).toEqual([
      'UNWEDGE_SYNCHRONOUS: expected one of NORMAL, FULL, got "[redacted]"',
    ]);
  });

  it.each([
    [{ alerts: { webhook: {} } }, 'alerts.webhook.url: expected an http or https address, got nothing'],
    [{ alerts: { command: { args: [] } } }, `alerts.command.command: expected ${programForm.expected}, got nothing`],
    [{ alerts: null }, 'alerts: expected an object, or false, got null'],
    [{ alerts: true }, 'alerts: expected an object, or false, got true'],
    [{ policies: [] }, 'policies: expected an object, got an array of 0'],
    [{ policies: { presets: { a: 5 } } }, 'policies.presets.a: expected an object, got 5'],
    [{ policies: { integrations: { a: { limits: 5 } } } }, 'policies.integrations.a.limits: expected an object, got 5'],
    [{ supervisor: { intensity: -1 } }, 'supervisor.intensity: expected an integer of at least 0, got -1'],
    [
      { retention: { maxBytes: Number.POSITIVE_INFINITY } },
      'retention.maxBytes: expected an integer of at least 1000000, got Infinity',
    ],
    [
      { clock: () => 0 },
      'unknown key clock; known: store, synchronous, childGuard, control, environment, retention, alerts, inbox, supervisor, toolCallRetry, policies, agentProfiles and 1 more',
    ],
    [
      { policies: { presets: { a: { preset: 'sdk' } } } },
      'unknown key policies.presets.a.preset; did you mean extends?',
    ],
    [
      { policies: { integrations: { a: { breaker: { windowSize: 5 } } } } },
      'policies.integrations.a.breaker.minimumAttempts: expected an integer from 1 to 5 (windowSize), got 20 by default',
    ],
    ...['alert:webhook', 'alert:command'].flatMap((name) =>
      [{ effect: 'idempotent' }, { tools: {} }].map((about): [object, string] => [
        { policies: { integrations: { [name]: about } } },
        `policies.integrations["${name}"].${Object.keys(about)[0]}: expected to be left out: ${name} is the delivery of alerts, which has none`,
      ]),
    ),
    [
      JSON.parse('{ "policies": { "integrations": { "__proto__": { "attemptMs": 5 } } } }') as object,
      'unknown key policies.integrations.__proto__; choose another name',
    ],
  ])('name one value: %j', async (values, said) => {
    expect(await inCode(values)).toEqual([`overrides: ${said}`]);
  });

  it.each([
    ['a delay', { kind: 'list', delaysMs: [1, -1] }, '.backoff.delaysMs[1]: expected a duration of at least 0'],
    ['a kind', { kind: 'linear' }, '.backoff.kind: expected one of exponential, list, constant, got "linear"'],
    [
      'no kind of jitter',
      { kind: 'constant', delayMs: 1, jitter: {} },
      '.jitter.kind: expected one of none, factor, full, got nothing',
    ],
    ['a wait that grows', { initialMs: -1, maxMs: 5 }, '.initialMs: expected a duration above 0'],
    [
      'half of what grows',
      { initialMs: 1 },
      '.maxMs: expected a duration above 0 (ms, or text such as 30s), got nothing',
    ],
    [
      'a key of what grows',
      { initialMs: 1, maxMs: 5, jiter: {} },
      'unknown key policies.presets.a.retry.backoff.jiter; did you mean jitter?',
    ],
    [
      'a key of another kind',
      { kind: 'constant', delayMs: 1, maxMs: 5 },
      'unknown key policies.presets.a.retry.backoff.maxMs; it goes with kind exponential or list',
    ],
  ])('name the part of the waits that is wrong: %s', async (_, backoff, said) => {
    const [line, ...others] = await inCode({ policies: { presets: { a: { retry: { backoff } } } } });
    expect(others).toEqual([]);
    expect(line).toContain(said);
  });

  it('of values that do not go together are not told where one of them is wrong already', async () => {
    const lines = await inCode({ sessions: { watchdog: { releaseMs: 'x', recoveryMs: 1 } } });
    expect(lines).toEqual([expect.stringContaining('sessions.watchdog.releaseMs')]);
  });

  it.each([
    [
      { integrations: { kb: { extends: 'carefull', attemptMs: '1hour' } }, presets: { careful: {} } },
      'integrations.kb.extends: expected the name of a preset, got "carefull"; did you mean careful?',
    ],
    [
      { presets: { slow: { extends: 'sdkk', attemptMs: '1hour' } } },
      'presets.slow.extends: expected the name of a preset, got "sdkk"; did you mean sdk?',
    ],
    [
      { presets: { a: { extends: 'b' }, b: { extends: 'a', attemptMs: '1hour' } } },
      'presets.b.extends: expected not to lead back to itself, got a → b → a',
    ],
    [
      { integrations: { kb: { idleMs: 5, limits: { idleMs: 6 }, attemptMs: '1hour' } } },
      'integrations.kb.idleMs: expected to be left out beside `limits.idleMs`, which is the same',
    ],
    [
      { integrations: { 'alert:webhook': { effect: 'idempotent', attemptMs: '1hour' } } },
      'integrations["alert:webhook"].effect: expected to be left out: alert:webhook is the delivery of alerts, which has none',
    ],
  ])('are told though a value beside them is wrong: %j', async (policies, said) => {
    const lines = await inCode({ policies });
    expect(lines).toHaveLength(2);
    expect(lines.join('\n')).toContain('attemptMs: expected a duration');
    expect(lines).toContain(`overrides: policies.${said}`);
  });

  it('of one policy are told together, those of figures it does not get as they are meant aside', async () => {
    const wrong = {
      extends: 'none',
      attemptMs: 5,
      maxAttempts: 2,
      limits: { attemptMs: 6 },
      retry: { maxAttempts: 3 },
      breaker: { windowSize: 5 },
    };
    const keys = ['extends', 'maxAttempts', 'attemptMs'];
    const lines = await inCode({ policies: { presets: { a: wrong }, integrations: { kb: wrong } } });
    const paths = ['presets.a', 'integrations.kb'].flatMap((base) => keys.map((key) => `policies.${base}.${key}`));
    expect(lines).toHaveLength(paths.length);
    expect(new Set(lines.map((line) => line.split(': ')[1]))).toEqual(new Set(paths));
  });

  it('of one policy are told together where one does not follow from another', async () => {
    const wrong = { attemptMs: 5, limits: { attemptMs: 6 }, breaker: { windowSize: 5 } };
    const lines = await inCode({ policies: { presets: { a: wrong }, integrations: { kb: wrong } } });
    expect(lines.map((line) => line.split(': ')[1])).toEqual([
      'policies.presets.a.attemptMs',
      'policies.presets.a.breaker.minimumAttempts',
      'policies.integrations.kb.attemptMs',
      'policies.integrations.kb.breaker.minimumAttempts',
    ]);
  });

  it('of figures that a wrong preset is to give are not told, however far below it', async () => {
    const breaker = { windowSize: 5 };
    const presets = { c: { extends: 'b' }, b: { extends: 'a', breaker }, a: { extends: 'none' } };
    const integrations = { one: { extends: 'a', breaker }, other: { extends: 'c', breaker } };
    expect(await inCode({ policies: { presets, integrations } })).toEqual([
      expect.stringContaining('policies.presets.a.extends'),
    ]);
    const [line, ...others] = await inCode({ policies: { integrations } });
    expect([line, others]).toEqual([
      expect.stringContaining('one.extends'),
      [expect.stringContaining('other.extends')],
    ]);
  });

  it('tell both that the delivery of alerts has not', async () => {
    const about = { effect: 'idempotent', tools: {} };
    const lines = await inCode({ policies: { integrations: { 'alert:command': about } } });
    expect(lines.map((line) => line.split(': ')[1])).toEqual([
      'policies.integrations["alert:command"].effect',
      'policies.integrations["alert:command"].tools',
    ]);
  });

  it('of what extends a wrong preset are told where they are its own', async () => {
    const own = { extends: 'a', attemptMs: 5, limits: { attemptMs: 6 }, breaker: { windowSize: 5 } };
    const lines = await inCode({
      policies: { presets: { a: { extends: 'none' }, b: own }, integrations: { kb: { ...own, extends: 'b' } } },
    });
    expect(lines.map((line) => line.split(': ')[1])).toEqual([
      'policies.presets.a.extends',
      'policies.presets.b.attemptMs',
      'policies.integrations.kb.attemptMs',
    ]);
  });

  it('of a preset are not told again of those that extend it', async () => {
    const lines = await inCode({
      policies: { presets: { a: { extends: 'none' }, b: { extends: 'a' } }, integrations: { kb: { extends: 'b' } } },
    });
    expect(lines).toEqual([expect.stringContaining('policies.presets.a.extends')]);
  });

  it.each([
    ['a big integer', 5n, '5'],
    ['a symbol', Symbol('x'), 'Symbol(x)'],
    ['a function', () => 1, 'a function'],
    ['a date', new Date(0), 'an object'],
    ['what holds itself', circular(), 'an object'],
  ])('name a value that is no data: %s', async (_, value, shown) => {
    expect(await inCode({ store: value, supervisor: { periodMs: value } })).toEqual([
      `overrides: store: expected a non-empty string, got ${shown}`,
      `overrides: supervisor.periodMs: expected a duration above 0 (ms, or text such as 30s), got ${shown}`,
    ]);
  });

  it('stay short, however long a pattern is', async () => {
    const [line = ''] = await inCode({ toolCallRetry: { transientPatterns: [`/${'('.repeat(5000)}/`] } });
    expect(line.length).toBeLessThan(500);
  });

  it('stay one line each, whatever is in a value', async () => {
    const lines = await inCode({ store: ['\n'], synchronous: 'a\nb', 'k\ney': 1 });
    expect(lines).toHaveLength(3);
  });
});
