import { breakerOutcome } from '../policy/breaker.ts';
import { longStallMs, wakeMs } from '../policy/clock.ts';
import type { FailureFacts, FailureKind } from '../policy/failure.ts';
import { Attempt } from './attempt.ts';
import { attemptFacts } from './attemptFacts.ts';
import type { Call } from './call.ts';
import { CallTable } from './callTable.ts';
import { Hearing, type WorkWatcher } from './hearing.ts';
import { dueOf, type ExpiredLimit, expiredLimit, firstDueOf } from './limits.ts';
import { isThenable } from './observe.ts';
import * as refusal from './refusal.ts';
import type { Stations } from './stations.ts';

/** What a stall of our own event loop can make of a call. */
const ofOurStalls: ReadonlySet<FailureKind> = new Set(['timeout', 'transient', 'crash', 'watchdog', 'unknown']);

/**
 * The attempts of an integration, from their dispatch to their verdict. The caller never waits for work: an attempt that is given up is
 * told to end, and watched apart from its call until it does.
 */
export class Attempts<I, O> implements WorkWatcher<I, O> {
  readonly #on: Stations<I, O>;
  readonly #calls: CallTable<I, O>;
  readonly #hearing: Hearing<I, O>;
  /** Since when callers have given up before any work ended by itself; `Infinity` when none has. */
  #unansweredSince = Number.POSITIVE_INFINITY;

  constructor(stations: Stations<I, O>) {
    const { parts, keeper } = stations;
    this.#on = stations;
    this.#calls = new CallTable(keeper, parts.policy, parts.clock.now());
    this.#hearing = new Hearing(this);
  }

  get size(): number {
    return this.#calls.size;
  }

  /** Calls with an attempt in flight. */
  get calls(): readonly Call<I, O>[] {
    return this.#calls.list();
  }

  /** @param now - the time; reading it is a good part of what a call costs. */
  dispatch(call: Call<I, O>, now = this.#on.parts.clock.now()): void {
    const { parts, link, places, probing, records, scopes, tools } = this.#on;
    const tries = tools.size > 0 && tools.takeProbe(call);
    records.callAdmitted();
    call.attempts++;
    const { attemptMs } = call.settings;
    const limitMs = link.closed ? attemptMs : Math.min(attemptMs, probing.leaseMs);
    const attempt = new Attempt(call, link.admission, limitMs, now);
    call.attempt = attempt;
    places.take();
    scopes.workStarted(attempt);
    this.#calls.add(call);
    call.due = firstDueOf(call, limitMs, now);
    parts.deadlines.set(call);
    if (!link.closed) probing.dueAt = call.due;
    link.attemptStarted(now);
    if (tries) tools.tellProbe(call);
    // Who heard of it may have ended the call by now.
    if (attempt.over) this.#workEnded(attempt);
    else this.#run(call, attempt);
  }

  /**
   * Ends the attempt of a call for a reason of its caller's; what follows for the call is the caller's business too.
   * @returns the facts as they were judged.
   */
  end(call: Call<I, O>, facts: FailureFacts): FailureFacts {
    if (call.attempt === undefined || call.attempt.over) return facts;
    const isLimit = facts.kind === 'watchdog';
    if (isLimit && this.#on.tools.toolOf(call) !== undefined) this.#on.doubt.raise();
    return this.#judge(call.attempt, facts, isLimit);
  }

  /** What was behind the attempts is gone. They count as one incident, not as a failure each. */
  loseAll(facts: FailureFacts): void {
    // Attempts, not calls: a listener may bring everything back, and the calls with it, before all are done.
    for (const attempt of this.calls.map((call) => call.attempt)) {
      if (attempt === undefined || attempt.over) continue;
      if (this.#on.tools.size > 0) this.#on.tools.ignored(attempt.call);
      this.#giveUp(attempt, facts);
      this.#on.aftermath.failed(attempt.call, facts);
    }
  }

  /** Looks at an attempt whose time may be over. */
  expired(attempt: Attempt<I, O>, now: number): void {
    const { parts, doubt, aftermath } = this.#on;
    const { call } = attempt;
    const due = dueOf(attempt, parts.clock);
    if (due > now) {
      // It showed a sign of life since; only now is its place in the queue worth moving.
      call.due = due;
      parts.deadlines.set(call);
      return;
    }
    const limit = expiredLimit(attempt, now, parts.clock);
    if (this.#mayWait(limit)) {
      attempt.vouch(now);
      doubt.raise();
      // Another of its limits may have passed as well.
      this.expired(attempt, now);
      return;
    }
    const facts = this.#timedOut(attempt, limit);
    // First of all: what follows for the call must find the doubt.
    if (this.#isSuspicious(attempt, limit, now)) doubt.raise();
    aftermath.failed(call, this.#judge(attempt, facts, true));
  }

  #run(call: Call<I, O>, attempt: Attempt<I, O>): void {
    const { operation, probe } = this.#on.parts;
    let answer: O | PromiseLike<O>;
    try {
      answer =
        call.settings.isProbe === true ? (probe?.(attempt) as O | PromiseLike<O>) : operation(call.input, attempt);
      if (isThenable(answer)) {
        this.#hearing.listen(answer, attempt);
        return;
      }
    } catch (error) {
      this.threw(attempt, error);
      return;
    }
    this.answered(attempt, answer);
  }

  answered(attempt: Attempt<I, O>, value: O): void {
    // A native promise may have a `then` of somebody else's making, which calls back twice.
    if (attempt.ended) return;
    this.#unansweredSince = Number.POSITIVE_INFINITY;
    this.#workEnded(attempt);
    const { verdicts, records, gate, aftermath, tools } = this.#on;
    const { call } = attempt;
    if (attempt.over) {
      records.attemptWasLate(attempt, undefined);
      call.settings.late?.(value);
      return;
    }
    attempt.over = true;
    call.ending = 'answered';
    if (tools.size > 0) tools.answered(call);
    verdicts.alive(attempt.admission);
    this.#leave(attempt);
    gate.fillPlaces();
    aftermath.answered(call, value);
  }

  threw(attempt: Attempt<I, O>, error: unknown): void {
    if (attempt.ended) return;
    this.#workEnded(attempt);
    const { parts, records, gate, aftermath } = this.#on;
    const { call } = attempt;
    const facts = attemptFacts(error, parts.clock.wallNow(), parts.policy.maxPauseMs, call.settings.patterns);
    if (attempt.over) {
      // Work that ends because it was told to is no result that came late.
      if (facts.kind !== 'cancelled' && facts.kind !== attempt.endedFor) records.attemptWasLate(attempt, facts.message);
      return;
    }
    const judged = this.#judge(attempt, facts);
    gate.fillPlaces();
    aftermath.failed(call, judged);
  }

  /**
   * The attempt is over: it leaves the table, and the breaker hears of it, where it is held later.
   * @param isLimit - it ended because a limit of its own or of its session passed.
   * @returns the facts as they were judged: of what our own event loop may have caused, nothing is counted.
   */
  #judge(attempt: Attempt<I, O>, facts: FailureFacts, isLimit = false): FailureFacts {
    const { verdicts, doubt } = this.#on;
    // Before anybody hears of it: a listener that ends the call finds it judged.
    attempt.over = true;
    // While the attempt is still in the table: the machine takes failures of a closed circuit only while something is in flight.
    const judged: FailureFacts = this.#isInWake(attempt, facts)
      ? { ...facts, breaker: 'ignored', alerts: false }
      : facts;
    if (isLimit && breakerOutcome(judged) === 'failure' && doubt.holds(attempt)) doubt.hold(attempt, judged);
    else verdicts.failed(attempt, judged, isLimit);
    if (attempt.ended) this.#leave(attempt);
    else this.#giveUp(attempt, facts);
    if (facts.kind === 'rate_limit') verdicts.pause(facts.retryAfterMs ?? 0);
    return judged;
  }

  /** Whether it may have failed because our own event loop stood still: a limit passed, the other side gave up a connection meanwhile. */
  #isInWake({ startedAt }: Attempt<I, O>, { kind, status, outcome }: FailureFacts): boolean {
    // A status is an answer, whenever it came.
    if (!ofOurStalls.has(kind) || status !== undefined) return false;
    const { stalls } = this.#on.parts.clock;
    if (stalls === undefined) return false;
    const { wakeUntil } = stalls;
    const isLost = kind === 'transient' && outcome !== 'not_started';
    // What began after it can have met a connection that was given up meanwhile, and nothing else of it.
    if (startedAt >= wakeUntil - wakeMs) return isLost && startedAt < wakeUntil;
    // What began in its last moments and failed at once had nothing of it.
    return isLost || stalls.since(startedAt) >= longStallMs;
  }

  /** Ends an attempt whose work goes on. */
  #giveUp(attempt: Attempt<I, O>, facts: FailureFacts): void {
    this.#leave(attempt);
    this.#on.overstays.begin(attempt, facts);
  }

  /** The attempt leaves the table, whatever became of its work. */
  #leave(attempt: Attempt<I, O>): void {
    const { parts, link } = this.#on;
    const { call } = attempt;
    attempt.over = true;
    call.attempt = undefined;
    this.#calls.delete(call);
    if (!call.failed) parts.deadlines.remove(call);
    link.attemptEnded();
  }

  #workEnded(attempt: Attempt<I, O>): void {
    const { places, overstays, scopes } = this.#on;
    const { overstay } = attempt;
    attempt.end();
    if (overstay === undefined) places.release();
    else overstays.ended(attempt, overstay);
    scopes.workEnded(attempt);
  }

  #timedOut(attempt: Attempt<I, O>, { reason, limitMs, isShortened }: ExpiredLimit): FailureFacts {
    const facts = refusal.timedOut(reason, limitMs);
    const { amendTimeout, describeTimeout } = this.#on.parts;
    const described = describeTimeout === undefined ? facts : { ...facts, message: describeTimeout(reason, limitMs) };
    const amended = amendTimeout?.(described, attempt) ?? described;
    return isShortened ? { ...amended, breaker: 'ignored' } : amended;
  }

  /** Whether a silent call goes on while the other side is asked: one that is found dead ends it by its crash. What the caller shortened holds. */
  #mayWait({ reason, isShortened }: ExpiredLimit): boolean {
    const { parts, link } = this.#on;
    if (parts.whenAlive !== 'wait' || parts.onSilence === undefined || reason !== 'idle_timeout') return false;
    return !isShortened && link.closed;
  }

  /** Whether a limit that passed makes one doubt that anything lives there. A caller without time does not, until nobody was answered for long. */
  #isSuspicious({ call, startedAt }: Attempt<I, O>, { reason, isShortened }: ExpiredLimit, now: number): boolean {
    if (reason !== 'overall_timeout') return true;
    if (!isShortened) return this.#on.tools.toolOf(call) !== undefined;
    this.#unansweredSince = Math.min(this.#unansweredSince, startedAt);
    return now - this.#unansweredSince >= (call.settings.ownLimits ?? call.settings).idleMs;
  }
}
