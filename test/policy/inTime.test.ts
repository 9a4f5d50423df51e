import { describe, expect, it } from 'vitest';
import { inTime } from '../../src/policy/inTime.ts';
import { SimulatedClock } from '../../testing/simulatedClock.ts';

const never = new Promise<never>(() => undefined);

describe('what is waited for in time', () => {
  it('[I-1] is what the promise gives, and leaves no timer behind', async () => {
    const clock = new SimulatedClock();
    expect(await inTime(Promise.resolve('here'), { clock, limitMs: 1000 })).toBe('here');
    expect(clock.pending).toBe(0);
  });

  it('[I-1] rejects as the promise does', async () => {
    const clock = new SimulatedClock();
    await expect(inTime(Promise.reject(new Error('no')), { clock, limitMs: 1000 })).rejects.toThrow('no');
  });

  it('[I-1] is nothing at its limit, and not before', async () => {
    const clock = new SimulatedClock();
    let given: unknown = 'waiting';
    void inTime(never, { clock, limitMs: 1000 }).then((value) => (given = value));
    await clock.advance(999);
    expect(given).toBe('waiting');
    await clock.advance(1);
    expect(given).toBeUndefined();
  });

  it('[I-1] is nothing once the signal aborts, and was not waited for when it had', async () => {
    const clock = new SimulatedClock();
    const controller = new AbortController();
    const waiting = inTime(never, { clock, signal: controller.signal });
    controller.abort();
    expect(await waiting).toBeUndefined();
    expect(await inTime(never, { clock, signal: controller.signal })).toBeUndefined();
  });
});
