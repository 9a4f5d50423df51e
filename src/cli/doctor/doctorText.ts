import { sanitize } from '../sanitize.ts';
import type { Io } from '../io.ts';
import { nextLines } from '../nextLines.ts';
import { createStyle, type Style } from '../style.ts';
import { helpWidth } from '../wrap.ts';
import { wrapWords } from '../../policy/wrapWords.ts';
import type { FindingStatus, ToldFinding } from './finding.ts';

const signs: Readonly<Record<FindingStatus, string>> = { fail: '✗', unknown: '?', warning: '!', ok: '✓' };
const order: readonly FindingStatus[] = ['fail', 'unknown', 'warning', 'ok'];

/** Findings for people, the worst first, each with its fix below it; a fix is never broken, so that it can be copied. */
export function doctorText(
  findings: readonly ToldFinding[],
  { all, home }: { readonly all: boolean; readonly home: string },
  io: Io,
): string {
  const style = createStyle(io);
  const width = helpWidth(io.columns);
  const shown = order.flatMap((status) =>
    findings.filter((each) => each.status === status && (all || status !== 'ok')),
  );
  const lines = shown.flatMap(({ status, summary, fix, next }) => {
    const [first = '', ...others] = wrapWords(shortened(sanitize(summary), home), width - 2);
    return [
      `${painted(status, style)} ${first}`,
      ...others.map((line) => `  ${line}`),
      ...(fix === undefined ? [] : [`  ${style.dim('fix:')} ${sanitize(fix)}`]),
      ...(next === undefined ? [] : nextLines(sanitize(next), width, style)),
    ];
  });
  return `${[...lines, ...(lines.length === 0 ? [] : ['']), counts(findings, all)].join('\n')}\n`;
}

function painted(status: FindingStatus, { red, yellow, green }: Style): string {
  const paint = { fail: red, unknown: yellow, warning: yellow, ok: green }[status];
  return paint(signs[status]);
}

/** The home of the user is long and known; a fix names it as it is. */
function shortened(text: string, home: string): string {
  if (home.length <= 1) return text;
  // Code is copied: a path of code is the whole one.
  const parts = text.split('`').map((part, index) => (index % 2 === 1 ? part : part.replaceAll(`${home}/`, '~/')));
  return parts.join('`');
}

function counts(findings: readonly ToldFinding[], all: boolean): string {
  const count = (status: FindingStatus): number => findings.filter((each) => each.status === status).length;
  const [broken, unknown, warnings, ok] = order.map(count);
  const parts = [
    `${broken} broken`,
    ...(unknown === 0 ? [] : [`${unknown} not looked at`]),
    `${warnings} ${warnings === 1 ? 'warning' : 'warnings'}`,
    `${ok} in order${all ? '' : ' (--all shows them)'}`,
  ];
  return `${parts.join(', ')}.`;
}
