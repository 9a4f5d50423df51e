import type { Meter } from './meter.ts';
import { type Reading, type Unit, createProbe } from './probe.ts';
import { median } from './statistics.ts';
import type { Case, FigureName, Suite } from './suite.ts';

/** How a suite is run. */
export interface RunOptions {
  readonly rounds: number;
  /** Time for all rounds, in s: none is begun that would end later, but the first. @defaultValue as long as they take */
  readonly seconds?: number | undefined;
  /** Leaves out the long cases. */
  readonly quick: boolean;
  readonly meter: Meter;
  /** Runs one case in a process of its own, with these flags of Node's. */
  readonly isolate: (
    suite: string,
    subject: string,
    of: string,
    flags: readonly string[],
  ) => Promise<readonly Reading[]>;
  /** Which cases of which subjects are measured. @defaultValue all */
  readonly only?: ((subject: string, of: string) => boolean) | undefined;
  /** Hears before each run what comes; for people who wait. */
  readonly progress?: ((text: string) => void) | undefined;
}

/** All that was measured of one metric. */
export interface Figure extends FigureName {
  readonly unit: Unit;
  readonly min: number;
  readonly median: number;
  /** One a round. */
  readonly samples: readonly number[];
}

interface Run {
  readonly of: string;
  readonly subject: string;
  readonly work: Case;
}

/**
 * Runs every case of every subject once a round, subjects of one case one after the other, so that what disturbs the
 * machine disturbs all of them; who is first changes with the round. One round before is thrown away: it warms the
 * compiler. Processes of their own start cold anyway, and are left out of it. What says
 * enough in one round is measured in the first alone.
 */
export async function runSuite(suite: Suite, options: RunOptions): Promise<Figure[]> {
  const { rounds, progress, meter, seconds = Number.POSITIVE_INFINITY } = options;
  const endUs = meter.wallUs() + seconds * 1e6;
  /** Time of the last round, without what is measured once. */
  let roundUs = 0;
  const samples = new Map<string, { readonly name: FigureName; readonly unit: Unit; readonly values: number[] }>();
  for (let round = 0; round <= rounds; round++) {
    if (round > 1 && meter.wallUs() + roundUs > endUs) break;
    roundUs = 0;
    for (const run of plan(suite, round, options)) {
      const { isolated = false, long = false, once = false } = run.work;
      if ((round === 0 && (isolated || long)) || (round !== 1 && once)) continue;
      const startUs = meter.wallUs();
      progress?.(`${suite.name} ${round}/${rounds}: ${run.of}, ${run.subject}`);
      const readings = await measure(suite, run, options);
      if (!once) roundUs += meter.wallUs() - startUs;
      if (round === 0) continue;
      for (const { metric, unit, value } of readings) {
        const name = { subject: run.subject, case: run.of, metric };
        const key = JSON.stringify([run.of, metric, run.subject]);
        const kept = samples.get(key) ?? { name, unit, values: [] };
        samples.set(key, kept);
        kept.values.push(value);
      }
    }
  }
  return [...samples.values()].map(({ name, unit, values }) => ({
    ...name,
    unit,
    min: Math.min(...values),
    median: median(values),
    samples: values,
  }));
}

function plan({ subjects }: Suite, round: number, { quick, only = () => true }: RunOptions): Run[] {
  const first = round % subjects.length;
  const inOrder = [...subjects.slice(first), ...subjects.slice(0, first)];
  const cases = new Set(subjects.flatMap((subject) => Object.keys(subject.cases)));
  return [...cases].flatMap((of) =>
    inOrder.flatMap(({ name: subject, cases: { [of]: work } }) =>
      work === undefined || (quick && work.long === true) || !only(subject, of) ? [] : [{ of, subject, work }],
    ),
  );
}

async function measure(suite: Suite, run: Run, options: RunOptions): Promise<readonly Reading[]> {
  if (run.work.isolated === true) return options.isolate(suite.name, run.subject, run.of, run.work.flags ?? []);
  // Before, as well as within: what dies in the middle of a run takes optimized code with it.
  options.meter.collect();
  const { probe, readings } = createProbe(options.meter);
  await run.work.measure(probe);
  return readings;
}
