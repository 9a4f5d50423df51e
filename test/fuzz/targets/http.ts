import { type AddressInfo, createConnection } from 'node:net';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createServer } from 'node:http';
import { ApiProxy, startApiServer } from '../../../proxy/api/apiProxy.ts';
import { McpHttp } from '../../../proxy/http/mcpHttp.ts';
import { openReader } from '../../../reader/openReader.ts';
import { Registry } from '../../../src/runtime/registry.ts';
import { checkGatewayOptions } from '../../../src/runtime/runtimeOptions.ts';
import { systemClock } from '../../../src/runtime/systemClock.ts';
import { startHttpServer } from '../../../web/server/httpServer.ts';
import { createDashboard } from '../../../web/dashboard/dashboard.ts';
import { DatabaseSource } from '../../../web/dashboard/databaseSource.ts';
import { startServe } from '../../../web/serve/serve.ts';
import { keyOf, messagesIn } from '../peer.ts';
import { fromMcpClient, rpc } from '../seeds.ts';
import { must, type Target } from '../target.ts';

const token = 'fuzzed-token-0123456789';
/** Time in which each request is answered, in ms: many times what it takes. */
const answerMs = 20_000;

/** A listener that is asked. */
interface Listener {
  readonly port: number;
  close(): Promise<void>;
  /** What must hold of an answer beside what holds of every one. */
  judge?(answer: Answer, asked: Asked): void;
}

interface Asked {
  readonly head: string;
  readonly body: Buffer;
}

interface Answer {
  readonly status: number;
  readonly type: string;
  readonly text: string;
}

/** Requests of one listener: the first line and the headers as they are, with the length of the body, so that one answer is due; or bytes that are none. */
function requests(
  open: () => Promise<Listener>,
  seeds: readonly string[],
  words: readonly string[] = [],
): () => Promise<Target> {
  return async () => {
    const listener = await open();
    return {
      seeds,
      words: [
        ...words,
        'GET ',
        'POST ',
        'DELETE ',
        'Origin: http://x',
        'Host: x',
        'Transfer-Encoding: chunked',
        'Content-Length: 5',
        '%2e%2e/',
        '?token=',
        'Accept: text/event-stream',
        'If-None-Match: *',
        'Range: bytes=0-',
      ],
      mostSteps: (bytes) => 1_000_000 + 2000 * bytes,
      async run(input, random) {
        const text = input.toString('latin1');
        const at = text.indexOf('\n\n');
        const [line = '', ...fields] = (at < 0 ? text : text.slice(0, at))
          .split('\n')
          .map((each) => each.replaceAll('\r', ''));
        const body = at < 0 ? Buffer.alloc(0) : input.subarray(at + 2);
        const isRaw = random() < 0.1;
        const given = fields.filter(
          (field) => isRaw || !/^(?:connection|content-length|transfer-encoding|expect|upgrade) *:/i.test(field),
        );
        const host = given.some((field) => /^host:/i.test(field)) ? [] : [`Host: 127.0.0.1:${listener.port}`];
        const head = [
          `${line} HTTP/1.1`,
          ...host,
          ...given,
          ...(isRaw ? [] : [`Content-Length: ${body.length}`, 'Connection: close']),
          '',
          '',
        ].join('\r\n');
        const answer = await ask(listener.port, Buffer.concat([Buffer.from(head, 'latin1'), body]), isRaw);
        if (isRaw) return;
        must(answer !== undefined, 'a request has no answer');
        must(
          answer.status < 500 || answer.status === 501 || answer.status === 503 || answer.status === 502,
          `the status is ${answer.status}: ${answer.text.slice(0, 200)}`,
        );
        must(!answer.text.includes(token), 'an answer holds the token');
        must(!/\n\s+at .*\.(?:js|ts):\d/.test(answer.text), `a stack is told: ${answer.text.slice(0, 300)}`);
        listener.judge?.(answer, { head, body });
      },
      close: () => listener.close(),
    };
  };
}

/** Writes and reads until the other side is done. @param isCut - our side ends at once. @returns undefined where nothing came. */
function ask(port: number, bytes: Buffer, isCut: boolean): Promise<Answer | undefined> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    const socket = createConnection({ port, host: '127.0.0.1', allowHalfOpen: true });
    const timer = setTimeout(() => {
      socket.destroy();
      reject(new Error(`no answer within ${answerMs} ms`));
    }, answerMs);
    const done = (): void => {
      clearTimeout(timer);
      socket.destroy();
      resolve(answerIn(Buffer.concat(chunks).toString('latin1')));
    };
    socket.on('data', (chunk) => {
      chunks.push(chunk);
      // A stream of events goes on.
      if (/\r\ncontent-type: text\/event-stream/i.test(chunk.toString('latin1'))) done();
    });
    socket.on('error', () => undefined);
    socket.on('end', done);
    socket.on('close', done);
    socket.write(bytes, () => {
      if (isCut) socket.end();
    });
  });
}

function answerIn(text: string): Answer | undefined {
  const status = /^HTTP\/1\.1 (\d{3})/.exec(text)?.[1];
  if (status === undefined) return undefined;
  const at = text.indexOf('\r\n\r\n');
  const head = at < 0 ? text : text.slice(0, at);
  const body = at < 0 ? '' : text.slice(at + 4);
  const isChunked = /\r\ntransfer-encoding: chunked/i.test(head);
  return {
    status: Number(status),
    type: /\r\ncontent-type: ([^\r;]*)/i.exec(head)?.[1] ?? '',
    text: isChunked ? unchunked(body) : body,
  };
}

function unchunked(text: string): string {
  let [at, whole] = [0, ''];
  for (;;) {
    const end = text.indexOf('\r\n', at);
    const size = end < 0 ? 0 : Number.parseInt(text.slice(at, end), 16);
    if (!(size > 0)) return whole;
    whole += text.slice(end + 2, end + 2 + size);
    at = end + 4 + size;
  }
}

function mustBeJson({ status, type, text }: Answer): void {
  if (type !== 'application/json' || text === '' || status === 204) return;
  try {
    JSON.parse(text);
  } catch {
    must(false, `what is said to be JSON is none: ${text.slice(0, 200)}`);
  }
}

const mcpHead = `POST /mcp\nAuthorization: Bearer ${token}\nAccept: application/json, text/event-stream\nContent-Type: application/json\n`;
const initialize = rpc({
  id: 0,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'c', version: '1' } },
}).trim();

/** `unwedge mcp --listen`, before a server that answers at once. */
export const listen = requests(
  async () => {
    const http = new McpHttp({
      clock: systemClock,
      ...{ shared: false, sessionMs: 60_000, maxSessions: 50, version: '1.0.0' },
      open: async ({ input, output }) => {
        for await (const chunk of input)
          for (const { id, method } of messagesIn(String(chunk)))
            if (keyOf(id) !== undefined && typeof method === 'string')
              output.write(
                rpc({
                  id,
                  result:
                    method === 'initialize'
                      ? { protocolVersion: '2025-11-25', capabilities: {}, serverInfo: { name: 's', version: '1' } }
                      : {},
                }),
              );
      },
    });
    const server = await startHttpServer({
      clock: systemClock,
      token: { value: token, in: 'bearer' },
      answer: (request, response) => http.answer(request, response),
    });
    return {
      port: server.port,
      judge: (answer, { body }) => {
        mustBeJson(answer);
        // What is not passed on is refused under the id that it has, or none.
        if (answer.status >= 400 && answer.type === 'application/json')
          must('error' in JSON.parse(answer.text), `a refusal is no error: ${body.toString().slice(0, 100)}`);
      },
      close: async () => {
        http.drain();
        http.close();
        await server.close();
      },
    };
  },
  [
    `${mcpHead}\n${initialize}`,
    ...fromMcpClient.map((text) => `${mcpHead}Mcp-Session-Id: x\nMcp-Protocol-Version: 2025-11-25\n\n${text}`),
    `${mcpHead}MCP-Protocol-Version: 2026-07-28\nMcp-Method: tools/call\nMcp-Name: read\n\n${rpc({ id: 1, method: 'tools/call', params: { name: 'read', _meta: { 'io.modelcontextprotocol/protocolVersion': '2026-07-28' } } })}`,
    `GET /mcp\nAuthorization: Bearer ${token}\nAccept: text/event-stream\nMcp-Session-Id: x\nLast-Event-ID: 1\n\n`,
    `DELETE /mcp\nAuthorization: Bearer ${token}\nMcp-Session-Id: x\n\n`,
  ],
  ['Mcp-Session-Id: ', 'MCP-Protocol-Version: 2026-07-28', '=?base64?YQ==?='],
);

const model = { model: 'm', stream: true, messages: [{ role: 'user', content: 'hi' }] };

/** `unwedge api`, before an API that answers at once. */
export const api = requests(async () => {
  const upstream = createServer((request, response) => {
    request.resume();
    request.on('end', () => {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end('{"ok":true}');
    });
  });
  await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve));
  const registry = new Registry(checkGatewayOptions({}));
  await registry.start();
  const proxy = new ApiProxy(registry.runtime, {
    name: 'api',
    upstream: `http://127.0.0.1:${(upstream.address() as AddressInfo).port}`,
  });
  const server = await startApiServer(proxy, { clock: systemClock });
  return {
    port: server.port,
    close: async () => {
      await server.close();
      await registry.stop();
      upstream.closeAllConnections();
      upstream.close();
    },
  };
}, [
  `POST /v1/messages\nContent-Type: application/json\nx-api-key: k\n\n${JSON.stringify(model)}`,
  `POST /v1/chat/completions\n\n${JSON.stringify(model)}`,
  'GET /v1/models?key=x\n\n',
  'HEAD /\n\n',
]);

const served = `Authorization: Bearer ${token}\nContent-Type: application/json\n`;

/** `unwedge serve` with its dashboard and its inbox. */
export const serve = requests(
  async () => {
    const home = mkdtempSync(join(tmpdir(), 'unwedge-fuzz-'));
    process.env['XDG_RUNTIME_DIR'] = home;
    const store = join(home, 'served.sqlite');
    const serving = await startServe({
      ...{ servers: {}, agents: {}, hooks: {}, token },
      gateway: { store, childGuard: false, logger: false },
      maxSessions: 100,
      read: async (work) => {
        const reader = await openReader(store);
        try {
          return await work(reader);
        } finally {
          reader.close();
        }
      },
    });
    return {
      port: Number(new URL(serving.origin).port),
      judge: mustBeJson,
      close: async () => {
        await serving.stop(0);
        rmSync(home, { recursive: true, force: true });
      },
    };
  },
  [
    `POST /v1/sessions/a/messages\n${served}Idempotency-Key: k\n\n{"text":"hello"}`,
    `GET /v1/sessions/a/messages/x\n${served}\n`,
    `GET /v1/sessions/a\n${served}\n`,
    `GET /v1/sessions\n${served}\n`,
    `GET /v1/sessions/a/events\n${served}Last-Event-ID: 5\n\n`,
    `DELETE /v1/sessions/a\n${served}\n`,
    `GET /v1/inbox\n${served}\n`,
    `POST /v1/inbox/x\n${served}\n{"decision":"accept"}`,
    'GET /healthz\n\n',
    'GET /readyz\n\n',
    `GET /metrics\n${served}\n`,
    `GET /v1/tools\n${served}\n`,
    `GET /v1/sessions/a/history?limit=5\n${served}\n`,
    `GET /v1/sessions/a/why\n${served}\n`,
    `POST /v1/sessions/a/cancel\n${served}\n{}`,
  ],
  ['/v1/sessions/', '/messages', '/events', '?wait=1s', '?limit=1', '{"tool":"x","input":{}}'],
);

/** The dashboard and the links of its questions, asked by somebody who may do all. */
export const dashboard = requests(
  async () => {
    const home = mkdtempSync(join(tmpdir(), 'unwedge-fuzz-'));
    process.env['XDG_RUNTIME_DIR'] = home;
    const store = join(home, 'seen.sqlite');
    const registry = new Registry(checkGatewayOptions({ store, childGuard: false, logger: false }));
    await registry.start();
    const reader = await openReader(store);
    const source = new DatabaseSource({ clock: systemClock, read: (work) => work(reader) });
    let origin = '';
    const page = createDashboard({
      clock: systemClock,
      source,
      origin: () => origin,
      access: () => ({ right: 'all', by: 'fuzz' }),
    });
    const server = await startHttpServer({
      clock: systemClock,
      isLinked: true,
      answer: (request, response) => page.answer(request, response),
    });
    origin = server.origin;
    return {
      port: server.port,
      judge: mustBeJson,
      close: async () => {
        page.close();
        await server.close();
        reader.close();
        await registry.stop();
        rmSync(home, { recursive: true, force: true });
      },
    };
  },
  [
    ...[
      '/',
      '/api/snapshot?span=1h',
      '/api/session?id=a',
      '/api/events?limit=5&failed=1',
      '/api/chain?id=1',
      '/api/cluster',
      '/api/trees',
      '/api/letters?session=a',
      '/api/stream',
      '/metrics',
      '/inbox/q?sig=x',
    ].map((path) => `GET ${path}\n\n`),
    ...(
      [
        ['login', { token: 'x' }],
        ['api/order', { order: 'reset', name: 'kb', confirm: 'kb', why: 'x' }],
        ['api/orders', { order: 'drop', of: [{ name: 'a', target: 'm' }], confirm: 1 }],
        ['api/orders/stop', { key: 'k' }],
        ['api/answer', { question: 'q', decision: 'accept', value: { a: 1 } }],
        ['api/incident', { id: 'a' }],
      ] as const
    ).map(([path, body]) => `POST /${path}\nContent-Type: application/json\n\n${JSON.stringify(body)}`),
    'POST /inbox/q?sig=x\nContent-Type: application/x-www-form-urlencoded\n\ndecision=accept&why=x',
  ],
  ['/api/', '?span=', '&limit=', 'snooze', 'let_go_on'],
);
