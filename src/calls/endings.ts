import { AttemptError, type Failure, type FailureFacts, failureKinds, type Outcome } from '../policy/failure.ts';
import type { Call } from './call.ts';
import type { RefusalEpisode } from './callRecords.ts';
import { bothFailed } from './fallback.ts';
import { observe } from './observe.ts';
import type { Stations } from './stations.ts';
import { markOfWork } from './workSignal.ts';

/** How calls end, each once: with its value, with a failure, or with what a fallback answers in place of it. */
export class Endings<I, O> {
  readonly #on: Stations<I, O>;
  readonly #fallingBack = new Set<Call<I, O>>();

  constructor(stations: Stations<I, O>) {
    this.#on = stations;
  }

  /** Calls whose fallback is at work. */
  get fallingBack(): readonly Call<I, O>[] {
    return [...this.#fallingBack];
  }

  succeed(call: Call<I, O>, value: O): void {
    this.#settle(call, { ok: true, value });
    if (call.settings.isProbe !== true) this.#on.records.callSucceeded(call);
  }

  /**
   * Ends a call before dispatch: told once per episode, counted always. A call that was tried before has its own record.
   * @param episode - that of the tool which is refused; by default that of the integration.
   */
  refuse(call: Call<I, O>, facts: FailureFacts, episode?: RefusalEpisode): void {
    if (call.failed) return;
    // Before anybody hears of it, or it might be let pass meanwhile.
    if (call.waiting !== undefined) this.#on.waits.remove(call);
    if (call.attempts === 0) {
      this.#on.records.callRefused(call, facts, episode);
      // Who heard of it may have ended it in another way, which has a record of its own.
      if (call.failed) return;
    }
    this.#fail(call, facts, call.attempts === 0 ? 'refused' : 'failed');
  }

  /** The last word on a call, unless a fallback has a better one. */
  fail(call: Call<I, O>, facts: FailureFacts): void {
    if (!call.failed) this.#fail(call, facts, 'failed');
  }

  #fail(call: Call<I, O>, facts: FailureFacts, ending: 'failed' | 'refused'): void {
    call.ending = ending;
    if (call.waiting !== undefined) this.#on.waits.remove(call);
    const failure = this.#failure(call, facts);
    const wanted = facts.kind !== 'cancelled' && facts.kind !== 'watchdog';
    // Stopped by who heard of the failure: nobody would end the fallback any more.
    if (call.settings.fallback !== undefined && wanted && !this.#on.stopped) this.#fallBack(call, failure);
    else this.#settleFailed(call, failure);
  }

  /**
   * Ends a call whose fallback is at work.
   * @param why - what the fallback is told.
   */
  cutShort(call: Call<I, O>, facts: FailureFacts, why = facts): void {
    call.trouble.fallback?.abort(why.cause ?? new AttemptError(why));
    // The fallback may have answered in the moment it was told to end.
    if (call.settled) return;
    const failure = this.#failure(call, facts);
    this.#settleFailed(call, why === facts ? failure : bothFailed(failure, new AttemptError(why)));
  }

  #fallBack(call: Call<I, O>, failure: Failure): void {
    const controller = new AbortController();
    markOfWork(controller.signal);
    const trouble = call.ownTrouble();
    trouble.fallback = controller;
    trouble.lastFailure = failure;
    this.#fallingBack.add(call);
    call.due = Math.ceil(call.overallDue);
    this.#on.parts.deadlines.set(call);
    const answered = (value: O): void => {
      if (call.settled) return;
      this.#settle(call, { ok: true, value });
      this.#on.records.callFellBack(call, failure.kind);
    };
    const failed = (error: unknown): void => {
      if (!call.settled) this.#settleFailed(call, bothFailed(failure, error));
    };
    observe(() => call.settings.fallback?.(call.input, failure, controller) as O | PromiseLike<O>, answered, failed);
  }

  #settleFailed(call: Call<I, O>, failure: Failure): void {
    this.#settle(call, { ok: false, failure });
    if (call.ending !== 'refused' && call.settings.isProbe !== true) this.#on.records.callFailed(call, failure);
  }

  #settle(call: Call<I, O>, outcome: Outcome<O>): void {
    const tellCaller = call.settle();
    this.#on.parts.deadlines.remove(call);
    if (call.trouble.fallback !== undefined) this.#fallingBack.delete(call);
    const { signal } = call.settings;
    if (signal !== undefined) this.#on.parts.signals.unwatch(signal, call);
    this.#on.aftermath.settled(call);
    tellCaller(outcome);
  }

  #failure(call: Call<I, O>, facts: FailureFacts): Failure {
    if (call.ending === 'refused' && facts.kind === 'circuit_open') return this.#refused(facts);
    const outcome = call.effectAtEnd(facts);
    const isOpen = outcome === 'unknown' || outcome === 'cancelled';
    const effect = isOpen ? call.expectedEffect : undefined;
    return {
      ...facts,
      outcome,
      integration: this.#on.parts.name,
      attempts: call.attempts,
      retryable: facts.shouldRetry ?? isRetryable(facts),
      ...(effect !== undefined && { effect }),
      // Rounded up: a caller that waits so long does not come too early.
      ...(facts.retryAfterMs !== undefined && { retryAfterMs: Math.ceil(facts.retryAfterMs) }),
    };
  }

  /** What ends a call on an open circuit, written out: to spread its facts would cost more than all the rest of such a call. */
  #refused({ kind, reason, message, retryAfterMs, cause }: FailureFacts): Failure {
    const { name: integration } = this.#on.parts;
    return {
      kind,
      reason,
      message,
      outcome: 'not_started',
      retryAfterMs,
      cause,
      integration,
      attempts: 0,
      retryable: true,
    };
  }
}

function isRetryable({ kind }: FailureFacts): boolean {
  return (
    failureKinds[kind].retried || kind === 'circuit_open' || kind === 'too_many_requests' || kind === 'unavailable'
  );
}
