import { AttemptError, type Failure, type FailureFacts, type Outcome } from '../policy/failures/failure.ts';
import type { Attempt } from './attempt.ts';
import type { Call } from './call.ts';
import { callFailure } from './callFailure.ts';
import type { RefusalEpisode } from './recorder/callRecords.ts';
import { bothFailed } from './fallback.ts';
import { observe } from './observe.ts';
import type { PathState } from './pathState.ts';
import type { CallTrace } from './tracing.ts';
import { markOfWork } from './workSignal.ts';

/** Settlement of calls, each once: with its value, with a failure, or with the answer of a fallback in place of it. */
export class Settlement<I, O> {
  readonly #state: PathState<I, O>;
  /** Told of the end of each call with a reconcile rule. */
  reconciled: (call: Call<I, O>, outcome: Outcome<O>) => void = () => undefined;
  /** The call whose wait an operator ends now, and how its failure says so. */
  fired: { readonly call: Call<I, O>; amend(facts: FailureFacts): FailureFacts } | undefined = undefined;

  constructor(state: PathState<I, O>) {
    this.#state = state;
  }

  /** @param attempt - which was answered. */
  succeed(call: Call<I, O>, value: O, attempt: Attempt<Call<I, O>>): void {
    this.#settle(call, { ok: true, value });
    const { records } = this.#state;
    if (call.settings.isProbe === true) records.probeAnswered(call, attempt);
    else records.callSucceeded(call, attempt);
  }

  /** Its answer was lost, and it was found out that it took place. @param how - in words. */
  succeedAfterAll(call: Call<I, O>, value: O, how: string): void {
    this.#settle(call, { ok: true, value, reconciled: how });
    this.#state.records.callSucceeded(call, undefined);
  }

  /**
   * Ends a call before dispatch: told once per episode, counted always. A call that was tried before has its own record.
   * @param episode - that of the tool which is refused; by default that of the integration.
   */
  refuse(call: Call<I, O>, given: FailureFacts, episode?: RefusalEpisode): void {
    if (call.failed) return;
    const facts = this.#amended(call, given);
    // Before anybody hears of it, or it might be let pass meanwhile.
    this.#state.waiting.delete(call);
    if (call.attempts > 0) this.#end(call, facts, 'failed');
    else if (!this.#state.records.callRefused(call, facts, episode)) this.#end(call, facts, 'refused');
    // A listener may end the call in another way, which has a record of its own.
    else this.#state.queue.step(() => this.#end(call, facts, 'refused'), undefined);
  }

  /** The last word on a call, unless a fallback has a better one. */
  fail(call: Call<I, O>, facts: FailureFacts): void {
    this.#end(call, this.#amended(call, facts), 'failed');
  }

  #amended(call: Call<I, O>, facts: FailureFacts): FailureFacts {
    return this.fired?.call === call ? this.fired.amend(facts) : facts;
  }

  /** Ends a call whose fallback runs. @param why - what the fallback is told. */
  cutShort(call: Call<I, O>, facts: FailureFacts, why = facts): void {
    const { fallback } = call.progress;
    if (fallback !== undefined)
      this.#state.queue.call(() => fallback.abort(why.cause ?? new AttemptError(why)), undefined);
    const failure = callFailure(call, facts, this.#state.options.name);
    this.#settleFailed(call, why === facts ? failure : bothFailed(failure, new AttemptError(why)));
  }

  #end(call: Call<I, O>, facts: FailureFacts, ending: 'failed' | 'refused'): void {
    if (call.failed) return;
    call.ending = ending;
    this.#state.waiting.delete(call);
    const failure = callFailure(call, facts, this.#state.options.name);
    const wanted = facts.kind !== 'cancelled' && facts.kind !== 'watchdog';
    // A path that is stopped has nobody to end the fallback any more.
    if (call.settings.fallback !== undefined && wanted && !this.#state.stopped) this.#fallBack(call, failure);
    else this.#settleFailed(call, failure);
  }

  #fallBack(call: Call<I, O>, failure: Failure): void {
    const { fallingBack, options, queue, records } = this.#state;
    const controller = new AbortController();
    markOfWork(controller.signal);
    const progress = call.ownProgress();
    progress.fallback = controller;
    progress.lastFailure = failure;
    fallingBack.add(call);
    call.due = Math.ceil(call.overallDue);
    options.deadlines.set(call);
    const { trace } = progress;
    const fallBack = (): O | PromiseLike<O> =>
      call.settings.fallback?.(call.input, failure, controller) as O | PromiseLike<O>;
    const ask = trace === undefined ? fallBack : () => trace.run(fallBack);
    const end = (run: () => void): void => {
      if (!call.settled) queue.change(run);
    };
    const answered = (value: O): void =>
      end(() => {
        this.#settle(call, { ok: true, value });
        records.callFellBack(call, failure);
      });
    const failed = (error: unknown): void => end(() => this.#settleFailed(call, bothFailed(failure, error)));
    queue.step(() => {
      if (call.settled) return;
      queue.outside();
      observe(ask, answered, failed);
      queue.inside();
    }, undefined);
  }

  #settleFailed(call: Call<I, O>, failure: Failure): void {
    this.#settle(call, { ok: false, failure });
    if (call.ending !== 'refused' && call.settings.isProbe !== true) this.#state.records.callFailed(call, failure);
  }

  #endTrace({ attempts, failed, progress }: Call<I, O>, trace: CallTrace, outcome: Outcome<O>): void {
    const fellBackFor = outcome.ok && failed ? progress.lastFailure : undefined;
    this.#state.queue.call(() => trace.callEnded({ outcome, attempts, fellBackFor }), undefined);
  }

  #settle(call: Call<I, O>, outcome: Outcome<O>): void {
    const { options, queue, fallingBack, draining, scopes } = this.#state;
    const tellCaller = call.settle();
    const { signal } = call.settings;
    options.deadlines.remove(call);
    if (call.progress.fallback !== undefined) fallingBack.delete(call);
    if (signal !== undefined) options.signals.unwatch(signal, call);
    if (call.progress.retries > 0) this.#state.retrying--;
    if ((call.settings.reconcile ?? call.progress.openEffect) !== undefined)
      queue.step(() => this.reconciled(call, outcome), undefined);
    scopes.leave(call);
    if (draining.order !== undefined) queue.call(draining.order.ended, undefined);
    if (call.progress.trace !== undefined) this.#endTrace(call, call.progress.trace, outcome);
    if (call.settings.isPromised === true && queue.isEmpty) tellCaller(outcome);
    else queue.call(tellCaller, outcome);
  }
}
