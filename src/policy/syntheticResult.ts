import type { EffectOutcome, Failure, FailureKind } from './failure.ts';
import { formatDuration } from './duration.ts';

/** Stands for an answer that never came: what is known, for programs and in one plain sentence for the agent. */
export interface SyntheticResult {
  readonly status: 'error';
  readonly synthetic: true;
  /** One plain sentence: what happened, what is known of the effect, whether and when to try again. */
  readonly error: string;
  readonly kind: FailureKind;
  readonly outcome: EffectOutcome;
  /** From the call to this result, in ms. */
  readonly elapsedMs: number;
  /** Attempts made; 0 when it was refused before dispatch. */
  readonly attempts: number;
  /** Whether the same call may succeed later. */
  readonly retryable: boolean;
  /** When to try again at the earliest, in ms from now. */
  readonly retryAfterMs?: number | undefined;
}

/**
 * The result that stands for an answer, from the failure that kept it away.
 * @param elapsedMs - time from the call to this result, in ms.
 */
export function syntheticResult(failure: Failure, elapsedMs: number): SyntheticResult {
  const { kind, outcome, attempts, retryable, retryAfterMs } = failure;
  return {
    status: 'error',
    synthetic: true,
    error: `${plain(failure.message)}: ${known[outcome]}; ${advice(failure)}.`,
    kind,
    outcome,
    elapsedMs,
    attempts,
    retryable,
    ...(retryAfterMs !== undefined && { retryAfterMs }),
  };
}

const known: Readonly<Record<EffectOutcome, string>> = {
  not_started: 'it was not started',
  failed: 'it failed',
  unknown: 'outcome unknown; it may have taken effect, check before repeating',
  cancelled: 'it was ended before an answer came and may have taken effect, check before repeating',
};

function plain(message: string): string {
  const line = message.slice(0, 500).replaceAll(/\s+/g, ' ').trim();
  return line.replace(/[.:;]+$/, '');
}

function advice({ outcome, retryable, retryAfterMs }: Failure): string {
  if (retryAfterMs !== undefined && retryAfterMs > 0) return `try again in ${formatDuration(retryAfterMs)}`;
  if (!retryable) return 'trying the same again is not expected to help';
  // What may have taken effect is not offered for repeating without its condition.
  return outcome === 'unknown' || outcome === 'cancelled'
    ? 'after that it may be tried again'
    : 'it may be tried again';
}
