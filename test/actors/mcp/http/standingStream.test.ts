import { describe, expect, it, vi } from 'vitest';
import { QuietWatch, Reopening } from '../../../../src/actors/mcp/http/standingStream.ts';
import { SimulatedClock } from '../../../../testing/simulatedClock.ts';

describe('the waits before a standing stream is opened again', () => {
  it('[P-4] double from 1 to 30 s, and begin anew when it has lived for 30 s', async () => {
    const clock = new SimulatedClock();
    const reopening = new Reopening(clock, () => 0);
    const delays: number[] = [];
    const wait = async (retryMs?: number): Promise<void> => {
      const from = clock.now();
      void reopening.wait(retryMs).then(() => delays.push(clock.now() - from));
      await clock.advance(400_000);
    };
    // What the server asks for makes them longer, never shorter.
    for (const retryMs of [0, 0, undefined, 60_000, 1, 1, 3_600_000]) await wait(retryMs);
    expect(delays).toEqual([1000, 2000, 4000, 60_000, 16_000, 30_000, 300_000]);
    reopening.opened();
    await clock.advance(29_999);
    await wait();
    reopening.opened();
    await clock.advance(30_000);
    await wait();
    expect(delays.slice(-2)).toEqual([30_000, 1000]);
  });

  it('[P-4] are spread by chance, and never shorter than what the server asks for', async () => {
    const clock = new SimulatedClock();
    for (const [chance, retryMs, delayMs] of [
      [0.5, undefined, 1125],
      [0.999, undefined, 1249.75],
      [0.5, 4000, 4500],
    ] as const) {
      const from = clock.now();
      let after = 0;
      void new Reopening(clock, () => chance).wait(retryMs).then(() => (after = clock.now() - from));
      await clock.advance(10_000);
      expect(after).toBeCloseTo(delayMs, -1);
      expect(after).toBeGreaterThanOrEqual(delayMs);
    }
  });

  it('[P-4] end when nobody wants it any more', async () => {
    const reopening = new Reopening(new SimulatedClock(), () => 0);
    const waiting = reopening.wait(undefined);
    reopening.stop();
    await expect(waiting).resolves.toBeUndefined();
  });
});

describe('a watch over a silent stream', () => {
  it('[P-4] waits 5 minutes, and 30 s where there used to be comments', async () => {
    const clock = new SimulatedClock();
    const quiet = vi.fn<() => void>();
    const watch = new QuietWatch(clock, quiet);
    await clock.advance(299_000);
    expect(quiet).not.toHaveBeenCalled();
    watch.heard();
    watch.commented();
    await clock.advance(29_000);
    watch.heard();
    await clock.advance(29_000);
    expect(quiet).not.toHaveBeenCalled();
    await clock.advance(1000);
    expect(quiet).toHaveBeenCalledOnce();
    watch.stop();
  });
});
