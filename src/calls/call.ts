import type { ErrorPattern } from '../policy/classify.ts';
import type { Effect } from '../policy/effects.ts';
import {
  AttemptError,
  type EffectOutcome,
  type Failure,
  type FailureFacts,
  type FailureKind,
  type Outcome,
} from '../policy/failure.ts';
import type { Limits, RetryPolicy } from '../policy/policy.ts';
import type { Deadline } from './deadlineQueue.ts';
import type { AbortWatcher } from './signalFanout.ts';
import { noTrouble, Trouble, type Waiting } from './trouble.ts';

/** What an operation is given with its input; a new one for each attempt. */
export interface AttemptContext {
  /** Aborted when this attempt is given up; its `reason` says why. Made when first read. */
  readonly signal: AbortSignal;
  /** From 1. */
  readonly attempt: number;
  /** Attempts in all that this call may have. */
  readonly maxAttempts: number;
  /** What the call may do to the world, where somebody said. */
  readonly effect: Effect | undefined;
  /** The same for all attempts of a call, and for no other: a key for what one attempt leaves to the next. */
  readonly call: object;
  /** A sign of life (output, progress): restarts the idle limit, never the others. */
  readonly touch: () => void;
}

/** What an integration does; it may be synchronous, return any thenable, throw or hang. */
export type Operation<I, O> = (input: I, context: AttemptContext) => O | PromiseLike<O>;

/** What answers in place of an integration that cannot; `signal` is aborted at the call's deadline. */
export type Fallback<I, O> = (
  input: I,
  failure: Failure,
  context: { readonly signal: AbortSignal },
) => O | PromiseLike<O>;

/** Everything a call is made with, checked and complete. */
export interface CallSettings<I, O> extends Limits {
  readonly retry: RetryPolicy;
  readonly effect: Effect | undefined;
  /** What the other side says of its effect, as of now; asked where `effect` is undefined. Must not throw. */
  readonly learnedEffect?: (() => Effect | undefined) | undefined;
  readonly label: string | undefined;
  readonly session: string | undefined;
  /** Of calls that share one, one at a time. */
  readonly scope?: string | undefined;
  /** Whether it ends the call that holds its scope, rather than being refused. */
  readonly replace?: boolean | undefined;
  readonly signal: AbortSignal | undefined;
  readonly fallback: Fallback<I, O> | undefined;
  /** Texts of errors and the kinds they stand for, besides those that are known. */
  readonly patterns?: readonly ErrorPattern[] | undefined;
  /** Told when an attempt is given up, for work that would rather not have a signal made for it; must not throw. */
  readonly givenUp?: ((input: I, facts: FailureFacts) => void) | undefined;
  /** Told when an attempt failed and the call will try again; must not throw. */
  readonly retried?: ((facts: FailureFacts, attempt: number) => void) | undefined;
  /** Gets a value that came after the call had ended; must not throw. */
  readonly late?: ((value: O) => void) | undefined;
  /** Of the integration's own harmless probe, which no caller made. */
  readonly isProbe?: boolean | undefined;
}

/** What an attempt was admitted by: an incarnation of the machine in one generation of its circuit. A new object for each. */
export interface Admission {
  readonly generation: number;
}

/** What is done for a call. */
export interface CallKeeper<I, O> {
  callExpired(call: Call<I, O>, now: number): void;
  callAborted(call: Call<I, O>, reason: unknown): void;
  now(): number;
}

/** What is done for an attempt. */
export interface AttemptKeeper<I, O> {
  /** Its work outlived its grace. */
  workOverstayed(attempt: Attempt<I, O>, overstay: Overstay<I, O>): void;
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
  attempt: Attempt<I, O> | undefined = undefined;
  attempts = 0;
  readonly number: number;
  readonly input: I;
  readonly settings: CallSettings<I, O>;
  readonly startedAt: number;
  /** Neighbours in the table of calls in flight, which alone writes them. */
  previous: Call<I, O> | undefined = undefined;
  next: Call<I, O> | undefined = undefined;
  readonly #keeper: CallKeeper<I, O>;
  #trouble: Readonly<Trouble> = noTrouble;
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

  /** What became of it so far, besides its attempt; not to be written. */
  get trouble(): Readonly<Trouble> {
    return this.#trouble;
  }

  /** The same, to be written. */
  ownTrouble(): Trouble {
    if (this.#trouble === noTrouble) this.#trouble = new Trouble();
    return this.#trouble;
  }

  get waiting(): Waiting | undefined {
    return this.#trouble.waiting;
  }

  get settled(): boolean {
    return this.#resolve === undefined;
  }

  /** Whether its failure is decided. */
  get failed(): boolean {
    return this.ending === 'failed' || this.ending === 'refused';
  }

  /** Marks it as settled. Returns what tells its caller, who may call again at once: when everything else is done. */
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
    const { learned } = this.#trouble;
    const effective = learned === 'mutating' ? learned : (learnedEffect() ?? learned);
    if (effective !== learned) this.ownTrouble().learned = effective;
    return effective;
  }

  /** An attempt failed. What may have taken effect once is not undone by what a later attempt says. */
  noteFailure(facts: FailureFacts): void {
    const trouble = this.ownTrouble();
    trouble.lastFailure = facts;
    if (trouble.effect !== 'unknown' && facts.outcome !== 'not_started') trouble.effect = facts.outcome;
  }

  /** What is known of its effect when it ends for this reason. */
  effectAtEnd(facts: FailureFacts): EffectOutcome {
    if (this.attempts === 0) return 'not_started';
    const { effect } = this.#trouble;
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

/** Work that goes on after its attempt was given up: the deadline for writing it off. Few attempts ever need one. */
export class Overstay<I, O> implements Deadline {
  due: number;
  heapIndex = -1;
  abandoned = false;
  readonly since: number;
  /** Why its attempt was given up. */
  readonly facts: FailureFacts;
  readonly #attempt: Attempt<I, O>;
  readonly #keeper: AttemptKeeper<I, O>;

  constructor(
    keeper: AttemptKeeper<I, O>,
    attempt: Attempt<I, O>,
    facts: FailureFacts,
    since: number,
    graceMs: number,
  ) {
    this.#keeper = keeper;
    this.#attempt = attempt;
    this.facts = facts;
    this.since = since;
    this.due = since + graceMs;
  }

  expire(): void {
    this.#keeper.workOverstayed(this.#attempt, this);
  }
}

/** What few attempts have: a number above 1, a start or a limit that is not their call's, a signal, signs of life, work that outlives them. */
class Particulars<I, O> {
  readonly number: number;
  readonly startedAt: number;
  readonly limitMs: number;
  controller: AbortController | undefined = undefined;
  touch: (() => void) | undefined = undefined;
  touchedAt: number | undefined = undefined;
  overstay: Overstay<I, O> | undefined = undefined;

  constructor(number: number, startedAt: number, limitMs: number) {
    this.number = number;
    this.startedAt = startedAt;
    this.limitMs = limitMs;
  }
}

/** One attempt of a call. It outlives the call when its work does. */
export class Attempt<I, O> implements AttemptContext {
  /** Judged: answered, failed, timed out or given up. What comes after is late. */
  over = false;
  /** The work itself has ended (its promise settled). */
  ended = false;
  readonly call: Call<I, O>;
  readonly admission: Admission;
  #particulars: Particulars<I, O> | undefined = undefined;

  /** @param limitMs - its own limit, or the lease of a probe. */
  constructor(call: Call<I, O>, admission: Admission, limitMs: number, startedAt: number) {
    this.call = call;
    this.admission = admission;
    if (call.attempts > 1 || startedAt !== call.startedAt || limitMs !== call.settings.attemptMs) {
      this.#particulars = new Particulars(call.attempts, startedAt, limitMs);
    }
    // The other side may say something else, or nothing any more, by the time it fails.
    void call.expectedEffect;
  }

  get attempt(): number {
    return this.#particulars?.number ?? 1;
  }

  // An AbortController's signal costs more than all the rest of a call, so it is made only for who reads it.
  get signal(): AbortSignal {
    const particulars = this.ownParticulars();
    if (particulars.controller === undefined) {
      particulars.controller = new AbortController();
      if (this.overstay !== undefined) particulars.controller.abort(reasonOf(this.overstay.facts));
    }
    return particulars.controller.signal;
  }

  // Bound, so that it can be handed on as a callback; lazy for the same reason as the signal.
  get touch(): () => void {
    const particulars = this.ownParticulars();
    return (particulars.touch ??= () => {
      particulars.touchedAt = this.call.now();
    });
  }

  get startedAt(): number {
    return this.#particulars?.startedAt ?? this.call.startedAt;
  }

  /** Its own limit, or the lease of a probe, in ms. */
  get limitMs(): number {
    return this.#particulars?.limitMs ?? this.call.settings.attemptMs;
  }

  get lastSignAt(): number {
    return this.#particulars?.touchedAt ?? this.startedAt;
  }

  /** Its work, when it has been given up while that went on. */
  get overstay(): Overstay<I, O> | undefined {
    return this.#particulars?.overstay;
  }

  set overstay(overstay: Overstay<I, O>) {
    this.ownParticulars().overstay = overstay;
  }

  /** Whether its work was written off. */
  get abandoned(): boolean {
    return this.overstay?.abandoned === true;
  }

  get maxAttempts(): number {
    return this.call.settings.retry.maxAttempts;
  }

  get effect(): Effect | undefined {
    return this.call.expectedEffect;
  }

  /** Why the work was told to end. */
  get endedFor(): FailureKind | undefined {
    return this.overstay?.facts.kind;
  }

  /** Tells the work to end. Listeners of the signal run now. */
  abort(facts: FailureFacts): void {
    const { settings, input } = this.call;
    settings.givenUp?.(input, facts);
    this.#particulars?.controller?.abort(reasonOf(facts));
  }

  // Not private: V8 gives each object of a class with private methods a further field.
  ownParticulars(): Particulars<I, O> {
    return (this.#particulars ??= new Particulars(this.attempt, this.startedAt, this.limitMs));
  }
}

/** The reason of the caller's own signal is kept; ours is an error that carries the facts. */
function reasonOf(facts: FailureFacts): unknown {
  return facts.cause ?? new AttemptError(facts);
}

function nobody(): void {
  // Nobody is told a second time.
}
