import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { execa } from 'execa';
import { beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { runBuilt } from '../cli/startCli.ts';
import { processesWith } from '../cli/startHook.ts';
import { fixture } from '../cli/startRun.ts';
import { setup } from '../globalSetup.ts';
import { installed } from '../mcpProxy/conformance/ways.ts';
import { temporaryDirectory } from '../support/temporary.ts';
import { claudeEnv, claudePath, hasClaude } from './claudeEnv.ts';
import { codexPath, hasCodex } from './codexEnv.ts';
import { callsTool, says } from './fakeAnthropic.ts';
import { callsServer, responds, startFakeOpenai } from './fakeOpenai.ts';
import { startRealClaude } from './startRealClaude.ts';

const seconds = { timeout: 60_000 };

/** Servers as a person has them; the first one tells what it hears. */
function threeServers(home: string) {
  const node = process.execPath;
  return {
    ev: {
      type: 'stdio',
      command: node,
      args: ['--import', fixture('mcpSpy.mjs'), installed('everything')],
      env: { MCP_SPY: join(home, 'heard') },
    },
    files: { command: node, args: [installed('filesystem'), home] },
    mem: { command: node, args: [installed('memory')], env: { MEMORY_FILE_PATH: join(home, 'memory.json') } },
  };
}

/** Resolves with the pid of the server of the moment once it has read a call of this tool. */
async function serverBusyWith(home: string, name: string): Promise<number> {
  const heard = join(home, 'heard');
  const read = (): string => (existsSync(heard) ? readFileSync(heard, 'utf8') : '');
  await vi.waitUntil(() => read().includes(`"name":"${name}"`), seconds);
  return Number(/.*pid (\d+)\n/s.exec(read())?.[1]);
}

const unwedge = (home: string, ...words: string[]) =>
  runBuilt(words, { HOME: home, PATH: process.env['PATH'] ?? '', CODEX_HOME: join(home, '.codex') });

describe.skipIf(!hasClaude)('unwedge install with the real claude', () => {
  beforeAll(setup);

  it('[E-4] has its servers connected, the agent go on when one is killed, and its files back', async () => {
    const busy = 'trigger-long-running-operation';
    const name = 'server-everything';
    const script = [
      // So long that it can be asked about while it runs, in either attempt.
      callsTool(`mcp__ev__${busy}`, { duration: 6, steps: 1 }),
      callsTool('Bash', { command: 'true' }),
      says('done'),
    ];
    const allowed = ['--allowedTools', 'mcp__ev', 'Bash'];
    const args = ['-p', '--output-format', 'stream-json', '--verbose', ...allowed];
    const { home, cwd, env, claude, upstream } = await startRealClaude(script, { args });
    const config = join(home, '.claude.json');
    const settings = join(home, '.claude', 'settings.json');
    const configText = `${JSON.stringify({ hasCompletedOnboarding: true, mcpServers: threeServers(home) }, null, 2)}\n`;
    const log = join(home, 'hook-log');
    const settingsText = `{"hooks": {"PreToolUse": [ {"matcher":"Bash", "hooks": [
      { "type": "command", "command": "cat > '${log}'; echo \\"it's $0\\" >> '${log}'", "timeout": 20 } ] } ]}}`;
    mkdirSync(join(home, '.claude'), { recursive: true });
    writeFileSync(config, configText);
    writeFileSync(settings, settingsText);

    const planned = await unwedge(home, 'install', '--all', '--dry-run');
    expect(planned).toMatchObject({ code: 0, stderr: '' });
    expect([readFileSync(config, 'utf8'), readFileSync(settings, 'utf8')]).toEqual([configText, settingsText]);
    expect(await unwedge(home, 'install', '--all')).toMatchObject({ code: 0, stderr: '' });
    expect(await unwedge(home, 'install', '--all', '--undo')).toMatchObject({ code: 0, stderr: '' });
    expect([readFileSync(config, 'utf8'), readFileSync(settings, 'utf8')]).toEqual([configText, settingsText]);
    expect(await unwedge(home, 'install', 'claude')).toMatchObject({ code: 0, stderr: '' });
    const wrappedSettings = readFileSync(settings, 'utf8');

    const { stdout: list } = await execa(claudePath, ['mcp', 'list'], { cwd, env, extendEnv: false, reject: false });
    for (const name of ['ev', 'files', 'mem']) expect(list).toMatch(new RegExp(`^${name}: .* mcp -- .*Connected`, 'm'));

    writeFileSync(join(home, 'heard'), '');
    const outcome = claude.call({ prompt: 'do it' }, { maxAttempts: 1 });
    const pid = await serverBusyWith(home, busy);
    const asked = await unwedge(home, 'why', name);
    expect(asked.stdout).toMatch(
      new RegExp(`${busy} .* in flight[^]*process ${pid} runs\n[^]*Next: idle_timeout ends`),
    );
    process.kill(pid, 'SIGKILL');
    const why = async () => (await unwedge(home, 'why', name)).stdout;
    expect(await vi.waitUntil(async () => /attempt 2 [^]*/.exec(await why())?.[0], seconds)).toMatch(
      /last attempt: crash: The server was ended by SIGKILL\n[^]*process \d+ runs\nNext: idle_timeout ends/,
    );
    expect(await outcome).toMatchObject({ ok: true, value: { agent: { text: 'done' } } });
    expect(JSON.stringify(upstream.requests.at(-1)?.body.messages)).toContain('Long running operation completed');
    expect(readFileSync(log, 'utf8')).toMatch(/"hook_event_name":"PreToolUse"[^]*it's .*sh\n$/);
    await vi.waitUntil(() => processesWith(`MCP_SPY=${join(home, 'heard')}`).length === 0, seconds);
    expect((await unwedge(home, 'status')).stdout).toMatch(/server-everything/);

    // Claude Code has written the one file anew, and not the other.
    expect(readFileSync(settings, 'utf8')).toBe(wrappedSettings);
    expect(await unwedge(home, 'install', 'claude', '--undo')).toMatchObject({ code: 0, stderr: '' });
    expect(readFileSync(settings, 'utf8')).toBe(settingsText);
    const now = JSON.parse(readFileSync(config, 'utf8')) as { mcpServers: object };
    expect(now.mcpServers).toEqual(threeServers(home));
    expect(Object.keys(now).length).toBeGreaterThan(2);
  });

  it('[E-4] does not get into the way of what claude writes meanwhile', async () => {
    const home = temporaryDirectory();
    const env = claudeEnv(home, 'http://127.0.0.1:9');
    const config = join(home, '.claude.json');
    writeFileSync(config, JSON.stringify({ mcpServers: threeServers(home) }));
    const add = (name: string) =>
      execa(claudePath, ['mcp', 'add', '-s', 'user', name, '--', 'true'], {
        cwd: home,
        env,
        extendEnv: false,
        reject: false,
      });
    const results = await Promise.all([
      add('one'),
      unwedge(home, 'install', 'claude'),
      add('two'),
      unwedge(home, 'install', 'claude'),
    ]);
    expect(
      results.map((each) => ('code' in each && 'stderr' in each && !('exitCode' in each) ? each.code : 0)),
    ).toEqual([0, 0, 0, 0]);
    const { mcpServers } = JSON.parse(readFileSync(config, 'utf8')) as {
      mcpServers: Record<string, { args: string[] }>;
    };
    expect(Object.keys(mcpServers).sort()).toEqual(['ev', 'files', 'mem', 'one', 'two']);
    expect(mcpServers['ev']?.args.slice(1, 3)).toEqual(['mcp', '--']);
    expect(existsSync(`${config}.lock`)).toBe(false);
    await unwedge(home, 'install', 'claude', '--undo');
    expect(JSON.parse(readFileSync(config, 'utf8'))).toMatchObject({ mcpServers: threeServers(home) });
  });
});

describe.skipIf(!hasCodex)('unwedge install with the real codex', () => {
  beforeAll(setup);

  it('[E-4] has the agent go on when its server is killed, and its file back to the byte', async () => {
    const busy = 'trigger-long-running-operation';
    const upstream = await startFakeOpenai([
      callsServer('ev', 'trigger_long_running_operation', { duration: 2, steps: 1 }),
      responds('done'),
    ]);
    onTestFinished(() => upstream.close());
    const home = temporaryDirectory();
    const own = join(home, '.codex');
    for (const folder of [own, join(home, 'tmp')]) mkdirSync(folder);
    const { ev } = threeServers(home);
    const text = [
      'model = "fake-model" # mine',
      'model_provider = "fake"',
      'analytics.enabled = false',
      `model_providers.fake = { name = "fake", base_url = "${upstream.url}", wire_api = "responses", env_key = "FAKE_KEY" }`,
      '[mcp_servers.ev] # everything',
      `command = '${ev.command}' # node`,
      `args = [ # its words`,
      ...ev.args.map((word) => `  '${word}', # one`),
      ']',
      `env = { MCP_SPY = "${ev.env.MCP_SPY}" }`,
      '[[hooks.Stop]]',
      `hooks = [{ type = "command", command = "true" }]`,
    ].join('\r\n');
    const config = join(own, 'config.toml');
    writeFileSync(config, text);

    const { code, stdout } = await unwedge(home, 'install', 'codex');
    expect(code).toBe(0);
    expect(stdout).toContain('Codex would not run it before you trust it anew');
    const wrapped = readFileSync(config, 'utf8');
    expect(wrapped).toContain('"mcp", "--"');
    const env = {
      PATH: process.env['PATH'] ?? '',
      HOME: home,
      CODEX_HOME: own,
      TMPDIR: join(home, 'tmp'),
      FAKE_KEY: 'x',
    };
    const codex = (...words: string[]) =>
      execa(codexPath, words, { cwd: home, env, extendEnv: false, reject: false, input: '' });
    expect((await codex('mcp', 'list')).stdout).toMatch(/ev .* mcp -- /);

    const run = codex('exec', '--skip-git-repo-check', 'do it');
    process.kill(await serverBusyWith(home, busy), 'SIGKILL');
    expect((await run).stdout).toContain('done');
    expect(upstream.requests.at(-1)).toContain('Long running operation completed');
    await vi.waitUntil(() => processesWith(`MCP_SPY=${join(home, 'heard')}`).length === 0, seconds);

    expect(readFileSync(config, 'utf8')).toBe(wrapped);
    expect(await unwedge(home, 'install', 'codex', '--undo')).toMatchObject({ code: 0, stderr: '' });
    expect(readFileSync(config, 'utf8')).toBe(text);
  });
});
