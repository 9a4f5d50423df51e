import { describe, expect, it } from 'vitest';
import { Bulks } from '../../../web/dashboard/bulks.ts';
import type { Order } from '../../../operator/order.ts';
import { SimulatedClock } from '../../../testing/simulatedClock.ts';

function start() {
  const clock = new SimulatedClock();
  const given: string[] = [];
  let told = 0;
  const bulks = new Bulks({
    clock,
    give: ({ name }) => {
      given.push(name);
      return Promise.resolve(name === 'gone' ? { ok: false, text: 'gone is gone' } : { ok: true, text: 'Done.' });
    },
    progressed: () => void (told += 1),
  });
  const reset = (...names: string[]): Order[] => names.map((name) => ({ order: 'reset', name, by: 'kim' }));
  return { clock, given, bulks, reset, told: () => told };
}

describe('the order on many of a dashboard', () => {
  it('[O-13] is shown while it runs and for ten minutes after, with what failed last', async () => {
    const { clock, bulks, reset, told } = start();
    expect(bulks.lines).toEqual([]);
    expect(bulks.begin(reset('a', 'gone', 'c'))).toMatchObject({ ok: true });
    await clock.advance(500);
    expect(bulks.lines).toMatchObject([{ order: 'reset', by: 'kim', total: 3, done: 1, failed: 1, state: 'running' }]);
    await clock.advance(500);
    expect(bulks.lines).toMatchObject([{ done: 2, failed: 1, state: 'ended', lastError: 'gone is gone' }]);
    expect(told()).toBe(4);
    await clock.advance(600_000);
    expect(bulks.lines).toHaveLength(1);
    await clock.advance(1);
    expect(bulks.lines).toEqual([]);
  });

  it('[O-13] is one at a time, so that two of them are no faster than one', async () => {
    const { clock, given, bulks, reset } = start();
    bulks.begin(reset('a', 'b'));
    expect(bulks.begin(reset('c')).text).toMatch(/^Another order on many is under way/);
    await clock.advance(1000);
    expect(given).toEqual(['a', 'b']);
    expect(bulks.begin(reset('c'))).toMatchObject({ ok: true });
    await clock.advance(0);
    expect(given).toEqual(['a', 'b', 'c']);
  });

  it('[O-13] is stopped by its key alone, and by the end of the dashboard', async () => {
    const { clock, given, bulks, reset } = start();
    bulks.begin(reset('a', 'b', 'c'));
    await clock.advance(0);
    expect(bulks.stop('another')).toMatchObject({ ok: false });
    const [line] = bulks.lines;
    expect(bulks.stop(line?.key ?? '')).toMatchObject({ ok: true });
    expect(bulks.stop(line?.key ?? '')).toMatchObject({ ok: false });
    await clock.advance(5000);
    expect([given, bulks.lines[0]?.state]).toEqual([['a'], 'stopped']);
    bulks.begin(reset('d', 'e'));
    await clock.advance(0);
    bulks.close();
    await clock.advance(5000);
    expect(given).toEqual(['a', 'd']);
  });
});
