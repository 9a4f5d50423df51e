import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Client as ClientV2 } from '@modelcontextprotocol/client';
import { StdioClientTransport as StdioV2 } from '@modelcontextprotocol/client/stdio';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as StdioV1 } from '@modelcontextprotocol/sdk/client/stdio.js';
import { execa } from 'execa';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { createGateway } from '../../../src/gateway/gateway.ts';
import { hasSqlite } from '../../store/startStore.ts';
import { temporaryDirectory } from '../../support/temporary.ts';
import { databaseWith } from '../startCli.ts';

const main = fileURLToPath(new URL('../../../dist/cli/main.js', import.meta.url));

type Call = (
  tool: string,
  input?: Record<string, unknown>,
) => Promise<{ readonly text: string; readonly isError: boolean }>;

/** The built server as a process, and a client of an official SDK, of one era or the other. */
async function connect(db: string, words: readonly string[] = [], sdk: 'v1' | 'v2' = 'v2') {
  const started = {
    command: process.execPath,
    args: [main, 'mcp-self', ...words, '--db', db],
    env: { PATH: process.env['PATH'] ?? '', XDG_RUNTIME_DIR: process.env['XDG_RUNTIME_DIR'] ?? '' },
    stderr: 'pipe' as const,
  };
  const about = { name: 'agent', version: '1.0.0' };
  const client = sdk === 'v1' ? new ClientV1(about) : new ClientV2(about);
  const transport = sdk === 'v1' ? new StdioV1(started) : new StdioV2(started);
  await client.connect(transport as never);
  onTestFinished(() => client.close());
  const ask: Call = async (tool, input = {}) => {
    const { content, isError } = await client.callTool({ name: tool, arguments: input });
    const [{ text = '' } = {}] = content as readonly { readonly text?: string }[];
    return { text, isError: isError === true };
  };
  return { client, ask, pid: transport.pid ?? 0 };
}

/** A live gateway whose session waits for a call that hangs, and one circuit that is open. */
async function startStuck() {
  vi.stubEnv('XDG_RUNTIME_DIR', temporaryDirectory());
  const db = join(temporaryDirectory(), 'gateway.sqlite');
  const gateway = createGateway({ store: db, logger: false });
  const policy = { breaker: { consecutiveFailures: 1, resetTimeoutMs: 60_000 }, retry: { maxAttempts: 1 } };
  const down = gateway.integration('down', { policy }, () =>
    Promise.reject(Object.assign(new Error('boom'), { status: 503 })),
  );
  gateway.integration('kb', {}, (_input, { signal }) => {
    return new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('ended'))));
  });
  const session = gateway.session('agent:main', { onMessage: (_message, turn) => turn.tool('kb', 'search') });
  await gateway.start();
  onTestFinished(() => gateway.stop());
  await down.call(undefined);
  await session.send({ kind: 'user' });
  return { db, gateway };
}

describe.skipIf(!hasSqlite)('unwedge mcp-self', () => {
  it.each(['v1', 'v2'] as const)(
    '[E-5] tells an agent with SDK %s what is stuck and which limit ends it',
    async (sdk) => {
      const { db } = await startStuck();
      const { ask } = await connect(db, [], sdk);
      const status = await ask('status');
      expect(status).toMatchObject({ isError: false, text: expect.stringMatching(/down +open/) as string });
      const why = await ask('why', { session: 'agent:main' });
      expect(why.text).toContain('kb search (agent:main-1-1)');
      expect(why.text).toContain('idle_timeout');
      const all = await ask('why');
      expect(all).toMatchObject({
        isError: false,
        text: expect.stringContaining('next: unwedge why agent:main') as string,
      });
      expect((await ask('report')).text).toContain('the last 24h');
      const events = await ask('events', { integration: 'down', failed: true, limit: 1 });
      expect(events.text.trim().split('\n')).toHaveLength(2);
      // oxlint-disable-next-line no-control-regex -- an escape is what must not be there
      expect([status, why, events].some(({ text }) => /\u001b/.test(text))).toBe(false);
    },
  );

  it('[E-5] has tools that only read, and restart where it is allowed', async () => {
    const { db, gateway } = await startStuck();
    const reading = await connect(db);
    const { tools } = await reading.client.listTools();
    expect(tools.map(({ name, annotations }) => [name, annotations?.readOnlyHint])).toEqual([
      ['status', true],
      ['why', true],
      ['events', true],
      ['report', true],
    ]);
    const refused = await reading.ask('restart', { name: 'kb' }).catch((error: Error) => ({ text: error.message }));
    expect(refused.text).toMatch(/restart not found/i);
    const restarted: unknown[] = [];
    gateway.on('operator.restarted', ({ integration, why }) => void restarted.push([integration, why]));
    const acting = await connect(db, ['--allow-restart']);
    expect(await acting.ask('restart', { name: 'kb' })).toMatchObject({ isError: false });
    await acting.ask('restart', { name: 'kb', reason: 'it hangs' });
    expect(restarted).toEqual([
      ['kb', 'by an agent: it gave no reason'],
      ['kb', 'by an agent: it hangs'],
    ]);
  });

  it('[E-5] takes no input for an option, a command or a file, and says what is wrong with it', async () => {
    const db = await databaseWith();
    const { ask } = await connect(db);
    const asked = await Promise.all([
      ask('why', { session: '--fire' }),
      ask('why', { session: '-h' }),
      ask('report', { integration: '--json' }),
      ask('report', { since: '5 parsecs' }),
    ]);
    expect(asked.map(({ text }) => text)).toEqual([
      expect.stringContaining('No session "--fire"'),
      expect.stringContaining('No session "-h"'),
      expect.stringContaining('There is no integration "--json"'),
      expect.stringContaining('got "5 parsecs"'),
    ]);
    expect(asked.map(({ isError }) => isError)).toEqual([true, true, false, true]);
    expect(await ask('status', { db: '/etc/passwd' })).toMatchObject({ isError: true });
  });

  it('[E-5] names what of an input is not as listed, before anything is run', async () => {
    const { ask } = await connect(await databaseWith());
    const asked = await Promise.all([
      ask('status', { db: '/etc/passwd' }),
      ask('events', { limit: '5' }),
      ask('events', { limit: 0 }),
      ask('events', { category: 'weather' }),
      ask('events', { failed: 'yes' }),
      ask('why', { session: '' }),
      ask('why', { session: 7 }),
    ]);
    expect(asked.every(({ isError }) => isError)).toBe(true);
    expect(asked.map(({ text }) => text)).toEqual([
      'Invalid arguments for tool status: there is no db; it takes nothing',
      expect.stringMatching(/^Invalid arguments for tool events: limit is to be a whole number from 1 to \d+$/),
      expect.stringMatching(/^Invalid arguments for tool events: limit is to be a whole number from 1 to \d+$/),
      expect.stringContaining('category is to be one of integration, '),
      'Invalid arguments for tool events: failed is to be true or false',
      'Invalid arguments for tool why: session is to be a text that is not empty',
      'Invalid arguments for tool why: session is to be a text that is not empty',
    ]);
  });

  it.each([
    ['the stateless era', '2026-07-28', { resultType: 'complete' }],
    ['a version with a handshake', undefined, {}],
  ])(
    '[E-5] [I-1] answers each line once in %s: nonsense, nested batches, unknown methods, and what was asked before the end',
    async (_era, version, said) => {
      const db = join(temporaryDirectory(), 'none.sqlite');
      const params = version && { _meta: { 'io.modelcontextprotocol/protocolVersion': version } };
      const ask = (id: unknown, method: string, more = {}) =>
        JSON.stringify({ jsonrpc: '2.0', id, method, params: { ...params, ...more } });
      const lines = [
        'nonsense',
        '',
        `[${ask(1, 'tools/list')},${ask('one', 'tools/call', { name: 'status' })}]`,
        `${'['.repeat(20_000)}${']'.repeat(20_000)}`,
        ask(2, 'resources/list'),
        ask(3, 'tools/call', { name: 'constructor' }),
        ask(4, 'tools/call', { name: 'status', arguments: [] }),
        JSON.stringify({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 'nobody' } }),
      ];
      const { stdout, exitCode } = await execa(process.execPath, [main, 'mcp-self', '--db', db], {
        input: `${lines.join('\n')}\n`,
        reject: false,
      });
      const answers = stdout.split('\n').map((line) => JSON.parse(line) as Record<string, unknown>);
      const byId = (id: unknown) => answers.filter((answer) => answer['id'] === id);
      expect(exitCode).toBe(0);
      expect(byId(null)).toMatchObject([{ error: { code: -32_700 } }]);
      expect(byId(1)).toMatchObject([{ result: { ...said, tools: [{ name: 'status' }, {}, {}, {}] } }]);
      for (const id of ['one', 4]) expect(byId(id)).toMatchObject([{ result: { ...said, isError: true } }]);
      expect(byId(2)).toMatchObject([{ error: { code: -32_601 } }]);
      expect(byId(3)).toMatchObject([{ error: { code: -32_602, message: 'Tool constructor not found' } }]);
      expect(answers).toHaveLength(6);
    },
  );

  it('[E-5] refuses a version that it does not speak, and offers the newest one that it does', async () => {
    const db = join(temporaryDirectory(), 'none.sqlite');
    const lines = [
      { id: 1, method: 'tools/list', params: { _meta: { 'io.modelcontextprotocol/protocolVersion': '2099-01-01' } } },
      { id: 2, method: 'initialize', params: { protocolVersion: '1999-01-01' } },
      { id: 3, method: 'initialize', params: { protocolVersion: '2024-11-05' } },
    ].map((request) => `${JSON.stringify({ jsonrpc: '2.0', ...request })}\n`);
    const { stdout } = await execa(process.execPath, [main, 'mcp-self', '--db', db], { input: lines.join('') });
    expect(stdout.split('\n').map((line) => JSON.parse(line) as unknown)).toMatchObject([
      { id: 1, error: { code: -32_022, data: { supported: ['2026-07-28'] } } },
      { id: 2, result: { protocolVersion: '2025-11-25' } },
      { id: 3, result: { protocolVersion: '2024-11-05' } },
    ]);
  });

  it('[E-5] cuts what is too long for a model, and says so', async () => {
    const facts = Array.from({ length: 1000 }, (_, index) => ({
      type: 'hook.failed' as const,
      at: index,
      hook: `hook-${index}`,
      event: 'PreToolUse',
      error: 'x'.repeat(100),
    }));
    const { ask } = await connect(await databaseWith(...(facts as never[])));
    const { text } = await ask('events', { limit: 1000 });
    expect(text.length).toBeLessThan(24_200);
    expect(text).toMatch(/\(\d+ more lines are left out: ask for less, as with limit or since\.\)\n$/);
  });

  it('[E-5] cuts no text within a line: an agent has no wider terminal', async () => {
    const error = `${'x'.repeat(300)} the end`;
    const fact = { type: 'hook.failed' as const, at: Date.now(), hook: 'guard', event: 'Stop', error };
    const { ask } = await connect(await databaseWith(fact as never));
    for (const tool of ['status', 'events']) expect((await ask(tool)).text).toContain(error);
  });

  it('[E-5] [I-3] ends when its client does', async () => {
    const { client, pid } = await connect(await databaseWith());
    expect(isAlive(pid)).toBe(true);
    await client.close();
    await expect.poll(() => isAlive(pid)).toBe(false);
  });

  it('[E-5] answers where there is no database yet', async () => {
    const { ask } = await connect(join(temporaryDirectory(), 'none.sqlite'));
    expect(await ask('status')).toMatchObject({
      isError: true,
      text: expect.stringContaining('No database at') as string,
    });
  });
});

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
