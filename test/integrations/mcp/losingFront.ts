import { createServer, type IncomingHttpHeaders, request as send, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';
import type { McpIntegration } from '../../../src/index.ts';
import type { OfficialServer } from './officialServers.ts';

/** How a request of a session that is gone is answered. */
export interface Word {
  readonly status: number;
  readonly type?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** In place of `ID`: the id of the request, as JSON. */
  readonly body: string;
}

/** A relay before a server, which stands for those that lose sessions in words of their own. */
export interface LosingFront {
  readonly url: string;
  /** From now on what is of a session that has begun is answered so; sessions that begin later are as good as any. */
  lose(word: Word): void;
  /** Answers so whatever a test says, in any session; undefined to stop. */
  answer: ((message: Message) => Word | 'hang' | undefined) | undefined;
  /** Of the transport of 2024: requests of the sessions that have begun are answered so on their stream, or refused by this word. */
  breakStream(line: string | undefined, word: Word | undefined): void;
  /** Requests that hang: what was asked, of those whose clients are there still. */
  readonly hanging: ReadonlySet<Message>;
  /** How often a method was asked for. */
  asked(method: string): number;
  readonly seen: readonly Message[];
}

export interface Message {
  readonly method: string;
  readonly id?: unknown;
  readonly params?: { readonly name?: string };
  readonly headers: IncomingHttpHeaders;
}

/** @param target - the URL of the server. */
export async function startLosingFront(target: string): Promise<LosingFront> {
  const { origin, pathname } = new URL(target);
  const seen: Message[] = [];
  const hanging = new Set<Message>();
  const lost = new Map<string, Word>();
  const known = new Set<string>();
  /** Of the transport of 2024: where the messages of each session go, and the stream of each. */
  const addresses = new Set<string>();
  const broken = new Map<string, { readonly line: string | undefined; readonly word: Word | undefined }>();
  const streams = new Map<string, ServerResponse>();
  /** Of clients that have no session id. */
  let word: Word | undefined;
  const front: LosingFront = {
    url: '',
    lose(given) {
      for (const session of known) if (!lost.has(session)) lost.set(session, given);
      word = given;
    },
    answer: undefined,
    breakStream(line, given) {
      for (const address of addresses) broken.set(address, { line, word: given });
    },
    asked: (method) => seen.filter((each) => each.method === method).length,
    seen,
    hanging,
  };
  const server: Server = createServer((incoming, response) => {
    const chunks: Buffer[] = [];
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
    incoming.on('end', () => {
      const body = Buffer.concat(chunks).toString();
      const said = (body === '' ? {} : JSON.parse(body)) as Omit<Message, 'headers' | 'method'> & { method?: string };
      const { headers } = incoming;
      const message: Message = { ...said, method: said.method ?? incoming.method ?? '', headers };
      seen.push(message);
      const session = headers['mcp-session-id'];
      if (message.method === 'initialize') word = undefined;
      const own = message.method === 'initialize' ? undefined : typeof session === 'string' ? lost.get(session) : word;
      const given = front.answer?.(message) ?? own;
      if (given === 'hang') {
        hanging.add(message);
        response.on('close', () => hanging.delete(message));
        return;
      }
      if (given !== undefined) return speak(response, given, message);
      const address = incoming.url ?? '';
      const gone = broken.get(address);
      if (gone?.word !== undefined) return speak(response, gone.word, message);
      if (gone?.line !== undefined) {
        response.writeHead(202).end();
        const line = gone.line.replaceAll('ID', JSON.stringify(message.id ?? null));
        if (message.id !== undefined) streams.get(address)?.write(`event: message\ndata: ${line}\n\n`);
        return;
      }
      const relayed = send(
        `${origin}${incoming.url ?? pathname}`,
        { method: incoming.method, headers, agent: false },
        (answer) => {
          const begun = answer.headers['mcp-session-id'];
          if (typeof begun === 'string') known.add(begun);
          response.writeHead(answer.statusCode ?? 500, answer.headers);
          answer.on('data', (chunk: Buffer) => {
            const found = /^event: endpoint\ndata: (\S+)/m.exec(chunk.toString())?.[1];
            if (found === undefined) return;
            addresses.add(found);
            streams.set(found, response);
          });
          answer.pipe(response);
        },
      );
      relayed.on('error', () => response.destroy());
      response.on('close', () => relayed.destroy());
      relayed.end(body);
    });
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return Object.assign(front, { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}${pathname}` });
}

function speak(
  response: ServerResponse,
  { status, body, type = 'application/json', headers }: Word,
  message: Message,
): void {
  const isNotice = message.id === undefined && message.method !== 'GET' && message.method !== 'DELETE';
  if (isNotice && status === 200) return void response.writeHead(202).end();
  response.writeHead(status, { 'content-type': type, ...headers });
  response.end(body.replaceAll('ID', JSON.stringify(message.id ?? null)));
}

/** What becomes of twenty calls that only read, then of one that changes things, each time the session has been lost by this word. */
export async function loseTwice(
  { kb, server, front }: { readonly kb: McpIntegration; readonly server: OfficialServer; readonly front: LosingFront },
  word: Word,
): Promise<object> {
  const find = { name: 'find', arguments: { text: 'x' } };
  const before = server.ran();
  front.lose(word);
  const outcomes = await Promise.all(Array.from({ length: 20 }, () => kb.call(find, { effect: 'readOnly' })));
  const reads = {
    answered: outcomes.filter(({ ok }) => ok).length,
    ran: server.ran() - before,
    sessions: front.asked('initialize'),
    isAskedOnce: front.asked('ping') <= 1,
  };
  front.lose(word);
  const outcome = await kb.call(find, { effect: 'mutating' });
  const ran = server.ran() - before - reads.ran;
  const next = await kb.call(find, { effect: 'mutating' });
  const change = { how: outcome.ok ? 'answered' : outcome.failure.outcome, ran, sessions: front.asked('initialize') };
  return { reads, change, next: next.ok };
}

/** What is to come of `loseTwice`: one session for each loss, and nothing done twice. */
export function madeAnew(isRefused: boolean): object {
  return {
    reads: { answered: 20, ran: 20, sessions: 2, isAskedOnce: true },
    change: { how: isRefused ? 'answered' : 'unknown', ran: isRefused ? 1 : 0, sessions: 3 },
    next: true,
  };
}

const rpc = (code: number, message: string): string =>
  `{"jsonrpc":"2.0","id":ID,"error":${JSON.stringify({ code, message })}}`;

/** Words of servers, bridges and gateways for a session that they do not have any more; whether they say that the request was refused for it. */
export const words: readonly (readonly [string, Word, boolean])[] = [
  ['401 that names it', { status: 401, body: '{"error":"invalid session"}' }, true],
  ['409 that names it', { status: 409, body: rpc(-32_000, 'Session is closed') }, true],
  ['410 that names it', { status: 410, type: 'text/plain', body: 'session expired' }, true],
  ['422 that names it', { status: 422, body: '{"detail":"Unknown Mcp-Session-Id"}' }, true],
  ['400 that names it', { status: 400, body: rpc(-32_000, 'Bad Request: No valid session ID provided') }, true],
  ['400 that does not', { status: 400, body: rpc(-32_000, 'Bad Request: Server not initialized') }, false],
  ['410 that does not', { status: 410, body: '' }, false],
  ['401 that does not', { status: 401, body: '' }, false],
  ['403', { status: 403, type: 'text/plain', body: 'session belongs to nobody' }, false],
  ['500 that names it', { status: 500, type: 'text/plain', body: 'Error: session not found' }, false],
  ['500 that does not', { status: 500, type: 'text/html', body: '<h1>Internal Server Error</h1>' }, false],
  ['503 that names it', { status: 503, body: '{"message":"session terminated"}' }, false],
  ['503 that names it and a time', { status: 503, headers: { 'retry-after': '0' }, body: 'no such session' }, false],
  ['an error of a bridge whose server died', { status: 200, body: rpc(-32_603, 'Not connected') }, false],
  ['an error without words', { status: 200, body: rpc(-32_603, 'Internal error') }, false],
  ['session not found', { status: 200, body: rpc(-32_001, 'Session not found') }, false],
  ['session terminated', { status: 200, body: rpc(-32_600, 'Session terminated') }, false],
  ['not initialized', { status: 200, body: rpc(-32_002, 'Server not initialized') }, false],
  ['invalid parameters', { status: 200, body: rpc(-32_602, 'Invalid request parameters') }, false],
  [
    'an error on a stream',
    { status: 200, type: 'text/event-stream', body: `event: message\ndata: ${rpc(-32_000, 'no session')}\n\n` },
    false,
  ],
  [
    'an event that is none of the protocol',
    { status: 200, type: 'text/event-stream', body: 'event: error\ndata: {"error":"upstream closed"}\n\n' },
    false,
  ],
  [
    'data that are none of the protocol',
    { status: 200, type: 'text/event-stream', body: 'data: {"error":"session gone"}\n\n' },
    false,
  ],
  ['JSON that is none of the protocol', { status: 200, body: '{"error":"session gone"}' }, false],
  ['a stream without an answer', { status: 200, type: 'text/event-stream', body: ': bye\n\n' }, false],
];
