import type { Spending } from '../policy/budget.ts';
import type { Effect } from '../policy/effects.ts';
import type { EffectOutcome, FailureFacts, Outcome } from '../policy/failures/failure.ts';
import type { IntegrationPolicy } from '../policy/policy.ts';
import { Attempt } from './attempt.ts';
import { CallProgress, type CallStep, CallTrail, noProgress, type Waiting } from './callProgress.ts';
import type { CallSettings } from './callOptions.ts';
import type { Deadline } from './deadlineQueue.ts';
import type { RatePlace } from './rates/ratePlace.ts';
import type { AbortWatcher } from './signalFanout.ts';
import type { TraceContext } from './tracing.ts';

/** Is told when the time of a call is over or its caller aborts it. */
export interface CallWatcher<I, O> {
  firstChunkCame(call: Call<I, O>, afterMs: number): void;
  callExpired(call: Call<I, O>, now: number): void;
  callAborted(call: Call<I, O>, reason: unknown): void;
  now(): number;
}

/**
 * Accepted call: a row of the table, and its own place in the queue of deadlines. Its fields are those of a call that succeeds at once, and no more: there
 * may be tens of thousands of them.
 */
export class Call<I, O> implements Deadline, AbortWatcher {
  // Always a whole number of ms: V8 keeps a small integer in the field itself, and would allocate an object for any other number.
  due = 0;
  heapIndex = -1;
  earlier: Deadline | undefined = undefined;
  later: Deadline | undefined = undefined;
  /** End that it will be settled with, once that is decided. A call that failed or was refused may still be answered by its fallback. */
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
  readonly #watcher: CallWatcher<I, O>;
  #progress: Readonly<CallProgress> = noProgress;
  #resolve: ((outcome: Outcome<O>) => void) | undefined;

  constructor(
    watcher: CallWatcher<I, O>,
    number: number,
    input: I,
    settings: CallSettings<I, O>,
    now: number,
    resolve: (outcome: Outcome<O>) => void,
  ) {
    this.#watcher = watcher;
    this.number = number;
    this.input = input;
    this.settings = settings;
    this.startedAt = now;
    this.#resolve = resolve;
  }

  /** Its waits, retries and last failure so far, to be read only. */
  get progress(): Readonly<CallProgress> {
    return this.#progress;
  }

  /** The same, to be written: a call without one gets one of its own. */
  ownProgress(): CallProgress {
    if (this.#progress === noProgress) this.#progress = new CallProgress();
    return this.#progress;
  }

  get waiting(): Waiting | undefined {
    return this.#progress.waiting;
  }

  /** Place that it takes of the rate limits of its integration, where that has any. */
  get rate(): RatePlace | undefined {
    return this.#progress.rate;
  }

  /** Context that its work hands on to the other side, where the host asks for telemetry. */
  get traceContext(): TraceContext | undefined {
    return this.#progress.trace?.context;
  }

  get settled(): boolean {
    return this.#resolve === undefined;
  }

  /** True once its failure is decided. */
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
    return this.startedAt + this.settings.overallMs + this.#progress.extendedMs;
  }

  /** Gives it so much longer, in ms. */
  extend(ms: number): void {
    this.ownProgress().extendedMs += ms;
  }

  /** Effect that it may have on the world, as far as is known by now. A call once said to change something stays that. */
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
    progress.goesOn ||= facts.resumable === true;
    if (progress.effect !== 'unknown' && facts.outcome !== 'not_started') progress.effect = facts.outcome;
    this.noteStep('attempt', facts);
  }

  /** An attempt or a wait is over. Noted of a session's calls alone: people look at those one by one. */
  noteStep(state: CallStep['state'], facts?: FailureFacts): void {
    if (this.settings.session === undefined) return;
    const progress = this.ownProgress();
    progress.trail ??= new CallTrail(this.startedAt);
    progress.trail.ended(state, this.now(), facts);
  }

  /** Returns the known effect of it when it ends for this reason. */
  effectAtEnd(facts: FailureFacts): EffectOutcome {
    const { effect, openEffect, joined } = this.#progress;
    // The finding of a reconcile rule is the last word; for a call that was held back, it is about the one that it equals.
    if (facts.how !== undefined) return facts.outcome;
    if (this.attempts === 0) return openEffect === undefined && !joined ? effect : facts.outcome;
    return facts.outcome === 'not_started' || effect === 'unknown' ? effect : facts.outcome;
  }

  now(): number {
    return this.#watcher.now();
  }

  /** Counts against the budgets that it is of. */
  spend(costs: Spending): void {
    this.settings.spent?.(costs);
    this.#progress.budget?.spend(costs);
  }

  /** The first chunk of its stream came. @returns when, in ms since it was made. */
  firstChunkCame(): number {
    const afterMs = this.now() - this.startedAt;
    this.#watcher.firstChunkCame(this, afterMs);
    return afterMs;
  }

  expire(now: number): void {
    this.#watcher.callExpired(this, now);
  }

  aborted(reason: unknown): void {
    this.#watcher.callAborted(this, reason);
  }
}

function nobody(): void {
  // The caller is not told a second time.
}

/**
 * The calls of an integration that have an attempt in flight, in the order of their dispatch. A ring through the calls themselves: a
 * `Set` would hash each call, and copy itself again and again while 10,000 of them pile up.
 */
export class CallsInFlight<I, O> {
  size = 0;
  /** Beginning and end of the ring: no call. */
  readonly #ends: Call<I, O>;

  /** @param now - monotonic time in ms. */
  constructor(watcher: CallWatcher<I, O>, policy: IntegrationPolicy, now: number) {
    const ends = neverMade(watcher, policy, now);
    this.#ends = ends;
    ends.previous = ends;
    ends.next = ends;
  }

  /** A call must not be in it yet. */
  add(call: Call<I, O>): void {
    const ends = this.#ends;
    const last = ends.previous ?? ends;
    call.previous = last;
    call.next = ends;
    last.next = call;
    ends.previous = call;
    this.size++;
  }

  /** Does nothing when it is not in it. */
  delete(call: Call<I, O>): void {
    const { previous, next } = call;
    if (previous === undefined || next === undefined) return;
    previous.next = next;
    next.previous = previous;
    call.previous = undefined;
    call.next = undefined;
    this.size--;
  }

  /** As of now. */
  list(): readonly Call<I, O>[] {
    const calls: Call<I, O>[] = [];
    for (let call = this.#ends.next; call !== undefined && call !== this.#ends; call = call.next) calls.push(call);
    return calls;
  }
}

/**
 * A row with an attempt and its particulars, as they are when a call begins. V8 forgets the hidden class of objects when it collects
 * while there is none of them, and with it all the code it has compiled for them: without these, calls took three times as long after
 * each collection.
 */
function neverMade<I, O>(watcher: CallWatcher<I, O>, { limits, retry }: IntegrationPolicy, now: number): Call<I, O> {
  const call = new Call<I, O>(watcher, 0, undefined as I, { ...limits, retry }, now, () => undefined);
  call.attempt = new Attempt(call, { generation: -1 }, limits.attemptMs, now);
  call.attempt.ownParticulars();
  return call;
}

/** The tool that an input calls; undefined where it calls none, or cannot be read: an input is whatever its caller gave. Never throws. */
export function toolName<I>({ toolOf }: { toolOf?: ((input: I) => string | undefined) | undefined }, input: I) {
  try {
    const tool = toolOf?.(input);
    return typeof tool === 'string' && tool !== '' ? tool : undefined;
  } catch {
    return undefined;
  }
}

/** The tool that an input names in its field `tool`, as the requests of sessions do. */
export function namedTool(input: unknown): string | undefined {
  return (input as { readonly tool?: string } | null | undefined)?.tool;
}
