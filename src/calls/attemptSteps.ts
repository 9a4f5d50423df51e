import { backoffDelayMs } from '../policy/backoff.ts';
import type { Random } from '../policy/clock.ts';
import { mayRetry } from '../policy/failures/repetition.ts';
import { attemptFacts, knownAtEnd } from './callFailure.ts';
import type { FailureFacts } from '../policy/failures/failure.ts';
import { AdmissionSteps, type AdmittedCalls } from './admissionSteps.ts';
import type { Attempt } from './attempt.ts';
import { AttemptLifecycle } from './attemptLifecycle.ts';
import type { Call } from './call.ts';
import { isThenable } from './observe.ts';
import type { PathState } from './pathState.ts';
import { notTriedAgain } from './refusal.ts';
import { isCalledOff } from './reconcile/keptWork.ts';
import { ReconcileSteps } from './reconcile/reconcileSteps.ts';
import { Settlement } from './settlement.ts';

/** The steps of a call from the start of an attempt's work to the next admission or the settlement. */
export class AttemptSteps<I, O> implements AdmittedCalls<I, O> {
  readonly lifecycle: AttemptLifecycle<I, O>;
  readonly settlement: Settlement<I, O>;
  readonly admission: AdmissionSteps<I, O>;
  readonly reconciling: ReconcileSteps<I, O>;
  readonly #state: PathState<I, O>;

  constructor(state: PathState<I, O>) {
    this.#state = state;
    this.lifecycle = new AttemptLifecycle(state);
    this.settlement = new Settlement(state);
    this.admission = new AdmissionSteps(state, this);
    this.reconciling = new ReconcileSteps(state, this, (call, facts) => this.#decide(call, facts));
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
        // A native promise comes back as itself; a value that only looks like one may call back at once.
        Promise.resolve(answer).then(
          (value) => this.answered(attempt, value),
          (error) => this.threw(attempt, error),
        );
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
    this.lifecycle.unansweredSince = Number.POSITIVE_INFINITY;
    this.#workEnded(attempt);
    if (attempt.over) {
      records.attemptWasLate(attempt, undefined);
      const { late, reconcile, keep } = call.settings;
      const isTaken = (reconcile ?? keep) !== undefined && this.reconciling.answeredLate(attempt, value);
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
    if (attempt.givenUp?.kept === true) this.reconciling.kept.failed(attempt, facts);
    queue.leave();
  }

  #workEnded(attempt: Attempt<Call<I, O>>): void {
    const { permits, abandoned, kept, scopes, outage, queue, stopped, options } = this.#state;
    const { givenUp } = attempt;
    attempt.end();
    if (givenUp !== undefined) options.recorder?.workEnded(attempt.call, attempt.number, options.clock.now());
    if (givenUp === undefined) permits.release();
    else if (kept.delete(attempt)) this.admission.fillPermits();
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
      const { reconcile, keep } = call.settings;
      if (isTried && (reconcile ?? keep) !== undefined) this.reconciling.attemptEnded(call, judged);
      else if (call.waiting === 'reconciling' && isCalledOff(facts)) this.reconciling.kept.calledOff(call);
      this.settlement.fail(call, judged);
    }
  }

  /** An attempt failed: its call ends, or waits to be tried again. */
  retryOrEnd(call: Call<I, O>, facts: FailureFacts): void {
    const { reconcile, keep } = call.settings;
    call.noteFailure(facts);
    const isKnown = (reconcile ?? keep) === undefined || this.#goesOn(call, facts);
    if (isKnown || !this.reconciling.attemptFailed(call, facts)) this.#decide(call, facts);
  }

  /** Tells whether another attempt would only ask for what this one began: the server was lost, and what it does goes on. */
  #goesOn(call: Call<I, O>, { kind }: FailureFacts): boolean {
    return kind === 'crash' && this.#state.options.goesOn?.(call.input, call) === true;
  }

  /** Decides, by the open matters of a failure, on the step that follows it. */
  #decide(call: Call<I, O>, facts: FailureFacts): void {
    const { options, queue } = this.#state;
    const now = options.clock.now();
    let draw: number | undefined;
    const next = this.#nextStep(call, facts, now, () => (draw = options.random()));
    const delayMs = 'ends' in next ? undefined : next.delayMs;
    const { attempts, progress } = call;
    const { trace } = progress;
    if (trace !== undefined) queue.call(() => trace.attemptFailed(attempts, facts, delayMs), undefined);
    options.recorder?.decided(call, delayMs, draw);
    if ('ends' in next) this.settlement.fail(call, next.ends);
    else this.#retry(call, facts, next.delayMs, now);
  }

  /**
   * Decides what follows a failed attempt. The order is the contract: the first rule that ends the call names the failure.
   * @returns what it ends with, or for how long it waits, in ms; `null` is until the restart.
   */
  #nextStep(
    call: Call<I, O>,
    facts: FailureFacts,
    now: number,
    random: Random,
  ): { readonly ends: FailureFacts } | { readonly delayMs: number | null } {
    const { circuit, budget, draining, tools, retrying } = this.#state;
    const { link } = circuit;
    const { attempts, progress, overallDue, expectedEffect } = call;
    const { retry, stream } = call.settings;
    const isLast = attempts >= retry.maxAttempts || progress.triesLast;
    if (isLast || stream?.continuation === 'none') return { ends: facts };
    const left: FailureFacts = stream?.continuation === 'resumes' ? { ...facts, resumable: true } : facts;
    const repeated = this.#goesOn(call, facts) ? 'readOnly' : expectedEffect;
    if (!mayRetry(left, repeated, retry) || now >= overallDue) return { ends: facts };
    if (link.isOpen) return { ends: circuit.refusal(facts, now) };
    const ofTool = tools.size > 0 ? tools.refusalOf(call, now, facts) : undefined;
    if (ofTool !== undefined) return { ends: ofTool };

    // A call that the server asked to wait does so, whatever happens meanwhile.
    const awaitsRestart = link.lastState === 'crashed' && (facts.retryAfterMs ?? 0) === 0;
    const backoffMs = awaitsRestart ? 0 : backoffDelayMs(retry.backoff, attempts + 1, random);
    const slowedMs = facts.kind === 'overloaded' ? backoffMs * retry.overloadedFactor : backoffMs;
    const delayMs = Math.max(slowedMs, facts.retryAfterMs ?? 0);
    // A wait that does not fit is not slept: the caller learns now what it would learn later.
    if (progress.waitedMs + delayMs > retry.maxTotalWaitMs || now + delayMs >= overallDue) return { ends: facts };
    if (now + delayMs >= draining.cutAt) return { ends: notTriedAgain(facts) };
    // Calls that a crash took with it are no more load than there was before: the budget guards against retries that multiply.
    if (awaitsRestart) return { delayMs: null };
    if (!budget.tryRetry(progress.retries > 0 ? retrying - 1 : retrying))
      return { ends: { ...facts, reason: 'retry_budget' } };
    return { delayMs };
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
