import type { Probe } from './probe.ts';

/** One comparison: what is measured, of whom, against whom, and what we promise. */
export interface Suite {
  readonly name: string;
  /** What it compares and why that is fair, in a sentence or two. */
  readonly about: string;
  /** The subject the ratios are taken against. */
  readonly baseline: string;
  readonly subjects: readonly Subject[];
  readonly targets: readonly Target[];
  /** Subjects that are not installed here: their targets are not judged, and the report says so. @defaultValue none */
  readonly missing?: readonly string[] | undefined;
}

/** One of those compared. */
export interface Subject {
  readonly name: string;
  /** What does the work, in half a sentence. */
  readonly about: string;
  /** By name; subjects are compared where they have a case of the same name. */
  readonly cases: Readonly<Record<string, Case>>;
}

/** One thing a subject does, measured once a round. */
export interface Case {
  /** Does the work and records figures. Must leave nothing running. */
  readonly measure: (probe: Probe) => void | Promise<void>;
  /** Whether each run has a process of its own, with Node's own settings: for memory, start-up and latencies. @defaultValue false */
  readonly isolated?: boolean | undefined;
  /** Node's flags of that process. @defaultValue none but `--expose-gc` */
  readonly flags?: readonly string[] | undefined;
  /** Whether `--quick` leaves it out. @defaultValue false */
  readonly long?: boolean | undefined;
  /** True where one round says as much as several: of what takes turns with its baseline within, or many samples, and seconds. @defaultValue false */
  readonly once?: boolean | undefined;
}

/** Names one figure. */
export interface FigureName {
  readonly subject: string;
  readonly case: string;
  readonly metric: string;
}

/** A promise about one figure, or about the ratio of two. */
export type Target = {
  readonly says: string;
  readonly of: FigureName;
  /** What `of` is divided by. */
  readonly over?: FigureName | undefined;
  /** Which of the rounds counts: the one that was disturbed least, or, for what is a ratio already, the middle one. @defaultValue 'min' */
  readonly by?: 'min' | 'median' | undefined;
} & ({ readonly atMost: number } | { readonly atLeast: number });

/** Makes a promise about a figure of `unwedge` that is a ratio already, or the middle of many samples. */
export function ownTarget(
  says: string,
  of: string,
  metric: string,
  limit: { readonly atMost: number } | { readonly atLeast: number },
): Target {
  return { says, of: { subject: 'unwedge', case: of, metric }, by: 'median', ...limit };
}

/**
 * Checks that a suite speaks only of subjects and cases it has.
 * @throws RangeError that names the suite and what is unknown.
 */
export function defineSuite(suite: Suite): Suite {
  const known = new Map(suite.subjects.map(({ name, cases }) => [name, cases]));
  const missing = new Set(suite.missing);
  const check = (name: string, of?: string): void => {
    if (missing.has(name)) return;
    const cases = known.get(name);
    if (cases === undefined) throw new RangeError(`Suite \`${suite.name}\` has no subject \`${name}\``);
    if (of !== undefined && cases[of] === undefined) {
      throw new RangeError(`Subject \`${name}\` of suite \`${suite.name}\` has no case \`${of}\``);
    }
  };
  check(suite.baseline);
  for (const { of, over } of suite.targets) {
    check(of.subject, of.case);
    if (over !== undefined) check(over.subject, over.case);
  }
  return suite;
}
