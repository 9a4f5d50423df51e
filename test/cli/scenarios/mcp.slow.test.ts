import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { execa } from 'execa';
import { describe, expect, it } from 'vitest';
import { gone } from '../../actors/mcp/mcpHarness.ts';
import { hasSqlite, openDatabase } from '../../store/startStore.ts';
import { faultyServer } from '../../support/faultyServer.ts';
import { processesWith } from '../startHook.ts';
import { runBuilt, runHere } from '../startCli.ts';
import { main } from '../startRun.ts';
import { makeHome, startMcp, textOf } from '../startMcp.ts';

const hello = '{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}';

describe('unwedge mcp', () => {
  it('[P-3] ends with 0 when its client has ended its side, and its server with it', async () => {
    const mcp = startMcp(makeHome());
    await mcp.open();
    const server = Number(textOf(await mcp.call({ do: 'pid' })));
    mcp.child.stdin.end();
    expect(await mcp.exited).toEqual({ code: 0, signal: null });
    await gone(server);
  });

  it('[P-3] says that no client was there where its input ends at once, and that its command is none', async () => {
    const none = startMcp(makeHome(), [], ['no-such-server']);
    none.child.stdin.end();
    expect(await none.exited).toEqual({ code: 1, signal: null });
    expect(none.stderr()).toMatch(
      /^unwedge: no-such-server cannot be started: "no-such-server": there is no such command\nunwedge: stdin ended before a client said anything; .+\n$/,
    );
    const there = startMcp(makeHome());
    there.child.stdin.end();
    expect(await there.exited).toEqual({ code: 1, signal: null });
    expect(there.stderr()).toMatch(/^unwedge: stdin ended before a client said anything; .+\n$/);
  });

  it('[P-3] answers what was written before the end of its input, as the server would', async () => {
    const mcp = startMcp(makeHome());
    const call = '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"act","arguments":{"text":"hi"}}}';
    mcp.child.stdin.end(`${hello}\n${call}`);
    expect(await mcp.exited).toEqual({ code: 0, signal: null });
    await expect.poll(mcp.stdout).toContain('"text":"hi"');
  });

  it('[P-3] [I-1] answers the question for its era that was written before the end of its input', async () => {
    const mcp = startMcp(makeHome());
    mcp.child.stdin.end('{"jsonrpc":"2.0","id":1,"method":"server/discover"}');
    expect(await mcp.exited).toEqual({ code: 0, signal: null });
    await expect
      .poll(mcp.stdout)
      .toBe('{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"Method not found"}}\n');
  });

  it.each([
    ['SIGTERM', 143],
    ['SIGINT', 130],
    ['SIGHUP', 129],
  ] as const)('[P-3] [L-1] ends by %s with %i, also over a server that would rather not', async (signal, code) => {
    const home = makeHome();
    const stubborn = `process.on('SIGTERM', () => {}); process.stdin.resume(); setInterval(() => {}, 1000);
      process.stdout.write(JSON.stringify({ jsonrpc: '2.0', method: 'pid', params: process.pid }) + '\\n');`;
    const mcp = startMcp(home, [], [process.execPath, '-e', stubborn]);
    mcp.raw(hello);
    await expect.poll(mcp.stdout).toContain('"pid"');
    const server = Number(/"params":(\d+)/.exec(mcp.stdout())?.[1]);
    mcp.child.kill(signal);
    expect(await mcp.exited).toEqual({ code, signal: null });
    await gone(server);
  });

  it('[P-3] [I-3] leaves no server to a client that closes as the SDK does, though the server would rather not end', async () => {
    const { directory, env } = makeHome();
    const { command, args } = faultyServer({ ignoreSigterm: true, ignoreStdinEnd: true });
    const transport = new StdioClientTransport({
      command: process.execPath,
      args: [main, 'mcp', '--', command, ...args],
      env: Object.fromEntries(Object.entries(env).map(([name, value]) => [name, String(value)])),
      stderr: 'ignore',
    });
    const client = new Client({ name: 'test', version: '1' });
    await client.connect(transport);
    await client.close();
    await expect.poll(() => processesWith(`HOME=${directory}`)).toEqual([]);
  });

  it('[P-3] takes the first word that is no option for the command where the client has swallowed the --', async () => {
    const home = makeHome();
    const fixture = fileURLToPath(new URL('../../fixtures/mcpScripted.mjs', import.meta.url));
    const mcp = startMcp(home, ['--name', 'kb', process.execPath, fixture, home.directory, '--name', 'its own'], []);
    await mcp.open();
    await mcp.call({ do: 'crash' });
    expect(textOf(await mcp.call({ do: 'start' }))).toBe('2');
    expect(mcp.stderr()).toContain('unwedge: kb was restarted');
  });

  it('[P-3] ends when its client reads no more', async () => {
    const mcp = startMcp(makeHome());
    await mcp.open();
    mcp.child.stdout.destroy();
    void mcp.call({ do: 'echo' });
    expect(await mcp.exited).toEqual({ code: 141, signal: null });
  });

  it('[P-3] [I-3] killed at once leaves no server behind', async () => {
    const mcp = startMcp(makeHome());
    await mcp.open();
    const server = Number(textOf(await mcp.call({ do: 'pid' })));
    mcp.child.kill('SIGKILL');
    expect((await mcp.exited).signal).toBe('SIGKILL');
    await gone(server);
  });

  it('[P-3] says on stderr, beside what the server says, that it was restarted, why, and what was lost', async () => {
    const home = makeHome();
    const mcp = startMcp(home, ['--name', 'kb']);
    await mcp.open();
    const lost = await mcp.call({ do: 'crash' });
    expect(lost.result?.isError).toBe(true);
    expect(textOf(await mcp.call({ do: 'start' }))).toBe('2');
    expect(mcp.stderr()).toContain('fatal: out of luck\n');
    expect(mcp.stderr()).toMatch(/^unwedge: kb was restarted after \S+: The server exited with code 3; lost 1 \(/m);
  });

  it('[P-3] answers the handshake with an error when the command is not there', async () => {
    const mcp = startMcp(makeHome(), [], ['no-such-server']);
    const { error } = await mcp.ask('initialize');
    expect(error?.message).toContain('there is no such command on the PATH');
  });

  it('[P-3] serves also where the database cannot be used', async () => {
    const home = makeHome();
    const file = join(home.directory, 'no-directory');
    writeFileSync(file, '');
    const mcp = startMcp(home, ['--db', join(file, 'events.sqlite')]);
    await mcp.open();
    expect(textOf(await mcp.call({ do: 'start' }))).toBe('1');
    mcp.child.stdin.end();
    expect((await mcp.exited).code).toBe(0);
  });

  it('[P-3] [O-8] logs each message as a line of JSON that only its user may read, without what is in it', async () => {
    const home = makeHome();
    const log = join(home.directory, 'mcp.jsonl');
    const mcp = startMcp(home, ['--log', log]);
    await mcp.open();
    await mcp.call({ do: 'echo', text: 'a secret of mine' });
    mcp.child.stdin.end();
    await mcp.exited;
    const text = readFileSync(log, 'utf8');
    expect(text).not.toContain('secret');
    const lines = text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(lines.find(({ kind, method }) => kind === 'request' && method === 'tools/call')).toEqual({
      time: expect.any(String) as string,
      from: 'client',
      kind: 'request',
      method: 'tools/call',
      id: 2,
      tool: 'act',
      bytes: expect.any(Number) as number,
    });
    expect(lines.find(({ kind, method }) => kind === 'result' && method === 'tools/call')).toMatchObject({
      from: 'server',
      ms: expect.any(Number) as number,
    });
    expect(lines.map(({ event }) => event).filter(Boolean)).toEqual(['server started', 'server ready', 'server lost']);
    expect(statSync(log).mode & 0o777).toBe(0o600);
  });

  it.each([
    [['mcp'], 'No command given'],
    [['mcp', '--', ''], 'Expected a command after --'],
    [['mcp', '--json', '--', 'x'], '--json is of no use here'],
    [['mcp', '--retry', 'allways', '--', 'x'], 'did you mean always?'],
    [['mcp', '--retry', 'sometimes', '--', 'x'], '"sometimes"; it takes safe, always, never'],
    [['mcp', '--idle-timeout', '0s', '--', 'x'], '`--idle-timeout` to be above 0'],
    [['mcp', '--tool-timeout', 'x', '--', 'x'], 'TOOL=DURATION, got "x"'],
    [['mcp', '--tool-timeout', 'x=soon', '--', 'x'], '`--tool-timeout` to be a duration'],
    [['mcp', '--tool-timeout', 'x=0s', '--', 'x'], '`--tool-timeout` to be above 0'],
    [['mcp', '--tool-timeout'], '--tool-timeout needs a value'],
    [['mcp', 'kb', '--', 'server'], 'the command comes after --'],
    [['mcp', '--nmae', 'kb', 'server'], 'did you mean --name?'],
    [['mcp', '--when-alive', 'never', '--', 'x'], '"never"; it takes end, wait'],
    [['mcp', '--keep', '0', '--', 'x'], 'Expected `--keep` to be above 0'],
    [['mcp', '--keep', 'ever', '--', 'x'], '--keep'],
    [['mcp', '--listen', '127.0.0.1:0', '--shared', '--keep', '1m', '--', 'x'], '--keep is of no use with --shared'],
  ])('[L-1] [P-3] refuses wrong usage with 2 and one line: %j', async (words, message) => {
    const { code, stdout, stderr } = await runHere(words);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toContain(message);
    expect(stderr.trim().split('\n')).toHaveLength(1);
  });
});

describe('a proxy whose client wants no words on stderr', () => {
  it('[P-3] goes on when stderr was closed', async () => {
    const mcp = startMcp(makeHome());
    mcp.child.stderr.destroy();
    await mcp.open();
    await mcp.call({ do: 'kill' });
    await mcp.call({ do: 'kill' });
    expect(textOf(await mcp.call({ do: 'start' }))).toBe('3');
    mcp.child.stdin.end();
    expect(await mcp.exited).toEqual({ code: 0, signal: null });
  });
});

describe.skipIf(!hasSqlite)('the other commands beside a running proxy', () => {
  it('[P-3] [L-5] show its server, its tree and its events, and restart it by hand', async () => {
    const home = makeHome();
    const mcp = startMcp(home, ['--name', 'kb']);
    await mcp.open();
    await mcp.call({ do: 'kill' });
    const run = (...words: string[]) => runHere([...words, '--db', home.db]);
    await expect.poll(async () => (await run('status')).stdout, { timeout: 20_000 }).toContain('unwedge mcp kb');
    expect((await run('status', '--tree')).stdout).toContain('mcp:kb');
    const before = Number(textOf(await mcp.call({ do: 'start' })));
    expect((await run('restart', 'kb')).stdout).toContain('was asked to restart "kb"');
    await expect.poll(async () => textOf(await mcp.call({ do: 'start' }))).toBe(String(before + 1));
    const events = (await run('events')).stdout;
    expect(events).toContain('mcp/calls_lost');
    expect(events).toContain('mcp/server_replayed');
  });
});

describe.skipIf(!hasSqlite)('a proxy that is killed in the middle of a call', () => {
  it('[I-4] [P-3] [L-6] is told of by status with the call, which the next proxy records as a failure, once', async () => {
    const home = makeHome();
    const run = (...words: string[]) => runHere([...words, '--db', home.db]);
    const killed = startMcp(home, ['--name', 'kb']);
    await killed.open();
    void killed.call({ do: 'hang' });
    const onRecord = (): unknown =>
      existsSync(home.db) ? openDatabase(home.db).prepare('SELECT calls FROM unwedge_runtimes').get()?.['calls'] : null;
    await expect.poll(onRecord, { timeout: 20_000 }).toContain('"tool":"act"');
    killed.child.kill('SIGKILL');
    await killed.exited;
    const told = await runHere(['status', '--db', home.db], { COLUMNS: '80' });
    expect(told.stdout.replaceAll(/\s+/g, ' ')).toContain('1 call got no answer: act of kb');
    expect(told.stdout.match(/next: .*/g)).toEqual([
      'next: find out what became of what got no answer; the next proxy or gateway',
    ]);
    const { code, stdout } = await run('why', 'kb');
    expect({ code, stdout: stdout.replaceAll(/\s+/g, ' ') }).toEqual({
      code: 0,
      stdout: expect.stringMatching(
        /^! unwedge mcp kb \(pid \d+\) is gone: .*1 call got no answer: act of kb next: /,
      ) as string,
    });
    expect(JSON.parse((await run('why', 'kb', '--json')).stdout)).toMatchObject({ integration: 'kb', attention: [{}] });

    const next = startMcp(home, ['--name', 'other']);
    await next.open();
    const events = async () => (await run('events', '--integration', 'kb', '--failed', '--json')).stdout;
    await expect.poll(events, { timeout: 20_000 }).toContain('ended without a word while act was under way');
    const metadata = { tool: 'act', call: 'kb-2', kind: 'crash', outcome: 'unknown', retryable: false };
    expect(JSON.parse(await events())).toMatchObject([{ metadata }]);
    next.child.stdin.end();
    await next.exited;
    expect((await events()).match(/ended without a word/g)).toHaveLength(1);
  });
});

describe.skipIf(!hasSqlite)('a short-lived proxy', () => {
  it('[O-1] [P-3] leaves on record that its server could not be started', async () => {
    const home = makeHome();
    const mcp = startMcp(home, ['--name', 'short'], ['no-such-server']);
    const call = '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"act","arguments":{}}}';
    mcp.child.stdin.end(`${hello}\n${call}\n`);
    expect(await mcp.exited).toEqual({ code: 0, signal: null });
    const { stdout } = await runHere(['events', '--integration', 'short', '--db', home.db]);
    expect(stdout).toContain('there is no such command');
  });
});

describe.skipIf(!hasSqlite)('a proxy that has the name of what delivers its alerts', () => {
  it.each([
    ['misnamed', 'unwedge: The configuration says nothing of misnamed; it has bank. --name says which of them'],
    ['bank', ''],
  ])('[P-3] [R-17] says where its configuration is about others alone: --name %s', async (name, said) => {
    const home = makeHome();
    const config = join(home.directory, 'unwedge.json');
    writeFileSync(config, '{"policies":{"integrations":{"bank":{"attemptMs":"20s"}}}}');
    const mcp = startMcp(home, ['--name', name, '--config', config]);
    await mcp.open();
    expect(mcp.stderr().includes('The configuration says nothing')).toBe(said !== '');
    expect(mcp.stderr()).toContain(said);
  });

  it('[P-3] [O-3] serves its client, and says that nobody watches', async () => {
    const home = makeHome();
    const config = join(home.directory, 'unwedge.json');
    writeFileSync(config, '{"alerts":{"command":{"command":"true"}}}');
    const mcp = startMcp(home, ['--name', 'alert:command', '--config', config]);
    await mcp.open();
    await expect.poll(() => mcp.stderr(), { timeout: 20_000 }).toContain('Nobody watches for alerts: ');
    expect(textOf(await mcp.call({ do: 'start' }))).toBe('1');
  });
});

describe('the built command', () => {
  it('[L-1] offers no --json, which it refuses: stdout is the client’s', async () => {
    const { code, stdout } = await runBuilt(['mcp', '--help']);
    expect({ code, offered: stdout.includes('--json') }).toEqual({ code: 0, offered: false });
    expect((await runHere(['events', '--help'])).stdout).toContain('--json');
  });

  it('[P-3] loads neither the MCP SDK nor zod', async () => {
    const parts = new URL('../../../dist/parts/', import.meta.url);
    const [entry = '', ...others] = readdirSync(parts).filter((name) => name.startsWith('mcpCommand-'));
    expect(others).toEqual([]);
    // What is loaded is listed by the runtime itself.
    const list = `import { register } from 'node:module';
      register('data:text/javascript,' + encodeURIComponent('export async function resolve(s, c, n) { const r = await n(s, c); console.log(r.url); return r; }'));
      await import(${JSON.stringify(new URL(entry, parts).href)});`;
    const { stdout } = await execa(process.execPath, ['--input-type=module', '-e', list]);
    expect(stdout).toContain('mcpCommand');
    expect(stdout).not.toMatch(/node_modules\/(?:@modelcontextprotocol|zod|better-sqlite3)/);
  });
});
