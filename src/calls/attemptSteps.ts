import { knownAtEnd } from './callFailure.ts';
import type { FailureFacts } from '../policy/failure.ts';
import { AdmissionSteps, type AdmittedCalls } from './admissionSteps.ts';
import type { Attempt } from './attempt.ts';
import { attemptFacts } from './attemptFacts.ts';
import { AttemptLifecycle } from './attemptLifecycle.ts';
import type { Call, CallWatcher } from './call.ts';
import { isThenable } from './observe.ts';
import type { PathState } from './pathState.ts';
import { PromiseListeners, type WorkWatcher } from './promiseListeners.ts';
import { decideRetry } from './retryDecision.ts';
import { ReconcileSteps } from './reconcileSteps.ts';
import { Settlement } from './settlement.ts';

/** The steps of a call from the start of an attempt's work to the next admission or the settlement. */
export class AttemptSteps<I, O> implements WorkWatcher<Attempt<Call<I, O>>, O>, AdmittedCalls<I, O> {
  readonly lifecycle: AttemptLifecycle<I, O>;
  readonly settlement: Settlement<I, O>;
  readonly admission: AdmissionSteps<I, O>;
  readonly reconciling: ReconcileSteps<I, O>;
  readonly #state: PathState<I, O>;
  readonly #listeners: PromiseListeners<Attempt<Call<I, O>>, O>;

  constructor(state: PathState<I, O>, watcher: CallWatcher<I, O>) {
    this.#state = state;
    this.lifecycle = new AttemptLifecycle(state);
    this.settlement = new Settlement(state);
    this.admission = new AdmissionSteps(state, watcher, this);
    this.reconciling = new ReconcileSteps(state, this.settlement, this.admission, (call, facts) =>
      this.#decide(call, facts),
    );
    this.#listeners = new PromiseListeners(this);
  }

  /** Starts the work of an attempt, unless a listener ended that before. */
  readonly work = (attempt: Attempt<Call<I, O>>): void => {
    if (attempt.over) {
      this.#workEnded(attempt);
      return;
    }
    const { queue } = this.#state;
    const { call } = attempt;
    let answer: O | PromiseLike<O>;
    queue.outside();
    try {
      const { trace } = call.progress;
      answer = trace === undefined ? this.#operate(attempt) : trace.run(() => this.#operate(attempt));
      if (isThenable(answer)) {
        this.#listeners.listen(answer, attempt);
        queue.inside();
        return;
      }
    } catch (error) {
      queue.inside();
      this.threw(attempt, error);
      return;
    }
    queue.inside();
    this.answered(attempt, answer);
  };

  #operate(attempt: Attempt<Call<I, O>>): O | PromiseLike<O> {
    const { options } = this.#state;
    const { input, settings } = attempt.call;
    const { isProbe, stream, streamed } = settings;
    if (isProbe === true) return options.probe?.(attempt) as O | PromiseLike<O>;
    if (stream === undefined) return options.operation(input, attempt);
    const operation = streamed ?? options.streamed ?? options.operation;
    return stream.read(operation(stream.inputOf(input), attempt), attempt) as PromiseLike<O>;
  }

  answered(attempt: Attempt<Call<I, O>>, value: O): void {
    // A native promise may have a `then` of somebody else's making, which calls back twice.
    if (attempt.ended) return;
    const { queue, records, budget } = this.#state;
    const { call } = attempt;
    queue.enter();
    this.lifecycle.workAnswered();
    this.#workEnded(attempt);
    if (attempt.over) {
      records.attemptWasLate(attempt, undefined);
      const { late, reconcile } = call.settings;
      const isTaken = reconcile !== undefined && this.reconciling.answeredLate(attempt, value);
      if (late !== undefined && !isTaken) queue.call(late, value);
    } else {
      this.lifecycle.succeed(attempt);
      this.admission.fillPermits();
      if (call.attempts === 1) budget.succeededAtFirst();
      else budget.succeededAfter(call.progress.retries);
      this.settlement.succeed(call, value, attempt);
    }
    queue.leave();
  }

  threw(attempt: Attempt<Call<I, O>>, error: unknown): void {
    if (attempt.ended) return;
    const { options, records, queue } = this.#state;
    const { call } = attempt;
    const facts = attemptFacts(error, options.clock.wallNow(), options.policy.maxPauseMs, call.settings.patterns);
    queue.enter();
    this.#workEnded(attempt);
    if (!attempt.over) {
      const judged = this.lifecycle.fail(attempt, facts);
      this.admission.fillPermits();
      this.retryOrEnd(call, judged);
    } else if (facts.kind !== 'cancelled' && facts.kind !== attempt.endedFor) {
      // Work that ends because it was told to is no result that came late.
      records.attemptWasLate(attempt, facts.message);
    }
    queue.leave();
  }

  #workEnded(attempt: Attempt<Call<I, O>>): void {
    const { permits, abandoned, scopes, outage, queue, stopped, options } = this.#state;
    const { givenUp } = attempt;
    attempt.end();
    if (givenUp !== undefined) options.recorder?.workEnded(attempt.call, attempt.number, options.clock.now());
    if (givenUp === undefined) permits.release();
    else if (givenUp.abandoned) {
      if (permits.reclaim() && !stopped && outage.overwhelmed) this.endOutage();
    } else {
      permits.release();
      abandoned.delete(attempt);
      this.admission.fillPermits();
    }
    const next = scopes.workEnded(attempt);
    // After those that have waited for the permit.
    if (next !== undefined) queue.step(() => this.admission.resume(next, 'scope'), undefined);
  }

  /** Ends a call that has not ended yet, for a reason of its caller's. */
  end(call: Call<I, O>, facts: FailureFacts): void {
    if (call.settled || call.ending === 'answered') return;
    if (call.progress.fallback !== undefined) this.settlement.cutShort(call, facts);
    else {
      const isTried = call.attempt !== undefined;
      const judged = this.lifecycle.endOf(call, knownAtEnd(call, facts));
      if (isTried && call.settings.reconcile !== undefined) this.reconciling.attemptEnded(call, judged);
      this.settlement.fail(call, judged);
    }
  }

  /** An attempt failed: its call ends, or waits to be tried again. */
  retryOrEnd(call: Call<I, O>, facts: FailureFacts): void {
    call.noteFailure(facts);
    if (call.settings.reconcile === undefined || !this.reconciling.attemptFailed(call, facts))
      this.#decide(call, facts);
  }

  /** Decides, by the open matters of a failure, on the step that follows it. */
  #decide(call: Call<I, O>, facts: FailureFacts): void {
    const state = this.#state;
    const { options, circuit, budget, draining, tools } = state;
    const { link } = circuit;
    const now = options.clock.now();
    const ofTool = tools.size > 0 && !link.isOpen ? tools.refusalOf(call, now, facts) : undefined;
    let draw: number | undefined;
    const decision = decideRetry(call, facts, {
      now,
      random: () => (draw = options.random()),
      open: link.isOpen || ofTool !== undefined,
      crashed: link.lastState === 'crashed',
      cutAt: draining.cutAt,
      circuitOpen: (cause) => ofTool ?? circuit.refusal(cause, now),
      takeRetry: () => budget.tryRetry(call.progress.retries > 0 ? state.retrying - 1 : state.retrying),
    });
    const delayMs = decision.step === 'wait' ? decision.delayMs : null;
    const { trace } = call.progress;
    if (trace !== undefined) {
      const { attempts } = call;
      state.queue.call(
        () => trace.attemptFailed(attempts, facts, decision.step === 'end' ? undefined : delayMs),
        undefined,
      );
    }
    options.recorder?.decided(call, decision.step === 'end' ? undefined : delayMs, draw);
    if (decision.step === 'end') this.settlement.fail(call, decision.facts);
    else this.#retry(call, facts, delayMs, now);
  }

  /** The integration is crashed no longer: its server is back, or abandoned work ended. */
  endOutage(): void {
    const { circuit, outage, records, options } = this.#state;
    if (circuit.link.lastState !== 'crashed') return;
    const { since, quiet } = outage.end();
    circuit.link.restarted();
    if (!quiet) records.restarted(options.clock.now() - since);
  }

  /** @param delayMs - `null`: it waits for the restart, which draws nothing from the budget. */
  #retry(call: Call<I, O>, facts: FailureFacts, delayMs: number | null, now: number): void {
    const state = this.#state;
    if (delayMs === null) this.admission.awaitRestart(call, now);
    else {
      const progress = call.ownProgress();
      if (progress.retries === 0) state.retrying++;
      progress.retries++;
      progress.waitedMs += delayMs;
      state.waiting.add(call, 'backoff', now + delayMs);
    }
    state.records.callRetried(call, facts, delayMs);
    const { attempts, settings } = call;
    if (settings.retried === undefined) return;
    // A listener may have ended the call.
    state.queue.step(() => {
      if (!call.settled && !call.failed) settings.retried?.(facts, attempts);
    }, undefined);
  }
}
