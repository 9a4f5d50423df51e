import { breakerOutcome } from '../policy/breaker.ts';
import type { FailureFacts, FailureReason } from '../policy/failure.ts';
import { Attempt, type AttemptKeeper, type Call, Overstay } from './call.ts';
import { attemptFacts } from './attemptFacts.ts';
import type { CallPathParts } from './callPathParts.ts';
import type { CallRecords } from './callRecords.ts';
import type { CallTable } from './callTable.ts';
import type { Doubt } from './doubt.ts';
import { dueOf, expiredLimit, firstDueOf } from './limits.ts';
import type { MachineLink } from './machineLink.ts';
import type { Places } from './places.ts';
import type { Probing } from './probing.ts';
import * as refusal from './refusal.ts';
import { isThenable } from './observe.ts';

/** Who is told what became of attempts, and of the places they took. */
export interface AttemptsWatcher<I, O> {
  answered(call: Call<I, O>, value: O): void;
  failed(call: Call<I, O>, facts: FailureFacts): void;
  placeFreed(): void;
  /** The work of an attempt begins. */
  workStarted(attempt: Attempt<I, O>): void;
  /** It has ended, whatever became of the attempt before. */
  workEnded(attempt: Attempt<I, O>): void;
  /** There is more work that will not end than may be replaced. */
  overwhelmed(): void;
  /** Such work ended after all, and what is left of it is within its bound. */
  withinBound(): void;
}

/**
 * The attempts of an integration, from their dispatch to the end of their work. The caller never waits for work: an attempt that
 * is given up is told to end, keeps its place until it does, and is written off after its grace.
 */
export class Attempts<I, O> implements AttemptKeeper<I, O> {
  readonly #parts: CallPathParts<I, O>;
  readonly #link: MachineLink;
  readonly #places: Places<Call<I, O>>;
  readonly #probing: Probing<I, O>;
  readonly #records: CallRecords<I, O>;
  readonly #doubt: Doubt;
  readonly #watcher: AttemptsWatcher<I, O>;
  readonly #calls: CallTable<I, O>;
  /** Attempts that are over while their work is not. */
  readonly #overstaying = new Set<Attempt<I, O>>();
  #stopped = false;

  constructor(
    parts: CallPathParts<I, O>,
    link: MachineLink,
    places: Places<Call<I, O>>,
    probing: Probing<I, O>,
    records: CallRecords<I, O>,
    doubt: Doubt,
    watcher: AttemptsWatcher<I, O>,
    calls: CallTable<I, O>,
  ) {
    this.#parts = parts;
    this.#link = link;
    this.#places = places;
    this.#probing = probing;
    this.#records = records;
    this.#doubt = doubt;
    this.#watcher = watcher;
    this.#calls = calls;
  }

  get size(): number {
    return this.#calls.size;
  }

  /** Calls with an attempt in flight. */
  get calls(): readonly Call<I, O>[] {
    return this.#calls.list();
  }

  /** @param now - the time; reading it is a good part of what a call costs. */
  dispatch(call: Call<I, O>, now = this.#parts.clock.now()): void {
    const link = this.#link;
    this.#records.callAdmitted();
    call.attempts++;
    const { attemptMs } = call.settings;
    const limitMs = link.closed ? attemptMs : Math.min(attemptMs, this.#probing.leaseMs);
    const attempt = new Attempt(call, link.admission, limitMs, now);
    call.attempt = attempt;
    this.#places.take();
    this.#watcher.workStarted(attempt);
    this.#calls.add(call);
    call.due = firstDueOf(call, limitMs, now);
    this.#parts.deadlines.set(call);
    if (!link.closed) this.#probing.dueAt = call.due;
    link.attemptStarted();
    // Who heard of it may have ended the call by now.
    if (attempt.over) this.#workEnded(attempt);
    else this.#run(call, attempt);
  }

  /** Ends the attempt of a call for a reason of its caller's; what follows for the call is the caller's business too. */
  end(call: Call<I, O>, facts: FailureFacts): void {
    if (call.attempt !== undefined && !call.attempt.over) this.#judge(call.attempt, facts);
  }

  /** What was behind the attempts is gone. They count as one incident, not as a failure each. */
  loseAll(facts: FailureFacts): void {
    // Attempts, not calls: a listener may bring everything back, and the calls with it, before all are done.
    for (const attempt of this.calls.map((call) => call.attempt)) {
      if (attempt === undefined || attempt.over) continue;
      this.#giveUp(attempt, facts);
      this.#watcher.failed(attempt.call, facts);
    }
  }

  /** Looks at an attempt whose time may be over. */
  expired(attempt: Attempt<I, O>, now: number): void {
    const { call } = attempt;
    const due = dueOf(attempt);
    if (due > now) {
      // It showed a sign of life since; only now is its place in the queue worth moving.
      call.due = due;
      this.#parts.deadlines.set(call);
      return;
    }
    const { reason, limitMs } = expiredLimit(attempt, now);
    const facts = this.#timedOut(attempt, reason, limitMs);
    // First of all: what follows for the call must find the doubt.
    this.#judge(attempt, facts, reason !== 'overall_timeout' && this.#doubt.raise());
    this.#watcher.failed(call, facts);
  }

  workOverstayed(attempt: Attempt<I, O>, overstay: Overstay<I, O>): void {
    this.#overstaying.delete(attempt);
    overstay.abandoned = true;
    const isReplaceable = this.#places.abandon();
    this.#records.attemptAbandoned(attempt, this.#places.abandoned);
    if (!isReplaceable) this.#watcher.overwhelmed();
    this.#watcher.placeFreed();
  }

  /** From here on nothing waits for the end of work. The attempts themselves are ended with their calls. */
  stop(): void {
    this.#stopped = true;
    for (const { overstay } of this.#overstaying) if (overstay !== undefined) this.#parts.deadlines.remove(overstay);
    this.#overstaying.clear();
  }

  #run(call: Call<I, O>, attempt: Attempt<I, O>): void {
    const { operation, probe } = this.#parts;
    let answer: O | PromiseLike<O>;
    try {
      answer =
        call.settings.isProbe === true ? (probe?.(attempt) as O | PromiseLike<O>) : operation(call.input, attempt);
      if (isThenable(answer)) {
        this.#await(answer, attempt);
        return;
      }
    } catch (error) {
      this.#threw(attempt, error);
      return;
    }
    this.#answered(attempt, answer);
  }

  // Apart, so that an answer that comes at once makes no closures.
  #await(answer: PromiseLike<O>, attempt: Attempt<I, O>): void {
    // Of native promises it is the promise itself; what only looks like one may call back at once.
    Promise.resolve(answer).then(
      (value) => this.#answered(attempt, value),
      (error) => this.#threw(attempt, error),
    );
  }

  #answered(attempt: Attempt<I, O>, value: O): void {
    // A native promise may have a `then` of somebody else's making, which calls back twice.
    if (attempt.ended) return;
    this.#workEnded(attempt);
    if (attempt.over) {
      this.#records.attemptWasLate(attempt, undefined);
      attempt.call.settings.late?.(value);
      return;
    }
    const { call } = attempt;
    attempt.over = true;
    call.ending = 'answered';
    this.#link.recordAlive(attempt.admission);
    this.#leave(attempt);
    this.#watcher.placeFreed();
    this.#watcher.answered(call, value);
  }

  #threw(attempt: Attempt<I, O>, error: unknown): void {
    if (attempt.ended) return;
    this.#workEnded(attempt);
    const facts = attemptFacts(
      error,
      this.#parts.clock.wallNow(),
      this.#parts.policy.maxPauseMs,
      attempt.call.settings.patterns,
    );
    if (attempt.over) {
      // Work that ends because it was told to is no result that came late.
      if (facts.kind !== 'cancelled' && facts.kind !== attempt.endedFor)
        this.#records.attemptWasLate(attempt, facts.message);
      return;
    }
    this.#judge(attempt, facts);
    this.#watcher.placeFreed();
    this.#watcher.failed(attempt.call, facts);
  }

  /** The attempt is over: it leaves the table, and the breaker hears of it, where it is held later. */
  #judge(attempt: Attempt<I, O>, facts: FailureFacts, isHeld = false): void {
    // Before anybody hears of it: a listener that ends the call finds it judged.
    attempt.over = true;
    // While the attempt is still in the table: the machine takes failures of a closed circuit only while something is in flight.
    if (isHeld && breakerOutcome(facts) === 'failure') this.#doubt.hold(attempt, facts);
    else this.#record(attempt, facts);
    if (attempt.ended) this.#leave(attempt);
    else this.#giveUp(attempt, facts);
    if (facts.kind === 'rate_limit') this.#pause(facts.retryAfterMs ?? 0);
  }

  #record({ admission }: Attempt<I, O>, facts: FailureFacts): void {
    switch (breakerOutcome(facts)) {
      case 'failure':
        this.#link.recordFailure(admission, facts.kind, facts.retryAfterMs);
        break;
      case 'alive':
        this.#link.recordAlive(admission);
        break;
      case 'ignored':
        this.#link.recordIgnored(admission);
        break;
    }
  }

  #pause(pauseMs: number): void {
    const until = this.#parts.clock.now() + pauseMs;
    if (pauseMs <= 0 || this.#link.lastState === 'crashed' || until <= this.#link.pausedUntil) return;
    this.#link.send({ type: 'integration.paused', until });
    this.#records.paused(pauseMs);
  }

  /** Ends an attempt whose work goes on: it is told to stop, and watched until it does or is written off. */
  #giveUp(attempt: Attempt<I, O>, facts: FailureFacts): void {
    this.#leave(attempt);
    attempt.overstay = new Overstay(this, attempt, facts, this.#parts.clock.now(), this.#parts.policy.abortGraceMs);
    if (!this.#stopped) {
      this.#overstaying.add(attempt);
      this.#parts.deadlines.set(attempt.overstay);
    }
    attempt.abort(facts);
  }

  /** The attempt leaves the table, whatever became of its work. */
  #leave(attempt: Attempt<I, O>): void {
    const { call } = attempt;
    attempt.over = true;
    call.attempt = undefined;
    this.#calls.delete(call);
    if (!call.failed) this.#parts.deadlines.remove(call);
    this.#link.attemptEnded();
  }

  #workEnded(attempt: Attempt<I, O>): void {
    attempt.ended = true;
    if (attempt.abandoned) {
      if (this.#places.reclaim()) this.#watcher.withinBound();
    } else {
      this.#places.release();
      if (attempt.overstay !== undefined && this.#overstaying.delete(attempt)) {
        this.#parts.deadlines.remove(attempt.overstay);
        this.#watcher.placeFreed();
      }
    }
    this.#watcher.workEnded(attempt);
  }

  #timedOut(attempt: Attempt<I, O>, reason: FailureReason, limitMs: number): FailureFacts {
    const facts = refusal.timedOut(reason, limitMs);
    const { amendTimeout, describeTimeout } = this.#parts;
    const described = describeTimeout === undefined ? facts : { ...facts, message: describeTimeout(reason, limitMs) };
    return amendTimeout?.(described, attempt) ?? described;
  }
}
