import type { Contender } from '../contenders/contender.ts';
import { Crowd } from '../contenders/crowd.ts';
import { processMeter } from '../harness/meter.ts';
import type { Case } from '../harness/suite.ts';

/**
 * Starts so many calls, none of which answers before all are in flight; then all do. Records the time of both, for each call. Small crowds are
 * measured several at a time: one of 1,000 is over before the collector has run twice.
 */
export function inFlight(contender: Contender, count: number): Case {
  const isDear = contender.dear > 0;
  const atLeast = isDear ? 10_000 : 20_000;
  return {
    long: isDear,
    once: isDear,
    async measure(probe) {
      const crowds = await Promise.all(
        Array.from({ length: Math.ceil(atLeast / count) }, () => Crowd.gather(contender)),
      );
      await probe.time('start', crowds.length * count, () => {
        for (const crowd of crowds) crowd.start(count);
      });
      await probe.time('settle', crowds.length * count, async () => {
        for (const crowd of crowds) await crowd.settle();
      });
      for (const { running } of crowds) await running.stop();
    },
  };
}

/** What a call in flight holds, of that what it holds over the bare work, what is left of it once all are settled, and how many timers there are meanwhile. */
export function heapInFlight(contender: Contender, base: Contender, count: number): Case {
  return {
    isolated: true,
    once: true,
    async measure(probe) {
      // What is made once for all of them, and once more when it is compiled, is no call's.
      const warm = await Crowd.gather(contender);
      warm.start(count);
      await warm.settle();
      await warm.running.stop();
      const crowd = await Crowd.gather(contender);
      await rest();
      const timersBefore = timers();
      await probe.heap('left after', count, async () => {
        await probe.heap('heap', count, async () => {
          crowd.start(count);
          await rest();
        });
        probe.record('timers', timers() - timersBefore, '');
        await crowd.settle();
        await rest();
      });
      probe.record('timers left', Math.max(0, timers() - timersBefore), '');
      await crowd.running.stop();
      if (contender !== base) {
        const [own, bare] = [await heldBy(contender, count), await heldBy(base, count)];
        probe.record('heap over bare', own - bare, 'B');
      }
    },
  };
}

/** Bytes of a call in flight, its work's own included. */
async function heldBy(contender: Contender, count: number): Promise<number> {
  const meter = processMeter();
  const crowd = await Crowd.gather(contender);
  const before = meter.heapBytes();
  crowd.start(count);
  await rest();
  const held = meter.heapBytes() - before;
  await crowd.settle();
  await crowd.running.stop();
  return held / count;
}

function timers(): number {
  return process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
}

/** Long enough for what is put off for a moment, of anybody. */
const rest = (): Promise<void> =>
  new Promise((resolve) => {
    setTimeout(resolve, 50);
  });
