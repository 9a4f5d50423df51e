import { type Baseline, majorOf } from './baseline.ts';
import { howToInstall } from '../peers/load.ts';
import type { Figure } from './rounds.ts';
import type { FigureName } from './suite.ts';
import { number } from './tables.ts';
import { find } from './verdict.ts';

/** A ratio that is not to grow. */
export interface Guard {
  readonly suite: string;
  readonly of: FigureName;
  readonly over: FigureName;
  /** How many times what was recorded is still taken for the same. At least 1. */
  readonly margin: number;
  /** Whether one round says as much as several: of memory. @defaultValue false */
  readonly once?: boolean | undefined;
}

/** What became of a guard. */
export interface Finding {
  readonly name: string;
  /** Undefined when it could not be measured. */
  readonly ratio: number | undefined;
  /** Undefined when there is none of this name. */
  readonly recorded: number | undefined;
  /** The most it may be. */
  readonly limit: number | undefined;
  /** Undefined when there is nothing to compare. */
  readonly ok: boolean | undefined;
}

/** What the ratio of a guard is called. */
export function nameOf({ suite, of, over }: Guard): string {
  const other = over.subject === of.subject ? over.metric : over.subject;
  const against = over.case === of.case ? other : `${over.subject}, ${over.case}`;
  return `${suite}: ${of.case}: ${of.metric}: ${of.subject} against ${against}`;
}

/** The ratio by the minima; undefined when a figure was not measured. */
export function ratioOfGuard({ of, over }: Guard, figures: readonly Figure[]): number | undefined {
  const [own, other] = [find(figures, of), find(figures, over)];
  return own === undefined || other === undefined || other.min === 0 ? undefined : own.min / other.min;
}

/** Compares a ratio with what was recorded. On another major version of Node both sides may have changed: margins are doubled. */
export function compare(guard: Guard, ratio: number | undefined, baseline: Baseline, node: string): Finding {
  const name = nameOf(guard);
  const recorded = Object.hasOwn(baseline.ratios, name) ? baseline.ratios[name] : undefined;
  const margin = majorOf(node) === majorOf(baseline.node) ? guard.margin : guard.margin * 2;
  const limit = recorded === undefined ? undefined : recorded * margin;
  const ok = ratio === undefined || limit === undefined ? undefined : ratio <= limit;
  return { name, ratio, recorded, limit, ok };
}

/** A line for each ratio, then what was compared and who was missing. */
export function textOfFindings(findings: readonly Finding[], missing: readonly string[]): string {
  const compared = findings.filter(({ ok }) => ok !== undefined);
  const grown = findings.filter(({ ok }) => ok === false);
  const counts = `${compared.length} of ${findings.length} ratios compared, ${grown.length} grown`;
  const note =
    missing.length === 0
      ? ''
      : `missing: ${missing.join(', ')}; ratios against them were left out; \`${howToInstall}\` installs them\n`;
  return `${findings.map(lineOf).join('')}\n${counts}\n${note}`;
}

function lineOf({ name, ratio, recorded, limit, ok }: Finding): string {
  const now = ratio === undefined ? 'not measured' : number(ratio);
  if (recorded === undefined || limit === undefined) {
    return `- ${name}: ${now}, not recorded; \`npm run bench -- --record\` does\n`;
  }
  const mark = ok === undefined ? '-' : ok ? '✓' : '✗';
  return `${mark} ${name}: ${now}, recorded ${number(recorded)}, at most ${number(limit)}\n`;
}
