import type { FailureKind } from '../failures/failure.ts';
import { addLatencies, type LatencyCounts } from './latencies.ts';

/** Ends of calls in some time. Figures of several times, processes or tools add up. */
export interface CallFigures {
  readonly succeeded: number;
  /** Final failures by their kind. */
  readonly failed: Readonly<Partial<Record<FailureKind, number>>>;
  /** Number of the failed ones that a fallback answered. */
  readonly fellBack: number;
  /** Ended before anything was sent: by an open circuit, a limit, a stop. Neither successes nor failures. */
  readonly refused: number;
  /** Further attempts of calls, however these ended. */
  readonly retries: number;
  /** Number of times that what is behind the integration was there again after it was lost. */
  readonly restarts: number;
  /** Times that calls took that succeeded, from the first attempt's wait to the answer. */
  readonly took: LatencyCounts;
  /** Times to the first chunk of those that were read as a stream. */
  readonly firstChunk: LatencyCounts;
}

/** Figures of an integration or a tool since they were first counted. */
export interface CallTotals extends CallFigures {
  readonly integration: string;
  /** Undefined for all calls of the integration together. */
  readonly tool: string | undefined;
}

/** Figures of one minute. */
export interface CallFiguresRow extends CallTotals {
  /** Begin of the minute: wall time in ms since the epoch. */
  readonly minute: number;
}

export const noFigures: CallFigures = Object.freeze({
  succeeded: 0,
  failed: {},
  fellBack: 0,
  refused: 0,
  retries: 0,
  restarts: 0,
  took: [],
  firstChunk: [],
});

export function addFigures(one: CallFigures, other: CallFigures): CallFigures {
  const failed: Partial<Record<FailureKind, number>> = { ...one.failed };
  for (const [kind, count] of Object.entries(other.failed) as [FailureKind, number][])
    failed[kind] = (failed[kind] ?? 0) + count;
  return {
    succeeded: one.succeeded + other.succeeded,
    failed,
    fellBack: one.fellBack + other.fellBack,
    refused: one.refused + other.refused,
    retries: one.retries + other.retries,
    restarts: one.restarts + other.restarts,
    took: addLatencies(one.took, other.took),
    firstChunk: addLatencies(one.firstChunk, other.firstChunk),
  };
}
