import { createConnection } from 'node:net';
import { Readable } from 'node:stream';
import { encodeRequest } from '../src/protocol/jsonRpc.ts';
import { createLineSplitter } from '../src/protocol/lines.ts';
import { type AskOptions, type ControlAnswer, readAnswer, readError } from './client.ts';
import { readItem } from '../src/control/items.ts';
import { formatDuration } from '../src/policy/duration.ts';

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
    socket.on('connect', () => socket.write(encodeRequest(1, method)));
    socket.on('data', (chunk) => splitter.push(chunk));
    socket.on('close', () => lose('the connection was closed'));
    socket.on('error', (error) => refuse(readError(error)));
  });
}
