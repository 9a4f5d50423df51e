import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { faultyMcpServer, type FaultyMcpServerOptions } from '../../testing/faultyMcpServer.ts';
import type { McpFaultRule } from '../../testing/mcpFaults.ts';
import { faultyServer } from '../support/faultyServer.ts';
import { temporaryDirectory } from '../support/temporary.ts';
import { textOf } from '../support/wire.ts';
import { converse } from './converse.ts';

/** The official client, connected. */
async function connect(options: FaultyMcpServerOptions = {}): Promise<Client> {
  const client = new Client({ name: 'test', version: '1' });
  onTestFinished(() => client.close());
  await client.connect(new StdioClientTransport({ ...faultyServer(options), stderr: 'ignore' }));
  return client;
}

const bySearch = (fault: object): FaultyMcpServerOptions => ({
  faults: [{ tool: 'search', ...fault } as McpFaultRule],
});

describe('the faulty MCP server without a fault', () => {
  it('[U-5] has its program in the package, wherever the builder put the module that names it', async () => {
    const entry = new URL('../../dist/testing/index.js', import.meta.url).href;
    const built = (await import(entry)) as typeof import('../../testing/index.ts');
    expect(existsSync(String(built.faultyMcpServer().args[0]))).toBe(true);
  });

  it('[U-5] shakes hands with the official client, lists its tools and echoes', async () => {
    const client = await connect({
      name: 'kb',
      version: '2.0.0',
      instructions: 'Ask nicely.',
      ...bySearch({ do: 'late' }),
    });
    expect(client.getServerVersion()).toEqual({ name: 'kb', version: '2.0.0' });
    expect(client.getInstructions()).toBe('Ask nicely.');
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(['echo', 'search']);
    const { content } = await client.callTool({ name: 'echo', arguments: { text: 'hello' } });
    expect(content).toEqual([{ type: 'text', text: 'hello' }]);
    await client.ping();
  });

  it('[U-5] refuses a method it does not know, such as that of a later era', async () => {
    const { send, next } = converse();
    send({ id: 1, method: 'server/discover' });
    expect(await next()).toMatchObject({ id: 1, error: { code: -32601 } });
  });

  it('[U-5] tells what it received, and its environment', async () => {
    const client = await connect();
    const received = (await client.callTool({ name: 'received' })) as { content: { text: string }[] };
    const methods = (JSON.parse(received.content[0]?.text ?? '') as { method: string }[]).map(({ method }) => method);
    expect(methods).toEqual(['initialize', 'notifications/initialized', 'tools/call']);
    const { content } = await client.callTool({ name: 'environment', arguments: { name: 'PATH' } });
    expect(content).toMatchObject([{ text: process.env['PATH'] }]);
  });

  it('[U-5] does not know a tool that nobody named', async () => {
    expect(await (await connect()).callTool({ name: 'nope' })).toMatchObject({ isError: true });
  });

  it('[I-3] ends when its stdin ends, a slow answer pending or not', async () => {
    const { call, child, exit } = converse(bySearch({ do: 'slow', ms: 1_000_000 }));
    call(1, 'search');
    child.stdin.end();
    expect(await exit).toEqual([0, null]);
  });
});

describe('a fault of the MCP server', () => {
  it('[U-5] befalls the message its rule names, by count', async () => {
    const { call, next } = converse(bySearch({ nth: [1, 3], do: 'error', code: -32_000, message: 'no', data: 7 }));
    for (const id of [1, 2, 3, 4]) call(id, 'search');
    call(5, 'echo');
    const answers = [await next(), await next(), await next(), await next(), await next()];
    expect(answers.map(({ id }) => id)).toEqual([1, 2, 3, 4, 5]);
    expect(answers.map(({ error }) => error)).toEqual([
      { code: -32_000, message: 'no', data: 7 },
      undefined,
      { code: -32_000, message: 'no', data: 7 },
      undefined,
      undefined,
    ]);
  });

  it('[U-5] is that of the first rule that matches', async () => {
    const { call, next } = converse({
      faults: [{ tool: 'a', do: 'tool_error', texts: ['first'] }, { do: 'malformed' }],
    });
    call(1, 'a');
    call(2, 'echo');
    expect([textOf(await next()), (await next()).result]).toEqual([
      'first',
      expect.objectContaining({ content: 'no list' }),
    ]);
  });

  it('[U-5] refuses the handshake', async () => {
    const { send, next } = converse({ faults: [{ on: 'initialize', do: 'error', message: 'no licence' }] });
    send({ id: 1, method: 'initialize' });
    expect(await next()).toMatchObject({ error: { message: 'no licence' } });
  });

  it.each(['server/discover', 'notifications/initialized', 'start'])('[U-5] befalls %s', async (on) => {
    const { send, exit, error } = converse({ faults: [{ on, do: 'crash', exitCode: 7, stderr: 'no database' }] });
    send(on.startsWith('notifications/') ? { method: on } : { id: 1, method: on });
    expect(await exit).toEqual([7, null]);
    expect(await error()).toBe('no database');
  });

  it('[U-5] crashes before the answer, or after it, by code or by signal', async () => {
    const before = converse(bySearch({ do: 'crash', exitCode: 3 }));
    before.call(1, 'search');
    expect(await before.exit).toEqual([3, null]);
    expect(before.raw()).toBe('');
    const after = converse(bySearch({ do: 'crash', when: 'after', signal: 'SIGKILL' }));
    after.call(1, 'search');
    expect(await after.next()).toMatchObject({ id: 1, result: {} });
    expect(await after.exit).toEqual([null, 'SIGKILL']);
  });

  it('[U-5] hangs in one call and answers others, or hangs altogether', async () => {
    const one = converse(bySearch({ do: 'hang', progress: 1 }));
    one.call(1, 'search');
    one.send({ id: 2, method: 'ping' });
    expect([await one.next(), await one.next()]).toMatchObject([{ method: 'notifications/progress' }, { id: 2 }]);
    const all = converse(bySearch({ do: 'hang', scope: 'server', progress: 1 }));
    all.call(1, 'search');
    expect(await all.next()).toMatchObject({ method: 'notifications/progress', params: { progressToken: 1 } });
    all.send({ id: 2, method: 'ping' });
    all.child.stdin.end();
    // Time enough for one that still heard anything.
    const other = converse();
    other.send({ id: 1, method: 'ping' });
    await other.next();
    all.child.kill('SIGTERM');
    expect(await all.exit).toEqual([null, 'SIGTERM']);
    expect(all.raw()).not.toContain('"id":2');
  });

  it('[U-5] answers slowly, with progress on the way', async () => {
    const { call, next } = converse(bySearch({ do: 'slow', ms: 30, progress: 2 }));
    call(1, 'search', { text: 'slow' });
    expect([await next(), await next()]).toMatchObject([{ params: { progress: 1 } }, { params: { progress: 2 } }]);
    expect(textOf(await next())).toBe('slow');
  });

  it('[U-5] answers once cancelled', async () => {
    const { call, send, next } = converse(bySearch({ do: 'late' }));
    call(1, 'search');
    send({ id: 2, method: 'ping' });
    expect(await next()).toMatchObject({ id: 2 });
    send({ method: 'notifications/cancelled', params: { requestId: 1 } });
    expect(await next()).toMatchObject({ id: 1 });
  });

  it('[U-5] writes half a line', async () => {
    const { call, exit, raw } = converse(bySearch({ do: 'partial_line', then: 'crash' }));
    call(1, 'search');
    expect(await exit).toEqual([1, null]);
    expect(raw()).toMatch(/^\{"jsonrpc":"2.0","id":1,[^\n]+[^}\n]$/);
  });

  it.each([
    [true, 'Loading model...'],
    [false, 'Loading model...{"jsonrpc":"2.0","id":1,'],
  ])('[U-5] makes noise before the answer, with an end of line: %s', async (newline, start) => {
    const { call, line } = converse(bySearch({ do: 'noise', newline }));
    call(1, 'search');
    const first = await line();
    expect(newline ? first === start : first.startsWith(start)).toBe(true);
  });

  it('[U-5] answers too much, twice, or somebody else', async () => {
    const rules = [
      { tool: 'large', do: 'oversize', bytes: 100_000 },
      { tool: 'twice', do: 'duplicate_answer' },
      { tool: 'wrong', do: 'wrong_id' },
    ] as const;
    const { call, next } = converse({ faults: rules });
    call(1, 'large');
    expect(textOf(await next())).toHaveLength(100_000);
    call(2, 'twice');
    expect([await next(), await next()]).toMatchObject([{ id: 2 }, { id: 2 }]);
    call(3, 'wrong');
    expect(await next()).toMatchObject({ id: 'nobody-asked', result: {} });
  });

  it('[U-5] asks the client and goes on with its reply', async () => {
    const { call, send, next } = converse(bySearch({ do: 'ask', method: 'elicitation/create' }));
    call(1, 'search');
    const question = await next();
    expect(question).toMatchObject({ method: 'elicitation/create', params: { message: 'What now?' } });
    send({ id: question.id, result: { action: 'decline' } });
    expect(await next()).toMatchObject({ id: 1 });
  });

  it('[U-5] asks the client and dies meanwhile', async () => {
    const { call, next, exit } = converse(bySearch({ do: 'ask', method: 'roots/list', then: 'crash' }));
    call(1, 'search');
    expect(await next()).toMatchObject({ method: 'roots/list' });
    expect(await exit).toEqual([1, null]);
  });

  it('[U-5] changes its tools and says so', async () => {
    const { call, send, next } = converse(bySearch({ do: 'change_tools', tools: ['other'] }));
    call(1, 'search');
    expect([await next(), await next()]).toMatchObject([{ method: 'notifications/tools/list_changed' }, { id: 1 }]);
    send({ id: 2, method: 'tools/list' });
    expect(await next()).toMatchObject({ result: { tools: [{ name: 'other' }, { name: 'search' }] } });
  });

  it('[U-5] ignores SIGTERM and the end of its stdin', async () => {
    const { child, exit, error } = converse({ ignoreSigterm: true, ignoreStdinEnd: true, stderr: 'up' });
    expect(await error()).toBe('up');
    child.stdin.end();
    child.kill('SIGTERM');
    expect(await error()).toBe('not now');
    child.kill('SIGKILL');
    expect(await exit).toEqual([null, 'SIGKILL']);
  });
});

describe('the starts of a faulty MCP server', () => {
  it('[U-5] are counted in a file: a fault befalls one of them, and its tools change', async () => {
    const startsFile = join(temporaryDirectory(), 'starts');
    const options = {
      startsFile,
      toolsAfterRestart: ['other'],
      faults: [{ tool: 'search', start: 1, do: 'crash', exitCode: 5 }],
    } as const;
    const first = converse(options);
    first.call(1, 'search');
    expect(await first.exit).toEqual([5, null]);
    const second = converse(options);
    second.call(1, 'search');
    second.send({ id: 2, method: 'tools/list' });
    expect([await second.next(), await second.next()]).toMatchObject([
      { id: 1, result: {} },
      { id: 2, result: { tools: [{ name: 'other' }, { name: 'search' }] } },
    ]);
  });
});

describe('the options of a faulty MCP server', () => {
  it.each([
    [{ fault: [] }, RangeError, 'Unknown option `fault`; did you mean faults?'],
    [{ faults: {} }, TypeError, 'Expected `faults` to be an array, got an object'],
    [{ faults: [{ do: 'explode' }] }, RangeError, 'Expected `faults[0].do` to be one of crash, hang'],
    [
      { faults: [{ do: 'slow' }] },
      TypeError,
      'Expected `faults[0].ms` to be a duration above 0 (ms, or text such as 30s), got undefined',
    ],
    [{ faults: [{ do: 'hang', ms: 5 }] }, RangeError, 'Unknown option `faults[0].ms`'],
    [{ faults: [{ do: 'hang', nth: 0 }] }, RangeError, 'Expected `faults[0].nth` to be a positive integer, got 0'],
    [{ faults: [{ do: 'hang', tool: 'a', on: 'ping' }] }, RangeError, 'Expected `faults[0].on`'],
    [{ faults: [{ do: 'hang', start: 1 }] }, RangeError, 'Expected `startsFile`'],
    [{ tools: [{ name: 'a', description: 5 }] }, TypeError, 'Expected `tools[0].description` to be a string, got 5'],
    [
      { tools: [{ name: 'a', annotations: 'x' }] },
      TypeError,
      'Expected `tools[0].annotations` to be an object, got "x"',
    ],
    [{ stderr: 'x'.repeat(100_000) }, RangeError, 'Expected the options to take at most 100000 bytes as JSON, got 100'],
    [{ tools: [''] }, RangeError, 'Expected `tools[0]` to be a non-empty string, got ""'],
  ])('[U-5] are checked at once: %j', (options, type, message) => {
    expect(() => faultyMcpServer(options as never)).toThrow(type);
    expect(() => faultyMcpServer(options as never)).toThrow(message);
  });
});
