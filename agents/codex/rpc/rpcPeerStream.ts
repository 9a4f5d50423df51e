import { callback, integer, type Given } from '../../../src/policy/optionKeys.ts';
import { readOptions } from '../../../src/policy/readOptions.ts';

/** A bounded queue as an async iterator: a reader that is too slow loses the oldest. */
export interface BoundedStream<T> extends AsyncIterableIterator<T, undefined, void> {
  /** Values that were lost because nobody read them in time. */
  readonly dropped: number;
  /** True once it takes no more: it ended, or its reader left. */
  readonly over: boolean;
  /** @param size - of the value, for the bound on memory. */
  push(value: T, size?: number): void;
  /** No more comes; what waits can still be read. */
  end(): void;
  /** The reader leaves; what waits is given up. */
  return(): Promise<IteratorResult<T, undefined>>;
  [Symbol.asyncIterator](): BoundedStream<T>;
}

const streamKeys = {
  /** Values that may wait; one more drops the oldest. At least 1. @defaultValue 1000 */
  limit: integer({ default: 1000 }),
  /** Sizes that may wait, together; the newest value is kept whatever its size. @defaultValue 16777216 */
  maxSize: integer({ default: 16 * 1024 * 1024 }),
  /** Told once when the reader leaves. Must not throw. */
  onReturn: callback<() => void>(),
};

interface BoundedStreamOptions extends Given<typeof streamKeys> {}

/** @throws TypeError or RangeError that names the option and its value. */
export function createBoundedStream<T>(options: BoundedStreamOptions = {}): BoundedStream<T> {
  const { limit, maxSize } = readOptions('options', options, streamKeys);
  const queue: { readonly value: T; readonly size: number }[] = [];
  const readers: ((result: IteratorResult<T, undefined>) => void)[] = [];
  let size = 0;
  let dropped = 0;
  let over = false;
  let left = false;

  const end = (): void => {
    over = true;
    for (const reader of readers.splice(0)) reader({ done: true, value: undefined });
  };
  const take = (): { readonly value: T } | undefined => {
    const first = queue.shift();
    size -= first?.size ?? 0;
    return first;
  };

  return {
    get dropped() {
      return dropped;
    },
    get over() {
      return over;
    },
    push(value, valueSize = 0) {
      if (over) return;
      const reader = readers.shift();
      if (reader !== undefined) {
        reader({ done: false, value });
        return;
      }
      queue.push({ value, size: valueSize });
      size += valueSize;
      while (queue.length > limit || (size > maxSize && queue.length > 1)) {
        take();
        dropped++;
      }
    },
    end,
    next() {
      const first = take();
      if (first !== undefined) return Promise.resolve({ done: false, value: first.value });
      if (over) return Promise.resolve({ done: true, value: undefined });
      return new Promise((resolve) => {
        readers.push(resolve);
      });
    },
    return() {
      end();
      queue.length = 0;
      size = 0;
      if (!left) options.onReturn?.();
      left = true;
      return Promise.resolve({ done: true, value: undefined });
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}
