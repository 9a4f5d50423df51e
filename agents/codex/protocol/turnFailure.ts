import { classify } from '../../../src/policy/classify.ts';
import type { EffectOutcome, FailureFacts, FailureKind, FailureReason } from '../../../src/policy/failure.ts';
import type { CodexTurnError } from './notifications.ts';

interface Meaning {
  readonly kind: FailureKind;
  readonly reason?: FailureReason | undefined;
}

/** Meanings of the words of Codex's list where they say enough; `other` and what stands for a broken stream leave it to the text. */
const words: Readonly<Record<string, Meaning>> = {
  activeTurnNotSteerable: { kind: 'permanent' },
  badRequest: { kind: 'permanent' },
  bioPolicy: { kind: 'permanent' },
  contextWindowExceeded: { kind: 'permanent', reason: 'context_length' },
  cyberPolicy: { kind: 'permanent' },
  flexUnavailable: { kind: 'overloaded' },
  inferenceHookDenied: { kind: 'permanent' },
  internalServerError: { kind: 'overloaded' },
  misalignmentPolicyViolation: { kind: 'permanent' },
  modelNotFound: { kind: 'permanent', reason: 'not_found' },
  policyCapacityUnavailable: { kind: 'overloaded' },
  rateLimitExceeded: { kind: 'rate_limit' },
  sandboxError: { kind: 'permanent' },
  serverOverloaded: { kind: 'overloaded' },
  sessionBudgetExceeded: { kind: 'quota' },
  threadRollbackFailed: { kind: 'permanent' },
  tooManyDenials: { kind: 'permanent' },
  unauthorized: { kind: 'auth' },
  usageLimitExceeded: { kind: 'quota' },
};

/**
 * Why a turn failed, by what Codex says of it: its word first, then the HTTP status that comes with it, then its text.
 * @param effects - whether the turn had run anything by then that may have changed something.
 */
export function turnFailure(
  error: CodexTurnError | undefined,
  effects: 'none' | 'possible',
  wallNow: number,
): FailureFacts {
  const message = error?.message ?? 'Codex says that its turn failed';
  const source = error?.status === undefined ? {} : { status: error.status };
  const said = classify(Object.assign(new Error(message), source), { wallNow });
  const word = error?.info === undefined || !Object.hasOwn(words, error.info) ? undefined : words[error.info];
  const outcome: EffectOutcome = effects === 'possible' ? 'unknown' : 'failed';
  return {
    ...said,
    ...word,
    reason: word?.reason ?? said.reason,
    message,
    outcome,
    code: error?.info,
    cause: undefined,
  };
}

/**
 * A turn that was cut off on purpose, by us, by an answer to an approval or by another client.
 * @param left - what of it could not be ended, in words.
 */
export function turnInterrupted(effects: 'none' | 'possible', left?: string): FailureFacts {
  return {
    kind: 'cancelled',
    message: left === undefined ? 'The turn was interrupted' : `The turn was interrupted; ${left}`,
    outcome: effects === 'possible' ? 'unknown' : 'cancelled',
  };
}
