import { describe, expect, it } from 'vitest';
import { type Deadline, DeadlineQueue } from '../../src/calls/deadlineQueue.ts';
import type { Timer, TimerOptions } from '../../src/policy/clock.ts';
import { SimulatedClock } from '../../testing/simulatedClock.ts';
import { seededRandom } from '../../testing/random.ts';

function startQueue() {
  const clock = new SimulatedClock();
  const queue = new DeadlineQueue(clock);
  const fired: string[] = [];
  const at = (name: string, due: number): Deadline => {
    const deadline: Deadline = { due, heapIndex: -1, expire: (now) => fired.push(`${name}@${now}`) };
    queue.set(deadline);
    return deadline;
  };
  return { clock, queue, fired, at };
}

describe('the queue of deadlines', () => {
  it('[R-9] fires mixed limits in the order of their time, each not before it is due', async () => {
    const { clock, fired, at } = startQueue();
    at('slow', 30_000);
    at('fast', 100);
    at('middle', 5_000);
    await clock.advance(99);
    expect(fired).toEqual([]);
    await clock.advance(1);
    expect(fired).toEqual(['fast@100']);
    await clock.advance(30_000);
    expect(fired).toEqual(['fast@100', 'middle@5000', 'slow@30000']);
  });

  it('[I-3] keeps the process alive only while something is due that somebody is owed', async () => {
    /** Whether each pending timer keeps the process alive. */
    const refs = new Map<object | number, boolean>();
    class RefClock extends SimulatedClock {
      override setTimeout(callback: () => void, delayMs: number, options?: TimerOptions): Timer {
        const timer = super.setTimeout(callback, delayMs, options);
        refs.set(timer, options?.ref === true);
        return timer;
      }
      override clearTimeout(timer: Timer | undefined): void {
        super.clearTimeout(timer);
        if (timer !== undefined) refs.delete(timer);
      }
    }
    const clock = new RefClock();
    const queue = new DeadlineQueue(clock);
    const deadline = (due: number): Deadline => ({ due, heapIndex: -1, expire: () => undefined });
    const held = (): readonly boolean[] => [...refs.values()];

    const [owed, grace, later] = [deadline(1000), deadline(5000), deadline(6000)];
    queue.set(owed);
    queue.setLoose(grace);
    expect(held()).toEqual([true]);
    queue.remove(owed);
    await clock.settle();
    expect(held()).toEqual([false]);
    queue.set(later);
    expect(held()).toEqual([true]);
    queue.remove(later);
    await clock.settle();
    expect(held()).toEqual([false]);
    queue.remove(grace);
    await clock.settle();
    expect(held()).toEqual([]);
    queue.set(deadline(7000));
    expect(held()).toEqual([true]);
  });

  it('keeps one timer however many deadlines there are', () => {
    const { clock, at } = startQueue();
    for (let index = 0; index < 1000; index++) at(`d${index}`, 1000 + index);
    expect(clock.pending).toBe(1);
  });

  it('[I-3] has no timer left at the end of the turn in which its last deadline went', async () => {
    const { clock, queue, at } = startQueue();
    queue.remove(at('gone', 30_000));
    await clock.settle();
    expect(clock.pending).toBe(0);
  });

  it('[G-6] judges one turn after its timer, so that answers already received are read first', async () => {
    const { clock, queue, fired, at } = startQueue();
    const saved = at('saved', 100);
    // The loop was blocked past the deadline; the answer is read in the turn in which the timer fires late.
    clock.setTimeout(() => clock.nextTurn(() => queue.remove(saved)), 50);
    clock.stall(500);
    await clock.advance(0);
    expect(fired).toEqual([]);
  });

  it('[O-16] judges those of the same ms in the order of their numbers, however they came there', async () => {
    const { clock, queue, fired } = startQueue();
    const numbered = (number: number, expire = (): void => undefined): Deadline => {
      const due = 5 + Math.floor(number / 100);
      const heard = (now: number): void => {
        fired.push(`${number}@${now}`);
        expire();
      };
      const deadline: Deadline = { due, heapIndex: -1, number, expire: heard };
      queue.set(deadline);
      return deadline;
    };
    const random = seededRandom(3);
    const numbers = Array.from({ length: 299 }, (_, index) => index + 1);
    for (const number of numbers.toSorted(() => random() - 0.5)) numbered(number);
    await clock.advance(10);
    expect(fired).toEqual(numbers.map((number) => `${number}@${5 + Math.floor(number / 100)}`));
  });

  it('leaves out what the judging of another removes or moves on, and loses none when one throws', async () => {
    const { clock, queue, fired } = startQueue();
    const all: Deadline[] = [1, 2, 3, 4].map((number) => ({ due: 5, heapIndex: -1, number, expire: () => undefined }));
    const [first, second, third, fourth] = all as [Deadline, Deadline, Deadline, Deadline];
    first.expire = () => {
      queue.remove(second);
      third.due = 8;
      queue.set(third);
      throw new Error('it must not');
    };
    for (const each of all.slice(1)) each.expire = (now) => void fired.push(`${each.number}@${now}`);
    for (const each of [fourth, third, second, first]) queue.set(each);
    await expect(clock.advance(5)).rejects.toThrow('it must not');
    await clock.advance(10);
    expect(fired).toEqual(['4@6', '3@8']);
    expect(queue.size).toBe(0);
  });

  it('does not keep a deadline that never comes', () => {
    const { clock, queue, at } = startQueue();
    at('never', Number.POSITIVE_INFINITY);
    expect(queue.size).toBe(0);
    expect(clock.pending).toBe(0);
  });

  it('moves a deadline that is set again', async () => {
    const { clock, queue, fired, at } = startQueue();
    const moved = at('moved', 100);
    moved.due = 300;
    queue.set(moved);
    await clock.advance(299);
    expect(fired).toEqual([]);
    await clock.advance(1);
    expect(fired).toEqual(['moved@300']);
  });

  it('agrees with a sorted list over random additions, moves and removals', async () => {
    const random = seededRandom(7);
    const { clock, queue, fired, at } = startQueue();
    const deadlines = Array.from({ length: 500 }, (_, index) => at(`d${index}`, 1 + Math.floor(random() * 5000)));
    for (const deadline of deadlines) {
      if (random() < 0.3) queue.remove(deadline);
      else if (random() < 0.5) {
        deadline.due = 1 + Math.floor(random() * 5000);
        queue.set(deadline);
      }
    }
    const expected = deadlines
      .filter(({ heapIndex }) => heapIndex >= 0)
      .map(({ due }) => due)
      .sort((a, b) => a - b);
    await clock.advance(6000);
    expect(fired.map((entry) => Number(entry.split('@')[1]))).toEqual(expected);
  });
});
