import type { Socket } from 'node:net';
import { Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Clock, Timer } from '../policy/clock.ts';
import { parseRpc, type RpcId, rpcErrors, rpcLine, type RpcRequest } from '../protocol/jsonRpc.ts';
import { createLineSplitter } from '../protocol/lines.ts';
import { encodeItem } from './items.ts';
import { messageOf } from '../policy/failures/thrown.ts';

/**
 * Methods that clients may ask for, by name. A method gets the `params` as they came and gives, or promises, what JSON can hold; a TypeError or RangeError
 * means that the params are wrong. A stream of JSON texts goes on until the client leaves; it is destroyed then, and the client can ask nothing else.
 */
export type Methods = Readonly<Record<string, (params: unknown) => unknown>>;

interface ServeOptions {
  readonly methods: Methods;
  readonly clock: Clock;
  /** Longest request, in bytes. */
  readonly maxLineBytes: number;
  /** Time in ms that the client may take for a request, and to read its answer. */
  readonly idleMs: number;
}

/**
 * Answers one client until it leaves, takes too long or sends a line that is too long. The next request is read when the last answer is
 * with the system, so a client that does not read holds one answer in memory. Never rejects.
 */
export async function serveClient(
  socket: Socket,
  { methods, clock, maxLineBytes, idleMs }: ServeOptions,
): Promise<void> {
  const lines: string[] = [];
  let tooLong = false;
  const splitter = createLineSplitter({
    maxBytes: maxLineBytes,
    onLine: (line) => lines.push(line),
    onTooLong: () => {
      tooLong = true;
    },
  });
  let timer: Timer | undefined;
  const arm = (): void => {
    clock.clearTimeout(timer);
    timer = clock.setTimeout(() => socket.destroy(), idleMs);
  };

  try {
    arm();
    for await (const chunk of socket) {
      splitter.push(chunk as Buffer);
      for (const line of lines.splice(0)) {
        clock.clearTimeout(timer);
        const answer = await answerTo(line, methods);
        if (answer?.items !== undefined) return await stream(socket, answer.text, answer.items);
        arm();
        if (answer !== undefined) await write(socket, answer.text);
      }
      if (tooLong) {
        const message = `A request may have ${maxLineBytes} bytes`;
        await write(socket, rpcLine({ id: null, error: { code: rpcErrors.invalidRequest, message } }));
        return;
      }
    }
  } catch {
    // The client is gone; nobody is left to tell.
  } finally {
    clock.clearTimeout(timer);
    socket.destroy();
  }
}

interface Answer {
  readonly text: string;
  /** Items that follow the answer. */
  readonly items?: Readable | undefined;
}

/** Answers a line; undefined when it asks for nothing. */
async function answerTo(line: string, methods: Methods): Promise<Answer | undefined> {
  const message = parseRpc(line);
  switch (message.kind) {
    case 'request':
      return answer(message, methods);
    case 'garbage':
      return {
        text: rpcLine({
          id: message.id,
          error: { code: message.code, message: `Expected a request, got ${message.reason}` },
        }),
      };
    case 'notification':
    case 'result':
    case 'error':
      return undefined;
  }
}

async function answer({ id, method, params }: RpcRequest, methods: Methods): Promise<Answer> {
  const run = Object.hasOwn(methods, method) ? methods[method] : undefined;
  if (run === undefined) {
    const message = `Unknown method; known: ${Object.keys(methods).join(', ')}`;
    return { text: rpcLine({ id, error: { code: rpcErrors.methodNotFound, message } }) };
  }
  let result: unknown;
  try {
    result = await run(params);
  } catch (error) {
    const isMisuse = error instanceof TypeError || error instanceof RangeError;
    return refusal(id, isMisuse ? rpcErrors.invalidParams : rpcErrors.internal, error);
  }
  if (result instanceof Readable) return { text: rpcLine({ id, result: null }), items: result };
  try {
    return { text: rpcLine({ id, result: result ?? null }) };
  } catch (error) {
    return refusal(id, rpcErrors.internal, error);
  }
}

function refusal(id: RpcId, code: number, error: unknown): Answer {
  return { text: rpcLine({ id, error: { code, message: messageOf(error) } }) };
}

/** Sends items, no faster than they are read, until there are no more or the client has left. Rejects in the second case. */
async function stream(socket: Socket, answer: string, items: Readable): Promise<void> {
  // Nothing more is taken from the client; but only a reader learns that it has left.
  socket.on('readable', () => socket.read());
  items.on('error', () => undefined);
  socket.once('end', () => items.destroy());
  await write(socket, answer).catch(() => items.destroy());
  const asLines = new Transform({
    writableObjectMode: true,
    transform: (json: string, _encoding, done) => done(null, encodeItem(json)),
  });
  await pipeline(items, asLines, socket);
}

/** Resolves when the system has taken it all; rejects when the client is gone. */
function write(socket: Socket, text: string): Promise<void> {
  return new Promise((resolve, reject) => {
    socket.write(text, (error) => {
      // A destroyed socket calls back without an error.
      if (error || socket.destroyed) reject(error ?? new Error('The client is gone'));
      else resolve();
    });
  });
}
