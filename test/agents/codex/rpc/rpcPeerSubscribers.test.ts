import { describe, expect, it } from 'vitest';
import { createSubscribers } from '../../../../agents/codex/rpc/rpcPeerSubscribers.ts';
import { deferred } from '../../../support/deferred.ts';

const drained = () => new Promise((resolve) => setImmediate(resolve));
const all = async <T>(stream: AsyncIterable<T>): Promise<T[]> => {
  const values: T[] = [];
  for await (const value of stream) values.push(value);
  return values;
};

describe('subscribers', () => {
  const note = (method: string, n = 0) => ({ method, params: { n } });

  it('[F-20] hear what they asked for, in order', async () => {
    const subscribers = createSubscribers(() => undefined);
    const some = subscribers.stream({ methods: ['a'] });
    const every = subscribers.stream();
    for (const each of [note('a', 1), note('b', 2), note('a', 3)]) subscribers.publish(each);
    subscribers.end(note('last'));
    expect((await all(some)).map(({ params }) => params['n'])).toEqual([1, 3, 0]);
    expect(await all(every)).toHaveLength(4);
    expect(subscribers.size).toBe(0);
  });

  it('[F-23] that are slow get one after the other, the last thousand of them', async () => {
    const subscribers = createSubscribers(() => undefined);
    const gate = deferred<undefined>();
    const heard: unknown[] = [];
    subscribers.listen('a', ({ params }) => {
      heard.push(params['n']);
      return gate.promise;
    });
    for (let n = 0; n < 1003; n++) subscribers.publish(note('a', n));
    await drained();
    expect(heard).toEqual([0]);
    gate.resolve(undefined);
    await drained();
    expect(heard.slice(0, 3)).toEqual([0, 3, 4]);
    expect(heard).toHaveLength(1001);
  });

  it('[F-23] that fail three times in a row are removed, but not those that fail now and then', async () => {
    const failures: boolean[] = [];
    const subscribers = createSubscribers((_notification, _error, removed) => failures.push(removed));
    let calls = 0;
    subscribers.listen('*', () => {
      calls++;
      if (calls !== 3) throw new Error('no');
    });
    for (let n = 0; n < 10; n++) subscribers.publish(note('a', n));
    await drained();
    expect({ calls, failures, size: subscribers.size }).toEqual({
      calls: 6,
      failures: [false, false, false, false, true],
      size: 0,
    });
  });

  it('[F-23] that are gone are removed: taken off, aborted, or their reader left', async () => {
    const subscribers = createSubscribers(() => undefined);
    const controller = new AbortController();
    const off = subscribers.listen('a', () => undefined);
    const aborted = subscribers.stream({ signal: controller.signal });
    const left = subscribers.stream();
    subscribers.stream({ signal: AbortSignal.abort() });
    expect(subscribers.size).toBe(3);
    off();
    controller.abort();
    await left.return();
    expect(subscribers.size).toBe(0);
    expect(await aborted.next()).toMatchObject({ done: true });
  });

  it('[I-3] let go of their signals when the connection ends', () => {
    const { signal } = new AbortController();
    const left = new Set<unknown>();
    const { addEventListener: add, removeEventListener: remove } = signal;
    signal.addEventListener = (...args: Parameters<typeof add>) => (left.add(args[1]), add.apply(signal, args));
    signal.removeEventListener = (...args: Parameters<typeof remove>) => (
      left.delete(args[1]), remove.apply(signal, args)
    );
    const subscribers = createSubscribers(() => undefined);
    subscribers.stream({ signal });
    expect(left.size).toBe(1);
    subscribers.end({ method: 'over', params: {} });
    expect(left.size).toBe(0);
  });

  it('refuses a limit that is none', () => {
    expect(() => createSubscribers(() => undefined).stream({ limit: 0 })).toThrow(
      'Expected `options.limit` to be a positive integer, got 0',
    );
  });
});
