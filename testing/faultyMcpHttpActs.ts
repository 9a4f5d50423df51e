import type { ServerResponse } from 'node:http';
import { rpcErrors } from '../src/protocol/face.ts';
import { type Answer, faultyAnswer, progressTokenOf, questionOf, textResult } from './faultyMcpAnswers.ts';
import type { ReadMcpHttpFault } from './mcpHttpFaults.ts';
import { type Exchange, type McpHttpRequests, statelessVersion } from './mcpHttpRequests.ts';
import { type McpHttpSession, openEvents } from './mcpHttpSessions.ts';

type Fault<D extends ReadMcpHttpFault['do']> = Extract<ReadMcpHttpFault, { do: D }>;

/** Manner in which answers are sent where the fault does not say. */
interface Manner {
  readonly answerAs: 'stream' | 'json';
  readonly eventIds: boolean;
}

/** Answers requests, well or by a fault. */
export class McpHttpActs {
  readonly #manner: Manner;
  readonly #requests: McpHttpRequests;
  readonly #held = new Set<() => void>();
  /** Steps once the client has replied to one of our questions. */
  readonly #onReply = new Map<unknown, (reply: object) => void>();

  constructor(manner: Manner, requests: McpHttpRequests) {
    this.#manner = manner;
    this.#requests = requests;
  }

  release(): void {
    const held = [...this.#held];
    this.#held.clear();
    for (const go of held) go();
  }

  replied(id: unknown, reply: object): void {
    this.#onReply.get(id)?.(reply);
  }

  /** Answers as it should be. */
  answer(exchange: Exchange, session: McpHttpSession, answer: Answer): void {
    const { response, message } = exchange;
    if (this.#manner.answerAs === 'stream') {
      this.#stream(exchange, session, [{ jsonrpc: '2.0', id: message?.id, ...answer }]);
    } else this.#json(response, { jsonrpc: '2.0', id: message?.id, ...answer }, statusOf(exchange, answer));
  }

  /** Ends an answer before its time. */
  end(response: ServerResponse, how: 'end' | 'reset'): void {
    this.#requests.abandon(response);
    if (how === 'end') response.end();
    // Anything written goes out first.
    else setImmediate(() => response.socket?.resetAndDestroy());
  }

  /** @param answer - that of a server that does nothing wrong; undefined where no message was sent. */
  befall(fault: ReadMcpHttpFault, exchange: Exchange, session: McpHttpSession, answer: Answer | undefined): void {
    const { response, message } = exchange;
    const id = message?.id;
    const good = answer ?? { result: {} };
    switch (fault.do) {
      case 'status':
        response.writeHead(fault.status, fault.headers ?? {}).end(fault.body ?? '');
        return;
      case 'no_headers':
      case 'black_hole':
      case 'lose_session':
        return;
      case 'hold':
        this.#held.add(() => this.answer(exchange, session, good));
        return;
      case 'silent_stream':
        silence(fault, exchange);
        return;
      case 'lost_stream':
        this.#lose(fault, exchange, session, good);
        return;
      case 'disconnect':
        this.#requests.abandon(response);
        if (fault.how === 'end') response.socket?.end();
        else response.socket?.resetAndDestroy();
        return;
      case 'cut':
        this.#cut(fault, response, JSON.stringify({ jsonrpc: '2.0', id, ...good }));
        return;
      case 'trickle':
        response.writeHead(200, { 'content-type': 'application/json' }).write('{"jsonrpc":"2.0",');
        repeat(response, fault.everyMs ?? 500, () => response.write(' '));
        return;
      case 'accepted':
        response.writeHead(202).end();
        return;
      case 'html':
        response.writeHead(200, { 'content-type': 'text/html' }).end('<!doctype html><title>Sign in</title>');
        return;
      case 'malformed':
        this.#malformed(response, fault.body ?? '{"jsonrpc":"2.0",');
        return;
      case 'wrong_id':
        this.answer({ ...exchange, message: message && { ...message, id: 'nobody-asked' } }, session, good);
        return;
      case 'duplicate_answer': {
        const twice = { jsonrpc: '2.0', id, ...good };
        this.#stream(exchange, session, [twice, twice]);
        return;
      }
      case 'oversize':
      case 'error':
      case 'tool_error':
        this.answer(exchange, session, faultyAnswer(fault, resultOf(good)));
        return;
      case 'slow':
        this.#slow(fault, exchange, session, good);
        return;
      case 'ask':
        this.#ask(fault, exchange, session, good);
        return;
    }
  }

  #stream({ response }: Exchange, { streams }: McpHttpSession, messages: readonly object[]): void {
    const stream = streams.begin(response);
    if (this.#manner.eventIds) streams.send(stream, undefined, true);
    for (const each of messages) streams.send(stream, each, this.#manner.eventIds);
    streams.end(stream);
  }

  #json(response: ServerResponse, message: object, status: number): void {
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(message));
  }

  /** The stream goes on without its reader, so the client may come back for the answer. */
  #lose(fault: Fault<'lost_stream'>, { response, message }: Exchange, { streams }: McpHttpSession, good: Answer): void {
    const stream = streams.begin(response, fault.retryMs);
    if (message !== undefined && (fault.primed ?? this.#manner.eventIds)) streams.send(stream, undefined, true);
    streams.part(stream);
    if (message !== undefined) streams.send(stream, { jsonrpc: '2.0', id: message.id, ...good }, true);
    streams.end(stream);
    this.end(response, fault.how ?? 'end');
  }

  #cut({ promises = 'more' }: Fault<'cut'>, response: ServerResponse, body: string): void {
    const length = Buffer.byteLength(body);
    this.#requests.abandon(response);
    response.writeHead(200, {
      'content-type': 'application/json',
      'content-length': promises === 'more' ? length + 50 : Math.floor(length / 2),
    });
    response.write(promises === 'more' ? body.slice(0, length / 2) : body, () => response.socket?.end());
  }

  #malformed(response: ServerResponse, body: string): void {
    if (this.#manner.answerAs === 'json') {
      response.writeHead(200, { 'content-type': 'application/json' }).end(body);
      return;
    }
    openEvents(response);
    response.end(`event: message\ndata: ${body}\n\n`);
  }

  #slow(fault: Fault<'slow'>, exchange: Exchange, { streams }: McpHttpSession, good: Answer): void {
    const { response } = exchange;
    const { progress: steps = 0, ms } = fault;
    const stream = streams.begin(response);
    for (let step = 1; step <= steps; step++) {
      later(response, (ms * step) / (steps + 1), () => {
        const report = progressOf(exchange, step);
        if (report !== undefined) streams.send(stream, report, this.#manner.eventIds);
      });
    }
    later(response, ms, () => {
      streams.send(stream, { jsonrpc: '2.0', id: exchange.message?.id, ...good }, this.#manner.eventIds);
      streams.end(stream);
    });
  }

  #ask({ method }: Fault<'ask'>, { response, message }: Exchange, { streams }: McpHttpSession, good: Answer): void {
    const id = `asked-${this.#onReply.size + 1}`;
    const stream = streams.begin(response);
    this.#onReply.set(id, (reply) => {
      const result = { ...resultOf(good), ...textResult(JSON.stringify(reply)) };
      streams.send(stream, { jsonrpc: '2.0', id: message?.id, result }, this.#manner.eventIds);
      streams.end(stream);
    });
    streams.send(stream, { jsonrpc: '2.0', id, method, params: questionOf(method) }, this.#manner.eventIds);
  }
}

/** A stream without the answer, and what comes on it in its place. */
function silence({ sends = 'nothing', everyMs = 100 }: Fault<'silent_stream'>, exchange: Exchange): void {
  const { response } = exchange;
  openEvents(response);
  let step = 0;
  if (sends === 'nothing') return;
  repeat(response, everyMs, () => {
    step += 1;
    const report = sends === 'comments' ? undefined : progressOf(exchange, step);
    if (sends === 'comments') response.write(': still here\n\n');
    else if (report !== undefined) response.write(`event: message\ndata: ${JSON.stringify(report)}\n\n`);
  });
}

/** In the second era a method that the server does not know is a path that is not there. */
function statusOf({ request }: Exchange, answer: Answer): number {
  if (request.headers['mcp-protocol-version'] !== statelessVersion || 'result' in answer) return 200;
  return answer.error.code === rpcErrors.methodNotFound ? 404 : 200;
}

function progressOf({ message }: Exchange, step: number): object | undefined {
  const progressToken = progressTokenOf(message?.params);
  if (progressToken === undefined) return undefined;
  const params = { progressToken, progress: step };
  return { jsonrpc: '2.0', method: 'notifications/progress', params };
}

function resultOf(answer: Answer): object {
  return 'result' in answer ? answer.result : {};
}

function later(response: ServerResponse, ms: number, act: () => void): void {
  const timer = setTimeout(act, ms).unref();
  response.on('close', () => clearTimeout(timer));
}

function repeat(response: ServerResponse, ms: number, act: () => void): void {
  const timer = setInterval(act, ms).unref();
  response.on('close', () => clearInterval(timer));
}
