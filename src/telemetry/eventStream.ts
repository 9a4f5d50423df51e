import type { FactOf, FactType, Told } from '../policy/facts/facts.ts';
import { type Given, integer, type Key, list, name, signal as signalKey } from '../policy/options/optionKeys.ts';
import { readOptions } from '../policy/options/readOptions.ts';
import type { CheckName, Closers, Listen } from './listener.ts';
import { ReaderQueue } from './readerQueue.ts';

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
  const queue = new ReaderQueue<Item>({
    limit,
    onReturn() {
      for (const remove of removers) remove();
      signal?.removeEventListener('abort', end);
      closers.delete(end);
    },
  });
  const end = (): void => void queue.return();
  const heard: readonly (FactType | '*')[] = types === undefined ? ['*'] : [...new Set(types)];
  const removers = heard.map((type) => on(type, (fact) => queue.push(fact as Item)));
  closers.add(end);
  signal?.addEventListener('abort', end, { once: true });
  if (signal?.aborted) end();
  // Its reader can take and leave, and nothing else.
  return {
    get dropped() {
      return queue.dropped;
    },
    next: () => queue.next(),
    return: () => queue.return(),
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}
