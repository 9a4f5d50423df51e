import type { Meter } from '../../bench/harness/meter.ts';
import { type Case, type Suite, defineSuite } from '../../bench/harness/suite.ts';

/** A meter that moves only when told to. */
export interface FakeMeter extends Meter {
  spend(cpuUs: number, wallUs: number): void;
  hold(bytes: number): void;
  /** How often garbage was collected. */
  readonly collected: () => number;
}

export function fakeMeter(): FakeMeter {
  let cpu = 0;
  let wall = 0;
  let heap = 0;
  let collected = 0;
  return {
    spend(cpuUs, wallUs) {
      cpu += cpuUs;
      wall += wallUs;
    },
    hold(bytes) {
      heap += bytes;
    },
    wallUs: () => wall,
    cpuUs: () => cpu,
    heapBytes: () => heap,
    usedBytes: () => heap,
    collect() {
      collected += 1;
    },
    collected: () => collected,
  };
}

/** A case that records the next of these values as `cost` each time it is measured. */
export function costs(...values: number[]): Case {
  let next = 0;
  return {
    measure(probe) {
      probe.record('cost', values[next++] ?? Number.NaN, 'µs');
    },
  };
}

/** Two subjects with one case, `work`; the baseline is `plain`. */
export function twoSubjects(ours: Case, plain: Case, targets: Suite['targets'] = []): Suite {
  return defineSuite({
    name: 'fake',
    about: 'Two fakes.',
    baseline: 'plain',
    subjects: [
      { name: 'ours', about: 'the fake one', cases: { work: ours } },
      { name: 'plain', about: 'the plain one', cases: { work: plain } },
    ],
    targets,
  });
}
