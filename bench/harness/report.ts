import { howToInstall } from '../peers/load.ts';
import type { Figure } from './rounds.ts';
import type { Suite } from './suite.ts';
import { number, tablesOf } from './tables.ts';
import { type Verdict, judge, ratioOf } from './verdict.ts';

/** A suite that was run, as `--json` prints it. */
export interface SuiteReport {
  readonly name: string;
  readonly about: string;
  readonly baseline: string;
  /** With `ratio`: how many times the baseline's figure, by the minima. */
  readonly figures: readonly (Figure & { readonly ratio: number | undefined })[];
  readonly targets: readonly Verdict[];
  /** Subjects that were left out as they are not installed. */
  readonly missing: readonly string[];
  /** Rounds that were measured, and what they took in s. */
  readonly rounds: number;
  readonly seconds: number;
}

/** What is known after a run. */
export function reportOf(suite: Suite, figures: readonly Figure[], seconds: number): SuiteReport {
  return {
    name: suite.name,
    about: suite.about,
    baseline: suite.baseline,
    figures: figures.map((figure) => ({ ...figure, ratio: ratioOf(suite, figures, figure) })),
    targets: judge(suite, figures),
    missing: suite.missing ?? [],
    rounds: Math.max(0, ...figures.map(({ samples }) => samples.length)),
    seconds,
  };
}

/** The report for people: who was compared, what it took them, then the targets and who was missing. */
export function textOf({ subjects }: Suite, report: SuiteReport): string {
  const { name, about, targets, missing, rounds, seconds } = report;
  const who = subjects.map((subject) => `  ${subject.name}: ${subject.about}\n`).join('');
  const names = subjects.map((subject) => subject.name);
  return `${name}: ${about}\n${who}\n${tablesOf(names, report)}\n${targets.map(targetLine).join('')}${missingLine(missing)}${rounds} rounds in ${seconds.toFixed(0)} s\n`;
}

function targetLine({ says, value, limit, met }: Verdict): string {
  if (value === undefined) return `- ${says}: not measured, ${limit}\n`;
  return `${met === true ? '✓' : '✗'} ${says}: ${number(value)}, ${limit}\n`;
}

function missingLine(missing: readonly string[]): string {
  return missing.length === 0
    ? ''
    : `missing: ${missing.join(', ')}; left out, and no target of them was judged; \`${howToInstall}\` installs them\n`;
}
