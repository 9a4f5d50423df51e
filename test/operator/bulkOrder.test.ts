import { describe, expect, it } from 'vitest';
import type { Order } from '../../operator/order.ts';
import { BulkOrder, type BulkProgress } from '../../operator/bulkOrder.ts';
import { SimulatedClock } from '../../testing/simulatedClock.ts';

/** An order to reset so many circuits; `given` are those that were. */
function startBulk(count: number, refused: readonly string[] = [], perSecond?: number) {
  const clock = new SimulatedClock();
  const given: string[] = [];
  const told: BulkProgress[] = [];
  const orders = Array.from(
    { length: count },
    (_, index): Order => ({ order: 'reset', name: `i${index}`, by: 'anna' }),
  );
  const bulk = new BulkOrder(orders, {
    ...{ clock, perSecond },
    give: ({ name }) => {
      given.push(name);
      return Promise.resolve(
        refused.includes(name) ? { ok: false, text: `${name} is gone` } : { ok: true, text: 'Done.' },
      );
    },
    progressed: (progress) => void told.push(progress),
  });
  return { bulk, clock, given, told };
}

describe('an order on many', () => {
  it('[O-13] is given to one after the other, two a second', async () => {
    const { bulk, clock, given } = startBulk(5);
    await clock.settle();
    expect(given).toEqual(['i0']);
    await clock.advance(499);
    expect(given).toHaveLength(1);
    await clock.advance(1);
    expect(given).toEqual(['i0', 'i1']);
    await clock.advance(1500);
    expect(await bulk.ended).toEqual({ total: 5, done: 5, failed: 0, state: 'ended' });
  });

  it('[O-13] tells how far it has come, and goes on after one that was not done', async () => {
    const { bulk, clock, told } = startBulk(3, ['i1'], 10);
    await clock.advance(200);
    expect(await bulk.ended).toEqual({ total: 3, done: 2, failed: 1, state: 'ended', lastError: 'i1 is gone' });
    expect(told.map(({ done, failed, state }) => [done, failed, state])).toEqual([
      [1, 0, 'running'],
      [1, 1, 'running'],
      [2, 1, 'running'],
      [2, 1, 'ended'],
    ]);
  });

  it('[O-13] is stopped: no further one is given, and nothing is left that waits', async () => {
    const { bulk, clock, given } = startBulk(1000);
    await clock.advance(1000);
    bulk.stop();
    bulk.stop();
    expect(await bulk.ended).toEqual({ total: 1000, done: 3, failed: 0, state: 'stopped' });
    await clock.advance(60_000);
    expect(given).toHaveLength(3);
  });

  it('[O-13] on none ends at once', async () => {
    expect(await startBulk(0).bulk.ended).toMatchObject({ total: 0, state: 'ended' });
  });
});
