import { backoffDelayMs } from '../policy/backoff.ts';
import { type Clock, longStallMs, wakeMs } from '../policy/clock.ts';
import type { FailureFacts, FailureKind } from '../policy/failures/failure.ts';
import { mayRetry } from '../policy/failures/repetition.ts';
import type { OrderNote } from '../policy/operatorOrder.ts';
import { Attempt } from './attempt.ts';
import { BreakerRecorder } from './recorder/breakerRecorder.ts';
import type { Call } from './call.ts';
import {
  type AttemptLimit,
  dueOf,
  type ExpiredLimit,
  expiredLimit,
  firstDueOf,
  halfDueOf,
  limitNamed,
} from './limits.ts';
import type { PathState } from './pathState.ts';
import * as refusal from './refusal.ts';

/** Silence that says something of the server when a caller gives up, in ms: one that gives up sooner was not kept waiting. */
const leastSilenceMs = 1000;

/**
 * The beginning and the end of attempts. The caller never waits for work: an attempt that is given up is told to end, and watched apart
 * from its call until it does.
 */
export class AttemptLifecycle<I, O> {
  readonly recorder: BreakerRecorder<I, O>;
  /** Since when callers have given up before any work ended by itself; `Infinity` when none has. */
  unansweredSince = Number.POSITIVE_INFINITY;
  readonly #state: PathState<I, O>;

  constructor(state: PathState<I, O>) {
    this.#state = state;
    this.recorder = new BreakerRecorder(state);
  }

  /** Gives a call its next attempt, whose work has yet to be started. @param now - reading the time is a good part of what a call costs. */
  begin(call: Call<I, O>, now: number): Attempt<Call<I, O>> {
    const { options, circuit, permits, records, scopes, tools, inFlight } = this.#state;
    const { link } = circuit;
    const triesTool = tools.size > 0 && tools.takeProbe(call);
    records.endRefusals();
    call.attempts++;
    if (call.settings.reconcile !== undefined) this.#noteSending(call);
    const { attemptMs } = call.settings;
    const limitMs = link.closed ? attemptMs : Math.min(attemptMs, circuit.attemptLeaseMs);
    const attempt = new Attempt(call, link.fence, limitMs, now);
    call.attempt = attempt;
    permits.take();
    if (options.rate !== undefined) call.progress.rate?.spend();
    scopes.workStarted(attempt);
    inFlight.add(call);
    call.due = call.progress.isPendingTold ? dueOf(attempt, options.clock) : halfDueOf(attempt, options.clock);
    options.deadlines.set(call);
    if (link.pausedUntil > now) this.#state.pauseProbe.begun(attempt);
    if (!link.closed) circuit.probeDueAt = firstDueOf(call, Math.min(limitMs, circuit.leaseMs), now);
    link.attemptStarted();
    if (triesTool) tools.tellProbe(call);
    return attempt;
  }

  /** Notes all that a reconcile rule will be told, should the answer be lost. */
  #noteSending(call: Call<I, O>): void {
    const progress = call.ownProgress();
    progress.sentAt ??= this.#state.options.clock.wallNow();
    progress.incarnation = this.#state.options.incarnation?.current;
  }

  /** An attempt was answered in time. */
  succeed(attempt: Attempt<Call<I, O>>): void {
    attempt.over = true;
    attempt.call.ending = 'answered';
    this.recorder.answered(attempt);
    this.#leave(attempt);
  }

  /**
   * An attempt failed: the breaker hears of it, and the attempt leaves the table.
   * @param facts - where they say so, its work is kept.
   * @param isLimit - it ended because a limit of its own or of its session passed.
   * @returns the facts as they were judged: of what our own event loop may have caused, nothing is counted.
   */
  fail(attempt: Attempt<Call<I, O>>, facts: FailureFacts, isLimit = false): FailureFacts {
    attempt.over = true;
    const judged: FailureFacts = isInStallWake(attempt.startedAt, facts, this.#state.options.clock)
      ? { ...facts, breaker: 'ignored', alerts: false }
      : facts;
    const end = attempt.ended ? 'threw' : isLimit && facts.kind !== 'watchdog' ? 'limit' : 'ended';
    this.#state.records.attemptFailed(attempt, judged, end);
    // While the attempt is still in the table: the machine takes failures of a closed circuit only while something is in flight.
    this.recorder.failed(attempt, judged, isLimit);
    if (attempt.ended) this.#leave(attempt);
    else this.#giveUp(attempt, facts);
    if (facts.kind === 'rate_limit') this.recorder.pause(facts.retryAfterMs ?? 0);
    return judged;
  }

  /**
   * Ends the attempt of a call, if it has one, for a reason of its caller's.
   * @returns the facts as they were judged.
   */
  endOf(call: Call<I, O>, given: FailureFacts): FailureFacts {
    const facts = this.#state.kept.judge(call, given);
    if (call.attempt === undefined) return facts;
    const isLimit = facts.kind === 'watchdog';
    if (isLimit && this.#state.tools.toolOf(call) !== undefined) this.#state.suspicion.raise();
    if (this.#isGivenUpInSilence(call.attempt, facts)) this.#state.suspicion.raise('cancelled');
    return this.fail(call.attempt, facts, isLimit);
  }

  /** The server of an attempt is gone: all that it took with it counts as one incident, not as a failure each. */
  lose(attempt: Attempt<Call<I, O>>, facts: FailureFacts): void {
    this.#state.records.attemptFailed(attempt, facts, 'lost');
    this.recorder.lost(attempt);
    this.#giveUp(attempt, facts);
  }

  /** Looks at an attempt whose time may be over. @returns what it failed of, judged; undefined when it goes on. */
  expire(attempt: Attempt<Call<I, O>>, now: number): FailureFacts | undefined {
    const { options, suspicion } = this.#state;
    for (;;) {
      const due = dueOf(attempt, options.clock);
      if (due > now) {
        this.#goOn(attempt, due, now);
        return undefined;
      }
      const limit = expiredLimit(attempt, now, options.clock);
      if (!this.#mayGoOn(attempt, limit)) return this.#limitPassed(attempt, limit, now);
      attempt.vouch(now);
      suspicion.raise();
      // Another of its limits may have passed as well.
    }
  }

  /**
   * Ends an attempt as if the time of one of its limits had come.
   * @param note - who wants it, and why.
   * @returns what it failed of, judged; undefined when it goes on.
   */
  expireBy(attempt: Attempt<Call<I, O>>, rule: AttemptLimit, now: number, note: OrderNote): FailureFacts | undefined {
    const isLease = rule === 'attempt_timeout' && attempt.limitMs < attempt.call.settings.attemptMs;
    const limit = limitNamed(isLease ? 'lease_expired' : rule, attempt);
    if (!this.#mayGoOn(attempt, limit)) return this.#limitPassed(attempt, limit, now, note);
    attempt.vouch(now);
    this.#state.suspicion.raise();
    return this.expire(attempt, now);
  }

  #limitPassed(attempt: Attempt<Call<I, O>>, limit: ExpiredLimit, now: number, note?: OrderNote): FailureFacts {
    const timedOut = this.#timedOut(attempt, limit, note);
    const facts = this.#isTriedAgain(attempt.call, timedOut, now)
      ? timedOut
      : this.#state.kept.judge(attempt.call, timedOut);
    // First of all: what follows for the call must find the server suspect.
    if (this.#makesSuspect(attempt, limit, now)) this.#state.suspicion.raise();
    return this.fail(attempt, facts, true);
  }

  /** Tells whether another attempt follows, whatever is drawn for its wait: what this one does is not kept then. */
  #isTriedAgain(
    { attempts, progress, overallDue, expectedEffect, settings }: Call<I, O>,
    facts: FailureFacts,
    now: number,
  ) {
    const { circuit, draining } = this.#state;
    const { retry } = settings;
    if (progress.triesLast || attempts >= retry.maxAttempts || circuit.link.isOpen) return false;
    const delayMs = backoffDelayMs(retry.backoff, attempts + 1, () => 1);
    const fits =
      progress.waitedMs + delayMs <= retry.maxTotalWaitMs && now + delayMs < Math.min(overallDue, draining.cutAt);
    return fits && mayRetry(facts, expectedEffect, retry);
  }

  /** An attempt that showed a sign of life since, or has half of its time left; only now is its place in the queue worth moving. */
  #goOn(attempt: Attempt<Call<I, O>>, due: number, now: number): void {
    const { options, records } = this.#state;
    const { call } = attempt;
    const halfDue = call.progress.isPendingTold ? due : halfDueOf(attempt, options.clock);
    if (halfDue <= now) records.callPending(call, this.goesOnWhenSilent(attempt));
    call.due = halfDue <= now ? due : Math.min(due, halfDue);
    options.deadlines.set(call);
  }

  /** Ends an attempt whose work goes on. */
  #giveUp(attempt: Attempt<Call<I, O>>, facts: FailureFacts): void {
    const { kept, permits, abandoned, queue, stopped } = this.#state;
    this.#leave(attempt);
    if (facts.kept === undefined) {
      abandoned.add(attempt, facts, !stopped);
      queue.call(tellToEnd, attempt);
    } else {
      kept.add(attempt, facts);
      permits.release();
    }
  }

  /** Ends work that was kept as if it had not been: it has its grace to end in. */
  endKept(attempt: Attempt<Call<I, O>>): void {
    const { kept, permits, abandoned, queue, stopped } = this.#state;
    const { givenUp } = attempt;
    if (givenUp === undefined || !kept.delete(attempt)) return;
    permits.take();
    abandoned.add(attempt, givenUp.facts, !stopped);
    queue.call(tellToEnd, attempt);
  }

  /** The attempt leaves the table, whatever became of its work. */
  #leave(attempt: Attempt<Call<I, O>>): void {
    const { call } = attempt;
    attempt.over = true;
    call.attempt = undefined;
    this.#state.inFlight.delete(call);
    this.#state.options.deadlines.remove(call);
    this.#state.circuit.link.flushSoon();
  }

  /** @param note - of the operator for whom it passed before its time: that it had passed would be no true word. */
  #timedOut(
    attempt: Attempt<Call<I, O>>,
    { reason, limitMs, isShortened }: ExpiredLimit,
    note: OrderNote | undefined,
  ): FailureFacts {
    const facts = note === undefined ? refusal.timedOut(reason, limitMs) : refusal.fired(reason, limitMs, note);
    const { amendTimeout, describeTimeout } = this.#state.options;
    const described =
      describeTimeout === undefined || note !== undefined
        ? facts
        : { ...facts, message: describeTimeout(reason, limitMs) };
    const amended = amendTimeout?.(described, attempt) ?? described;
    // The upstream is not to blame for a stream that waits for its reader.
    return isShortened || attempt.isResting ? { ...amended, breaker: 'ignored' } : amended;
  }

  /**
   * Tells whether a silent attempt goes on at its idle limit while the other side is asked for a sign of life: one that is found dead ends it by its crash. A
   * limit that the caller shortened holds, and an open circuit is no time to wait.
   */
  goesOnWhenSilent(attempt: Attempt<Call<I, O>>): boolean {
    const { options, circuit } = this.#state;
    if (options.whenAlive !== 'wait' || options.onSilence === undefined) return false;
    return circuit.link.closed && !limitNamed('idle_timeout', attempt).isShortened;
  }

  /** Tells whether it is the end of nothing: the server is asked for a sign of life. */
  #mayGoOn(attempt: Attempt<Call<I, O>>, { reason }: ExpiredLimit): boolean {
    return reason === 'idle_timeout' && this.goesOnWhenSilent(attempt);
  }

  /**
   * Tells whether a caller gave up an attempt that had been silent. With its own limit shorter than ours, ours would never find that the server hangs.
   */
  #isGivenUpInSilence(attempt: Attempt<Call<I, O>>, { kind, reason }: FailureFacts): boolean {
    const { options } = this.#state;
    // An attempt with a reason was ended here: by a stop, a restart, a newer call of its scope.
    if (options.onSilence === undefined || kind !== 'cancelled' || reason !== undefined || attempt.isResting)
      return false;
    this.unansweredSince = Math.min(this.unansweredSince, attempt.silentSince);
    return options.clock.now() - this.unansweredSince >= leastSilenceMs;
  }

  /** Tells whether a limit that passed makes the server suspect. A caller without time does not, until nobody was answered for long. */
  #makesSuspect(
    { call, startedAt, isResting }: Attempt<Call<I, O>>,
    { reason, isShortened }: ExpiredLimit,
    now: number,
  ): boolean {
    if (reason !== 'overall_timeout') return true;
    if (isResting) return false;
    if (!isShortened) return this.#state.tools.toolOf(call) !== undefined;
    this.unansweredSince = Math.min(this.unansweredSince, startedAt);
    return now - this.unansweredSince >= (call.settings.ownLimits ?? call.settings).idleMs;
  }
}

/** Listeners of the signal run now. */
function tellToEnd<I, O>(attempt: Attempt<Call<I, O>>): void {
  const { call, givenUp } = attempt;
  if (givenUp === undefined) return;
  call.settings.givenUp?.(call.input, givenUp.facts);
  attempt.abort(givenUp.facts);
}

/** Failures that a stall of our own event loop can make of a call. */
const ofOurStalls: ReadonlySet<FailureKind> = new Set(['timeout', 'transient', 'crash', 'watchdog', 'unknown']);

/**
 * Tells whether an attempt may have failed because our own event loop stood still: a limit passed, the server gave up a connection meanwhile.
 * @param startedAt - of the attempt, in monotonic ms.
 */
function isInStallWake(
  startedAt: number,
  { kind, status, outcome }: FailureFacts,
  { stalls }: Pick<Clock, 'stalls'>,
): boolean {
  // A status is an answer, whenever it came.
  if (stalls === undefined || !ofOurStalls.has(kind) || status !== undefined) return false;
  const { wakeUntil } = stalls;
  const isLost = kind === 'transient' && outcome !== 'not_started';
  // An attempt that began after it can have met a connection that was given up meanwhile, and nothing else of it.
  if (startedAt >= wakeUntil - wakeMs) return isLost && startedAt < wakeUntil;
  // An attempt that began in its last moments and failed at once had nothing of it.
  return isLost || stalls.since(startedAt) >= longStallMs;
}
