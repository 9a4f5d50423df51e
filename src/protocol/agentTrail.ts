import type { Effect } from '../policy/effects.ts';
import { AttemptError, type FailureFacts } from '../policy/failure.ts';
import type { AgentEffects, AgentReader, AgentReport } from './agentReport.ts';

/** What the attempts of a call leave to the next one. */
export type Left = Pick<AgentReport, 'effects' | 'sessionId'>;

/** What all attempts of one call of an agent did. An attempt that failed before it acted does not undo what an earlier one did. */
export class AgentTrail {
  #before: Left = { effects: 'none' };
  #current: Pick<AgentReader, 'report'> | undefined;

  /** The next attempt begins; the one before it has ended. */
  begin(attempt: Pick<AgentReader, 'report'>, wallNow: number): void {
    this.#before = this.left(wallNow);
    this.#current = attempt;
  }

  /** The attempt that began last was never started: it did nothing. */
  forget(): void {
    this.#current = undefined;
  }

  /** Of all attempts so far. The session is that of the last one that acted: a later one may have told of an empty session. */
  left(wallNow: number): Left {
    if (this.#current === undefined) return this.#before;
    const { effects: before, sessionId: earlier } = this.#before;
    const { effects: now, sessionId: latest } = this.#current.report(wallNow);
    const effects = certainty.indexOf(now) > certainty.indexOf(before) ? now : before;
    const keepsEarlier = before === 'possible' && now !== 'possible';
    return { effects, sessionId: keepsEarlier ? (earlier ?? latest) : (latest ?? earlier) };
  }
}

const certainty: readonly AgentEffects[] = ['none', 'unknown', 'possible'];

/** How the next attempt would be made. */
export interface Repetition {
  /** What the call may do to the world, where somebody said. */
  readonly effect: Effect | undefined;
  /** Whether it would go on in the session of the attempts before instead of beginning anew. */
  readonly resumable: boolean;
  /** Whether it was asked for, whatever the attempts before did. */
  readonly asked?: boolean | undefined;
}

/** Says what is known of the effect of a failed attempt, and whether there may be another. */
export function withEffects(facts: FailureFacts, { effects }: Left, next: Repetition): FailureFacts {
  if (facts.outcome === 'not_started' || facts.kind === 'cancelled' || facts.kind === 'spawn') return facts;
  if (effects === 'none') return { ...facts, outcome: 'failed' };
  if (effects === 'possible' && next.resumable) return { ...facts, outcome: 'unknown', resumable: true };
  const mayRepeat = isHarmless(next.effect) || next.asked === true;
  return { ...facts, outcome: 'unknown', ...(!mayRepeat && { shouldRetry: false }) };
}

/**
 * Asked right before an attempt: one that was told to end may have acted after its call was promised another.
 * @throws {@link AttemptError} when what was done may not be done again, and cannot be gone on with.
 */
export function refuseRepetition({ effects }: Left, { effect, resumable, asked }: Repetition): void {
  if (effects !== 'possible' || isHarmless(effect) || asked === true) return;
  if (resumable && effect !== 'mutating') return;
  const message = 'It is not tried again: an attempt before may have changed something and cannot be gone on with';
  throw new AttemptError({ kind: 'unknown', message, outcome: 'unknown', shouldRetry: false, breaker: 'ignored' });
}

/** Whether it may be done again, whatever it did. */
export const isHarmless = (effect: Effect | undefined): boolean => effect === 'readOnly' || effect === 'idempotent';
