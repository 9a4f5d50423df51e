import { Crowd } from '../contenders/crowd.ts';
import type { Contender } from '../contenders/contender.ts';
import type { Case } from '../harness/suite.ts';

/** Small crowds are measured several at a time, so that as many calls live: what the collector copies is part of what each costs. */
const atLeast = 20_000;

/**
 * Starts so many calls that their caller may end by one signal, and ends all of them by it; at once after that their work ends too, as it is
 * nobody's to judge here how soon it does. Records the time of both, for each call.
 */
export function underOneSignal(contender: Contender, count: number): Case {
  return {
    async measure(probe) {
      const groups = await Promise.all(
        Array.from({ length: Math.ceil(atLeast / count) }, async () => ({
          crowd: await Crowd.gather(contender),
          parent: new AbortController(),
        })),
      );
      await probe.time('start', groups.length * count, () => {
        for (const { crowd, parent } of groups) crowd.start(count, parent.signal);
      });
      await probe.time('abort of all', groups.length * count, async () => {
        for (const { crowd, parent } of groups) {
          parent.abort();
          await crowd.settle();
        }
      });
      for (const { crowd } of groups) await crowd.running.stop();
    },
  };
}
