import { type Column, renderTable } from '../../cli/table.ts';
import type { SuiteReport } from './report.ts';
import type { Figure } from './rounds.ts';

/** More subjects than this, with a ratio for each, would make lines too long to read. */
const mostAbreast = 4;

/** The figures for people, each as `minimum (median)`, and its ratio against the baseline. */
export function tablesOf(subjects: readonly string[], report: SuiteReport): string {
  return subjects.length > mostAbreast ? tableForEachCase(subjects, report) : oneTable(subjects, report);
}

type ReportedFigure = SuiteReport['figures'][number];

/** A row for each metric of each case, a column for each subject. */
function oneTable(subjects: readonly string[], { figures, baseline }: SuiteReport): string {
  const others = subjects.filter((subject) => subject !== baseline);
  const columns: Column[] = [
    { title: 'CASE' },
    { title: 'FIGURE' },
    ...subjects.map((subject) => right(subject.toUpperCase())),
    ...others.map((other) => right(`${other}/${baseline}`)),
  ];
  const metrics = [...new Map(figures.map((figure) => [`${figure.case}\n${figure.metric}`, figure])).values()];
  const rows = metrics.map((metric, index) => {
    const of = (subject: string): ReportedFigure | undefined =>
      figures.find((each) => each.subject === subject && each.case === metric.case && each.metric === metric.metric);
    return [
      metrics[index - 1]?.case === metric.case ? '' : metric.case,
      titleOf(metric),
      ...subjects.map((subject) => cell(of(subject))),
      ...others.map((other) => ratio(of(other))),
    ];
  });
  return renderTable(columns, rows, Number.POSITIVE_INFINITY);
}

/** For each case a table with a row for each subject that has it, and two columns for each metric. */
function tableForEachCase(subjects: readonly string[], { figures, baseline }: SuiteReport): string {
  const cases = [...new Set(figures.map((figure) => figure.case))];
  return cases
    .map((name) => {
      const ofCase = figures.filter((figure) => figure.case === name);
      const metrics = [...new Map(ofCase.map((figure) => [figure.metric, figure])).values()];
      // The baseline may have nothing to compare with.
      const compared = new Set(ofCase.flatMap(({ subject, metric }) => (subject === baseline ? [metric] : [])));
      const columns = metrics.flatMap((metric) => [
        right(titleOf(metric)),
        ...(compared.has(metric.metric) ? [right(`/${baseline}`)] : []),
      ]);
      const present = subjects.filter((subject) => ofCase.some((figure) => figure.subject === subject));
      const rows = present.map((subject) => [
        subject,
        ...metrics.flatMap(({ metric }) => {
          const of = ofCase.find((figure) => figure.subject === subject && figure.metric === metric);
          return [cell(of), ...(compared.has(metric) ? [subject === baseline ? '' : ratio(of)] : [])];
        }),
      ]);
      return renderTable([{ title: name.toUpperCase() }, ...columns], rows, Number.POSITIVE_INFINITY);
    })
    .join('\n');
}

function right(title: string): Column {
  return { title, align: 'right' };
}

function titleOf({ metric, unit }: Pick<Figure, 'metric' | 'unit'>): string {
  return unit === '' ? metric : `${metric}, ${unit}`;
}

function cell(figure: Figure | undefined): string {
  return figure === undefined ? '' : `${number(figure.min)} (${number(figure.median)})`;
}

function ratio(figure: ReportedFigure | undefined): string {
  return figure?.ratio === undefined ? '' : number(figure.ratio);
}

/** Three digits that count, never an exponent. */
export function number(value: number): string {
  if (value === 0) return '0';
  const digits = Math.max(0, 2 - Math.floor(Math.log10(Math.abs(value))));
  return value.toFixed(Math.min(digits, 3));
}
