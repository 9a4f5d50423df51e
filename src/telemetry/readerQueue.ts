interface Waiting<T> {
  readonly value: T;
  readonly size: number;
}

interface ReaderQueueOptions<T> {
  /** Values that may wait; one more drops the oldest. */
  readonly limit: number;
  /** Sizes that may wait, together; the newest value is kept whatever its size. @defaultValue any */
  readonly maxSize?: number;
  /** Puts a value and the newest that waits into one; undefined where they stay two. @defaultValue they do */
  readonly join?: (newest: T, value: T) => T | undefined;
  /** Shortens a value that is too large and waits alone; undefined where it cannot. @defaultValue it stays whole */
  readonly shorten?: (value: T) => Waiting<T> | undefined;
  /** Told once when the reader leaves. Must not throw. */
  readonly onReturn?: () => void;
}

const nothing = { done: true, value: undefined } as const;

/** A queue between a writer that never waits and its reader, bounded: a reader that is too slow loses the oldest. */
export class ReaderQueue<T> implements AsyncIterableIterator<T, undefined, void> {
  /** Values that were lost because nobody read them in time. */
  dropped = 0;
  /** True once it takes no more: it ended, or its reader left. */
  over = false;
  readonly #options: ReaderQueueOptions<T>;
  #waiting: Waiting<T>[] = [];
  readonly #readers: ((result: IteratorResult<T, undefined>) => void)[] = [];
  #size = 0;
  #isLeft = false;

  constructor(options: ReaderQueueOptions<T>) {
    this.#options = options;
  }

  /** @param size - of the value, for the bound on memory. */
  push(value: T, size = 0): void {
    if (this.over) return;
    const reader = this.#readers.shift();
    if (reader === undefined) this.#keep(value, size);
    else reader({ done: false, value });
  }

  /** No more comes; what waits can still be read. */
  end(): void {
    this.over = true;
    this.letGo();
  }

  /** Whoever waits for a value now gets none; what comes later can be read. */
  letGo(): void {
    for (const reader of this.#readers.splice(0)) reader(nothing);
  }

  next(): Promise<IteratorResult<T, undefined>> {
    const first = this.#take();
    if (first !== undefined) return Promise.resolve({ done: false, value: first.value });
    if (this.over) return Promise.resolve(nothing);
    return new Promise((resolve) => {
      this.#readers.push(resolve);
    });
  }

  /** The reader leaves; what waits is given up. */
  return(): Promise<IteratorResult<T, undefined>> {
    this.end();
    this.#waiting = [];
    this.#size = 0;
    if (!this.#isLeft) this.#options.onReturn?.();
    this.#isLeft = true;
    return Promise.resolve(nothing);
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  #keep(value: T, size: number): void {
    const { limit, maxSize = Number.POSITIVE_INFINITY, join, shorten } = this.#options;
    const newest = this.#waiting.at(-1);
    const joined = newest && join?.(newest.value, value);
    if (newest === undefined || joined === undefined) this.#waiting.push({ value, size });
    else this.#waiting[this.#waiting.length - 1] = { value: joined, size: newest.size + size };
    this.#size += size;
    while (this.#waiting.length > limit || (this.#size > maxSize && this.#waiting.length > 1)) {
      this.#take();
      this.dropped++;
    }
    const [only] = this.#waiting;
    const shortened = this.#size > maxSize && only !== undefined ? shorten?.(only.value) : undefined;
    if (shortened === undefined) return;
    this.#waiting = [shortened];
    this.#size = shortened.size;
    this.dropped++;
  }

  #take(): Waiting<T> | undefined {
    const first = this.#waiting.shift();
    this.#size -= first?.size ?? 0;
    return first;
  }
}
