import {
  type EffectOutcome,
  type FailureFacts,
  type FailureKind,
  type FailureReason,
  classify,
} from '../../../src/policy/failures/face.ts';
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

/** Codex uses one code for most refusals: the text says which it is. */
const texts: readonly (readonly [RegExp, Meaning])[] = [
  [/^(?:not|already) initialized/i, { kind: 'protocol' }],
  [/\b(?:thread not found|no rollout found|no thread with id)\b/i, { kind: 'permanent', reason: 'not_found' }],
  [/\bactive writer\b/i, { kind: 'too_many_requests', reason: 'scope_busy' }],
];

/**
 * Tells what an error response of the app-server means. The request was refused, so nothing of it took effect, but where the server itself broke (`-32603`).
 * @param error - with the `code` and the text of the response.
 */
export function requestFailure(error: Error & { readonly code: number }, wallNow: number): FailureFacts {
  const known = texts.find(([pattern]) => pattern.test(error.message.slice(0, 500)))?.[1];
  const facts = classify(error, { wallNow, source: 'peer' });
  return { ...facts, ...known, reason: known?.reason ?? facts.reason, message: shortened(error.message), cause: error };
}

/** An unknown method is answered with the list of all methods. */
function shortened(message: string): string {
  return message.length > 500 ? `${message.slice(0, 497)}...` : message;
}
