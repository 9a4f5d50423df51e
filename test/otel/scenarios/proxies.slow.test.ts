import { SpanKind, SpanStatusCode } from '@opentelemetry/api';
import type { ReadableSpan } from '@opentelemetry/sdk-trace-base';
import { describe, expect, it } from 'vitest';
import { attachTelemetry } from '../../../otel/attachTelemetry.ts';
import { startApiProxy, type Started } from '../../proxy/api/startApiProxy.ts';
import { type Scripted, startProxy } from '../../proxy/mcp/startProxy.ts';
import { exportedBy, registerContext } from '../startTelemetry.ts';

const traceId = '0af7651916cd43dd8448eb211c80319c';
const asker = 'b7ad6b7169203331';
const traceparent = `00-${traceId}-${asker}-01`;

async function tracedProxy(options: Scripted = {}) {
  registerContext();
  const started = await startProxy(options);
  const exported = exportedBy((providers) => attachTelemetry(started.registry, providers));
  await started.open();
  return { ...started, ...exported };
}

async function tracedApi(options: Started = {}) {
  registerContext();
  const started = await startApiProxy(options);
  const exported = exportedBy((providers) => attachTelemetry(started.registry, providers));
  return { ...started, ...exported };
}

const figures = {
  'gen_ai.response.model': expect.any(String) as string,
  'gen_ai.usage.input_tokens': expect.any(Number) as number,
  'gen_ai.usage.output_tokens': expect.any(Number) as number,
};
const spanOf = (spans: readonly ReadableSpan[], name: string, kind: SpanKind): ReadableSpan => {
  const [only, second] = spans.filter((span) => span.name === name && span.kind === kind);
  if (only !== undefined && second === undefined) return only;
  throw new Error(`Expected one span ${name}, got ${JSON.stringify(spans.map((span) => [span.name, span.kind]))}`);
};
const metaIn = (lines: readonly string[], tool: string): Record<string, string> => {
  const line = lines.find((each) => each.includes(`"${tool}"`)) ?? '{}';
  return (JSON.parse(line) as { params: { _meta: Record<string, string> } }).params._meta;
};

describe('a request that passes the MCP proxy', () => {
  it('[O-5] has a server span below the client, a client span below that, and goes on with it', async () => {
    const { ask, received, spans } = await tracedProxy();
    const _meta = { traceparent, tracestate: 'a=1', kept: 1 };
    await ask('tools/call', { name: 'plain', arguments: { do: 'say', raw: '' }, _meta }, 7);
    const server = spanOf(spans(), 'tools/call plain', SpanKind.SERVER);
    const client = spanOf(spans(), 'tools/call plain', SpanKind.CLIENT);
    expect(server.spanContext().traceId).toBe(traceId);
    expect(server.parentSpanContext?.spanId).toBe(asker);
    expect(client.parentSpanContext?.spanId).toBe(server.spanContext().spanId);
    for (const { attributes } of [server, client]) {
      expect(attributes).toMatchObject({
        'mcp.method.name': 'tools/call',
        'gen_ai.operation.name': 'execute_tool',
        'gen_ai.tool.name': 'plain',
        'jsonrpc.request.id': '7',
      });
    }
    expect(metaIn(await received(), 'plain')).toMatchObject({
      traceparent: `00-${traceId}-${client.spanContext().spanId}-01`,
      tracestate: 'a=1',
      kept: 1,
    });
  });

  it('[O-5] begins a trace where the client says none, and names the method, not what it is of', async () => {
    const { ask, spans } = await tracedProxy();
    await ask('resources/read', { uri: 'file:///home/me/secret.txt' });
    await ask('made/up-by-the-client');
    const server = spanOf(spans(), 'resources/read', SpanKind.SERVER);
    expect(server.parentSpanContext).toBeUndefined();
    expect(spanOf(spans(), '_OTHER', SpanKind.CLIENT).attributes['mcp.method.name']).toBe('_OTHER');
    expect(JSON.stringify(spans().map(({ name, attributes }) => [name, attributes]))).not.toContain('secret.txt');
  });

  it('[O-5] that its server says no to is an error on both sides, with its code', async () => {
    const { ask, spans } = await tracedProxy();
    await ask('made/up-by-the-client');
    for (const kind of [SpanKind.SERVER, SpanKind.CLIENT]) {
      const { attributes, status } = spanOf(spans(), '_OTHER', kind);
      expect(attributes).toMatchObject({ 'error.type': '-32601', 'rpc.response.status_code': '-32601' });
      expect(status.code).toBe(SpanStatusCode.ERROR);
    }
  });

  it('[O-5] is measured by the conventions on both sides', async () => {
    const { call, points } = await tracedProxy();
    await call('plain', { do: 'say', raw: '' });
    for (const name of ['mcp.client.operation.duration', 'mcp.server.operation.duration']) {
      const tools = (await points(name)).filter(({ attributes }) => attributes['gen_ai.tool.name'] === 'plain');
      expect(tools).toMatchObject([{ attributes: { 'mcp.method.name': 'tools/call' }, value: { count: 1 } }]);
      expect(tools[0]?.attributes).not.toHaveProperty(['jsonrpc.request.id']);
    }
  });

  it('[O-5] keeps what the client says where nobody asks for telemetry', async () => {
    const { ask, open, received } = await startProxy();
    await open();
    await ask('tools/call', { name: 'plain', arguments: { do: 'say', raw: '' }, _meta: { traceparent } });
    expect(metaIn(await received(), 'plain')).toMatchObject({ traceparent });
  });
});

describe('a request that passes the proxy of a model API', () => {
  it.each(['/v1/messages', '/v1/responses', '/v1/chat/completions'])(
    '[O-5] has a server span below the client, and in it a chat span with its model and tokens: %s',
    async (path) => {
      const { ask, api, spans, points } = await tracedApi();
      const model = path === '/v1/messages' ? 'claude-opus-4' : 'gpt-5';
      for (const stream of [true, false]) {
        const body = JSON.stringify({ model, stream, messages: [{ role: 'user', content: 'hush' }] });
        const { status } = await ask({ path, body, headers: { traceparent } }).got;
        expect(status).toBe(200);
      }
      const chats = spans().filter(({ name }) => name === `chat ${model}`);
      const servers = spans().filter(({ kind }) => kind === SpanKind.SERVER);
      expect(servers.map(({ name }) => name)).toEqual([`POST ${path.slice(3)}`, `POST ${path.slice(3)}`]);
      expect(chats).toHaveLength(2);
      for (const [index, chat] of chats.entries()) {
        const server = servers[index];
        expect(server?.parentSpanContext?.spanId).toBe(asker);
        expect(chat.parentSpanContext?.spanId).toBe(server?.spanContext().spanId);
        expect(chat.kind).toBe(SpanKind.CLIENT);
        expect(chat.attributes).toMatchObject({
          'gen_ai.operation.name': 'chat',
          'gen_ai.provider.name': path === '/v1/messages' ? 'anthropic' : 'openai',
          'gen_ai.request.model': model,
          ...(path === '/v1/messages' && figures),
          'http.response.status_code': 200,
          'server.address': '127.0.0.1',
        });
        expect(server?.attributes).toMatchObject({
          'http.request.method': 'POST',
          'http.response.status_code': 200,
          'http.route': path.slice(3),
          'url.scheme': 'http',
        });
        expect(api.requests[index]?.headers['traceparent']).toBe(`00-${traceId}-${chat.spanContext().spanId}-01`);
      }
      for (const name of ['gen_ai.client.inference.duration', 'http.server.request.duration'])
        expect(await points(name)).toMatchObject([{ value: { count: 2 } }]);
      const used = async (name: string) =>
        (await points(`gen_ai.client.inference.usage.${name}`)).map(({ value }) => value);
      expect([await used('input_tokens'), await used('output_tokens')]).toEqual([
        path === '/v1/chat/completions' ? [] : [figures['gen_ai.usage.input_tokens']],
        path === '/v1/chat/completions' ? [] : [figures['gen_ai.usage.output_tokens']],
      ]);
    },
  );

  it('[O-5] that is tried again is one chat with an event, and one of any other kind an HTTP span', async () => {
    const { ask, spans } = await tracedApi({ script: [{ do: 'refuse', status: 529 }, {}] });
    await ask().got;
    const chat = spans().find(({ name }) => name.startsWith('chat'));
    expect(chat?.events.map(({ name }) => name)).toContain('unwedge.attempt.failed');
    expect(spans()).toHaveLength(2);
    await ask({ method: 'GET', path: '/v1/models?key=hush' }).got;
    expect(spanOf(spans(), 'GET', SpanKind.SERVER).attributes).not.toHaveProperty(['http.route']);
    const out = spanOf(spans(), 'GET', SpanKind.CLIENT);
    expect(out.attributes['http.response.status_code']).toEqual(expect.any(Number));
    expect(JSON.stringify(spans().map(({ name, attributes }) => [name, attributes]))).not.toContain('hush');
  });

  it('[O-5] that nobody can answer is an error on both sides', async () => {
    const { ask, spans } = await tracedApi({ script: [{ do: 'refuse', status: 400 }] });
    await ask().got;
    const [chat, server] = [spans().find(({ name }) => name.startsWith('chat')), spans().at(-1)];
    expect(chat?.attributes).toMatchObject({ 'error.type': '400', 'http.response.status_code': 400 });
    // What the client did wrong is no failure of the server.
    expect(server?.attributes).toMatchObject({ 'http.response.status_code': 400 });
    expect(server?.attributes).not.toHaveProperty(['error.type']);
  });
});
