import type { AnyActorLogic } from 'xstate';
import type { Case } from '../harness/suite.ts';
import type { Crew } from './crew.ts';
import { answering } from './logic.ts';

/** Starts and stops `count` children, one after the other. */
export function startAndStop(crewOf: () => Crew, logic: AnyActorLogic, count: number): Case {
  return {
    long: count > 10_000,
    async measure(probe) {
      const crew = crewOf();
      await probe.time('start', count, () => {
        for (let i = 0; i < count; i++) crew.start(`child-${i}`, logic);
      });
      await probe.time('stop', count, () => crew.stop());
    },
  };
}

/** What an idle child holds in memory, its place in the table included. */
export function heapOf(crewOf: () => Crew, logic: AnyActorLogic, count: number): Case {
  return {
    isolated: true,
    async measure(probe) {
      // What is made once for all of them is no child's.
      const warm = crewOf();
      for (let i = 0; i < 100; i++) warm.start(`child-${i}`, logic);
      await warm.stop();
      const crew = await probe.heap('heap', count, () => {
        const made = crewOf();
        for (let i = 0; i < count; i++) made.start(`child-${i}`, logic);
        return made;
      });
      await crew.stop();
    },
  };
}

/** From the event that crashes a child to the answer of its next incarnation, which was asked before it started. */
export function crashToAnswer(crewOf: () => Crew, crashes: number): Case {
  return {
    async measure(probe) {
      const crew = crewOf();
      let answered = (): void => {};
      crew.keep('child', answering, (ref) => {
        ref.send({ type: 'ask', answered: () => answered() });
      });
      const samplesUs: number[] = [];
      await probe.time('crash to answer', crashes, async () => {
        for (let i = 0; i < crashes; i++) {
          const start = performance.now();
          await new Promise<void>((resolve) => {
            answered = resolve;
            crew.ref('child')?.send({ type: 'crash' });
          });
          samplesUs.push((performance.now() - start) * 1000);
        }
      });
      probe.latencies('crash to answer', samplesUs);
      await crew.stop();
    },
  };
}
