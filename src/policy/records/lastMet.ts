import { type Failure, type FailureFacts, isFailureKind, ruleReasons } from '../failures/failure.ts';

/**
 * Tells what a call failed of: the one judgement for alerts, counts, rates and metrics. A call whose attempts opened the circuit, or whose probe left it
 * open, ends as `circuit_open` and was no refusal: it failed as its last attempt did. Without it an upstream that is down would be counted by its first calls
 * alone. For all others, refusals among them, it is the failure itself. Allocates nothing; never throws.
 */
export function lastMet(failure: Failure): FailureFacts {
  const { kind, attempts, cause } = failure;
  return kind === 'circuit_open' && attempts > 0 && isFacts(cause) ? cause : failure;
}

/**
 * Tells whether something was sent for a call that failed. A call that ends before (cancelled or out of time in the queue, kept away by a rule) counts as a
 * refused one does: it says nothing of the integration.
 */
export function wasSent({ attempts, reason }: Pick<Failure, 'attempts' | 'reason'>): boolean {
  return attempts > 0 && !ruleReasons.includes(reason);
}

function isFacts(cause: unknown): cause is FailureFacts {
  return typeof cause === 'object' && cause !== null && 'kind' in cause && isFailureKind(cause.kind);
}
