import type { FactOf, FactType, Told } from '../policy/facts.ts';
import { type Given, integer, type Key, list, name, signal as signalKey } from '../policy/optionKeys.ts';
import { readOptions } from '../policy/readOptions.ts';
import type { CheckName, Closers, Listen } from './listener.ts';

/** Facts as an async iterator. It listens from its creation until `return()`, which leaving a `for await` calls. */
export interface EventStream<T> extends AsyncIterableIterator<T, undefined, void> {
  /** Facts lost because nobody read them in time. */
  readonly dropped: number;
  return(): Promise<IteratorResult<T, undefined>>;
  [Symbol.asyncIterator](): EventStream<T>;
}

const streamKeys = {
  types: list(name as Key<FactType>, { least: 1, expected: 'a list of at least one fact type' }),
  /** Ends the iterator; facts that wait are given up. */
  signal: signalKey,
  /** Facts that may wait to be read; one more drops the oldest. At least 1. @defaultValue 1000 */
  limit: integer({ default: 1000 }),
};

/** Events that are heard, and how many may wait to be read. */
export interface StreamOptions<K extends FactType> extends Given<typeof streamKeys> {
  /** Types to hear. @defaultValue every type */
  readonly types?: readonly K[] | undefined;
}

/**
 * A bounded stream of facts.
 * @throws RangeError or TypeError that names the option and the value.
 */
export function createEventStream<K extends FactType>(
  on: Listen,
  closers: Closers,
  options: StreamOptions<K> = {},
  checkType: CheckName = () => undefined,
): EventStream<Told<FactOf<K>>> {
  type Item = Told<FactOf<K>>;
  const { types, signal, limit } = readOptions('options', options, streamKeys);
  types?.forEach((type, index) => checkType(`options.types[${index}]`, type));
  const queue: Item[] = [];
  const readers: ((result: IteratorResult<Item, undefined>) => void)[] = [];
  let dropped = 0;
  let ended = false;

  const take = (fact: Item) => {
    const reader = readers.shift();
    if (reader !== undefined) {
      reader({ done: false, value: fact });
      return;
    }
    if (queue.length >= limit) {
      queue.shift();
      dropped++;
    }
    queue.push(fact);
  };
  const end = () => {
    ended = true;
    for (const remove of removers) remove();
    signal?.removeEventListener('abort', end);
    closers.delete(end);
    queue.length = 0;
    for (const reader of readers.splice(0)) reader({ done: true, value: undefined });
  };

  const heard: readonly (FactType | '*')[] = types === undefined ? ['*'] : [...new Set(types)];
  const removers = heard.map((type) => on(type, (fact) => take(fact as Item)));
  closers.add(end);
  signal?.addEventListener('abort', end, { once: true });
  if (signal?.aborted) end();

  return {
    get dropped() {
      return dropped;
    },
    next() {
      const value = queue.shift();
      if (value !== undefined) return Promise.resolve({ done: false, value });
      if (ended) return Promise.resolve({ done: true, value: undefined });
      return new Promise((resolve) => {
        readers.push(resolve);
      });
    },
    return() {
      end();
      return Promise.resolve({ done: true, value: undefined });
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}
