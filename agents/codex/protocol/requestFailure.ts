import { classify } from '../../../src/policy/classify.ts';
import type { FailureFacts, FailureKind, FailureReason } from '../../../src/policy/failure.ts';

interface Meaning {
  readonly kind: FailureKind;
  readonly reason?: FailureReason | undefined;
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
