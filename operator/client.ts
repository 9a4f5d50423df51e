import { createConnection } from 'node:net';
import { formatDuration } from '../src/policy/text/face.ts';
import type { Clock, Timer } from '../src/policy/face.ts';
import { createLineSplitter, parseRpc, rpcLine } from '../src/protocol/face.ts';
import { Readable } from 'node:stream';
import { readItem } from '../src/control/face.ts';

/** Why there is no answer: nobody listens, none came in time, the connection broke or made no sense, or the runtime refused. */
type ControlFailure = 'absent' | 'timeout' | 'lost' | 'refused';

export type ControlAnswer =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly reason: ControlFailure; readonly message: string };

export interface AskOptions {
  readonly clock: Clock;
  /** For connecting and the answer together, in ms. @defaultValue 2000 */
  readonly timeoutMs?: number | undefined;
}

/** Longest answer, in bytes. */
const maxAnswerBytes = 64 * 2 ** 20;

/** Asks the runtime behind a socket one thing. Never rejects. */
export async function askRuntime(
  path: string,
  method: string,
  params: unknown,
  options: AskOptions,
): Promise<ControlAnswer> {
  const [answer] = await askInTurn(path, method, [params], options);
  return answer ?? unanswered;
}

const unanswered = { ok: false, reason: 'lost', message: 'the connection was closed' } as const;

/**
 * Asks the runtime behind a socket the same of each of `params`, one after the other over one connection: a runtime has few for all its
 * clients. The limit is of each answer; once the connection fails, all that is left fails with it. Never rejects.
 * @returns an answer for each of `params`, in their order.
 */
export function askInTurn(
  path: string,
  method: string,
  params: readonly unknown[],
  { clock, timeoutMs = 2000 }: AskOptions,
): Promise<readonly ControlAnswer[]> {
  const answers: ControlAnswer[] = [];
  // Node takes it for a missing port, and throws.
  if (path === '')
    return Promise.resolve(params.map(() => ({ ok: false, reason: 'absent', message: 'nobody listens' })));
  if (params.length === 0) return Promise.resolve([]);
  return new Promise((resolve) => {
    const socket = createConnection(path);
    let timer: Timer | undefined;
    const arm = (): void => {
      clock.clearTimeout(timer);
      timer = clock.setTimeout(() => fail('timeout', `no answer within ${formatDuration(timeoutMs)}`), timeoutMs, {
        ref: true,
      });
    };
    const settle = (rest?: ControlAnswer): void => {
      clock.clearTimeout(timer);
      socket.destroy();
      resolve(params.map((_, index) => answers[index] ?? rest ?? unanswered));
    };
    const fail = (reason: ControlFailure, message: string): void => settle({ ok: false, reason, message });
    const ask = (): void =>
      void socket.write(rpcLine({ id: answers.length + 1, method, params: params[answers.length] }));
    const take = (answer: ControlAnswer): void => {
      answers.push(answer);
      // An answer that makes no sense says nothing of those to follow either.
      const isOver = !answer.ok && answer.reason === 'lost';
      if (isOver || answers.length === params.length) return settle(answer);
      arm();
      ask();
    };
    const splitter = createLineSplitter({
      maxBytes: maxAnswerBytes,
      onLine: (line) => take(readAnswer(line)),
      onTooLong: () => fail('lost', `an answer of more than ${maxAnswerBytes} bytes`),
    });
    arm();
    socket.on('connect', ask);
    socket.on('data', (chunk) => splitter.push(chunk));
    socket.on('close', () => fail('lost', unanswered.message));
    socket.on('error', (error) => settle(readError(error)));
  });
}

/** Reads an error of the connection. */
function readError({ code, message }: NodeJS.ErrnoException): Extract<ControlAnswer, { ok: false }> {
  const isAbsent = code === 'ENOENT' || code === 'ECONNREFUSED';
  return isAbsent ? { ok: false, reason: 'absent', message: 'nobody listens' } : { ok: false, reason: 'lost', message };
}

/** The answer in a line of a runtime. */
function readAnswer(line: string): ControlAnswer {
  const message = parseRpc(line);
  if (message.kind === 'result') return { ok: true, value: message.result };
  if (message.kind === 'error') return { ok: false, reason: 'refused', message: message.error.message };
  return { ok: false, reason: 'lost', message: 'an answer that is none' };
}

type ControlStream =
  /** Each chunk is the JSON of an item. It ends with the runtime; destroying it lets the runtime go. */
  { readonly ok: true; readonly items: Readable } | Extract<ControlAnswer, { ok: false }>;

/** Longest item, in bytes. */
const maxItemBytes = 2 ** 20;

/**
 * Asks the runtime behind a socket for a stream, which is read from it no faster than it is read here. The limit is for its beginning.
 * Never rejects.
 */
export function streamFromRuntime(
  path: string,
  method: string,
  { clock, timeoutMs = 2000 }: AskOptions,
): Promise<ControlStream> {
  if (path === '') return Promise.resolve({ ok: false, reason: 'absent', message: 'nobody listens' });
  return new Promise((resolve) => {
    const socket = createConnection(path);
    let items: Readable | undefined;
    let ended = false;
    const refuse = (answer: Extract<ControlAnswer, { ok: false }>): void => {
      clock.clearTimeout(timer);
      socket.destroy();
      if (!ended) items?.push(null);
      ended = true;
      resolve(answer);
    };
    const lose = (message: string): void => refuse({ ok: false, reason: 'lost', message });
    const timer = clock.setTimeout(
      () => refuse({ ok: false, reason: 'timeout', message: `no answer within ${formatDuration(timeoutMs)}` }),
      timeoutMs,
      { ref: true },
    );
    const begin = (line: string): void => {
      const answer = readAnswer(line);
      if (!answer.ok) return refuse(answer);
      clock.clearTimeout(timer);
      items = new Readable({
        objectMode: true,
        read: () => void socket.resume(),
        destroy(error, done) {
          ended = true;
          socket.destroy();
          done(error);
        },
      });
      resolve({ ok: true, items });
    };
    const splitter = createLineSplitter({
      maxBytes: maxItemBytes,
      onLine(line) {
        if (items === undefined) return begin(line);
        const item = readItem(line);
        if (item !== undefined && !ended && !items.push(item)) socket.pause();
      },
      onTooLong: () => lose(`an item of more than ${maxItemBytes} bytes`),
    });
    socket.on('connect', () => socket.write(rpcLine({ id: 1, method })));
    socket.on('data', (chunk) => splitter.push(chunk));
    socket.on('close', () => lose('the connection was closed'));
    socket.on('error', (error) => refuse(readError(error)));
  });
}
