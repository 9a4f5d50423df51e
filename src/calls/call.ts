import type { Effect } from '../policy/effects.ts';
import type { EffectOutcome, FailureFacts, Outcome } from '../policy/failure.ts';
import type { Attempt } from './attempt.ts';
import { CallProgress, noProgress, type Waiting } from './callProgress.ts';
import type { CallSettings } from './callSettings.ts';
import type { Deadline } from './deadlineQueue.ts';
import type { AbortWatcher } from './signalFanout.ts';

/** Moves a call when its time is over or its caller aborts it. */
export interface CallKeeper<I, O> {
  callExpired(call: Call<I, O>, now: number): void;
  callAborted(call: Call<I, O>, reason: unknown): void;
  now(): number;
}

/**
 * One accepted call: a row of the table, and its own place in the queue of deadlines. Its fields are those of a call that succeeds at
 * once, and no more: there may be tens of thousands of them.
 */
export class Call<I, O> implements Deadline, AbortWatcher {
  // A whole number of ms, which V8 keeps in the field itself; any other is an object of its own, made anew for each call.
  due = 0;
  heapIndex = -1;
  /** What it will be settled with, when that is decided: its value, or its failure, in place of which a fallback may still answer. */
  ending: 'answered' | 'failed' | 'refused' | undefined = undefined;
  attempt: Attempt<Call<I, O>> | undefined = undefined;
  attempts = 0;
  readonly number: number;
  readonly input: I;
  readonly settings: CallSettings<I, O>;
  readonly startedAt: number;
  /** Neighbours in the table of calls in flight, which alone writes them. */
  previous: Call<I, O> | undefined = undefined;
  next: Call<I, O> | undefined = undefined;
  readonly #keeper: CallKeeper<I, O>;
  #progress: Readonly<CallProgress> = noProgress;
  #resolve: ((outcome: Outcome<O>) => void) | undefined;

  constructor(
    keeper: CallKeeper<I, O>,
    number: number,
    input: I,
    settings: CallSettings<I, O>,
    now: number,
    resolve: (outcome: Outcome<O>) => void,
  ) {
    this.#keeper = keeper;
    this.number = number;
    this.input = input;
    this.settings = settings;
    this.startedAt = now;
    this.#resolve = resolve;
  }

  /** What it went through so far, besides its attempt; not to be written. */
  get progress(): Readonly<CallProgress> {
    return this.#progress;
  }

  /** The same, to be written. */
  ownProgress(): CallProgress {
    if (this.#progress === noProgress) this.#progress = new CallProgress();
    return this.#progress;
  }

  get waiting(): Waiting | undefined {
    return this.#progress.waiting;
  }

  get settled(): boolean {
    return this.#resolve === undefined;
  }

  /** Whether its failure is decided. */
  get failed(): boolean {
    return this.ending === 'failed' || this.ending === 'refused';
  }

  /** Marks it as settled. @returns what tells its caller, which may call again at once. */
  settle(): (outcome: Outcome<O>) => void {
    const resolve = this.#resolve;
    this.#resolve = undefined;
    return resolve ?? nobody;
  }

  get overallDue(): number {
    return this.startedAt + this.settings.overallMs;
  }

  /** What it may do to the world, as far as is known by now. What was once said to change something stays that. */
  get expectedEffect(): Effect | undefined {
    const { effect, learnedEffect } = this.settings;
    if (effect !== undefined || learnedEffect === undefined) return effect;
    const { learned } = this.#progress;
    const effective = learned === 'mutating' ? learned : (learnedEffect() ?? learned);
    if (effective !== learned) this.ownProgress().learned = effective;
    return effective;
  }

  /** An attempt failed. What may have taken effect once is not undone by what a later attempt says. */
  noteFailure(facts: FailureFacts): void {
    const progress = this.ownProgress();
    progress.lastFailure = facts;
    if (progress.effect !== 'unknown' && facts.outcome !== 'not_started') progress.effect = facts.outcome;
  }

  /** What is known of its effect when it ends for this reason. */
  effectAtEnd(facts: FailureFacts): EffectOutcome {
    if (this.attempts === 0) return 'not_started';
    const { effect } = this.#progress;
    return facts.outcome === 'not_started' || effect === 'unknown' ? effect : facts.outcome;
  }

  now(): number {
    return this.#keeper.now();
  }

  expire(now: number): void {
    this.#keeper.callExpired(this, now);
  }

  aborted(reason: unknown): void {
    this.#keeper.callAborted(this, reason);
  }
}

function nobody(): void {
  // Nobody is told a second time.
}
