import { createConnection } from 'node:net';
import { formatDuration } from '../policy/duration.ts';
import type { Clock } from '../policy/clock.ts';
import { encodeRequest, parseRpc } from '../protocol/jsonRpc.ts';
import { createLineSplitter } from '../protocol/lines.ts';

/** Why there is no answer: nobody listens, none came in time, the connection broke or made no sense, or the runtime refused. */
export type ControlFailure = 'absent' | 'timeout' | 'lost' | 'refused';

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
export function askRuntime(
  path: string,
  method: string,
  params: unknown,
  { clock, timeoutMs = 2000 }: AskOptions,
): Promise<ControlAnswer> {
  // Node takes it for a missing port, and throws.
  if (path === '') return Promise.resolve({ ok: false, reason: 'absent', message: 'nobody listens' });
  return new Promise((resolve) => {
    const socket = createConnection(path);
    const settle = (answer: ControlAnswer): void => {
      clock.clearTimeout(timer);
      socket.destroy();
      resolve(answer);
    };
    const fail = (reason: ControlFailure, message: string): void => settle({ ok: false, reason, message });
    const timer = clock.setTimeout(() => fail('timeout', `no answer within ${formatDuration(timeoutMs)}`), timeoutMs, {
      ref: true,
    });
    const splitter = createLineSplitter({
      maxBytes: maxAnswerBytes,
      onLine: (line) => settle(readAnswer(line)),
      onTooLong: () => fail('lost', `an answer of more than ${maxAnswerBytes} bytes`),
    });
    socket.on('connect', () => socket.write(encodeRequest(1, method, params)));
    socket.on('data', (chunk) => splitter.push(chunk));
    socket.on('close', () => fail('lost', 'the connection was closed'));
    socket.on('error', (error) => settle(readError(error)));
  });
}

/** What an error of the connection says. */
export function readError({ code, message }: NodeJS.ErrnoException): Extract<ControlAnswer, { ok: false }> {
  const isAbsent = code === 'ENOENT' || code === 'ECONNREFUSED';
  return isAbsent ? { ok: false, reason: 'absent', message: 'nobody listens' } : { ok: false, reason: 'lost', message };
}

/** The answer in a line of a runtime. */
export function readAnswer(line: string): ControlAnswer {
  const message = parseRpc(line);
  if (message.kind === 'result') return { ok: true, value: message.result };
  if (message.kind === 'error') return { ok: false, reason: 'refused', message: message.error.message };
  return { ok: false, reason: 'lost', message: 'an answer that is none' };
}
