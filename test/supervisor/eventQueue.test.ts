import { describe, expect, it } from 'vitest';
import { EventQueue } from '../../src/supervisor/eventQueue.ts';

const queueOf = (...types: string[]): EventQueue => {
  const queue = new EventQueue();
  for (const type of types) queue.push({ type });
  return queue;
};

describe('a queue of events', () => {
  it('[V-6] gives the oldest or the newest, and nothing when it is empty', () => {
    const queue = queueOf('a', 'b', 'c');
    expect([queue.shift(), queue.pop(), queue.shift()].map((event) => event?.type)).toEqual(['a', 'c', 'b']);
    expect([queue.length, queue.shift(), queue.pop()]).toEqual([0, undefined, undefined]);
    queue.push({ type: 'd' });
    expect([queue.length, queue.shift()?.type]).toEqual([1, 'd']);
  });

  it('[V-6] is empty when the newest were taken as well', () => {
    const queue = queueOf('a', 'b', 'c');
    queue.shift();
    expect([queue.pop(), queue.pop(), queue.pop()].map((event) => event?.type)).toEqual(['c', 'b', undefined]);
    queue.push({ type: 'd' });
    expect([queue.length, queue.shift()?.type]).toEqual([1, 'd']);
  });

  it('[V-6] keeps its order while it is filled and emptied in turn', () => {
    const queue = queueOf();
    const taken: string[] = [];
    for (let n = 0; n < 1000; n++) {
      queue.push({ type: String(n) });
      if (n % 3 > 0) taken.push(queue.shift()?.type ?? '');
    }
    while (queue.length > 0) taken.push(queue.shift()?.type ?? '');
    expect(taken).toEqual(Array.from({ length: 1000 }, (_, n) => String(n)));
  });
});
