import type { Effect } from '../../src/policy/effects.ts';
import type { EffectOutcome, Failure, FailureKind, Outcome } from '../../src/policy/failures/failure.ts';
import type { Limits } from '../../src/policy/policy.ts';
import type { Work } from './work.ts';

/** One call as its caller and the other side know it. */
export interface CallRow {
  /** The label it is told by. */
  readonly label: string;
  readonly startedAt: number;
  /** When it has to be settled at the latest. */
  readonly dueAt: number;
  readonly limits: Limits;
  /** Those of its integration. */
  readonly ownLimits: Limits;
  readonly maxAttempts: number;
  readonly effect: Effect | undefined;
  readonly signal: AbortSignal | undefined;
  /** Whether a session made it, which may end it at any time. */
  readonly ofSession: boolean;
  attempts: number;
  /** The attempt in flight. */
  work: Work | undefined;
  /** Not before this time may it be tried again. */
  retryAt: number;
  /** What its last attempt came to. */
  last: { readonly kind: FailureKind; readonly outcome: EffectOutcome } | undefined;
  /** The value of the attempt that answered in time. */
  answer: object | undefined;
  /** Set once its fallback was asked, with what for; what that answered. */
  fallback: { readonly failure: Failure; value: object | undefined } | undefined;
  outcome: Outcome<unknown> | undefined;
  settledTimes: number;
  /** Final records told of it. */
  records: number;
}

export function callRow(
  given: Pick<
    CallRow,
    'label' | 'startedAt' | 'dueAt' | 'limits' | 'ownLimits' | 'maxAttempts' | 'effect' | 'signal' | 'ofSession'
  >,
): CallRow {
  return {
    ...given,
    attempts: 0,
    work: undefined,
    retryAt: 0,
    last: undefined,
    answer: undefined,
    fallback: undefined,
    outcome: undefined,
    settledTimes: 0,
    records: 0,
  };
}

/** Whether the call waits: accepted, not ended, and nothing of it in flight. */
export function isWaiting(row: CallRow): boolean {
  return row.outcome === undefined && row.work === undefined && row.fallback === undefined;
}

/** Whether a limit passed that the caller made shorter than the integration has it: that says nothing about the integration. */
export function isShortened({ limits, ownLimits, ofSession }: CallRow, kind: FailureKind, reason?: string): boolean {
  if (kind === 'watchdog') return ofSession && limits.attemptMs < ownLimits.attemptMs;
  if (reason === 'idle_timeout') return limits.idleMs < ownLimits.idleMs;
  if (reason === 'attempt_timeout') return limits.attemptMs < ownLimits.attemptMs;
  return reason === 'overall_timeout' && limits.overallMs < ownLimits.overallMs && !ofSession;
}

/** What one call came to, in a word. */
export function wordOf(outcome: Outcome<unknown>): string {
  if (outcome.ok) return 'ok';
  const { kind, reason, attempts } = outcome.failure;
  return `${kind}${reason === undefined ? '' : `/${reason}`} after ${attempts}`;
}
