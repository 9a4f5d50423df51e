import type { Outcome } from '../policy/failures/failure.ts';
import type { ChunkRelay, StreamEnd } from './chunkRelay.ts';

/** The chunks of a call whose answer is a stream. It has begun, and it ends as any call does: exactly once, at its deadline at the latest. */
export interface ChunkStream<C> {
  /**
   * The chunks, for one reader. A chunk is asked for when the reader asks; leaving the loop early cancels the work (`cancelled`,
   * `reader_left`), but after the last event of a stream that names it. When the call fails, the reader gets an {@link IntegrationError} after the chunks that came before.
   */
  readonly chunks: AsyncIterableIterator<C, undefined>;
  /** Chunks that the reader took so far. */
  readonly chunkCount: number;
  /** Ends the call (`cancelled`), with `reason` as the cause. More calls, and calls after the end, do nothing. */
  cancel(reason?: unknown): void;
  /**
   * The chunks as a web stream of bytes, for `new Response(stream)` and its like: bytes and text as they are, server-sent events as an `EventSource`
   * reads them, each line with its end, anything else as a line of JSON. Cancelling it cancels the work. Takes the place of `chunks`.
   */
  toReadableStream(): ReadableStream<Uint8Array>;
}

/** A stream of an integration. */
export interface CallStream<C> extends ChunkStream<C> {
  /** End of the call. Never rejects. It waits for the reader: a stream that nobody reads ends by its overall limit. */
  readonly outcome: Promise<Outcome<StreamEnd>>;
}

/** The chunks of a relay. */
export class RelayedStream<I, C> implements ChunkStream<C> {
  readonly chunks: AsyncIterableIterator<C, undefined>;
  readonly #ended: Promise<unknown>;
  readonly #relay: ChunkRelay<I, C>;
  readonly #cancel: (reason: unknown, isReader: boolean) => void;

  /**
   * @param ended - settles when the call has.
   * @param cancel - ends the call, unless it has ended; `isReader` when its reader leaves.
   */
  constructor(relay: ChunkRelay<I, C>, ended: Promise<unknown>, cancel: (reason: unknown, isReader: boolean) => void) {
    this.#ended = ended;
    this.#relay = relay;
    this.#cancel = cancel;
    this.chunks = new ChunkIterator(relay, () => this.#leave(undefined));
  }

  get chunkCount(): number {
    return this.#relay.chunks;
  }

  cancel(reason?: unknown): void {
    this.#cancel(reason ?? new Error('the reader cancelled the stream'), false);
  }

  toReadableStream(): ReadableStream<Uint8Array> {
    const { chunks } = this;
    return new ReadableStream<Uint8Array>(
      {
        pull: async (controller) => {
          const { done, value } = await chunks.next();
          if (done === true) controller.close();
          else controller.enqueue(this.#bytesOf(value));
        },
        cancel: (reason) => this.#leave(reason),
      },
      // Nothing is read ahead: a chunk that nobody asked for would be lost with the stream.
      { highWaterMark: 0 },
    );
  }

  /** Ends the work where a chunk cannot be written: nobody reads on. */
  #bytesOf(chunk: C): Uint8Array {
    try {
      return this.#relay.bytesOf(chunk);
    } catch (error) {
      this.cancel(error);
      throw error;
    }
  }

  async #leave(reason: unknown): Promise<void> {
    if (!this.#relay.finish()) this.#cancel(reason, true);
    await this.#ended;
  }
}

/** The chunks of a relay for a `for await` loop. A reader that asks twice at once is answered in turn. */
class ChunkIterator<I, C> implements AsyncIterableIterator<C, undefined> {
  readonly #relay: ChunkRelay<I, C>;
  readonly #leave: () => Promise<void>;
  #last: Promise<IteratorResult<C, undefined>> = Promise.resolve({ done: true, value: undefined });
  #queued = 0;

  constructor(relay: ChunkRelay<I, C>, leave: () => Promise<void>) {
    this.#relay = relay;
    this.#leave = leave;
  }

  next(): Promise<IteratorResult<C, undefined>> {
    const isFree = this.#queued === 0 && !this.#relay.isAsked;
    this.#last = isFree ? this.#relay.pull() : this.#afterLast();
    return this.#last;
  }

  #afterLast(): Promise<IteratorResult<C, undefined>> {
    this.#queued++;
    const ask = (): Promise<IteratorResult<C, undefined>> => {
      this.#queued--;
      return this.#relay.pull();
    };
    return this.#last.then(ask, ask);
  }

  async return(): Promise<IteratorResult<C, undefined>> {
    await this.#leave();
    return { done: true, value: undefined };
  }

  [Symbol.asyncIterator](): this {
    return this;
  }
}
