import type { Failure, FailureFacts } from '../policy/failure.ts';

/** A failure of a session's own: of a message, a turn. */
export function sessionFailure(session: string, facts: FailureFacts): Failure {
  const attempts = facts.outcome === 'not_started' ? 0 : 1;
  return { ...facts, integration: `session:${session}`, attempts, retryable: false };
}
