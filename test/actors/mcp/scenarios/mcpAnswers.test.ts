import { describe, expect, it } from 'vitest';
import type { McpServerOptions } from '../../../../src/actors/mcp/mcpServerOptions.ts';
import { temporaryDirectory } from '../../../support/temporary.ts';
import { fixture, rejection, requestContext, startServer, textOf } from '../mcpHarness.ts';

const scripted = (env: Readonly<Record<string, string>> = {}): Partial<McpServerOptions> => ({
  command: process.execPath,
  args: [fixture('mcpScripted'), temporaryDirectory()],
  env,
});

/** A call that the server answers with this text, `$id` being its id; or, without one, not at all. */
const answered = (raw: string) => ({ name: 'act', arguments: { do: 'answer', raw } });

const log = '{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"at work"}}';

describe('an answer with the id of a call', () => {
  it.each([
    '{"jsonrpc":"2.0","id":$id,"result":null}',
    '{"jsonrpc":"2.0","id":$id,"result":1}',
    '{"jsonrpc":"2.0","id":$id,"result":[]}',
    '{"jsonrpc":"2.0","id":$id,"result":{"content":[]},"__proto__":{"a":1}}',
    '{"jsonrpc":"2.0","id":$id,"error":"no"}',
    '{"jsonrpc":"2.0","id":$id,"error":{"message":"no code"}}',
    '{"jsonrpc":"2.0","id":$id,"error":null}',
    '{"jsonrpc":"2.0","id":$id}',
    '{"id":$id,"result":{"content":[]}}',
  ])('[P-1] that has not the form of one ends it at once: %s', async (raw) => {
    const server = startServer({}, scripted());
    const connection = await server.ready;
    const facts = await rejection(connection.callTool(answered(raw), requestContext().context));
    expect(facts).toMatchObject({ kind: 'protocol', outcome: 'unknown' });
    expect(facts.message).toMatch(/^The answer is malformed: \{/);
    expect(server.stray).toEqual([]);
    expect(connection.lateAnswers).toBe(0);
    const next = connection.callTool({ name: 'act', arguments: { do: 'echo', text: 'on' } }, requestContext().context);
    expect(textOf(await next)).toBe('on');
  });

  it('[P-1] that has not the form of one is shown in part, and without our secrets', async () => {
    const connection = await startServer({}, scripted({ KEY: 's3cret-value' })).ready;
    const raw = `{"jsonrpc":"2.0","id":$id,"result":"s3cret-value ${'x'.repeat(5000)}"}`;
    const facts = await rejection(connection.callTool(answered(raw), requestContext().context));
    expect(facts.message).not.toContain('s3cret');
    expect(facts.message.length).toBeLessThan(300);
  });

  it('[P-1] of none is output outside the protocol', async () => {
    const server = startServer({}, scripted());
    const connection = await server.ready;
    const raw = '{"jsonrpc":"2.0","id":4711,"result":null}\n{"jsonrpc":"2.0","id":$id,"result":{"content":[]}}';
    await connection.callTool(answered(raw), requestContext().context);
    expect(server.stray).toEqual(['stdout: {"jsonrpc":"2.0","id":4711,"result":null}']);
  });
});

describe('an answer behind noise on its line', () => {
  const call = async (raw: string) => {
    const server = startServer({}, scripted());
    const connection = await server.ready;
    const answer = connection.callTool(answered(raw), requestContext().context);
    return { server, answer };
  };
  const clean = '{"jsonrpc":"2.0","id":$id,"result":{"content":[{"type":"text","text":"clean"}]}}';

  it.each([
    ['50 %', '{"jsonrpc":"2.0","id":$id,"result":{"content":[{"type":"text","text":"found"}]}}'],
    ['{"id": 1} {', '{ "result": {"content":[{"type":"text","text":"found"}]}, "jsonrpc":"2.0","id":$id}'],
  ])('[P-1] is understood, and the noise is told: %s', async (noise, message) => {
    const { server, answer } = await call(`${noise}${message}`);
    expect(textOf(await answer)).toBe('found');
    expect(server.stray).toEqual([`stdout: ${noise}`]);
  });

  it('[P-1] ends the call when it has not the form of one', async () => {
    const { answer } = await call('50 %{"jsonrpc":"2.0","id":$id,"result":1}');
    expect(await rejection(answer)).toMatchObject({ kind: 'protocol', outcome: 'unknown' });
  });

  it.each([
    'asked {"jsonrpc":"2.0","id":$id,"method":"tools/call"}',
    'of another {"jsonrpc":"2.0","id":4711,"result":{"content":[]}}',
    'half {"jsonrpc":"2.0","id":$id,"result":{"content":[]}',
  ])('[P-1] is not taken from a line that has none: %s', async (line) => {
    const { server, answer } = await call(`${line}\n${clean}`);
    expect(textOf(await answer)).toBe('clean');
    expect(server.stray).toHaveLength(1);
  });
});

describe('messages that come as one', () => {
  it('[P-1] are each taken for what they are, as servers of 2025-03-26 may send them', async () => {
    const server = startServer({}, scripted());
    const connection = await server.ready;
    const { context, touches } = requestContext();
    const answer = '{"jsonrpc":"2.0","id":$id,"result":{"content":[{"type":"text","text":"found"}]}}';
    expect(textOf(await connection.callTool(answered(`[${log},${answer},1]`), context))).toBe('found');
    expect(touches()).toBe(1);
    expect(server.stray).toEqual(['stdout: [1]']);
  });

  it('[P-1] end the call whose answer has not the form of one', async () => {
    const connection = await startServer({}, scripted()).ready;
    const answer = connection.callTool(answered('[{"jsonrpc":"2.0","id":$id,"result":1}]'), requestContext().context);
    expect(await rejection(answer)).toMatchObject({ kind: 'protocol', outcome: 'unknown' });
  });
});

describe('what a server logs', () => {
  it('[P-1] [G-7] is a sign of life of the one call in flight', async () => {
    const connection = await startServer({}, scripted()).ready;
    const { context, touched, abort } = requestContext();
    const call = rejection(connection.callTool(answered(log), context));
    await touched;
    abort();
    expect(await call).toMatchObject({ kind: 'cancelled' });
  });

  it('[P-1] [G-7] says nothing of several calls', async () => {
    const connection = await startServer({}, scripted()).ready;
    const [hung, logging] = [requestContext(), requestContext()];
    const calls = [
      rejection(connection.callTool({ name: 'act', arguments: { do: 'hang' } }, hung.context)),
      rejection(connection.callTool(answered(log), logging.context)),
    ];
    await connection.ping();
    expect([hung.touches(), logging.touches()]).toEqual([0, 0]);
    hung.abort();
    logging.abort();
    await Promise.all(calls);
  });
});
