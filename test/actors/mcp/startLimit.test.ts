import { describe, expect, it } from 'vitest';
import { StartLimit } from '../../../src/actors/mcp/startLimit.ts';
import { SimulatedClock } from '../../../testing/simulatedClock.ts';

async function limitAfter(tookMs: readonly number[], firstMs = 60_000): Promise<number> {
  const clock = new SimulatedClock();
  const limit = new StartLimit(clock, firstMs);
  for (const ms of tookMs) {
    limit.begins();
    await clock.advance(ms);
    limit.worked();
  }
  return limit.begins();
}

const hung = { reason: 'init_timeout' } as const;

describe('the limit on a start', () => {
  it('[M-6] is the whole one until one has worked', async () => {
    expect(await limitAfter([])).toBe(60_000);
    const limit = new StartLimit(new SimulatedClock(), 60_000);
    limit.begins();
    limit.lost({ reason: 'startup_failed' });
    expect(limit.begins()).toBe(60_000);
  });

  it.each([
    [[300], 5000],
    [[1666], 5000],
    [[1668], 5004],
    [[4000, 300], 12_000],
    [[300, 4000], 12_000],
    [[30_000], 60_000],
  ])('[M-6] after starts of %j ms is %i ms', async (tookMs, limitMs) => {
    expect(await limitAfter(tookMs)).toBe(limitMs);
  });

  it('[M-6] is never above that of the first', async () => {
    expect(await limitAfter([300], 2000)).toBe(2000);
  });

  it('[M-6] doubles with each start that it cut off, until one works', async () => {
    const clock = new SimulatedClock();
    const limit = new StartLimit(clock, 60_000);
    limit.begins();
    limit.worked();
    const cut = (): number => {
      const ms = limit.begins();
      limit.lost(hung);
      return ms;
    };
    expect([cut(), cut(), cut(), cut(), cut(), cut()]).toEqual([5000, 10_000, 20_000, 40_000, 60_000, 60_000]);
    limit.begins();
    limit.worked();
    expect(limit.begins()).toBe(5000);
  });

  it.each([
    [10_000, [10_000, 20_000, 40_000, 80_000, 160_000, 180_000, 180_000]],
    [300_000, [300_000, 300_000]],
  ])('[M-6] of a first start of %i ms doubles to 3 min while none has worked', (firstMs, limits) => {
    const limit = new StartLimit(new SimulatedClock(), firstMs);
    const given = limits.map(() => {
      const ms = limit.begins();
      limit.lost(hung);
      return ms;
    });
    expect(given).toEqual(limits);
  });

  it('[M-6] lets a restart take as long as a first start that came up under a longer limit than its own', async () => {
    const clock = new SimulatedClock();
    const limit = new StartLimit(clock, 10_000);
    limit.begins();
    limit.lost(hung);
    expect(limit.begins()).toBe(20_000);
    await clock.advance(15_000);
    limit.worked();
    expect(limit.begins()).toBe(20_000);
  });

  it('[M-6] takes no notice of a loss after the start, nor of what is told twice', async () => {
    const clock = new SimulatedClock();
    const limit = new StartLimit(clock, 60_000);
    limit.begins();
    limit.worked();
    await clock.advance(9000);
    limit.worked();
    limit.lost(hung);
    expect(limit.begins()).toBe(5000);
  });
});
