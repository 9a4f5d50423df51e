import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { createGateway } from '../../src/index.ts';
import { systemClock } from '../../src/runtime/systemClock.ts';

/** Fake timers until the test ends, or until it takes them back. */
function useFakeTimers(): void {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
}

describe('the clock of the machine', () => {
  it('[U-11] follows the fake timers of a test, and never goes back', () => {
    const before = systemClock.now();
    useFakeTimers();
    const faked = systemClock.now();
    expect(faked).toBeGreaterThanOrEqual(before);
    vi.advanceTimersByTime(60_000);
    expect(systemClock.now()).toBeCloseTo(faked + 60_000, 3);
    vi.useRealTimers();
    const after = systemClock.now();
    expect(after).toBeGreaterThan(faked + 59_999);
    vi.useFakeTimers();
    expect(systemClock.now()).toBeGreaterThanOrEqual(after);
  });

  it('[U-11] has the time of the machine again when a test takes its fake timers back', async () => {
    useFakeTimers();
    systemClock.now();
    vi.useRealTimers();
    const from = systemClock.now();
    await expect.poll(() => systemClock.now()).toBeGreaterThan(from);
  });

  it.each(['watched', 'not watched any more'])(
    '[U-11] takes no stall from fake timers, %s from before them',
    async (how) => {
      const release = systemClock.stalls?.watch();
      if (how !== 'watched') release?.();
      onTestFinished(() => release?.());
      useFakeTimers();
      const from = systemClock.now();
      await vi.advanceTimersByTimeAsync(60_000);
      expect(systemClock.stalls?.since(from)).toBe(0);
      await vi.advanceTimersByTimeAsync(60_000);
      expect(systemClock.stalls?.since(from)).toBe(0);
    },
  );

  it.each(['before', 'after'])('[U-11] ends a call whose test has fake timers from %s the start', async (when) => {
    if (when === 'before') useFakeTimers();
    const gateway = createGateway({ store: ':memory:', random: () => 0.5 });
    onTestFinished(() => gateway.stop());
    const policy = { attemptMs: '1m', maxAttempts: 2 } as const;
    const slow = gateway.integration('slow', { effect: 'readOnly', policy }, () => new Promise(() => {}));
    await gateway.start();
    if (when === 'after') useFakeTimers();
    const call = slow.call(undefined);
    await vi.advanceTimersByTimeAsync(5 * 60_000);
    expect(await call).toMatchObject({ ok: false, failure: { kind: 'timeout', attempts: 2 } });
  });
});
