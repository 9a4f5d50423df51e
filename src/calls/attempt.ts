import type { Spending } from '../policy/budget.ts';
import type { Effect } from '../policy/effects.ts';
import type { HeaderSource } from '../policy/failures/hints.ts';
import type { Costs } from '../policy/rateLimit.ts';
import { AttemptError, type FailureFacts, type FailureKind } from '../policy/failures/failure.ts';
import type { Limits } from '../policy/policy.ts';
import type { CallSettings } from './callOptions.ts';
import type { GivenUpWork } from './givenUpWork.ts';
import type { AttemptContext } from './operation.ts';
import { RealCosts, type RatePlace } from './rates/ratePlace.ts';
import type { TraceContext } from './tracing.ts';
import { attemptIsOver, attemptsOfWork, markOfAttempt, markSessionAs } from './workSignal.ts';

/** Token that an attempt is admitted under: one generation of the circuit in one incarnation of the machine. A new object for each. */
export interface Fence {
  readonly generation: number;
}

/** The part of a call that its attempts read. */
export interface AttemptedCall {
  readonly settings: Pick<CallSettings<never, never>, keyof Limits | 'ownLimits' | 'retry' | 'signal'>;
  readonly startedAt: number;
  readonly overallDue: number;
  readonly attempts: number;
  readonly expectedEffect: Effect | undefined;
  readonly rate: RatePlace | undefined;
  readonly traceContext: TraceContext | undefined;
  now(): number;
  spend(costs: Spending): void;
  extend(ms: number): void;
  firstChunkCame(): number;
}

/** Attempt of a call. It outlives the call when its work does. */
export class Attempt<C extends AttemptedCall> implements AttemptContext {
  /** Judged: answered, failed, timed out or given up. What comes after is late. */
  over = false;
  /** The work itself has ended (its promise settled). */
  ended = false;
  readonly call: C;
  readonly fence: Fence;
  #particulars: Particulars | undefined = undefined;

  /** @param limitMs - its own limit, or the lease of a probe. */
  constructor(call: C, fence: Fence, limitMs: number, startedAt: number) {
    this.call = call;
    this.fence = fence;
    if (call.attempts > 1 || startedAt !== call.startedAt || limitMs !== call.settings.attemptMs) {
      this.#particulars = new Particulars(call.attempts, startedAt, limitMs);
    }
    // Read for its side effect: the call remembers the effect that the server declares now. By the time the attempt fails, the server may
    // declare another one, or be gone.
    void call.expectedEffect;
  }

  /** From 1. */
  get number(): number {
    return this.#particulars?.number ?? 1;
  }

  // The name that operations read it by.
  get attempt(): number {
    return this.number;
  }

  // An AbortController's signal costs more than all the rest of a call, so it is made when it is first read.
  get signal(): AbortSignal {
    const particulars = this.ownParticulars();
    if (particulars.controller === undefined) {
      particulars.controller = new AbortController();
      markSessionAs(particulars.controller.signal, this.call.settings.signal);
      if (this.givenUp?.kept === false) particulars.controller.abort(reasonOf(this.givenUp.facts));
      else if (!this.ended) markOfAttempt(particulars.controller.signal);
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

  get extend(): (ms: number) => void {
    return (this.ownParticulars().extend ??= (ms) => {
      this.ownParticulars().restedMs += ms;
      this.call.extend(ms);
      this.touch();
    });
  }

  get spent(): (costs: Costs) => void {
    const particulars = this.ownParticulars();
    if (particulars.spent === undefined) {
      const { rate } = this.call;
      const real = rate === undefined ? undefined : new RealCosts(rate);
      let said = { tokens: 0, money: 0 };
      particulars.spent = (costs) => {
        real?.say(costs);
        const { tokens = said.tokens, money = said.money } = costs;
        this.call.spend({ tokens: tokens - said.tokens, money: money - said.money });
        said = { tokens, money };
      };
    }
    return particulars.spent;
  }

  get rateLimit(): (headers: HeaderSource) => void {
    return (this.ownParticulars().rateLimit ??= (headers) => this.call.rate?.learn(headers));
  }

  get traceContext(): TraceContext | undefined {
    return this.call.traceContext;
  }

  /** From now on it is the caller whom it waits for: its limits on silence and on the attempt stand still. Also a sign of life. */
  rest(): void {
    this.ownParticulars().restingSince = this.call.now();
  }

  /** The caller asks again. */
  resume(): void {
    const particulars = this.ownParticulars();
    const now = this.call.now();
    particulars.restedMs += now - (particulars.restingSince ?? now);
    particulars.restingSince = undefined;
    particulars.touchedAt = now;
  }

  firstChunkCame(): number {
    return this.call.firstChunkCame();
  }

  get isResting(): boolean {
    return this.#particulars?.restingSince !== undefined;
  }

  /** For how long it waited for the caller so far, in ms. */
  get restedMs(): number {
    const particulars = this.#particulars;
    if (particulars === undefined) return 0;
    const { restingSince, restedMs } = particulars;
    return restingSince === undefined ? restedMs : restedMs + this.call.now() - restingSince;
  }

  get startedAt(): number {
    return this.#particulars?.startedAt ?? this.call.startedAt;
  }

  /** Its own limit, or the lease of a probe, in ms. */
  get limitMs(): number {
    return this.#particulars?.limitMs ?? this.call.settings.attemptMs;
  }

  /** From when on its idle limit runs. */
  get lastSignAt(): number {
    return Math.max(this.silentSince, this.#particulars?.vouchedAt ?? this.startedAt);
  }

  /** Time at which it showed a sign of life of its own, or began. */
  get silentSince(): number {
    return this.isResting ? this.call.now() : (this.#particulars?.touchedAt ?? this.startedAt);
  }

  /** The server is asked for a sign of life on its behalf: its idle limit runs anew. */
  vouch(now: number): void {
    this.ownParticulars().vouchedAt = now;
  }

  /** Its work, when the attempt was given up while that went on. */
  get givenUp(): GivenUpWork | undefined {
    return this.#particulars?.givenUp;
  }

  set givenUp(work: GivenUpWork) {
    this.ownParticulars().givenUp = work;
  }

  /** True where its work outlived its grace. */
  get abandoned(): boolean {
    return this.givenUp?.abandoned === true;
  }

  get maxAttempts(): number {
    return this.call.settings.retry.maxAttempts;
  }

  get mayRepeat(): boolean {
    return this.maxAttempts > 1 || (attemptsOfWork(this.call.settings.signal) ?? 1) > 1;
  }

  get effect(): Effect | undefined {
    return this.call.expectedEffect;
  }

  /** Why the work was told to end; undefined where it was not. */
  get endedFor(): FailureKind | undefined {
    return this.givenUp?.kept === false ? this.givenUp.facts.kind : undefined;
  }

  /** Tells the work to end. Listeners of the signal run now. */
  abort(facts: FailureFacts): void {
    const controller = this.#particulars?.controller;
    if (controller === undefined) return;
    attemptIsOver(controller.signal);
    controller.abort(reasonOf(facts));
  }

  /** The work has ended. */
  end(): void {
    this.ended = true;
    const controller = this.#particulars?.controller;
    if (controller !== undefined) attemptIsOver(controller.signal);
  }

  // Not private: V8 gives each object of a class with private methods a further field.
  ownParticulars(): Particulars {
    return (this.#particulars ??= new Particulars(this.number, this.startedAt, this.limitMs));
  }
}

/** The reason of the caller's own signal is kept; ours is an error that carries the facts. */
function reasonOf(facts: FailureFacts): unknown {
  return facts.cause ?? new AttemptError(facts);
}

/** State that few attempts have: a number above 1, a start or a limit that is not their call's, a signal, signs of life, work that outlives them. */
class Particulars {
  readonly number: number;
  readonly startedAt: number;
  readonly limitMs: number;
  controller: AbortController | undefined = undefined;
  touch: (() => void) | undefined = undefined;
  extend: ((ms: number) => void) | undefined = undefined;
  spent: ((costs: Costs) => void) | undefined = undefined;
  rateLimit: ((headers: HeaderSource) => void) | undefined = undefined;
  touchedAt: number | undefined = undefined;
  vouchedAt: number | undefined = undefined;
  restingSince: number | undefined = undefined;
  restedMs = 0;
  givenUp: GivenUpWork | undefined = undefined;

  constructor(number: number, startedAt: number, limitMs: number) {
    this.number = number;
    this.startedAt = startedAt;
    this.limitMs = limitMs;
  }
}
