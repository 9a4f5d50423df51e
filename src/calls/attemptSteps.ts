import type { FailureFacts } from '../policy/failure.ts';
import { AdmissionSteps, type AdmittedCalls } from './admissionSteps.ts';
import type { Attempt } from './attempt.ts';
import { attemptFacts } from './attemptFacts.ts';
import { Attempts } from './attempts.ts';
import type { Call, CallKeeper } from './call.ts';
import { isThenable } from './observe.ts';
import type { PathState } from './pathState.ts';
import { PromiseListeners, type WorkWatcher } from './promiseListeners.ts';
import { decideRetry } from './retryDecision.ts';
import { Settlement } from './settlement.ts';

/** The steps of a call from the start of an attempt's work to the next admission or the settlement. */
export class AttemptSteps<I, O> implements WorkWatcher<Attempt<Call<I, O>>, O>, AdmittedCalls<I, O> {
  readonly attempts: Attempts<I, O>;
  readonly settlement: Settlement<I, O>;
  readonly admission: AdmissionSteps<I, O>;
  readonly #path: PathState<I, O>;
  readonly #listeners: PromiseListeners<Attempt<Call<I, O>>, O>;

  constructor(path: PathState<I, O>, keeper: CallKeeper<I, O>) {
    this.#path = path;
    this.attempts = new Attempts(path);
    this.settlement = new Settlement(path);
    this.admission = new AdmissionSteps(path, keeper, this);
    this.#listeners = new PromiseListeners(this);
  }

  /** Starts the work of an attempt, unless a listener ended that before. */
  readonly work = (attempt: Attempt<Call<I, O>>): void => {
    if (attempt.over) {
      this.#workEnded(attempt);
      return;
    }
    const { queue, options } = this.#path;
    const { call } = attempt;
    let answer: O | PromiseLike<O>;
    queue.outside();
    try {
      answer =
        call.settings.isProbe === true
          ? (options.probe?.(attempt) as O | PromiseLike<O>)
          : options.operation(call.input, attempt);
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

  answered(attempt: Attempt<Call<I, O>>, value: O): void {
    // A native promise may have a `then` of somebody else's making, which calls back twice.
    if (attempt.ended) return;
    const { queue, records, budget } = this.#path;
    const { call } = attempt;
    queue.enter();
    this.attempts.workAnswered();
    this.#workEnded(attempt);
    if (attempt.over) {
      records.attemptWasLate(attempt, undefined);
      const { late } = call.settings;
      if (late !== undefined) queue.call(late, value);
    } else {
      this.attempts.succeed(attempt);
      this.admission.fillPermits();
      if (call.attempts === 1) budget.succeededAtFirst();
      else budget.succeededAfter(call.progress.retries);
      this.settlement.succeed(call, value);
    }
    queue.leave();
  }

  threw(attempt: Attempt<Call<I, O>>, error: unknown): void {
    if (attempt.ended) return;
    const { options, records, queue } = this.#path;
    const { call } = attempt;
    const facts = attemptFacts(error, options.clock.wallNow(), options.policy.maxPauseMs, call.settings.patterns);
    queue.enter();
    this.#workEnded(attempt);
    if (!attempt.over) {
      const judged = this.attempts.fail(attempt, facts);
      this.admission.fillPermits();
      this.failed(call, judged);
    } else if (facts.kind !== 'cancelled' && facts.kind !== attempt.endedFor) {
      // Work that ends because it was told to is no result that came late.
      records.attemptWasLate(attempt, facts.message);
    }
    queue.leave();
  }

  #workEnded(attempt: Attempt<Call<I, O>>): void {
    const { permits, abandoned, scopes, outage, queue, stopped } = this.#path;
    const { givenUp } = attempt;
    attempt.end();
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
    else this.settlement.fail(call, this.attempts.endOf(call, facts));
  }

  /** An attempt failed: its call ends, or waits to be tried again. */
  failed(call: Call<I, O>, facts: FailureFacts): void {
    call.noteFailure(facts);
    const path = this.#path;
    const { options, circuit, budget, draining, tools } = path;
    const { link } = circuit;
    const now = options.clock.now();
    const ofTool = tools.size > 0 && !link.isOpen ? tools.refusalOf(call, now, facts) : undefined;
    const decision = decideRetry(call, facts, {
      now,
      random: options.random,
      open: link.isOpen || ofTool !== undefined,
      crashed: link.lastState === 'crashed',
      cutAt: draining.cutAt,
      circuitOpen: (cause) => ofTool ?? circuit.refusal(cause, now),
      takeRetry: () => budget.tryRetry(call.progress.retries > 0 ? path.retrying - 1 : path.retrying),
    });
    if (decision.step === 'end') this.settlement.fail(call, decision.facts);
    else this.#retry(call, facts, decision.step === 'wait' ? decision.delayMs : null, now);
  }

  /** The integration is crashed no longer: its server is back, or abandoned work ended. */
  endOutage(): void {
    const { circuit, outage, records, options } = this.#path;
    if (circuit.link.lastState !== 'crashed') return;
    const { since, quiet } = outage.end();
    circuit.link.restarted();
    if (!quiet) records.restarted(options.clock.now() - since);
  }

  /** @param delayMs - `null`: it waits for the restart, which draws nothing from the budget. */
  #retry(call: Call<I, O>, facts: FailureFacts, delayMs: number | null, now: number): void {
    const path = this.#path;
    if (delayMs === null) this.admission.awaitRestart(call, now);
    else {
      const progress = call.ownProgress();
      if (progress.retries === 0) path.retrying++;
      progress.retries++;
      progress.waitedMs += delayMs;
      path.waiting.add(call, 'backoff', now + delayMs);
    }
    path.records.callRetried(call, facts, delayMs);
    const { attempts, settings } = call;
    if (settings.retried === undefined) return;
    // A listener may have ended the call.
    path.queue.step(() => {
      if (!call.settled && !call.failed) settings.retried?.(facts, attempts);
    }, undefined);
  }
}
