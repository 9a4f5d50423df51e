import { Client, InMemoryTransport, type JSONRPCMessage } from '@modelcontextprotocol/client';
import { describe, expect, it } from 'vitest';
import { toolResult } from '../../../src/actors/mcp/mcpCall.ts';
import { createMcpConnection } from '../../../src/actors/mcp/mcpClient.ts';
import { SimulatedClock } from '../../../testing/simulatedClock.ts';
import type { FaultyMcpServerOptions } from '../../../testing/faultyMcpServer.ts';
import { cancellations, hanging, rejection, requestContext, startServer, textOf } from './mcpHarness.ts';

const connect = (script?: FaultyMcpServerOptions) => startServer(script).ready;

/** A connection in simulated time to a server that answers initialize, and else what the test makes it answer. */
async function startSimulated(answer: (message: JSONRPCMessage, reply: (message: object) => void) => void) {
  const clock = new SimulatedClock();
  const received: object[] = [];
  const [near, far] = InMemoryTransport.createLinkedPair();
  const reply = (message: object): void => void far.send({ jsonrpc: '2.0', ...message } as JSONRPCMessage);
  far.onmessage = (message) => {
    if (!('id' in message)) received.push(message);
    else if ('method' in message && message.method === 'initialize') {
      const serverInfo = { name: 'simulated', version: '1' };
      reply({ id: message.id, result: { protocolVersion: '2025-06-18', capabilities: {}, serverInfo } });
    } else answer(message, reply);
  };
  const client = new Client({ name: 'test', version: '1' });
  await client.connect(near);
  const lost = () => undefined;
  const connection = createMcpConnection({
    pid: 7,
    client,
    clock,
    pingMs: 5000,
    lost,
    lateAnswers: () => 0,
    kill: () => undefined,
    onNotice: () => undefined,
  });
  return { connection, clock, received };
}

describe('a call of an MCP tool', () => {
  it('[P-1] gives the result of the tool', async () => {
    const connection = await connect();
    const call = connection.callTool({ name: 'echo', arguments: { text: 'hello' } }, requestContext().context);
    expect(textOf(await call)).toBe('hello');
  });

  it('[P-1] takes every progress notification for a sign of life', async () => {
    const { connection } = await startSimulated((message, reply) => {
      if (!('method' in message) || !('id' in message)) return;
      const progressToken = message.params?._meta?.progressToken;
      for (const progress of [1, 2]) reply({ method: 'notifications/progress', params: { progressToken, progress } });
      // The client forgets progress that it reads together with the answer.
      setImmediate(() => reply({ id: message.id, result: { content: [] } }));
    });
    const { context, touches } = requestContext();
    await connection.callTool({ name: 'any' }, context);
    expect(touches()).toBe(2);
  });

  it('[P-1] fails for good with the words of a tool that says it failed', async () => {
    const connection = await connect({
      faults: [{ tool: 'fail', do: 'tool_error', texts: ['no such file', 'a.txt'] }],
    });
    const result = await connection.callTool({ name: 'fail' }, requestContext().context);
    const facts = { kind: 'permanent', reason: 'tool_error', outcome: 'failed', message: 'no such file\na.txt' };
    expect(await rejection((async () => toolResult(result))())).toMatchObject(facts);
  });

  it('[R-8] tells the server that a call was aborted, and why', async () => {
    const connection = await connect(hanging);
    const { context, abort, touched } = requestContext();
    const call = rejection(connection.callTool({ name: 'hang' }, context));
    await touched;
    abort(new Error('nobody waits any more'));
    expect(await call).toMatchObject({ kind: 'cancelled', outcome: 'cancelled' });
    expect(await cancellations(connection)).toEqual(['nobody waits any more']);
  });

  it('[R-8] does not start a call whose signal was aborted before', async () => {
    const connection = await connect(hanging);
    const { context, abort } = requestContext();
    abort('too late');
    const facts = { kind: 'cancelled', outcome: 'not_started', cause: 'too late' };
    expect(await rejection(connection.callTool({ name: 'hang' }, context))).toMatchObject(facts);
    expect(await cancellations(connection)).toEqual([]);
  });

  it('[R-8] does not cancel a call that was answered before its signal was aborted', async () => {
    const { connection, received } = await startSimulated((message, reply) => {
      if ('id' in message) reply({ id: message.id, result: { content: [] } });
    });
    const { context, abort } = requestContext();
    await connection.callTool({ name: 'any' }, context);
    abort();
    expect(received).toMatchObject([{ method: 'notifications/initialized' }]);
  });

  it('[I-1] drops and counts an answer that comes after the call was aborted', async () => {
    const connection = await connect({ faults: [{ tool: 'late', do: 'late', progress: 1 }] });
    const { context, abort, touched } = requestContext();
    const call = rejection(connection.callTool({ name: 'late' }, context));
    await touched;
    abort();
    expect(await call).toMatchObject({ kind: 'cancelled' });
    expect(await connection.ping()).toBe(true);
    expect(connection.lateAnswers).toBe(1);
  });

  it('[P-1] skips and tells what a server writes to stdout outside the protocol', async () => {
    const text = 'Loading model...\n[1,2]\n';
    const server = startServer({ faults: [{ tool: 'noise', do: 'noise', text }] });
    const request = { name: 'noise', arguments: { text: 'quiet again' } };
    const call = (await server.ready).callTool(request, requestContext().context);
    expect(textOf(await call)).toBe('quiet again');
    expect(server.stray).toEqual(['stdout: Loading model...', 'stdout: [1,2]']);
  });

  it('[P-1] takes a message up to its limit and gives the connection up at a larger one', async () => {
    const faults = [
      { tool: 'large', do: 'oversize', bytes: 99_000 },
      { tool: 'tooLarge', do: 'oversize', bytes: 100_000 },
    ] as const;
    const server = startServer({ faults }, { maxMessageBytes: 100_000 });
    const call = async (name: string) => (await server.ready).callTool({ name }, requestContext().context);
    expect(textOf(await call('large'))).toHaveLength(99_000);
    expect(await rejection(call('tooLarge'))).toMatchObject({ kind: 'protocol', reason: 'message_too_large' });
    expect(await server.done).toMatchObject({ error: { facts: { reason: 'message_too_large' } } });
  });

  it('[P-1] is malformed when its result has not the form of one', async () => {
    const { connection } = await startSimulated((message, reply) => {
      if ('id' in message) reply({ id: message.id, result: { content: 'text' } });
    });
    const call = connection.callTool({ name: 'any' }, requestContext().context);
    expect(await rejection(call)).toMatchObject({ kind: 'protocol', outcome: 'unknown' });
  });
});

describe('a request to an MCP server', () => {
  it('[P-1] tells an error of the server from a local one of the same code', async () => {
    const data = { timeout: 60_000 };
    const connection = await connect({
      faults: [
        { on: 'test/timeout', do: 'error', code: -32_001, message: 'Request timed out', data },
        { on: 'test/overload', do: 'error', code: -32_001, message: 'Server overloaded', data },
        { on: 'test/close', do: 'error', code: -32_000, message: 'Connection closed', data },
      ],
    });
    const ask = (method: string) => rejection(connection.request(method, {}));
    expect(await ask('test/timeout')).toMatchObject({ kind: 'unknown', code: -32_001 });
    expect(await ask('test/overload')).toMatchObject({ kind: 'overloaded', outcome: 'failed' });
    expect(await ask('test/close')).toMatchObject({ kind: 'unknown', code: -32_000 });
  });

  it('gives the result as it is', async () => {
    const { connection } = await startSimulated((message, reply) => {
      if ('id' in message) reply({ id: message.id, result: { answer: 42 } });
    });
    expect(await connection.request('any/method', { question: 6 })).toEqual({ answer: 42 });
  });

  it('lists the tools of all pages', async () => {
    const page = (name: string, nextCursor?: string) => ({
      tools: [{ name, inputSchema: { type: 'object' } }],
      nextCursor,
    });
    const { connection } = await startSimulated((message, reply) => {
      if (!('method' in message) || !('id' in message)) return;
      reply({ id: message.id, result: message.params?.['cursor'] === 'b' ? page('second') : page('first', 'b') });
    });
    expect((await connection.listTools()).map(({ name }) => name)).toEqual(['first', 'second']);
  });

  it('[I-1] gives up a list of tools that never ends', async () => {
    const { connection } = await startSimulated((message, reply) => {
      if ('id' in message) reply({ id: message.id, result: { tools: [], nextCursor: 'again' } });
    });
    expect(await rejection(connection.listTools())).toMatchObject({ kind: 'protocol' });
  });
});

describe('a ping', () => {
  const silent = () => startSimulated(() => undefined);

  it('[P-1] waits 5 s for an answer, and takes it back when there is none', async () => {
    const { connection, clock, received } = await silent();
    let answer: boolean | undefined;
    void connection.ping().then((value) => {
      answer = value;
    });
    await clock.advance(4999);
    expect(answer).toBeUndefined();
    await clock.advance(1);
    expect(answer).toBe(false);
    expect(received.at(-1)).toMatchObject({ method: 'notifications/cancelled' });
  });

  it('[G-6] [P-1] waits for as long in time in which our own event loop ran', async () => {
    const { connection, clock } = await silent();
    let answer: boolean | undefined;
    void connection.ping().then((value) => {
      answer = value;
    });
    await clock.advance(1000);
    clock.stall(10_000);
    await clock.advance(3999);
    expect(answer).toBeUndefined();
    await clock.advance(1);
    expect(answer).toBe(false);
  });

  it('[P-1] takes an answer that was only read after the limit because the event loop was blocked', async () => {
    let answer = (): void => undefined;
    const { connection, clock } = await startSimulated((message, reply) => {
      if ('id' in message) answer = () => reply({ id: message.id, result: {} });
    });
    const nextTurn = clock.nextTurn.bind(clock);
    clock.nextTurn = (callback) => {
      answer();
      nextTurn(callback);
    };
    const ping = connection.ping(100);
    await clock.advance(100);
    expect(await ping).toBe(true);
  });

  it('[P-1] takes a refusal for a sign of life', async () => {
    const { connection, clock } = await startSimulated((message, reply) => {
      if ('id' in message) reply({ id: message.id, error: { code: -32601, message: 'Method not found' } });
    });
    expect(await connection.ping()).toBe(true);
    expect(clock.pending).toBe(0);
  });

  it('[P-1] is not answered by a server that is gone', async () => {
    const server = startServer();
    const connection = await server.ready;
    process.kill(server.pid(), 'SIGKILL');
    await server.done;
    expect(await connection.ping()).toBe(false);
  });
});
