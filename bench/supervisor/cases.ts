import type { AnyActorLogic } from 'xstate';
import type { Case } from '../harness/suite.ts';
import type { Crew } from './crew.ts';
import { answering } from './logic.ts';

/** Small crews are measured several at a time: one of 1,000 is over before the collector has run twice. */
const atLeast = 20_000;

/**
 * Starts and stops crews of `count` children, one after the other, while another crew of that kind lives, as in any program
 * that has a supervisor: V8 drops optimized code when the last object dies that it was made for.
 */
export function startAndStop(crewOf: () => Crew, logic: AnyActorLogic, count: number): Case {
  return {
    long: count > 10_000,
    async measure(probe) {
      const resident = crewOf();
      fill(resident, logic, 5000);
      const crews = Array.from({ length: Math.ceil(atLeast / count) }, crewOf);
      await probe.time('start', crews.length * count, () => {
        for (const crew of crews) fill(crew, logic, count);
      });
      await probe.time('stop', crews.length * count, async () => {
        for (const crew of crews) await crew.stop();
      });
      await resident.stop();
    },
  };
}

function fill(crew: Crew, logic: AnyActorLogic, count: number): void {
  for (let i = 0; i < count; i++) crew.start(`child-${i}`, logic);
}

/** What an idle child holds in memory, its place in the table included. */
export function heapOf(crewOf: () => Crew, logic: AnyActorLogic, count: number): Case {
  return {
    isolated: true,
    async measure(probe) {
      // What is made once for all of them is no child's.
      const warm = crewOf();
      fill(warm, logic, 100);
      await warm.stop();
      const crew = await probe.heap('heap', count, () => {
        const made = crewOf();
        fill(made, logic, count);
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
