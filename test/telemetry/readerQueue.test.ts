import { describe, expect, it } from 'vitest';
import { ReaderQueue } from '../../src/telemetry/readerQueue.ts';

const all = async <T>(stream: AsyncIterable<T>): Promise<T[]> => {
  const values: T[] = [];
  for await (const value of stream) values.push(value);
  return values;
};

describe('a queue with a reader', () => {
  it('[F-23] drops the oldest beyond its limit, and counts them', async () => {
    const stream = new ReaderQueue<number>({ limit: 2 });
    for (const value of [1, 2, 3, 4]) stream.push(value);
    stream.end();
    expect(stream.dropped).toBe(2);
    expect(await all(stream)).toEqual([3, 4]);
  });

  it('[F-24] drops the oldest beyond its size, but never the newest', async () => {
    const stream = new ReaderQueue<string>({ limit: 1000, maxSize: 10 });
    stream.push('a', 6);
    stream.push('b', 4);
    expect(stream.dropped).toBe(0);
    stream.push('c', 1);
    expect(stream.dropped).toBe(1);
    stream.push('huge', 100);
    stream.end();
    expect(await all(stream)).toEqual(['huge']);
  });

  it('gives a value to who waits for it, and takes none after its end', async () => {
    const stream = new ReaderQueue<number>({ limit: 1000 });
    const next = stream.next();
    stream.push(1);
    expect(await next).toEqual({ done: false, value: 1 });
    const last = stream.next();
    stream.end();
    stream.push(2);
    expect([await last, await stream.next()]).toEqual([
      { done: true, value: undefined },
      { done: true, value: undefined },
    ]);
  });

  it('[F-23] is told once that its reader left, and keeps nothing', async () => {
    let left = 0;
    const stream = new ReaderQueue<number>({ limit: 1000, onReturn: () => left++ });
    stream.push(1);
    for await (const value of stream) if (value === 1) break;
    await stream.return();
    stream.push(2);
    expect({ left, over: stream.over, next: await stream.next() }).toMatchObject({
      left: 1,
      over: true,
      next: { done: true },
    });
  });
});
