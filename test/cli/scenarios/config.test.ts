import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { configJsonSchema } from '../../../src/config/jsonSchema.ts';
import { folderWith } from '../../config/folder.ts';
import type { McpArgs } from '../../../cli/mcp/options.ts';
import { whatIsServed } from '../../../cli/serve/whatIsServed.ts';
import { undeclarable } from '../../../web/serve/declareServed.ts';
import { messageOf } from '../../../src/policy/failures/thrown.ts';
import { whatToServe } from '../../../cli/mcp/mcpCommand.ts';
import { call, runBuilt } from '../startCli.ts';

const text = `{
  "alerts": { "failures": 3, "webhook": { "url": "https://hooks.example/hidden-1", "headers": { "authorization": "hidden-2" } } },
  "policies": { "presets": { "mcp": { "attemptMs": "20s" } } },
  "retention": { "maxBytes": 2500000 },
  "toolCallRetry": { "transientPatterns": ["warm", "/up$/i"] }
}`;

function file(content: string, name = 'unwedge.config.json'): string {
  return join(folderWith({ [name]: content }), name);
}

describe('unwedge config', () => {
  it('[L-1] prints what was set, by whom, and how much was not', async () => {
    const path = file(text);
    const { code, stdout, stderr } = await call(['config', '--config', path, '--db', '/x.sqlite'], {
      env: { UNWEDGE_ALERTS_WINDOW: '90000', UNWEDGE_ALERT_QUIET: '1h' },
    });
    expect(code).toBe(0);
    expect(stdout.replaceAll(path, 'FILE')).toMatchInlineSnapshot(`
      "KEY                                   VALUE           FROM
      store                                 /x.sqlite       --db
      retention.maxBytes                    2500 kB         FILE
      alerts.failures                       3               FILE
      alerts.windowMs                       90s             UNWEDGE_ALERTS_WINDOW
      alerts.webhook.url                    (not shown)     FILE
      alerts.webhook.headers.authorization  (not shown)     FILE
      toolCallRetry.transientPatterns       [warm, /up$/i]  FILE
      policies.presets.mcp.attemptMs        20s             FILE
      56 others have their defaults; --all shows them.
      "
    `);
    expect(stderr).toBe('unwedge: unknown variable UNWEDGE_ALERT_QUIET; did you mean UNWEDGE_ALERTS_QUIET?\n');
  });

  it('[L-1] prints every value with --all, presets that are configured among them', async () => {
    const { stdout } = await call(['config', '--all', '--config', file(text)]);
    const lines = stdout.split('\n').map((line) => line.replace(/\s{2,}/g, ' | '));
    expect(lines).toContain('alerts.quietMs | 10m | default');
    expect(lines).toContain('retention.maxAgeMs | 720h | default');
    expect(lines).toContain('control | false | default');
    expect(lines).toContain('policies.presets.mcp.limits.idleMs | 30s | default');
    expect(lines.filter((line) => line.startsWith('policies.presets.mcp.limits.attemptMs'))).toEqual([]);
    expect(lines.filter((line) => line.startsWith('policies.presets.sdk'))).toEqual([]);
  });

  const policies = `{ policies: {
    presets: { careful: { extends: "mcp", maxAttempts: 2 }, sdk: { extends: "sdk", maxAttempts: 5 } },
    integrations: {
      kb: { attemptMs: "20s", tools: { find: { effect: "readOnly" } } },
      db: { extends: "careful", retry: { backoff: { initialMs: "200ms", maxMs: "5s" } } },
      "hook:guard": { maxAttempts: 2 },
      "alert:webhook": { maxAttempts: 2 },
    },
  } }`;
  const below = (stdout: string, name: string): readonly string[] =>
    stdout
      .split('\n')
      .map((line) => line.trimEnd().replace(/\s{2,}/g, ' | '))
      .filter((line) => line.startsWith(`policies.integrations${name}.`))
      .map((line) => line.slice(`policies.integrations${name}.`.length));

  it('[L-1] prints every value of an integration with --all, and of which preset it is', async () => {
    const path = file(policies);
    const { stdout } = await call(['config', '--all', '--config', path]);
    const lines = below(stdout.replaceAll(path, 'FILE'), '.db');
    expect(lines).toContain('retry.backoff | {"initialMs":200,"maxMs":5000} | FILE');
    expect(lines).toContain('retry.maxAttempts | 2 | preset careful');
    expect(lines).toContain('limits.idleMs | 30s | preset careful');
    expect(lines).toContain('effect | what the code says | default');
    expect(lines.filter((line) => line.startsWith('retry.backoff'))).toHaveLength(1);
    expect(stdout).toMatch(/^policies\.presets\.careful\.limits\.idleMs +30s +preset mcp$/m);
    expect(stdout).toMatch(/^policies\.presets\.sdk\.limits\.idleMs +2m +default$/m);
  });

  it('[L-1] prints what may hold for an integration of which the code decides what it is', async () => {
    const { stdout } = await call(['config', '--all', '--config', file(policies)]);
    const lines = below(stdout, '.kb');
    expect(lines).toContain('extends | the preset of the kind of integration | default');
    expect(lines).toContain(
      'limits.idleMs | 30s (mcp), 2m (sdk), 3m (subprocess, claudeCli), 5m (codex), 15m (acp) | code, else preset of its kind',
    );
    expect(lines).toContain('maxInFlight | 100 | code, else preset of its kind');
    expect(lines).toContain('tools.find.idleMs | that of the integration | default');
    expect(lines.filter((line) => line.startsWith('limits.attemptMs'))).toEqual([]);
    expect(below(stdout, '["hook:guard"]')).toContain('limits.idleMs | 10s | code, else preset hook');
    expect(below(stdout, '["alert:webhook"]').filter((line) => line.startsWith('limits'))).toEqual([]);
  });

  it('[L-1] prints the thresholds that hold for an integration with some of its own', async () => {
    const path = file('{ alerts: { windowMs: "5m", integrations: { kb: { failures: 2 }, db: false } } }');
    const { stdout } = await call(['config', '--all', '--config', path]);
    const lines = stdout
      .replaceAll(path, 'FILE')
      .split('\n')
      .map((line) => line.trimEnd().replace(/\s{2,}/g, ' | '));
    expect(lines.filter((line) => line.startsWith('alerts.integrations'))).toEqual([
      'alerts.integrations.kb.failures | 2 | FILE',
      'alerts.integrations.db | false | FILE',
      'alerts.integrations.kb.crashes | 5 | default',
      'alerts.integrations.kb.windowMs | 5m | FILE',
      'alerts.integrations.kb.quietMs | 10m | default',
    ]);
  });

  it('[L-2] prints the preset of a value as data', async () => {
    const { stdout } = await call(['config', '--json', '--config', file(policies)]);
    const { values } = JSON.parse(stdout) as { values: { path: string }[] };
    const of = (path: string) => values.find((each) => each.path === path);
    expect(of('policies.integrations.db.limits.idleMs')).toMatchObject({
      value: 30_000,
      from: 'preset',
      name: 'careful',
    });
    expect(of('policies.integrations.kb.limits.idleMs')).toMatchObject({
      value: null,
      from: 'code or preset',
      name: null,
    });
  });

  it('[L-1] counts what an integration has from its preset among what is not shown', async () => {
    const { stdout } = await call([
      'config',
      '--config',
      file('{ policies: { integrations: { db: { extends: "sdk" } } } }'),
    ]);
    expect(stdout.split('\n').filter((line) => line.startsWith('policies.'))).toHaveLength(1);
  });

  it('shows defaults that follow from what was set', async () => {
    const path = file('{ store: "x", policies: { presets: { toolCall: { maxAttempts: 7 } } }, alerts: false }');
    const { stdout } = await call(['config', '--all', '--config', path]);
    expect(stdout).toMatch(/^control +true +default$/m);
    expect(stdout).toMatch(/^toolCallRetry\.maxAttempts +7 +default$/m);
    expect(stdout).not.toContain('alerts.failures');
  });

  it('says that nothing is configured', async () => {
    const { code, stdout } = await call(['config', '--config', file('{}')]);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^Nothing is configured\. \d+ keys have their defaults; --all shows them\.\n$/);
  });

  it('[L-2] prints data for machines, durations in ms', async () => {
    const path = file(text);
    const { stdout } = await call(['config', '--json', '--config', path]);
    const { files, values } = JSON.parse(stdout) as { files: string[]; values: { path: string }[] };
    expect(files).toEqual([path]);
    expect(values).toContainEqual({
      path: 'policies.presets.mcp.attemptMs',
      value: 20_000,
      unit: 'ms',
      text: '20s',
      from: 'file',
      name: path,
      variable: null,
    });
    expect(values).toContainEqual(
      expect.objectContaining({ path: 'toolCallRetry.transientPatterns', value: ['warm', '/up$/i'] }),
    );
    expect(values).toContainEqual(
      expect.objectContaining({ path: 'synchronous', value: 'NORMAL', from: 'default', name: null }),
    );
  });

  it('[G-10] names the variable of each key to who has only the package', async () => {
    const { stdout } = await call(['config', '--json', '--config', file('{}')]);
    const { values } = JSON.parse(stdout) as { values: { path: string; variable: string | null }[] };
    const named = Object.fromEntries(values.map(({ path, variable }) => [path, variable]));
    expect(named).toMatchObject({
      store: 'UNWEDGE_DB',
      'alerts.windowMs': 'UNWEDGE_ALERTS_WINDOW',
      'toolCallRetry.backoffMs': null,
    });
    const { stdout: help } = await call(['config', '--help']);
    expect(help).toContain('alerts.windowMs is UNWEDGE_ALERTS_WINDOW; but store is UNWEDGE_DB');
    expect(help).toContain('policies of a name, have none');
  });

  it.each([
    [['--db', 'q.sqlite'], {}, resolve('q.sqlite')],
    [['--db', ':memory:'], {}, ':memory:'],
    [[], { UNWEDGE_DB: 'q.sqlite' }, resolve('q.sqlite')],
  ])('shows where the database is: %j %j', async (words, env, shown) => {
    const { stdout } = await call(['config', '--json', '--config', file('{}'), ...words], { env });
    const { values } = JSON.parse(stdout) as { values: object[] };
    expect(values).toContainEqual(expect.objectContaining({ path: 'store', value: shown }));
  });

  it.each([[[]], [['--all']], [['--json']]])('[O-8] shows no secret with %j', async (more) => {
    const command = {
      command: 'notify',
      args: ['--token', 'hidden-by-flag', 'hidden-by-name', 'sk-hidden-by-its-shape'],
      env: { A: 'hidden-3' },
    };
    const webhook = { url: 'https://hooks.example/hidden-1', headers: { authorization: 'hidden-2' } };
    const path = file(JSON.stringify({ alerts: { command, webhook } }));
    const { stdout } = await call(['config', ...more, '--config', path], { env: { MY_TOKEN: 'hidden-by-name' } });
    expect(stdout).toContain('alerts.webhook.url');
    expect(stdout).toContain('alerts.command.args');
    expect(stdout).not.toContain('hidden-');
  });

  it('[G-10] reads an openclaw.json that it is shown', async () => {
    const path = file('{ gateway: { toolCallRetry: { maxAttempts: 2 } } }', 'openclaw.json');
    const { stdout } = await call(['config', '--openclaw', path, '--config', file('{}')]);
    expect(stdout).toMatch(/^toolCallRetry\.maxAttempts +2 +\S*openclaw\.json$/m);
  });

  it('[L-1] finds the file of its directory, and runs a module', async () => {
    const path = file('{ store: "x" }', 'own.json');
    const { code, stdout } = await runBuilt(['config'], { UNWEDGE_CONFIG: path });
    expect(code).toBe(0);
    expect(stdout).toMatch(/^store +\S+x +\S+own\.json$/m);
    const module = file('export default async () => ({ alerts: { failures: 2 } });', 'own.mjs');
    expect((await runBuilt(['config', '--config', module])).stdout).toMatch(/^alerts\.failures +2 +\S+own\.mjs$/m);
  });
});

describe('unwedge config --check', () => {
  it('[L-1] says that a file is in order, whatever the environment says', async () => {
    const path = file(text);
    const { code, stdout, stderr } = await call(['config', '--check', path], { env: { UNWEDGE_CONTROL: 'maybe' } });
    expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: `${path}: ok\n`, stderr: '' });
  });

  it('[L-1] tells everything that is wrong, a line each, and exits 1', async () => {
    const path = file('{ stor: 1,\n alerts: { failures: 0 } }');
    const { code, stdout, stderr } = await call(['config', '--check', path]);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr.replaceAll(path, 'FILE')).toMatchInlineSnapshot(`
      "unwedge: FILE:1:3: unknown key stor; did you mean store?
      unwedge: FILE:2:12: alerts.failures: expected a positive integer, got 0
      "
    `);
  });

  it('[P-8] takes what `unwedge mcp --config` takes: servers beside the configuration, with comments and trailing commas', async () => {
    const path = file(`{
      // of the project
      store: 'own.sqlite',
      "mcpServers": { "files": { "command": "npx", "args": ["-y", "server-files",], "vendor": 1 }, "far": { "url": "\${ADDRESS}/mcp" } },
    }`);
    const { code, stdout, stderr } = await call(['config', '--check', path]);
    expect({ code, stdout, stderr }).toEqual({
      code: 0,
      stdout: `${path}: ok, with 2 servers under mcpServers; to be set where it is used: ADDRESS\n`,
      stderr: '',
    });
    expect((await call(['config', '--config', path])).stdout).toMatch(/^store +\S+own\.sqlite/m);
    const args = {
      config: path,
      servers: undefined,
      url: undefined,
      'env-allow': [],
      'tool-timeout': [],
      allow: [],
      deny: [],
    };
    const served = await whatToServe(args as unknown as McpArgs, { ADDRESS: 'https://far.example' }, []);
    expect(served.servers.map(({ name }) => name)).toEqual(['files', 'far']);
    const env = { ADDRESS: 'https://far.example', UNWEDGE_CONFIG: path };
    const byVariable = await whatToServe({ ...args, config: undefined } as unknown as McpArgs, env, []);
    expect(byVariable.servers).toEqual(served.servers);
  });

  it('[P-8] says what is wrong with servers, each with its place, and which key is likely misspelt', async () => {
    const path = file(
      '{ "stor": 1,\n"mcpServers": { "a": { "comand": "x", "vendor": 1 }, "b": { "command": "x", "arg": [] } } }',
    );
    const { code, stderr } = await call(['config', '--check', path]);
    expect(code).toBe(1);
    expect(stderr.replaceAll(path, 'FILE')).toBe(
      [
        'unwedge: FILE:1:3: unknown key stor; did you mean store?',
        'unwedge: FILE:2:17: mcpServers.a: expected `command` to be a text; it is left out',
        'unwedge: FILE: `mcpServers.a.comand` is read by nobody; did you mean command?',
        'unwedge: FILE: `mcpServers.b.arg` is read by nobody; did you mean args?',
        '',
      ].join('\n'),
    );
  });

  const kb = { command: 'cat' };
  it.each([
    ['an event that is none', { hooks: { PreTolUse: [kb] } }, /hooks\.PreTolUse; did you mean PreToolUse\?/],
    [
      'a key of a hook',
      { hooks: { PreToolUse: [{ ...kb, comand: 'x' }] } },
      /hooks\.PreToolUse\[0\]\.comand; did you mean command/,
    ],
    [
      'a hook without its command',
      { hooks: { PostToolUse: [{ args: [] }] } },
      /hooks\.PostToolUse\[0\]\.command: expected/,
    ],
    [
      'a word of a hook',
      { hooks: { PreToolUse: [{ ...kb, onFailure: 'blok' }] } },
      /onFailure: expected .*block.*blok/,
    ],
    [
      'a time of a hook',
      { hooks: { PreToolUse: [{ ...kb, overallMs: '5 parsecs' }] } },
      /overallMs: expected a duration/,
    ],
    [
      'variables that do not pass',
      { hooks: { PreToolUse: [{ ...kb, envMode: 'only', envAllow: ['A'] }] } },
      /envAllow/,
    ],
    ['hooks in another shape', { hooks: { PreToolUse: kb } }, /hooks\.PreToolUse: expected a list of hooks/],
    [
      'two hooks of one name',
      {
        hooks: {
          PreToolUse: [
            { ...kb, name: 'g' },
            { ...kb, name: 'g' },
          ],
        },
      },
      /hook:g/,
    ],
    ['a backend', { agents: { c: { backend: 'gpt' } } }, /agents\.c\.backend: expected .*claude.*gpt/],
    ['no backend', { agents: { c: {} } }, /agents\.c\.backend: expected/],
    [
      'a key of an agent',
      { agents: { c: { backend: 'claude', modle: 'x' } } },
      /agents\.c\.modle; did you mean model\?/,
    ],
    [
      'a key of a policy',
      { agents: { c: { backend: 'claude', policy: { atemptMs: 1 } } } },
      /agents\.c\.policy\.atemptMs/,
    ],
    [
      'another backend',
      { agents: { c: { backend: 'claude', codex: {} } } },
      /agents\.c\.codex: expected to be left out/,
    ],
    ['a key of Claude', { agents: { c: { backend: 'claude', claude: { comand: 'x' } } } }, /agents\.c\.claude\.comand/],
    ['a key of Codex', { agents: { c: { backend: 'codex', codex: { argz: [] } } } }, /agents\.c\.codex\.argz/],
    ['what the agent says', { agents: { c: { backend: 'codex', codex: { cwd: '/' } } } }, /use `cwd` of the agent/],
    [
      'a fallback',
      { agents: { c: { backend: 'claude', fallback: 'nosuch' } } },
      /agents\.c\.fallback: expected .*got "nosuch"/,
    ],
    [
      'a fallback of itself',
      { agents: { c: { backend: 'claude', fallback: 'c' } } },
      /agents\.c\.fallback: expected to lead/,
    ],
    [
      'tools that are none',
      { agents: { c: { backend: 'claude', approve: 'Read' } } },
      /agents\.c\.approve: expected a list/,
    ],
    ['agents that are none', { agents: ['claude'] }, /agents: expected objects by their names/],
    ['a name that a server has', { agents: { kb: { backend: 'claude' } } }, /kb/],
    [
      'a server that is both',
      { mcpServers: { kb: { ...kb, url: 'http://127.0.0.1' } } },
      /expected `command` or `url`/,
    ],
  ])('[P-8] [E-1] judges as `unwedge serve` does: %s', async (_, parts, says) => {
    const path = file(JSON.stringify({ store: 's.sqlite', mcpServers: { kb }, ...parts }));
    const checked = await call(['config', '--check', path]);
    expect(checked.code).toBe(1);
    expect(checked.stderr).toMatch(says);
    const serving = whatIsServed({ config: path, servers: undefined }, {}).then((served) => undeclarable({}, served));
    expect(await serving.catch(messageOf)).toMatch(says);
  });

  it.each([
    ['another server', { mcpServers: { bad: 7, kb } }, { code: 0, left: 1 }],
    [
      'two others of four',
      { mcpServers: { bad: {}, kb, line: { command: 'node x.mjs' }, b: kb } },
      { code: 0, left: 2 },
    ],
    ['an agent', { mcpServers: { bad: 7 }, agents: { c: { backend: 'codex' } } }, { code: 0, left: 1 }],
    ['nothing', { mcpServers: { bad: 7, line: { command: 'node x.mjs' } } }, { code: 1, left: 0 }],
    ['hooks alone', { mcpServers: { bad: 7 }, hooks: { PreToolUse: [kb] } }, { code: 1, left: 0 }],
  ])(
    '[P-8] [E-1] leaves out and names a server that cannot be used where %s is left, as the start does',
    async (_, parts, { code, left }) => {
      const path = file(JSON.stringify({ store: 's.sqlite', ...parts }));
      const checked = await call(['config', '--check', path]);
      expect(checked.code).toBe(code);
      expect(checked.stderr).toMatch(/: mcpServers\.bad: expected /);
      expect(checked.stderr.match(/; it is left out$/gm) ?? []).toHaveLength(left);
      expect(checked.stdout).toMatch(code === 0 ? new RegExp(`, ${left} left out\n$`) : /^$/);
      const json = await call(['config', '--check', path, '--json']);
      expect(json.code).toBe(code);
      expect(JSON.parse(json.stdout)).toMatchObject(code === 0 ? { ok: true, problems: [] } : { ok: false });
      const { leftOut = [] } = JSON.parse(json.stdout) as { readonly leftOut?: readonly unknown[] };
      expect(leftOut).toHaveLength(left);
      const started = await whatIsServed({ config: path, servers: undefined }, {}).then(
        ({ servers, warnings }) => ({
          code: 0,
          left: warnings.filter((each) => each.includes('is left out')).length,
          names: Object.keys(servers),
        }),
        (error: unknown) => ({ code: /cannot be used: "bad": /.test(messageOf(error)) ? 1 : -1, left: 0, names: [] }),
      );
      expect(started).toMatchObject({ code, left });
      expect(started.names).not.toContain('bad');
    },
  );

  it('[P-8] tells all that is wrong with agents and hooks at once, each with its place', async () => {
    const path = file(
      '{ "agents": {\n "c": { "backend": "gpt" },\n "d": { "backend": "codex", "fallback": "nosuch" } },\n"hooks": { "PreTolUse": [] } }',
    );
    const { code, stderr } = await call(['config', '--check', path]);
    expect(code).toBe(1);
    const places = stderr
      .trim()
      .split('\n')
      .map((line) => line.replaceAll(path, 'FILE').split(': ').slice(1, 3));
    expect(places).toEqual([
      ['FILE:2:9', 'agents.c.backend'],
      ['FILE:4:12', 'unknown key hooks.PreTolUse; did you mean PreToolUse?'],
      ['FILE:3:29', 'agents.d.fallback'],
    ]);
  });

  it('[P-8] [E-1] takes what `unwedge serve` takes', async () => {
    const content = {
      mcpServers: { kb, far: { url: '${ADDRESS}/mcp' } },
      agents: {
        c: { backend: 'claude', approve: ['Read'], fallback: 'd', claude: { command: 'claude' } },
        d: { backend: 'codex', codex: { thread: { sandbox: 'read-only' } }, policy: { attemptMs: '5m' } },
      },
      hooks: { PreToolUse: [{ ...kb, name: 'guard', onFailure: 'block', overallMs: '5s' }] },
      policies: { integrations: { c: { attemptMs: '4m' }, 'hook:guard': { maxAttempts: 2 } } },
    };
    const { code, stderr } = await call(['config', '--check', file(JSON.stringify(content))]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  });

  it('[L-2] tells it as data with --json', async () => {
    const { code, stdout } = await call(['config', '--json', '--check', file('{ stor: 1 }')]);
    expect(code).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject({ ok: false, problems: [{ path: 'stor', at: { line: 1, column: 3 } }] });
    expect(JSON.parse((await call(['config', '--json', '--check', file('{}')])).stdout)).toEqual({
      ok: true,
      problems: [],
      leftOut: [],
      variables: [],
    });
  });

  it('[P-8] [L-2] names each variable once that its servers need, whether it is set here or not', async () => {
    const path = file(
      JSON.stringify({
        mcpServers: {
          files: { command: '${BIN}/files', args: ['${ROOT:-/}'], env: { KEY: '${KEY}', OTHER: '${KEY}' } },
          search: { url: 'https://search.example/mcp', headers: { Authorization: 'Bearer ${TOKEN}' } },
          off: { command: '${OFF}', disabled: true },
        },
      }),
    );
    const { code, stdout, stderr } = await call(['config', '--check', path], { env: { BIN: '/bin' } });
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toBe(`${path}: ok, with 2 servers under mcpServers; to be set where it is used: BIN, KEY, TOKEN\n`);
    expect(JSON.parse((await call(['config', '--json', '--check', path])).stdout)).toEqual({
      ok: true,
      problems: [],
      leftOut: [],
      variables: ['BIN', 'KEY', 'TOKEN'],
    });
  });

  it('[L-1] [P-8] says that a file with an agent alone is not for `unwedge mcp`', async () => {
    const path = file(JSON.stringify({ agents: { nightly: { backend: 'claude' } } }));
    expect(await call(['config', '--check', path])).toMatchObject({
      code: 0,
      stdout: `${path}: ok, without mcpServers: for \`unwedge serve\`, not for \`unwedge mcp\`\n`,
    });
  });

  it('[L-1] ends, whatever a module leaves behind', async () => {
    const path = file('setInterval(() => {}, 1000); export default {};', 'own.mjs');
    expect(await runBuilt(['config', '--check', path])).toEqual({ code: 0, stdout: `${path}: ok\n`, stderr: '' });
  });

  it.each([0, 3])('[L-1] tells that a module ended the process with %d, and exits 1', async (exitCode) => {
    const path = file(`process.exit(${exitCode}); export default {};`, 'own.mjs');
    const stderr = `unwedge: ${path}: ended the process instead of giving a configuration\n`;
    expect(await runBuilt(['config', '--check', path])).toEqual({ code: 1, stdout: '', stderr });
    expect(await runBuilt(['config', '--config', path])).toEqual({ code: 1, stdout: '', stderr });
  });

  it('[L-2] tells that a module ended the process as data with --json', async () => {
    const path = file('export default () => process.exit(0);', 'own.mjs');
    const { code, stdout, stderr } = await runBuilt(['config', '--json', '--check', path]);
    expect({ code, stderr }).toEqual({ code: 1, stderr: '' });
    expect(JSON.parse(stdout)).toMatchObject({ ok: false, problems: [{ source: { from: 'file', file: path } }] });
  });

  it('[L-1] ends when it is told to, whatever a module waits for', async () => {
    const path = file('export default () => new Promise(() => {});', 'own.mjs');
    const signal = AbortSignal.abort();
    expect(await call(['config', '--check', path], { signal })).toEqual({ code: 1, stdout: '', stderr: '' });
  });

  it('names a module that cannot be parsed', async () => {
    const path = file('export default {\n  store: ;\n};\n', 'own.mjs');
    const { code, stderr } = await runBuilt(['config', '--check', path]);
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: `unwedge: ${path}: threw SyntaxError: Unexpected token ';'\n`,
    });
  });

  it('[O-8] keeps what the environment holds secret', async () => {
    const path = file('{ synchronous: "hidden-hidden" }');
    const { stderr } = await call(['config', '--check', path], { env: { MY_TOKEN: 'hidden-hidden' } });
    expect(stderr).toContain('got "[redacted]"');
  });

  it('[L-2] lets no file steer the terminal', async () => {
    const { stderr } = await call(['config', '--check', file(JSON.stringify({ '\u001b[31mred\u009b2J': 1 }))]);
    // oxlint-disable-next-line no-control-regex
    expect(stderr).not.toMatch(/[\u001b\u009b]/);
  });

  it.each([
    [['--check'], 'Option --check needs a value'],
    [['--check', 'a', '--schema'], 'Options --check and --schema exclude each other'],
    [['--print', '--check', 'a'], 'Options --print and --check exclude each other'],
    [['--all', '--schema'], 'Option --all belongs to --print'],
    [['--check', 'a', '--config', 'b'], 'Option --check judges its FILE alone'],
    [['--chek', 'a'], 'did you mean --check?'],
    [['a'], 'Unexpected argument "a"'],
  ])('[L-1] refuses %j in one line', async (words, said) => {
    const { code, stdout, stderr } = await call(['config', ...words]);
    expect({ code, stdout, lines: stderr.trimEnd().split('\n').length }).toEqual({ code: 2, stdout: '', lines: 1 });
    expect(stderr).toContain(said);
  });
});

describe('the published JSON schema', () => {
  it('is what --schema prints and what the package has', async () => {
    const { stdout } = await call(['config', '--schema']);
    expect(JSON.parse(stdout)).toEqual(JSON.parse(JSON.stringify(configJsonSchema())));
    const root = new URL('../../..', import.meta.url);
    const { exports } = JSON.parse(readFileSync(new URL('package.json', root), 'utf8')) as {
      exports: Record<string, string>;
    };
    const published = readFileSync(new URL(exports['./config.schema.json'] ?? '', root), 'utf8');
    expect(JSON.parse(published)).toEqual(JSON.parse(stdout));
  });
});
