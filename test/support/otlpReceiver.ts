import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { gunzipSync } from 'node:zlib';
import { onTestFinished } from 'vitest';

type Attributes = Readonly<Record<string, unknown>>;

export interface ReceivedSpan {
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  /** Empty without a parent. */
  readonly parentSpanId: string;
  /** Of the protocol: 1 internal, 2 server, 3 client. */
  readonly kind: number;
  readonly attributes: Attributes;
  readonly resource: Attributes;
}

export interface OtlpReceiver {
  readonly url: string;
  /** The variables that lead there. */
  readonly env: Readonly<Record<string, string>>;
  readonly spans: readonly ReceivedSpan[];
  /** Names of metrics, in the order of their coming. */
  readonly metrics: readonly string[];
  readonly requests: readonly { readonly path: string; readonly headers: IncomingHttpHeaders; readonly body: Buffer }[];
  /** The one span of this name that has come. */
  span(name: string): ReceivedSpan;
}

/** A collector on loopback that understands OTLP by HTTP, in protobuf and in JSON. Ends with the test. */
export async function startOtlpReceiver({ hangs = false, port = 0 } = {}): Promise<OtlpReceiver> {
  const spans: ReceivedSpan[] = [];
  const metrics: string[] = [];
  const requests: { path: string; headers: IncomingHttpHeaders; body: Buffer }[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { url = '', headers } = request;
      const sent = Buffer.concat(chunks);
      const body = headers['content-encoding'] === 'gzip' ? gunzipSync(sent) : sent;
      requests.push({ path: url, headers, body });
      const isJson = headers['content-type'] === 'application/json';
      const read = isJson ? fromJson(JSON.parse(body.toString('utf8')) as Json) : fromProtobuf(body, url);
      if (url === '/v1/traces') spans.push(...read.spans);
      else if (url === '/v1/metrics') metrics.push(...read.metrics);
      if (!hangs) response.setHeader('content-type', headers['content-type'] ?? '').end(isJson ? '{}' : '');
    });
  });
  server.on('connection', (socket: Socket) => sockets.add(socket));
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    env: { OTEL_EXPORTER_OTLP_ENDPOINT: url },
    spans,
    metrics,
    requests,
    span(name) {
      const [only, second] = spans.filter((span) => span.name === name);
      if (only !== undefined && second === undefined) return only;
      throw new Error(`Expected one span ${name}, got ${JSON.stringify(spans.map((span) => span.name))}`);
    },
  };
}

interface Read {
  readonly spans: readonly ReceivedSpan[];
  readonly metrics: readonly string[];
}

interface Json {
  readonly resourceSpans?: readonly JsonGroup[];
  readonly resourceMetrics?: readonly JsonGroup[];
}
interface JsonGroup {
  readonly resource: { readonly attributes: readonly JsonAttribute[] };
  readonly scopeSpans?: readonly { readonly spans: readonly JsonSpan[] }[];
  readonly scopeMetrics?: readonly { readonly metrics: readonly { readonly name: string }[] }[];
}
interface JsonAttribute {
  readonly key: string;
  readonly value: Readonly<Record<string, unknown>>;
}
interface JsonSpan extends Omit<ReceivedSpan, 'attributes' | 'resource' | 'parentSpanId'> {
  readonly parentSpanId?: string;
  readonly attributes: readonly JsonAttribute[];
}

function fromJson({ resourceSpans = [], resourceMetrics = [] }: Json): Read {
  const attributes = (given: readonly JsonAttribute[]): Attributes =>
    Object.fromEntries(given.map(({ key, value }) => [key, Object.values(value)[0]]));
  return {
    spans: resourceSpans.flatMap(({ resource, scopeSpans = [] }) =>
      scopeSpans.flatMap((scope) =>
        scope.spans.map((span) => ({
          ...{ name: span.name, traceId: span.traceId, spanId: span.spanId, kind: span.kind },
          parentSpanId: span.parentSpanId ?? '',
          attributes: attributes(span.attributes),
          resource: attributes(resource.attributes),
        })),
      ),
    ),
    metrics: resourceMetrics.flatMap(({ scopeMetrics = [] }) =>
      scopeMetrics.flatMap((scope) => scope.metrics.map(({ name }) => name)),
    ),
  };
}

/** Fields by the numbers of opentelemetry-proto 1.x. */
function fromProtobuf(body: Buffer, path: string): Read {
  const groups = fields(body).all(1).map(fields);
  const scopes = groups.flatMap((group) => group.all(2).map((scope) => ({ group, scope: fields(scope) })));
  if (path !== '/v1/traces')
    return { spans: [], metrics: scopes.flatMap(({ scope }) => scope.all(2).map((each) => fields(each).text(1))) };
  const spans = scopes.flatMap(({ group, scope }) =>
    scope.all(2).map((each): ReceivedSpan => {
      const span = fields(each);
      return {
        traceId: span.bytes(1).toString('hex'),
        spanId: span.bytes(2).toString('hex'),
        parentSpanId: span.bytes(4).toString('hex'),
        name: span.text(5),
        kind: span.number(6),
        attributes: attributesOf(span.all(9)),
        resource: attributesOf(fields(group.bytes(1)).all(1)),
      };
    }),
  );
  return { spans, metrics: [] };
}

function attributesOf(all: readonly Buffer[]): Attributes {
  return Object.fromEntries(
    all.map((each) => {
      const pair = fields(each);
      const value = fields(pair.bytes(2));
      return [pair.text(1), value.has(1) ? value.text(1) : value.number(value.has(2) ? 2 : 3)];
    }),
  );
}

/** The fields of one message of protobuf, by their numbers. */
function fields(message: Buffer) {
  const found = new Map<number, (Buffer | bigint)[]>();
  let at = 0;
  const varint = (): bigint => {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = message[at++] ?? 0;
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
  };
  while (at < message.length) {
    const tag = Number(varint());
    const sizes: Readonly<Record<number, () => number>> = { 1: () => 8, 2: () => Number(varint()), 5: () => 4 };
    const size = sizes[tag & 7];
    const take = (length: number): Buffer => message.subarray(at, (at += length));
    const value = size === undefined ? varint() : take(size());
    found.set(tag >> 3, [...(found.get(tag >> 3) ?? []), value]);
  }
  const first = (number: number): Buffer | bigint | undefined => found.get(number)?.[0];
  const bytes = (number: number): Buffer => {
    const value = first(number);
    return Buffer.isBuffer(value) ? value : Buffer.alloc(0);
  };
  return {
    has: (number: number): boolean => found.has(number),
    all: (number: number) => (found.get(number) ?? []).filter(Buffer.isBuffer),
    bytes,
    text: (number: number): string => bytes(number).toString('utf8'),
    number: (number: number): number => Number(first(number) ?? 0),
  };
}
