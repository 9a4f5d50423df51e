import { describe, expect, it } from 'vitest';
import type { McpServerOptions } from '../../src/actors/mcpServerOptions.ts';
import { temporaryDirectory } from '../support/temporary.ts';
import { fixture, rejection, requestContext, startServer, textOf } from './mcpHarness.ts';

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
