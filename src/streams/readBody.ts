import type { Clock } from '../policy/clock.ts';

/** Answer of a server by HTTP, as far as it is read here: a `Response` is one, and so is what comes without one. */
export interface HttpAnswer {
  readonly status: number;
  /** True for a status of success. */
  readonly ok: boolean;
  readonly headers: Pick<Headers, 'get' | 'has'>;
  readonly body: AnswerBody | null;
  readonly bodyUsed: boolean;
  /** The body where all of it is there, and was not asked for; undefined also where that is not known. */
  readonly arrived?: readonly Uint8Array[] | undefined;
}

/** Body of an answer, which one reader reads. */
export interface AnswerBody {
  readonly locked: boolean;
  getReader(): AnswerReader;
  /** Gives up what has not been read, and with it the connection. */
  cancel(): Promise<void>;
}

/** Reader of a body. */
export interface AnswerReader {
  /** Resolves with the next bytes, or with none at the end; rejects with what the connection broke with. */
  read(): Promise<{ readonly done: boolean; readonly value?: Uint8Array | undefined }>;
  cancel(): Promise<void>;
}

interface BodyLimits {
  /** Bytes that are kept; what follows is not read. */
  readonly maxBytes: number;
  /** Ends the reading, with what has come by then. */
  readonly signal?: AbortSignal | undefined;
  /** Told of each chunk: the other side lives. */
  readonly heard?: (() => void) | undefined;
  /** Time that it is read in all; without it, until it ends. */
  readonly limit?: { readonly clock: Pick<Clock, 'setTimeout' | 'clearTimeout'>; readonly ms: number } | undefined;
}

interface BodyRead {
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** `ended`: it is whole. `full`: there was more than `maxBytes`. `stopped`: the signal or the limit ended it. `broken`: the connection did. */
  readonly end: 'ended' | 'full' | 'stopped' | 'broken';
  readonly error?: unknown;
}

/**
 * Reads the body of a response, or its beginning. The rest is cancelled, which closes its connection: nothing of it is left open. Never
 * rejects.
 */
export async function readBody(
  response: HttpAnswer,
  { maxBytes, signal, heard, limit }: BodyLimits,
): Promise<BodyRead> {
  const { body } = response;
  if (body === null || response.bodyUsed || body.locked) return { bytes: new Uint8Array(), end: 'ended' };
  const reader = body.getReader();
  const chunks: Uint8Array[] = [];
  // The compiler cannot see that `stop` is called.
  let end = 'ended' as BodyRead['end'];
  let left = maxBytes;
  // A read that waits then gives its end.
  const stop = (): void => {
    end = 'stopped';
    void reader.cancel().catch(() => undefined);
  };
  signal?.addEventListener('abort', stop, { once: true });
  const timer = limit?.clock.setTimeout(stop, limit.ms, { ref: true });
  try {
    if (signal?.aborted === true) stop();
    for (;;) {
      const { value } = await reader.read();
      if (value === undefined) break;
      heard?.();
      chunks.push(value.subarray(0, left));
      left -= value.byteLength;
      if (left >= 0) continue;
      stop();
      end = 'full';
      break;
    }
    return { bytes: joined(chunks), end };
  } catch (error) {
    // A body that was stopped may end with an error of its own.
    return end === 'stopped' ? { bytes: joined(chunks), end } : { bytes: joined(chunks), end: 'broken', error };
  } finally {
    signal?.removeEventListener('abort', stop);
    limit?.clock.clearTimeout(timer);
  }
}

/** The same of a body that is there as a whole already; undefined for one that is not, or not known to be. */
export function bodyAtHand({ arrived }: HttpAnswer, maxBytes: number): BodyRead | undefined {
  if (arrived === undefined) return undefined;
  const bytes = joined(arrived);
  return bytes.byteLength > maxBytes ? { bytes: bytes.subarray(0, maxBytes), end: 'full' } : { bytes, end: 'ended' };
}

function joined(chunks: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const [only] = chunks;
  if (only !== undefined && chunks.length === 1) return only as Uint8Array<ArrayBuffer>;
  const bytes = new Uint8Array(chunks.reduce((sum, { byteLength }) => sum + byteLength, 0));
  let at = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, at);
    at += chunk.byteLength;
  }
  return bytes;
}

/** Gives up a body that nobody reads, and with it its connection. Never throws. */
export function dropBody(response: HttpAnswer): void {
  if (response.body === null || response.bodyUsed || response.body.locked) return;
  void response.body.cancel().catch(() => undefined);
}
