import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { propagation } from '@opentelemetry/api';
import type { ReadableSpan } from '@opentelemetry/sdk-trace-base';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Gateway } from '../../../src/index.ts';
import { withTelemetry } from '../../../otel/index.ts';
import { answer, inTurn, type HttpServer, startServer } from '../../integrations/http/startHttp.ts';
import { startTelemetry, type Telemetry } from '../startTelemetry.ts';

const traceparentOf = (span: ReadableSpan): string => {
  const { traceId, spanId } = span.spanContext();
  return `00-${traceId}-${spanId}-01`;
};

/** A server of MCP that answers a call of a tool with what came in its `_meta`. */
const tellsMeta = `
  const answers = {
    initialize: ({ protocolVersion }) => ({ protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 's', version: '1' } }),
    'tools/call': ({ _meta }) => ({ content: [{ type: 'text', text: JSON.stringify(_meta ?? null) }] }),
    'tools/list': ({ _meta }) => ({ tools: [{ name: 'meta', description: JSON.stringify(_meta ?? null), inputSchema: { type: 'object' } }] }),
  };
  let text = '';
  process.stdin.on('data', (chunk) => {
    const lines = (text += chunk).split('\\n');
    text = lines.pop();
    for (const { id, method, params } of lines.map((line) => JSON.parse(line)))
      if (id !== undefined) console.log(JSON.stringify({ jsonrpc: '2.0', id, result: answers[method]?.(params ?? {}) ?? {} }));
  });`;

async function startApi(
  telemetry = startTelemetry,
): Promise<{ server: HttpServer; started: Telemetry; api: ReturnType<Gateway['http']> }> {
  const server = await startServer(inTurn(answer(200, {})));
  let api: ReturnType<Gateway['http']> | undefined;
  const started = await telemetry((gateway) => (api = gateway.http('api', { baseUrl: server.url })));
  return { server, started, api: api as ReturnType<Gateway['http']> };
}

describe('the trace context', () => {
  it('[O-5] goes out in the headers of an HTTP API', async () => {
    const { server, started, api } = await startApi();
    await api.call({ path: 'x' });
    const span = started.span('GET');
    expect(server.received[0]?.headers['traceparent']).toBe(traceparentOf(span));
    expect(span.attributes).toMatchObject({
      'http.request.method': 'GET',
      'http.response.status_code': 200,
      'server.address': '127.0.0.1',
      'server.port': Number(new URL(server.url).port),
    });
  });

  it('[O-5] is what the caller says, where it says one', async () => {
    const { server, api } = await startApi();
    await api.call({ path: 'x', headers: { traceparent: 'mine' } });
    expect(server.received[0]?.headers['traceparent']).toBe('mine');
  });

  it('[O-5] is left to who instruments the fetch of Node: a request with two has none', async () => {
    const { server, api } = await startApi();
    const instrumentation = (): void => undefined;
    subscribe('undici:request:create', instrumentation);
    onTestFinished(() => void unsubscribe('undici:request:create', instrumentation));
    await api.call({ path: 'x' });
    expect(server.received[0]?.headers['traceparent']).toBeUndefined();
  });

  it('[O-5] is written as the propagator of the host says', async () => {
    propagation.setGlobalPropagator({
      inject: (_context, carrier, setter) => setter.set(carrier, 'x-own-trace', 'as the host has it'),
      extract: (context) => context,
      fields: () => ['x-own-trace'],
    });
    onTestFinished(() => propagation.disable());
    const { server, api } = await startApi();
    await api.call({ path: 'x' });
    expect(server.received[0]?.headers).toMatchObject({ 'x-own-trace': 'as the host has it' });
    expect(server.received[0]?.headers['traceparent']).toBeUndefined();
  });

  it('[O-5] goes out in _meta of the requests to an MCP server, unprefixed', async () => {
    let mcp: ReturnType<Gateway['mcpServer']> | undefined;
    const options = { command: process.execPath, args: ['-e', tellsMeta] };
    const started = await startTelemetry((gateway) => (mcp = gateway.mcpServer('fs', options)));
    const outcome = await mcp?.call({ name: 'meta' });
    const span = started.span('tools/call meta');
    const [content] = outcome?.ok === true ? outcome.value.content : [];
    const meta = JSON.parse(content?.type === 'text' ? content.text : '{}') as object;
    expect(meta).toMatchObject({ traceparent: traceparentOf(span), progressToken: expect.anything() as unknown });
    expect(span.attributes).toMatchObject({
      'mcp.method.name': 'tools/call',
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.name': 'meta',
    });
  });

  it('[O-5] goes out in the environment of commands', async () => {
    const script = 'console.log(process.env.TRACEPARENT)';
    let command: ReturnType<Gateway['subprocess']> | undefined;
    const started = await startTelemetry(
      (gateway) => (command = gateway.subprocess('echo', { command: process.execPath, args: ['-e', script] })),
    );
    const outcome = await command?.call({});
    expect(outcome?.ok === true && outcome.value.stdout.text.trim()).toBe(traceparentOf(started.span('call echo')));
  });

  it('[O-5] is given to functions, and is nothing where nothing is traced', async () => {
    const started = await startTelemetry(() => undefined);
    const kb = started.gateway.integration('kb', {}, (_input: string, { traceContext }) => traceContext);
    const outcome = await kb.call('question');
    expect(outcome).toEqual({ ok: true, value: { traceparent: traceparentOf(started.span('call kb')) } });
    started.off();
    expect(await kb.call('question')).toEqual({ ok: true, value: undefined });
    // The API without an SDK.
    withTelemetry(started.gateway);
    expect(await kb.call('question')).toEqual({ ok: true, value: undefined });
  });
});
