import { renderTable } from '../../src/cli/table.ts';
import type { Figure } from './rounds.ts';
import type { Suite } from './suite.ts';
import { type Verdict, find, judge, ratioOf } from './verdict.ts';

/** A suite that was run, as `--json` prints it. */
export interface SuiteReport {
  readonly name: string;
  readonly about: string;
  readonly baseline: string;
  /** With `ratio`: how many times the baseline's figure, by the minima. */
  readonly figures: readonly (Figure & { readonly ratio: number | undefined })[];
  readonly targets: readonly Verdict[];
}

/** What is known after a run. */
export function reportOf(suite: Suite, figures: readonly Figure[]): SuiteReport {
  return {
    name: suite.name,
    about: suite.about,
    baseline: suite.baseline,
    figures: figures.map((figure) => ({ ...figure, ratio: ratioOf(suite, figures, figure) })),
    targets: judge(suite, figures),
  };
}

/** The report for people: a row for each metric of each case, `minimum (median)` for each subject, then the targets. */
export function textOf({ subjects }: Suite, report: SuiteReport): string {
  const { name, about, baseline, figures, targets } = report;
  const others = subjects.filter((subject) => subject.name !== baseline);
  const columns = [
    { title: 'CASE' },
    { title: 'FIGURE' },
    ...subjects.map((subject) => ({ title: subject.name.toUpperCase(), align: 'right' as const })),
    ...others.map((other) => ({ title: `${other.name}/${baseline}`, align: 'right' as const })),
  ];
  const metrics = [...new Map(figures.map((figure) => [`${figure.case}\n${figure.metric}`, figure])).values()];
  const rows = metrics.map(({ case: of, metric, unit }, index) => {
    const figureOf = (subject: string) => find(figures, { subject, case: of, metric });
    return [
      metrics[index - 1]?.case === of ? '' : of,
      unit === '' ? metric : `${metric}, ${unit}`,
      ...subjects.map((subject) => cell(figureOf(subject.name))),
      ...others.map((other) => {
        const figure = figures.find((each) => each === figureOf(other.name));
        return figure?.ratio === undefined ? '' : number(figure.ratio);
      }),
    ];
  });
  const who = subjects.map((subject) => `  ${subject.name}: ${subject.about}\n`).join('');
  const table = renderTable(columns, rows, Number.POSITIVE_INFINITY);
  return `${name}: ${about}\n${who}\n${table}\n${targets.map(targetLine).join('')}`;
}

function cell(figure: Figure | undefined): string {
  return figure === undefined ? '' : `${number(figure.min)} (${number(figure.median)})`;
}

function targetLine({ says, value, limit, met }: Verdict): string {
  if (value === undefined) return `- ${says}: not measured, ${limit}\n`;
  return `${met === true ? '✓' : '✗'} ${says}: ${number(value)}, ${limit}\n`;
}

/** Three digits that count, never an exponent. */
function number(value: number): string {
  if (value === 0) return '0';
  const digits = Math.max(0, 2 - Math.floor(Math.log10(Math.abs(value))));
  return value.toFixed(Math.min(digits, 3));
}
