import type { EffectOutcome, FailureKind, FailureReason } from './failure.ts';

/** A text of an error channel and what it means. */
export interface ErrorText {
  /** A group named `code` is the close code or errno name that the text tells. */
  readonly pattern: RegExp;
  readonly kind: FailureKind;
  readonly outcome: EffectOutcome;
  readonly reason?: FailureReason | undefined;
  /** Says `quota` of short windows too: with a short hint it is a rate limit. */
  readonly isAnyWindow?: true | undefined;
}

/** Makes a row of a catalogue. */
export const row = (pattern: RegExp, kind: FailureKind, outcome: EffectOutcome, reason?: FailureReason): ErrorText =>
  Object.freeze({ pattern, kind, outcome, reason });
