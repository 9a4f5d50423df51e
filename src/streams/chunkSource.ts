/** Source that a stream is read from: one at a time, and given up once. */
export interface ChunkSource<C> {
  /** May throw, and answer at once: an iterator may be made by hand. */
  next(): PromiseLike<IteratorResult<C, unknown>> | IteratorResult<C, unknown>;
  /** Tells the source that nobody reads on. Resolves once it has let go; what it throws at that is of no interest. */
  cancel(reason: unknown): Promise<void>;
  /** True once its last chunk was taken, though it has not ended yet: who leaves now has had all of it. @defaultValue false */
  readonly isComplete?: boolean | undefined;
  /** A chunk as text, where the stream is handed on as bytes. @defaultValue bytes and text as they are, anything else as a line of JSON */
  readonly written?: ((chunk: C) => string) | undefined;
  /** Told when there is nothing left to wait for but its end. Set by who reads it. */
  onClosing?: (() => void) | undefined;
}

/** Mark of what can be read as a source as it is. */
export const asSource = Symbol('chunk source');

/**
 * The chunks of what an operation answers with: bytes of a response of `fetch`, else what a web stream, a Node stream or an async iterable gives.
 */
export type ChunkOf<O> = O extends Response
  ? Uint8Array
  : O extends ReadableStream<infer C>
    ? C
    : O extends AsyncIterable<infer C>
      ? C
      : never;

/**
 * Opens what an operation answered with. A response of another copy of `fetch` counts as one, and so does its stream.
 * @returns undefined for what is no stream.
 * @throws TypeError for a stream that is read by somebody else already.
 */
export function openChunkSource<C>(answer: unknown): ChunkSource<C> | undefined {
  if (isResponse(answer)) return answer.body === null ? emptySource() : readerSource<C>(answer.body);
  if (hasMethod<{ [asSource](): ChunkSource<C> }>(answer, asSource)) return answer[asSource]();
  // Before the iterator: that of a web stream makes two promises more for each chunk.
  if (hasMethod<ReadableStream<C>>(answer, 'getReader')) return readerSource<C>(answer);
  return hasMethod<AsyncIterable<C>>(answer, Symbol.asyncIterator) ? iteratorSource<C>(answer) : undefined;
}

export function isResponse(value: unknown): value is Response {
  if (typeof value !== 'object' || value === null || !('status' in value) || !('body' in value)) return false;
  return value.body === null || hasMethod<ReadableStream>(value.body, 'getReader');
}

/** Headers of a response that say when to come again. */
const hints = ['retry-after-ms', 'retry-after', 'x-should-retry', 'date'] as const;

/** Tells what a response that is not ok says, for classification; its body is not read. */
export function refusedBy({ status, statusText, headers, body }: Response): Error {
  body?.cancel().catch(() => undefined);
  const kept = hints.map((name) => [name, headers.get(name)] as const).filter(([, value]) => value !== null);
  return Object.assign(new Error(`HTTP ${status} ${statusText}`.trim()), { status, headers: Object.fromEntries(kept) });
}

/** Takes a value for what has such a method. */
function hasMethod<T extends object>(value: unknown, name: keyof T): value is T {
  return typeof value === 'object' && value !== null && typeof Reflect.get(value, name) === 'function';
}

const emptySource = <C>(): ChunkSource<C> => ({
  next: () => Promise.resolve({ done: true, value: undefined }),
  cancel: () => Promise.resolve(),
});

function readerSource<C>(stream: ReadableStream<unknown>): ChunkSource<C> {
  if (stream.locked) throw new TypeError('The stream is read by somebody else already');
  const reader = stream.getReader() as ReadableStreamDefaultReader<C>;
  return {
    next: () => reader.read() as Promise<IteratorResult<C, unknown>>,
    cancel: (reason) => reader.cancel(reason),
  };
}

function iteratorSource<C>(iterable: AsyncIterable<C>): ChunkSource<C> {
  const iterator = iterable[Symbol.asyncIterator]();
  return {
    next: () => iterator.next(),
    cancel: async () => {
      // The iterator of a Node stream lets go only once a chunk has come that it was asked for.
      if (hasMethod<{ destroy(): void }>(iterable, 'destroy')) iterable.destroy();
      await iterator.return?.();
    },
  };
}
