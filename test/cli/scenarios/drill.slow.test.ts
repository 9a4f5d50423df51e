import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { builtAcpAgent } from '../../support/acpWire.ts';
import { faultyServer } from '../../support/faultyServer.ts';
import { isAlive, temporaryDirectory } from '../../support/temporary.ts';
import { type Ran, runBuilt } from '../startCli.ts';
import { main } from '../startRun.ts';

interface Told {
  readonly ok: boolean;
  readonly drilled: readonly {
    readonly name: string;
    readonly seen: readonly { readonly fault: string; readonly got: string; readonly left: object }[];
    readonly findings: readonly { readonly id: string; readonly set: string }[];
  }[];
}

const told = ({ stdout }: Ran): Told => JSON.parse(stdout) as Told;
const found = (ran: Ran): Record<string, readonly string[]> =>
  Object.fromEntries(told(ran).drilled.map(({ name, findings }) => [name, findings.map(({ id }) => id)]));
/** Ours, before a program. */
const behind = (
  verb: string,
  { command, args }: { command: string; args: readonly string[] },
  ...options: string[]
) => ({
  command: process.execPath,
  args: [main, verb, ...options, '--', command, ...args],
});
const drill = (home: string, ...words: string[]): Promise<Ran> =>
  runBuilt(['drill', '--yes', '--json', ...words], { HOME: home, PATH: '/usr/bin:/bin', TMPDIR: join(home, 'tmp') });

function homeOf(files: Readonly<Record<string, object>>): string {
  const home = temporaryDirectory();
  for (const folder of ['tmp', '.claude', '.config/zed']) mkdirSync(join(home, folder), { recursive: true });
  for (const [path, content] of Object.entries(files)) writeFileSync(join(home, path), JSON.stringify(content));
  return home;
}

describe('unwedge drill', () => {
  it('[E-9] finds the planted weaknesses of servers, and none where there is none, and leaves nothing', {
    timeout: 300_000,
  }, async () => {
    const well = faultyServer({ tools: ['search'] });
    const expired = faultyServer({
      faults: [{ on: 'tools/list', do: 'error', message: '401 Unauthorized: token expired' }],
    });
    const home = homeOf({
      '.claude.json': {
        mcpServers: {
          well: behind('mcp', well, '--name', 'well'),
          expired: { ...behind('mcp', expired, '--call-timeout', '60s'), timeout: 20_000 },
          bare: faultyServer({ ignoreStdinEnd: true, ignoreSigterm: true }),
        },
      },
    });
    const files = readFileSync(join(home, '.claude.json'));
    const ran = await drill(home);
    expect(found(ran)).toEqual({
      ...{ well: [], expired: ['sign_in', 'limit_below'] },
      bare: ['unprotected', 'no_limit', 'left_behind'],
    });
    expect(ran).toMatchObject({ code: 1, stderr: '' });
    const { seen = [] } = told(ran).drilled.find(({ name }) => name === 'well') ?? {};
    expect(seen.map(({ fault }) => fault)).toEqual([
      'none',
      'killed',
      'silent',
      'slow',
      'flood',
      'half',
      '429',
      'sign-in',
    ]);
    for (const { left } of seen) expect(left).toEqual({ processes: 0, files: 0 });
    expect(readdirSync(join(home, 'tmp'))).toEqual([]);
    expect(readFileSync(join(home, '.claude.json'))).toEqual(files);
    expect(existsSync(join(home, '.local'))).toBe(false);
  });

  it('[E-9] finds a hook that fails open, and no guard and no observer', { timeout: 300_000 }, async () => {
    const hook = (...words: string[]) => ({
      type: 'command',
      timeout: 60,
      command: [process.execPath, main, 'hook', ...words].join(' '),
    });
    const home = homeOf({
      '.claude/settings.json': {
        hooks: {
          PreToolUse: [
            { matcher: 'Bash', hooks: [hook('--host-timeout', '60s', '--', '/bin/true')] },
            { matcher: 'Edit', hooks: [hook('--host-timeout', '60s', '--on-failure', 'block', '--', '/bin/true')] },
          ],
          PostToolUse: [{ hooks: [hook('--host-timeout', '60s', '--', '/bin/true')] }],
        },
      },
    });
    expect(found(await drill(home))).toEqual({
      'PreToolUse Bash': ['fails_open'],
      'PreToolUse Edit': [],
      PostToolUse: [],
    });
  });

  it('[E-9] sends a real server no call but those that the configuration declares readOnly', {
    timeout: 300_000,
  }, async () => {
    const home = homeOf({});
    const log = join(home, 'calls');
    const server = join(home, 'server.mjs');
    writeFileSync(server, recorder);
    const servers = { shop: { command: process.execPath, args: [server, log] } };
    const config = join(home, 'unwedge.json');
    writeFileSync(config, JSON.stringify({ mcpServers: servers }));
    expect(await drill(home, '--config', config)).toMatchObject({ code: 0 });
    expect(existsSync(log)).toBe(false);
    const tools = { look: { effect: 'readOnly' } };
    writeFileSync(config, JSON.stringify({ mcpServers: servers, policies: { integrations: { shop: { tools } } } }));
    expect(await drill(home, '--config', config)).toMatchObject({ code: 0 });
    expect(new Set(readFileSync(log, 'utf8').trim().split('\n'))).toEqual(new Set(['look']));
  });

  it('[E-9] puts agents before a loopback model and gives them no key, and finds one with a limit below its tools', {
    timeout: 300_000,
  }, async () => {
    const home = homeOf({});
    const [agent, keys] = [join(home, 'agent.mjs'), join(home, 'keys')];
    writeFileSync(agent, fakeAgent);
    const one = (...words: string[]) => ({ command: process.execPath, args: [agent, keys, ...words] });
    const settings = {
      agent_servers: {
        hasty: { type: 'custom', ...behind('acp', one(), '--tool-timeout', '1m'), env: { MY_API_KEY: 'a-real-key' } },
        liar: { type: 'custom', ...behind('acp', one('lies')) },
        elsewhere: { type: 'custom', ...builtAcpAgent() },
      },
      context_servers: { kb: { ...behind('mcp', faultyServer({ faults: [{ on: 'tools/list', do: 'error' }] })) } },
    };
    writeFileSync(join(home, '.config/zed/settings.json'), JSON.stringify(settings));
    const ran = await drill(home, 'zed');
    expect(found(ran)).toEqual({
      hasty: ['limit_below'],
      liar: ['broken', 'broken'],
      elsewhere: ['unprotected'],
      kb: ['not_started'],
    });
    expect(told(ran).drilled.find(({ name }) => name === 'hasty')?.findings[0]?.set).toBe('--tool-timeout 330s');
    expect(readFileSync(keys, 'utf8')).toMatch(/^(?:sk-ant-fake-000000 undefined\n)+$/);
  });

  it('[E-9] finds a hook that takes longer than its client waits, once hooks may be run', {
    timeout: 300_000,
  }, async () => {
    const hook = { type: 'command', command: 'sleep 3', timeout: 1 };
    const home = homeOf({ '.claude/settings.json': { hooks: { PostToolUse: [{ hooks: [hook] }] } } });
    expect(found(await drill(home))).toEqual({ PostToolUse: ['unprotected'] });
    expect(found(await drill(home, '--effects'))).toEqual({ PostToolUse: ['unprotected', 'slow_hook'] });
  });

  it('[E-9] [I-3] leaves nothing when it is interrupted in the middle', async () => {
    const pids = join(temporaryDirectory(), 'pids');
    const home = homeOf({});
    const server = join(home, 'server.mjs');
    writeFileSync(
      server,
      `import { appendFileSync } from 'node:fs';\nappendFileSync(${JSON.stringify(pids)}, process.pid + '\\n');\n${recorder}`,
    );
    writeFileSync(
      join(home, '.claude.json'),
      JSON.stringify({ mcpServers: { kb: behind('mcp', { command: process.execPath, args: [server, pids] }) } }),
    );
    const env = { HOME: home, PATH: '/usr/bin:/bin', TMPDIR: join(home, 'tmp') };
    const child = spawn(process.execPath, [main, 'drill', '--yes'], { env, stdio: 'ignore' });
    onTestFinished(() => void child.kill('SIGKILL'));
    await expect.poll(() => existsSync(pids)).toBe(true);
    child.kill('SIGINT');
    const [code] = (await once(child, 'exit')) as [number];
    expect(code).toBe(130);
    expect(readdirSync(join(home, 'tmp'))).toEqual([]);
    const started = readFileSync(pids, 'utf8').trim().split('\n').map(Number);
    await expect.poll(() => started.filter(isAlive)).toEqual([]);
  });
});

/** A server that notes the tools that are called. */
const recorder = `import { appendFileSync as note } from 'node:fs';
import { createInterface } from 'node:readline';
const tools = ['pay', 'look'].map((name) => ({ name, inputSchema: { type: 'object' } }));
createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  if (method === 'tools/call') note(process.argv[2], params.name + '\\n');
  const result = method === 'initialize' ? { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'shop', version: '1' } }
    : method === 'tools/list' ? { tools } : { content: [{ type: 'text', text: 'done' }] };
  console.log(JSON.stringify({ jsonrpc: '2.0', id, result }));
});
`;

/** An agent that asks its model, and tells a refusal as an error, or as a good end. */
const fakeAgent = `import { appendFileSync as note } from 'node:fs';
import { createInterface } from 'node:readline';
const [, , keys, lies] = process.argv;
const { OPENAI_BASE_URL: url, OPENAI_API_KEY: key, MY_API_KEY: own } = process.env;
note(keys, key + ' ' + own + '\\n');
const say = (message) => console.log(JSON.stringify({ jsonrpc: '2.0', ...message }));
const body = JSON.stringify({ stream: true, messages: [] });
createInterface({ input: process.stdin }).on('line', async (line) => {
  const { id, method, params } = JSON.parse(line);
  if (method === 'initialize') say({ id, result: { protocolVersion: 1, agentCapabilities: {} } });
  else if (method === 'session/new') say({ id, result: { sessionId: 's' } });
  else if (method === 'session/prompt') {
    const text = await fetch(url + '/chat/completions', { method: 'POST', body }).then((each) => each.text()).catch(() => '');
    const update = { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: 'hello' } };
    if (text.includes('[DONE]')) say({ method: 'session/update', params: { sessionId: 's', update } });
    if (text.includes('[DONE]') || lies) say({ id, result: { stopReason: 'end_turn' } });
    else say({ id, error: { code: -32603, message: text.slice(0, 50) || 'no answer' } });
  }
});
`;
