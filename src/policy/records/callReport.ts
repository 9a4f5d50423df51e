import { addFigures, type CallFigures, type CallFiguresRow, noFigures } from './callFigures.ts';
import type { FailureKind } from '../failures/failure.ts';
import { countOf, type LatencyCounts, quantile } from './latencies.ts';

/** Quantiles of how long something took, in whole ms; each is right to 6 %. */
export interface Quantiles {
  readonly p50Ms: number;
  readonly p95Ms: number;
  readonly p99Ms: number;
}

/** Report on how well the calls of an integration, or of one of its tools, have worked. */
export interface ReportLine {
  readonly integration: string;
  /** Undefined for all calls of the integration together. */
  readonly tool?: string | undefined;
  /** Calls that ended after something was sent: the successes and the failures. */
  readonly calls: number;
  /**
   * Rate among the calls that were not cancelled by their own callers, from 0 to 1; a call that only its fallback answered is no success. Undefined where
   * there are none.
   */
  readonly successRate?: number | undefined;
  /** Final failures by kind. */
  readonly failures: Readonly<Partial<Record<FailureKind, number>>>;
  /** Number of the failures that a fallback answered. */
  readonly fellBack: number;
  /** Calls that ended before anything was sent: by an open circuit, a limit, a stop. */
  readonly refused: number;
  /** Further attempts. */
  readonly retries: number;
  /** Times of the calls that succeeded. */
  readonly took?: Quantiles | undefined;
  /** Until the first chunk, of the calls that were read as a stream. */
  readonly firstChunk?: Quantiles | undefined;
}

/** A step of the time that a report is about. */
export interface ReportStep {
  /** Wall time in ms since the epoch. */
  readonly from: number;
  readonly calls: number;
  readonly successRate?: number | undefined;
  /** Times of the calls that succeeded. */
  readonly took?: Quantiles | undefined;
}

/** Figures of an integration, and of each of its tools. */
export interface ReportEntry extends ReportLine {
  readonly tools: readonly ReportLine[];
  /** Equal steps from the beginning to the end. */
  readonly steps: readonly ReportStep[];
}

/** Wall times in ms since the epoch. */
interface ReportSpan {
  readonly from: number;
  readonly until: number;
}

const minuteMs = 60_000;

/** The time up to now that a report is about: from the beginning of a minute, since figures are kept by the minute. */
export function reportSpan(until: number, sinceMs: number): ReportSpan {
  return { from: Math.max(0, Math.floor((until - sinceMs) / minuteMs) * minuteMs), until };
}

/** Steps of a report. */
const steps = 24;

/** Reports how well each integration works, by name. Figures are kept by the minute: what began within the first minute counts with it. */
export function reportOf(rows: readonly CallFiguresRow[], span: ReportSpan): readonly ReportEntry[] {
  return byIntegration(rows).map(([integration, own]) => {
    const whole = own.filter(({ tool }) => tool === undefined);
    const tools = [...new Set(own.flatMap(({ tool }) => tool ?? []))].sort();
    return {
      ...lineOf(integration, undefined, whole),
      tools: tools.map((name) =>
        lineOf(
          integration,
          name,
          own.filter(({ tool }) => tool === name),
        ),
      ),
      steps: stepsOf(whole, span),
    };
  });
}

/** Reports how well each integration as a whole has worked, by name. */
export function reportLines(rows: readonly CallFiguresRow[]): readonly ReportLine[] {
  return byIntegration(rows.filter(({ tool }) => tool === undefined)).map(([integration, own]) =>
    lineOf(integration, undefined, own),
  );
}

function byIntegration(rows: readonly CallFiguresRow[]): readonly [string, readonly CallFiguresRow[]][] {
  const found = new Map<string, CallFiguresRow[]>();
  for (const row of rows) {
    const known = found.get(row.integration);
    if (known === undefined) found.set(row.integration, [row]);
    else known.push(row);
  }
  return [...found].sort(([one], [other]) => (one < other ? -1 : 1));
}

function lineOf(integration: string, tool: string | undefined, rows: readonly CallFiguresRow[]): ReportLine {
  const sum = rows.reduce<CallFigures>(addFigures, noFigures);
  return {
    integration,
    tool,
    calls: callsIn(sum),
    successRate: successRate(sum),
    failures: sum.failed,
    fellBack: sum.fellBack,
    refused: sum.refused,
    retries: sum.retries,
    took: quantilesOf(sum.took),
    firstChunk: quantilesOf(sum.firstChunk),
  };
}

function stepsOf(rows: readonly CallFiguresRow[], { from, until }: ReportSpan): readonly ReportStep[] {
  const stepMs = Math.max(minuteMs, (until - from) / steps);
  const count = Math.max(1, Math.ceil((until - from) / stepMs));
  const sums = Array.from({ length: count }, () => noFigures);
  for (const row of rows) {
    const index = Math.min(count - 1, Math.max(0, Math.floor((row.minute - from) / stepMs)));
    sums[index] = addFigures(sums[index] ?? noFigures, row);
  }
  return sums.map((sum, index) => ({
    from: Math.round(from + index * stepMs),
    calls: callsIn(sum),
    successRate: successRate(sum),
    took: quantilesOf(sum.took),
  }));
}

function callsIn({ succeeded, failed }: CallFigures): number {
  return Object.values(failed).reduce((sum, count) => sum + count, succeeded);
}

/** Undefined where no call says anything: nobody called, or each call was cancelled by its caller. */
function successRate(figures: CallFigures): number | undefined {
  const told = callsIn(figures) - (figures.failed.cancelled ?? 0);
  return told === 0 ? undefined : figures.succeeded / told;
}

/** @param rate - from 0 to 1. */
export function rateText(rate: number | undefined): string {
  if (rate === undefined) return '';
  // Never 100 where one has failed.
  return rate === 1 ? '100 %' : `${(Math.floor(rate * 1000) / 10).toFixed(1)} %`;
}

function quantilesOf(counts: LatencyCounts): Quantiles | undefined {
  if (countOf(counts) === 0) return undefined;
  const at = (share: number): number => Math.round(quantile(counts, share) ?? 0);
  return { p50Ms: at(0.5), p95Ms: at(0.95), p99Ms: at(0.99) };
}
