import { describe, expect, it } from 'vitest';
import { Refusals } from '../../../proxy/http/refusals.ts';
import { SimulatedClock } from '../../../testing/simulatedClock.ts';

describe('requests that are not served', () => {
  it('[P-5] are counted, and told once a minute for each status', async () => {
    const clock = new SimulatedClock();
    const told: (readonly [number, number])[] = [];
    const refusals = new Refusals(clock, (status, requests) => told.push([status, requests]));
    for (let request = 0; request < 100; request++) refusals.count(401);
    refusals.count(404);
    expect(told.splice(0)).toEqual([
      [401, 1],
      [404, 1],
    ]);
    await clock.advance(60_000);
    expect(told.splice(0)).toEqual([[401, 99]]);
    refusals.count(401);
    refusals.count(404);
    expect(told.splice(0)).toEqual([[404, 1]]);
    refusals.end();
    expect(told.splice(0)).toEqual([[401, 1]]);
    await clock.advance(600_000);
    expect(told).toEqual([]);
  });
});
