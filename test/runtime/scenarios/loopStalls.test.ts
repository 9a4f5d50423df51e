import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { loopClock } from '../../../src/runtime/systemClock.ts';

const fixture = fileURLToPath(new URL('../../fixtures/stalledGateway.mjs', import.meta.url));

interface Said {
  readonly ok: number;
  readonly circuit: string;
  readonly stalls: readonly number[];
  readonly kept: number;
}

it('[G-6] a gateway that stood still for longer than the limit of its calls has them all answered, and says so', async () => {
  const { stdout } = await promisify(execFile)(process.execPath, [fixture]);
  const said = JSON.parse(stdout) as Said;
  expect(said).toMatchObject({ ok: 10, circuit: 'closed' });
  // As long as it slept, short of one tick, unless the machine had it wait as well.
  expect(said.stalls[0]).toBeGreaterThanOrEqual(2300);
  expect(said.kept).toBe(said.stalls.length);
});

describe('the clock of an event loop', () => {
  let stalledMs = 0;
  /** Of the timers that are faked, without those of the loop that stood still. */
  const now = (): number => performance.now() + stalledMs;
  const stall = (ms: number): void => {
    stalledMs += ms;
  };

  beforeEach(() => {
    stalledMs = 0;
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it('[G-6] notices a stall by its tick that comes late, short of a tick', async () => {
    const { stalls } = loopClock(now);
    const told: number[] = [];
    const release = stalls?.watch((ms) => told.push(ms));
    await vi.advanceTimersByTimeAsync(250);
    const before = now();
    stall(5000);
    expect(stalls?.since(before)).toBe(4950);
    expect(stalls?.since(before + 3000)).toBe(2000);
    expect(stalls?.since(now())).toBe(0);
    await vi.advanceTimersByTimeAsync(1000);
    expect(told).toEqual([4950]);
    expect(stalls?.wakeUntil).toBe(before + 6000);
    release?.();
  });

  it.each([
    [99, 0],
    [100, 100],
  ])('takes a tick that is late by less than 100 ms for none: %i ms are %i', async (lateMs, stalled) => {
    const { stalls } = loopClock(now);
    const release = stalls?.watch();
    stall(lateMs);
    await vi.advanceTimersByTimeAsync(1000);
    expect(stalls?.since(0)).toBe(stalled);
    release?.();
  });

  it('[I-3] ticks only while somebody watches', async () => {
    const { stalls } = loopClock(now);
    const one = stalls?.watch();
    const other = stalls?.watch();
    one?.();
    await vi.advanceTimersByTimeAsync(1000);
    expect(vi.getTimerCount()).toBe(1);
    other?.();
    await vi.advanceTimersByTimeAsync(1000);
    expect(vi.getTimerCount()).toBe(0);
    stall(5000);
    expect(stalls?.since(0)).toBe(0);
  });

  it('[G-6] has a timer that waits for a sign of life wait for as long as the loop stood still', async () => {
    const clock = loopClock(now);
    const fired: string[] = [];
    clock.setTimeout(() => fired.push('silent'), 1000, { running: true });
    clock.setTimeout(() => fired.push('overall'), 1000);
    await vi.advanceTimersByTimeAsync(500);
    stall(400);
    await vi.advanceTimersByTimeAsync(500);
    expect(fired).toEqual(['overall']);
    await vi.advanceTimersByTimeAsync(299);
    expect(fired).toEqual(['overall']);
    await vi.advanceTimersByTimeAsync(101);
    expect(fired).toEqual(['overall', 'silent']);
  });

  it('clears such a timer, and its watch with it', async () => {
    const clock = loopClock(now);
    const timer = clock.setTimeout(() => expect.fail('it was cleared'), 1000, { running: true });
    clock.clearTimeout(timer);
    await vi.advanceTimersByTimeAsync(2000);
    expect(vi.getTimerCount()).toBe(0);
  });
});
