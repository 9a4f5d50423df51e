import type { Effect } from '../policy/effects.ts';
import { AttemptError, type FailureFacts } from '../policy/failures/failure.ts';
import type { AgentEffects, AgentReader, AgentReport } from './agentReport.ts';

/** State that the attempts of a call leave to the next one. */
export type Left = Pick<AgentReport, 'effects' | 'sessionId'>;

/** Trail of all attempts of one call of an agent. An attempt that failed before it acted does not undo what an earlier one did. */
export class AgentTrail {
  readonly #wallNow: () => number;
  #before: Left = { effects: 'none' };
  #current: Pick<AgentReader, 'report'> | undefined = undefined;

  constructor(wallNow: () => number) {
    this.#wallNow = wallNow;
  }

  /** The next attempt begins; the one before it has ended. */
  begin(attempt: Pick<AgentReader, 'report'>): void {
    this.#before = this.left;
    this.#current = attempt;
  }

  /** The attempt that began last was never started: it did nothing. */
  forget(): void {
    this.#current = undefined;
  }

  /** State after all attempts so far. The session is that of the last one that acted: a later one may have told of an empty session. */
  get left(): Left {
    if (this.#current === undefined) return this.#before;
    const { effects: before, sessionId: earlier } = this.#before;
    const { effects: now, sessionId: latest } = this.#current.report(this.#wallNow());
    const effects = certainty.indexOf(now) > certainty.indexOf(before) ? now : before;
    const keepsEarlier = before === 'possible' && now !== 'possible';
    return { effects, sessionId: keepsEarlier ? (earlier ?? latest) : (latest ?? earlier) };
  }

  /** True once an attempt may have changed something. */
  get mayHaveActed(): boolean {
    return this.left.effects === 'possible';
  }

  /** Says what is known of the effect of a failed attempt, and whether there may be another. */
  judge(facts: FailureFacts, next: Repetition): FailureFacts {
    const { effects } = this.left;
    if (facts.outcome === 'not_started' || facts.kind === 'cancelled' || facts.kind === 'spawn') return facts;
    if (effects === 'none') return { ...facts, outcome: 'failed' };
    if (isHarmless(next.effect) || next.asked === true) return { ...facts, outcome: 'unknown' };
    const goesOn = effects === 'possible' && next.resumable;
    return { ...facts, outcome: 'unknown', ...(goesOn ? { resumable: true } : { shouldRetry: false }) };
  }

  /**
   * Asked right before an attempt: one that was told to end may have acted after its call was promised another.
   * @throws {@link AttemptError} when what was done may not be done again, and cannot be gone on with.
   */
  refuseRepetition({ effect, resumable, asked }: Repetition): void {
    if (!this.mayHaveActed || isHarmless(effect) || asked === true) return;
    if (resumable && effect !== 'mutating') return;
    const message = 'It is not tried again: an attempt before may have changed something and cannot be gone on with';
    throw new AttemptError({ kind: 'unknown', message, outcome: 'unknown', shouldRetry: false, breaker: 'ignored' });
  }
}

/** Prompt for an agent that goes on in a session whose last request was cut short; the request itself is in its history. */
export const goOnPrompt =
  'The last request was cut short before it was answered. Go on with it. Some of it may have taken effect: check what was done ' +
  'before doing it again.';

const certainty: readonly AgentEffects[] = ['none', 'unknown', 'possible'];

/** Circumstances of the next attempt. */
export interface Repetition {
  /** Effect that the call may have on the world, where somebody said. */
  readonly effect: Effect | undefined;
  /** True where it would go on in the session of the attempts before instead of beginning anew. */
  readonly resumable: boolean;
  /** True where it was asked for, whatever the attempts before did. */
  readonly asked?: boolean | undefined;
}

/** Tells whether it may be done again, whatever it did. */
export const isHarmless = (effect: Effect | undefined): boolean => effect === 'readOnly' || effect === 'idempotent';
