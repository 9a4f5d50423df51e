import { formatDuration } from '../policy/text/duration.ts';
import type { Clock } from '../policy/clock.ts';
import { AttemptError } from '../policy/failures/failure.ts';
import { asSource, type ChunkSource } from './chunkSource.ts';

/** Makes items of bytes. */
export interface Decoder {
  /** The next bytes. What it throws ends the stream, after the items that it gave before. */
  push(chunk: Uint8Array): void;
  /** There are no more bytes. What it throws ends the stream likewise. */
  end(): void;
  /** The bytes broke off. What it gives now comes before the failure. @defaultValue nothing */
  broke?(): void;
  /** True once the last item was given, though the bytes may go on. @defaultValue false */
  readonly isComplete?: boolean | undefined;
}

/** Takes an item. @param isContent - false for one that says no more than a sign of life. By default it says more. */
export type Give<C> = (item: C, isContent?: boolean) => void;

interface DecodedStreamOptions<C> {
  readonly clock: Pick<Clock, 'setTimeout' | 'clearTimeout' | 'now' | 'stalls'>;
  /** Told of each chunk of bytes, a sign of life. Must not throw. */
  readonly heard: () => void;
  /** Longest wait for the first item that is content, in ms; what its reader takes for itself does not count. @defaultValue none */
  readonly firstContentMs?: number | undefined;
  /** The same between two of them. @defaultValue none */
  readonly contentMs?: number | undefined;
  /** An item as text, where the stream is handed on as bytes. @defaultValue as for any chunk */
  readonly written?: ((item: C) => string) | undefined;
}

/** Time that the bytes may take to end after the last item, in ms: a connection that was read to its end can be used again. */
const closingMs = 100;

/**
 * Items made of a source of bytes. Bytes are asked for when the reader asks for an item; what one chunk held is kept until it is asked for.
 */
export class DecodedStream<C> implements AsyncIterable<C>, ChunkSource<C> {
  onClosing: (() => void) | undefined = undefined;
  readonly #source: ChunkSource<Uint8Array>;
  readonly #decoder: Decoder;
  readonly #options: DecodedStreamOptions<C>;
  #items: C[] = [];
  #at = 0;
  /** There are no more bytes, or nobody wants them. */
  #isOver = false;
  #hasContent = false;
  /** Content has come since the reader began to wait. */
  #gotContent = false;
  /** Time that was waited without content, in ms. */
  #waitedMs = 0;
  #fault: { readonly error: unknown } | undefined = undefined;
  /** Resolves when the source has let go. */
  #released: Promise<unknown> = Promise.resolve();

  /** @param decoder - makes the decoder, which hands its items to `give`. */
  constructor(source: ChunkSource<Uint8Array>, decoder: (give: Give<C>) => Decoder, options: DecodedStreamOptions<C>) {
    this.#source = source;
    this.#options = options;
    this.#decoder = decoder((item, isContent = true) => {
      this.#items.push(item);
      this.#gotContent ||= isContent;
    });
  }

  /** An item that came with the one before it is there at once. */
  next(): IteratorResult<C, undefined> | Promise<IteratorResult<C, undefined>> {
    return this.#taken() ?? this.#read();
  }

  async return(): Promise<IteratorResult<C, undefined>> {
    await this.cancel(new Error('nobody reads on'));
    return { done: true, value: undefined };
  }

  async cancel(reason: unknown): Promise<void> {
    this.#isOver = true;
    await this.#source.cancel(reason);
  }

  get isComplete(): boolean {
    const isLast = this.#isOver || this.#decoder.isComplete === true;
    return isLast && this.#fault === undefined && this.#at === this.#items.length;
  }

  get written(): DecodedStreamOptions<C>['written'] {
    return this.#options.written;
  }

  [asSource](): this {
    return this;
  }

  [Symbol.asyncIterator](): AsyncIterator<C, undefined> {
    // A `for await` loop takes what is there at once as well.
    return this as unknown as AsyncIterator<C, undefined>;
  }

  #taken(): IteratorResult<C, undefined> | undefined {
    return this.#at < this.#items.length ? { done: false, value: this.#items[this.#at++] as C } : undefined;
  }

  async #read(): Promise<IteratorResult<C, undefined>> {
    const { clock, firstContentMs, contentMs } = this.#options;
    this.#items = [];
    this.#at = 0;
    const limitMs = this.#hasContent ? contentMs : firstContentMs;
    const since = clock.now();
    const timer =
      limitMs === undefined
        ? undefined
        : clock.setTimeout(() => this.#fellSilent(limitMs), Math.max(0, limitMs - this.#waitedMs), { running: true });
    try {
      while (this.#items.length === 0) {
        if (this.#fault !== undefined) {
          // A stream that reads on has ended only when its source has.
          await this.#released;
          throw this.#fault.error;
        }
        if (this.#isOver) return { done: true, value: undefined };
        if (this.#decoder.isComplete === true) await this.#close();
        else await this.#decode();
      }
    } finally {
      clock.clearTimeout(timer);
      // A time in which this process stood still is nobody's silence, as for the timer.
      const stoodMs = clock.stalls?.since(since) ?? 0;
      this.#waitedMs = this.#gotContent ? 0 : this.#waitedMs + Math.max(0, clock.now() - since - stoodMs);
      this.#hasContent ||= this.#gotContent;
      this.#gotContent = false;
    }
    return this.#taken() ?? { done: true, value: undefined };
  }

  async #decode(): Promise<void> {
    let next: IteratorResult<Uint8Array, unknown>;
    try {
      next = await this.#source.next();
    } catch (error) {
      if (this.#isOver) throw error;
      this.#decoder.broke?.();
      this.#fault ??= { error };
      return;
    }
    // It was given up while it waited: how its bytes ended says nothing.
    if (this.#isOver) return;
    const { done, value } = next;
    try {
      if (done === true) {
        this.#isOver = true;
        this.#decoder.end();
      } else {
        this.#options.heard();
        this.#decoder.push(value);
      }
    } catch (error) {
      this.#fail(error);
    }
  }

  /** Waits for the end of the bytes: there is nothing in them any more. */
  async #close(): Promise<void> {
    const { clock, heard } = this.#options;
    heard();
    this.onClosing?.();
    const timer = clock.setTimeout(() => this.#letGo(), closingMs, { ref: true });
    try {
      while (!this.#isOver) this.#isOver = (await this.#source.next()).done === true;
    } catch {
      // All items are there: whatever breaks now takes nothing away.
      this.#isOver = true;
    } finally {
      clock.clearTimeout(timer);
    }
  }

  #fellSilent(limitMs: number): void {
    const message = `Nothing but signs of life for ${formatDuration(limitMs)}`;
    this.#fail(new AttemptError({ kind: 'timeout', reason: 'idle_timeout', message, outcome: 'unknown' }));
  }

  #fail(error: unknown): void {
    this.#fault ??= { error };
    this.#letGo();
  }

  #letGo(): void {
    this.#released = this.return().catch(() => undefined);
  }
}
