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
}

/** Why a call that has no attempt in flight waits. */
export type Waiting = 'backoff' | 'pause' | 'restart' | 'place' | 'probe' | 'scope' | 'doubt';

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

/** One accepted call: a row of the table, and its own place in the queue of deadlines. */
export class Call<I, O> implements Deadline, AbortWatcher {
  due = Number.POSITIVE_INFINITY;
  heapIndex = -1;
  settled = false;
  /** Its failure is decided; only a fallback may still answer in place of it. */
  failed = false;
  waiting: Waiting | undefined = undefined;
  attempt: Attempt<I, O> | undefined = undefined;
  attempts = 0;
  waitedMs = 0;
  /** It was let wait, and so is accepted: it is not refused any more for want of a place. */
  accepted = false;
  /** It has its value; nothing else ends it any more. */
  answered = false;
  /** It is being tried again. */
  retrying = false;
  /** It was refused before its first attempt. */
  refused = false;
  /** The last attempt's failure, kept as the cause of what ends the call later. */
  lastFailure: FailureFacts | undefined = undefined;
  /** What is known of the effect of all attempts together. */
  effect: EffectOutcome = 'not_started';
  fallback: AbortController | undefined = undefined;
  readonly number: number;
  readonly input: I;
  readonly settings: CallSettings<I, O>;
  readonly startedAt: number;
  readonly resolve: (outcome: Outcome<O>) => void;
  /** Neighbours in the table of calls in flight, which alone writes them. */
  previous: Call<I, O> | undefined = undefined;
  next: Call<I, O> | undefined = undefined;
  /** The integration's own harmless probe, which no caller made. */
  readonly isProbe: boolean;
  readonly #keeper: CallKeeper<I, O>;
  #learned: Effect | undefined = undefined;

  constructor(
    keeper: CallKeeper<I, O>,
    number: number,
    input: I,
    settings: CallSettings<I, O>,
    now: number,
    resolve: (outcome: Outcome<O>) => void,
    isProbe = false,
  ) {
    this.#keeper = keeper;
    this.number = number;
    this.input = input;
    this.settings = settings;
    this.startedAt = now;
    this.resolve = resolve;
    this.isProbe = isProbe;
  }

  get overallDue(): number {
    return this.startedAt + this.settings.overallMs;
  }

  /** What it may do to the world, as far as is known by now. What was once said to change something stays that. */
  get expectedEffect(): Effect | undefined {
    const { effect, learnedEffect } = this.settings;
    if (effect !== undefined || learnedEffect === undefined) return effect;
    if (this.#learned !== 'mutating') this.#learned = learnedEffect() ?? this.#learned;
    return this.#learned;
  }

  /** An attempt failed. What may have taken effect once is not undone by what a later attempt says. */
  noteFailure(facts: FailureFacts): void {
    this.lastFailure = facts;
    if (this.effect !== 'unknown' && facts.outcome !== 'not_started') this.effect = facts.outcome;
  }

  /** What is known of its effect when it ends for this reason. */
  effectAtEnd(facts: FailureFacts): EffectOutcome {
    if (this.attempts === 0) return 'not_started';
    return facts.outcome === 'not_started' || this.effect === 'unknown' ? this.effect : facts.outcome;
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
  readonly #attempt: Attempt<I, O>;
  readonly #keeper: AttemptKeeper<I, O>;

  constructor(keeper: AttemptKeeper<I, O>, attempt: Attempt<I, O>, since: number, graceMs: number) {
    this.#keeper = keeper;
    this.#attempt = attempt;
    this.since = since;
    this.due = since + graceMs;
  }

  expire(): void {
    this.#keeper.workOverstayed(this.#attempt, this);
  }
}

/** One attempt of a call. It outlives the call when its work does. */
export class Attempt<I, O> implements AttemptContext {
  /** Judged: answered, failed, timed out or given up. What comes after is late. */
  over = false;
  /** The work itself has ended (its promise settled). */
  ended = false;
  /** Its work, when it has been given up while that went on. */
  overstay: Overstay<I, O> | undefined = undefined;
  readonly attempt: number;
  readonly call: Call<I, O>;
  readonly generation: number;
  /** The incarnation of the machine that admitted it. */
  readonly admittedBy: object;
  /** Where it is not that of its call: most attempts need no number of their own. */
  #startedAt: number | undefined = undefined;
  /** Its own limit, or the lease of a probe, in ms. */
  readonly limitMs: number;
  #controller: AbortController | undefined = undefined;
  #aborted: FailureFacts | undefined = undefined;
  #touch: (() => void) | undefined = undefined;
  #touchedAt: number | undefined = undefined;

  constructor(call: Call<I, O>, generation: number, admittedBy: object, limitMs: number, startedAt: number) {
    this.call = call;
    this.attempt = call.attempts;
    this.generation = generation;
    this.admittedBy = admittedBy;
    this.limitMs = limitMs;
    if (startedAt !== call.startedAt) this.#startedAt = startedAt;
    // The other side may say something else, or nothing any more, by the time it fails.
    void call.expectedEffect;
  }

  // An AbortController's signal costs more than all the rest of a call, so it is made only for who reads it.
  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.#aborted !== undefined) this.#controller.abort(reasonOf(this.#aborted));
    }
    return this.#controller.signal;
  }

  // Bound, so that it can be handed on as a callback; lazy for the same reason as the signal.
  get touch(): () => void {
    return (this.#touch ??= () => {
      this.#touchedAt = this.call.now();
    });
  }

  get startedAt(): number {
    return this.#startedAt ?? this.call.startedAt;
  }

  get lastSignAt(): number {
    return this.#touchedAt ?? this.startedAt;
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
    return this.#aborted?.kind;
  }

  /** Tells the work to end. Listeners of the signal run now. */
  abort(facts: FailureFacts): void {
    this.#aborted = facts;
    const { settings, input } = this.call;
    settings.givenUp?.(input, facts);
    this.#controller?.abort(reasonOf(facts));
  }
}

/** The reason of the caller's own signal is kept; ours is an error that carries the facts. */
function reasonOf(facts: FailureFacts): unknown {
  return facts.cause ?? new AttemptError(facts);
}
