import { describe, expect, it, vi } from 'vitest';
import type { FactOf } from '../../../../src/policy/facts/facts.ts';
import { type StartedProxy, startProxy } from '../startProxy.ts';

const toolErrors = ({ facts }: StartedProxy): readonly FactOf<'mcp.tool_failed'>[] =>
  facts.filter((fact): fact is FactOf<'mcp.tool_failed'> => fact.type === 'mcp.tool_failed');

/** A tool that answers with this result. */
const answering = (result: string) => ({ do: 'answer', raw: `{"jsonrpc":"2.0","id":$id,"result":${result}}` });

describe('a tool behind the proxy that says that it failed', () => {
  it('[O-1] is recorded with its name, its input and its words, and its answer passes as it is', async () => {
    const proxy = await startProxy();
    await proxy.open();
    // Spaces and order of an answer that we would not write so.
    const raw = `{ "result" : {"isError":true, "content":[{"type":"text","text":"no such\\u0020file"}]} , "id":$id,"jsonrpc":"2.0" }`;
    const args = { do: 'answer', raw };
    await proxy.call('act', args, 7);
    expect(proxy.lines.at(-1)).toBe(raw.replace('$id', '7'));
    expect(toolErrors(proxy)).toMatchObject([
      {
        integration: 'kb',
        tool: 'act',
        input: args,
        error: 'no such file',
        kind: 'permanent',
        reason: 'tool_error',
        retries: 0,
      },
    ]);
    expect(proxy.facts.some(({ type }) => type === 'call.failed')).toBe(false);
  });

  it.each([
    [-32_602, 'bad arguments', { kind: 'permanent', reason: undefined }],
    [-32_002, 'no such resource', { kind: 'permanent', reason: 'not_found' }],
    [-32_700, 'not understood', { kind: 'protocol' }],
    [-32_000, 'too many requests', { kind: 'overloaded' }],
    [-32_603, 'out of luck', { kind: 'unknown' }],
  ])('[O-1] is recorded when the server answers with the error %i', async (code, message, facts) => {
    const proxy = await startProxy();
    await proxy.open();
    const error = JSON.stringify({ code, message });
    const answer = await proxy.call('act', { do: 'answer', raw: `{"jsonrpc":"2.0","id":$id,"error":${error}}` });
    expect(answer.error).toEqual({ code, message });
    expect(toolErrors(proxy)).toMatchObject([{ tool: 'act', error: message, ...facts }]);
  });

  it('[O-1] is recorded for each answer of a batch that fails', async () => {
    const proxy = await startProxy();
    await proxy.open();
    const failed = '"result":{"isError":true,"content":[{"type":"text","text":"no"}]}';
    const call = (id: number, name: string, text?: string) => ({
      jsonrpc: '2.0',
      id,
      method: 'tools/call',
      params: { name, arguments: text === undefined ? { do: 'hold', key: `${id}` } : { text } },
    });
    proxy.raw(JSON.stringify([call(1, 'act'), call(2, 'put'), call(3, 'peek', 'ready')]));
    await proxy.seen(({ id }) => id === 3);
    await proxy.call('act', {
      do: 'say',
      raw: `[{"jsonrpc":"2.0","id":1,${failed}},{"jsonrpc":"2.0","id":2,"result":{"content":[]}}]\n`,
    });
    expect(toolErrors(proxy)).toMatchObject([{ tool: 'act', error: 'no' }]);
  });

  it.each(['{"content":[]}', '{"isError":false,"content":[]}', '{"isError":"true","content":[]}'])(
    '[O-1] is not recorded when it does not say so: %s',
    async (result) => {
      const proxy = await startProxy();
      await proxy.open();
      await proxy.call('act', answering(result));
      expect(toolErrors(proxy)).toEqual([]);
    },
  );

  it.each(['{"isError":true}', '{"isError":true,"content":7}', '{"isError":true,"content":[null,{"type":"text"}]}'])(
    '[O-1] is recorded though it does not say why: %s',
    async (result) => {
      const proxy = await startProxy();
      await proxy.open();
      await proxy.call('act', answering(result));
      expect(toolErrors(proxy)).toMatchObject([{ error: 'The tool failed and did not say why' }]);
    },
  );

  it('[O-1] is not recorded for requests that call no tool', async () => {
    const proxy = await startProxy();
    await proxy.open();
    expect((await proxy.ask('no/such/method')).error).toMatchObject({ code: -32_601 });
    expect(toolErrors(proxy)).toEqual([]);
  });

  it('[O-1] is recorded once when it passes its limit, and what it says too late is none of it', async () => {
    const proxy = await startProxy({ overallMs: 60_000 });
    await proxy.open();
    proxy.clock.stop();
    const hung = proxy.call('act', { do: 'hold' });
    await proxy.call('put', { do: 'start' });
    proxy.clock.skip(60_000);
    expect((await hung).result?.['isError']).toBe(true);
    await proxy.call('put', { do: 'release' });
    expect(toolErrors(proxy)).toMatchObject([{ tool: 'act', input: { do: 'hold' }, kind: 'timeout' }]);
  });

  it('[O-1] is recorded once though its server ends at once', async () => {
    const proxy = await startProxy();
    await proxy.open();
    await proxy.call('act', { do: 'last', bytes: 1, isError: true });
    await proxy.call('put', { do: 'start' });
    expect(toolErrors(proxy)).toMatchObject([{ tool: 'act', error: 'x', reason: 'tool_error' }]);
  });

  it('[O-1] is recorded once though its server is lost in the moment of its answer', async () => {
    const proxy = await startProxy();
    await proxy.open();
    const facts = { kind: 'crash', message: 'gone', outcome: 'unknown' } as const;
    proxy.runtime.bus.once('mcp.tool_failed', () => proxy.proxy.path.crashed(facts));
    await proxy.call('act', { do: 'fail' });
    await proxy.told('call.failed');
    expect(toolErrors(proxy)).toMatchObject([{ error: 'no' }]);
  });

  it('[O-1] is recorded with the attempts that it took', async () => {
    const proxy = await startProxy();
    await proxy.open();
    await proxy.call('peek', { do: 'crash', onStart: 1, then: 'fail' });
    expect(toolErrors(proxy)).toMatchObject([{ tool: 'peek', error: 'no', retries: 1 }]);
  });

  it('[O-1] is recorded with the first 2,000 characters, of an answer that is read once', async () => {
    const proxy = await startProxy();
    await proxy.open();
    const parts = Array.from({ length: 1000 }, () => ({ type: 'text', text: 'x'.repeat(1000) }));
    const readings = async (isError: boolean): Promise<number> => {
      const parse = vi.spyOn(JSON, 'parse');
      try {
        await proxy.call('act', answering(JSON.stringify({ isError, content: parts })));
        return parse.mock.calls.filter(([text]) => text.length > 1_000_000).length;
      } finally {
        parse.mockRestore();
      }
    };
    expect(await readings(true)).toBe(await readings(false));
    const [told] = toolErrors(proxy);
    expect(told?.error).toHaveLength(2000);
    expect(told?.error).toMatch(/^x{1000}\nx+\.\.\.$/);
  });
});
