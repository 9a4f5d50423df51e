import type { FailureFacts, FailureReason } from '../policy/failure.ts';
import type { RunningTurn } from './codexRunningTurn.ts';

/** What a turn that ran into one of its limits says. */
export function describeTimeout(reason: FailureReason, limitMs: number): string {
  const limit = `${Math.round(limitMs)} ms`;
  return reason === 'idle_timeout'
    ? `Codex made no progress for ${limit}; the turn was interrupted`
    : `Codex was not done within ${limit}; the turn was interrupted`;
}

/** A turn that ran nothing has had no effect; why Codex kept trying is worth more than how long. */
export function timedOut(facts: FailureFacts, turn: RunningTurn | undefined): FailureFacts {
  if (turn === undefined) return facts;
  const { lastRetry, effects } = turn;
  const message = lastRetry === undefined ? facts.message : `${facts.message}; Codex said last: ${lastRetry}`;
  return { ...facts, message, outcome: effects === 'none' ? 'failed' : 'unknown' };
}
