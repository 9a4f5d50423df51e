import type { Effect } from '../policy/effects.ts';
import { AttemptError, type FailureFacts } from '../policy/failure.ts';
import type { AgentEffects } from '../protocol/agentReport.ts';
import type { ClaudeReader } from '../protocol/claudeOutput.ts';
import type { ClaudeLink } from './claudeLink.ts';

/** What one attempt of a turn leaves to the next. */
export interface Trail {
  /** What each attempt said. */
  readonly readers: ClaudeReader[];
  /** The query that has heard the prompt and told how it ended: its history has the prompt. */
  heardBy: ClaudeLink | undefined;
  /** Why the last attempt failed. */
  lastFailure: string | undefined;
}

/** Of all attempts together; one that has said nothing yet has done nothing. */
export function effectsOf({ readers }: Trail, wallNow: number): AgentEffects {
  return readers.some((reader) => reader.report(wallNow).effects === 'possible') ? 'possible' : 'none';
}

/**
 * Says what is known of the effect of a failed attempt.
 * @param resumable - whether the next attempt goes on in the conversation instead of beginning again.
 */
export function withEffects(
  facts: FailureFacts,
  effects: AgentEffects,
  effect: Effect | undefined,
  resumable: boolean,
): FailureFacts {
  if (facts.outcome === 'not_started' || facts.kind === 'cancelled') return facts;
  if (effects === 'none') return { ...facts, outcome: 'failed' };
  if (resumable) return { ...facts, outcome: 'unknown', resumable: true };
  return { ...facts, outcome: 'unknown', ...(!isHarmless(effect) && { shouldRetry: false }) };
}

/** Whether it may be done again, whatever it did. */
export const isHarmless = (effect: Effect | undefined): boolean => effect === 'readOnly' || effect === 'idempotent';

/** Refused: what the attempt before did may not be done again, and cannot be gone on with. */
export function notRepeated(): AttemptError {
  const message = 'It is not tried again: the attempt before may have changed something and cannot be gone on with';
  return new AttemptError({ kind: 'unknown', message, outcome: 'unknown', shouldRetry: false, breaker: 'ignored' });
}
