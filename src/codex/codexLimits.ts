import { formatDuration } from '../policy/duration.ts';
import type { FailureFacts, FailureReason } from '../policy/failure.ts';
import type { RunningTurn } from './codexRunningTurn.ts';

/** Describes the limit that a turn ran into. */
export function describeTimeout(reason: FailureReason, limitMs: number): string {
  const limit = formatDuration(limitMs);
  return reason === 'idle_timeout' ? `Codex made no progress for ${limit}` : `Codex was not done within ${limit}`;
}

/**
 * A turn that ran nothing has had no effect; why Codex kept trying is worth more than how long. A turn is interrupted by its id: before Codex
 * has named it nothing is there to interrupt.
 */
export function timedOut(facts: FailureFacts, turn: RunningTurn | undefined): FailureFacts {
  if (turn === undefined) return facts;
  const { lastRetry, effects } = turn;
  const interrupted = turn.id === undefined ? '' : '; the turn is interrupted';
  const said = lastRetry === undefined ? '' : `; Codex said last: ${lastRetry}`;
  const message = `${facts.message}${interrupted}${said}`;
  return { ...facts, message, outcome: effects === 'none' ? 'failed' : 'unknown' };
}
