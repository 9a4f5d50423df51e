import type { EffectOutcome, FailureKind, FailureReason } from './failure.ts';
import type { RetryHint } from './hints.ts';

/** Finding from one piece of evidence about a failed attempt. */
export interface Finding {
  readonly kind: FailureKind;
  readonly outcome: EffectOutcome;
  readonly reason?: FailureReason | undefined;
  /** HTTP status. */
  readonly status?: number | undefined;
  /** errno name, JSON-RPC code, close code, exit code, signal, or the error type of an API. */
  readonly code?: string | number | undefined;
  /** Meaning to the breaker where that is not what its kind means. */
  readonly breaker?: 'ignored' | undefined;
  /** A quota of any window: with a short hint it is a rate limit. */
  readonly isAnyWindow?: true | undefined;
  /** Nothing but the name of the error says so. */
  readonly isNameAlone?: true | undefined;
  /** A message says so, in JSON that it holds. */
  readonly isOfText?: true | undefined;
  readonly hint?: RetryHint | undefined;
  /** The structure is known and its text would mislead: text says nothing more about it. */
  readonly settled?: true | undefined;
}
