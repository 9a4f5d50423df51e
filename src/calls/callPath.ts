import type {
  IntegrationEmitted,
  IntegrationEvent,
  IntegrationRef,
  IntegrationState,
} from '../machines/integration.ts';
import { breakerOutcome } from '../policy/breaker.ts';
import type { Clock, Random } from '../policy/clock.ts';
import type { Facts } from '../policy/facts.ts';
import {
  AttemptError,
  type Failure,
  type FailureFacts,
  type FailureReason,
  failureKinds,
  type Outcome,
} from '../policy/failure.ts';
import type { IntegrationPolicy } from '../policy/policy.ts';
import { RetryBudget } from '../policy/retryBudget.ts';
import { attemptFacts } from './attemptFacts.ts';
import { Attempt, Call, type CallSettings, type Operation, type RowKeeper, type Waiting } from './call.ts';
import { CallRecords } from './callRecords.ts';
import type { DeadlineQueue } from './deadlineQueue.ts';
import { MachineLink } from './machineLink.ts';
import { nextStep } from './nextStep.ts';
import { Places } from './places.ts';
import * as refusal from './refusal.ts';
import type { SignalFanout } from './signalFanout.ts';

/** What a call path is built from. */
export interface CallPathParts<I, O> {
  readonly name: string;
  readonly policy: IntegrationPolicy;
  readonly operation: Operation<I, O>;
  /** A harmless request that shows whether the integration answers again (MCP `ping`). */
  readonly probe?: ((context: { readonly signal: AbortSignal }) => unknown) | undefined;
  readonly clock: Clock;
  readonly random: Random;
  readonly facts: Facts;
  readonly deadlines: DeadlineQueue;
  readonly signals: SignalFanout;
  /** When the thing behind a crashed integration will be tried again, in ms from now; undefined when nobody knows. */
  readonly restartInMs?: (() => number | undefined) | undefined;
  /** Told after every change of the breaker, so that it can be kept. Must not throw. */
  readonly onBreaker?: ((event: IntegrationEmitted) => void) | undefined;
  /** Asks whether this process may probe an open circuit that it shares with others. @defaultValue it may */
  readonly claimProbe?: ((leaseMs: number) => boolean) | undefined;
  /** The message of a call that ended by a limit. @defaultValue a neutral one */
  readonly describeTimeout?: ((reason: FailureReason, limitMs: number) => string) | undefined;
  /** Told when a call ended by its idle or attempt limit, so that the thing behind it can be looked after. Must not throw. */
  readonly onSilence?: (() => void) | undefined;
}

/** What is known of an integration when its machine begins. */
export interface Beginning {
  /** Its circuit was left open by an earlier run. */
  readonly open?: { readonly openUntil: number; readonly openings: number } | undefined;
  /** The thing behind it has yet to start: calls wait for it as for a restart. */
  readonly down?: boolean | undefined;
}

/** Figures of an integration since it was made. */
export interface CallStats {
  readonly attempts: number;
  readonly waiting: number;
  readonly succeeded: number;
  readonly failed: number;
  readonly refused: number;
  readonly late: number;
  readonly abandoned: number;
  readonly retryTokens: number;
}

/**
 * The way of every call to an integration: admission, attempts, waits, deadlines, and one settling. A call is a row here, not an
 * actor; the machine is told what could change its state and decides it.
 *
 * The caller is settled at the deadline; work that goes on behind is aborted, fenced and, if need be, written off.
 */
export class CallPath<I, O> implements RowKeeper<I, O> {
  readonly name: string;
  readonly policy: IntegrationPolicy;
  readonly link: MachineLink;
  readonly #parts: CallPathParts<I, O>;
  readonly #clock: Clock;
  readonly #budget = new RetryBudget();
  readonly #places: Places<Call<I, O>>;
  readonly #waiting = new Set<Call<I, O>>();
  readonly #attempting = new Set<Call<I, O>>();
  readonly #fallingBack = new Set<Call<I, O>>();
  /** Attempts that are over while their work is not. */
  readonly #overstaying = new Set<Attempt<I, O>>();
  readonly #records: CallRecords<I, O>;
  readonly #now: () => number;
  #probe: Call<I, O> | undefined = undefined;
  #probeDue = 0;
  #stopped = false;
  #overwhelmed = false;
  #filling = false;
  #retrying = 0;
  #crashedAt = 0;
  #crashTold = false;
  #lastCall = 0;

  constructor(parts: CallPathParts<I, O>) {
    this.#parts = parts;
    this.name = parts.name;
    this.policy = parts.policy;
    this.#clock = parts.clock;
    this.#now = () => parts.clock.now();
    this.#places = new Places(parts.policy);
    this.#records = new CallRecords(parts.name, parts.clock, parts.facts);
    this.link = new MachineLink(
      parts.policy.breaker,
      parts.clock,
      () => ({ attempts: this.#attempting.size, waiting: this.#waiting.size }),
      { changed: (from, to) => this.#changed(from, to), emitted: (event) => this.#emitted(event) },
    );
  }

  get stats(): CallStats {
    return {
      attempts: this.#attempting.size,
      waiting: this.#waiting.size,
      succeeded: this.#records.succeeded,
      failed: this.#records.failed,
      refused: this.#records.refused,
      late: this.#records.late,
      abandoned: this.#places.abandoned,
      retryTokens: this.#budget.tokens,
    };
  }

  /** Makes a call. The row is given back so that its owner can end it; `settled` gets its one outcome. */
  start(input: I, settings: CallSettings<I, O>, settled: (outcome: Outcome<O>) => void): Call<I, O> {
    const call = new Call<I, O>(this, ++this.#lastCall, input, settings, this.#clock.now(), settled);
    const { signal } = settings;
    if (this.#stopped) this.#refuse(call, refusal.stopped(this.name));
    else if (signal?.aborted === true) this.#end(call, refusal.cancelled(signal.reason, false));
    else {
      if (signal !== undefined) this.#parts.signals.watch(signal, call);
      this.#proceed(call);
    }
    return call;
  }

  /** Ends a call that has not ended yet, for the reason given. */
  end(call: Call<I, O>, facts: FailureFacts): void {
    const { attempt } = call;
    if (call.settled || call.answered) return;
    call.fallback?.abort(facts.cause ?? new AttemptError(facts));
    if (attempt !== undefined && !attempt.over) this.#judge(attempt, facts);
    this.#end(call, facts);
  }

  /** The thing behind the integration is gone: its attempts end, and what may be tried again waits for the restart. */
  crashed(facts: FailureFacts): void {
    // From here on it is a restart that takes it back into service, not the end of work that went on.
    this.#overwhelmed = false;
    this.#lose(facts);
  }

  #lose(facts: FailureFacts): void {
    if (this.#stopped) return;
    if (this.link.lastState !== 'crashed') this.#crashedAt = this.#clock.now();
    // First the machine, so that the calls below find it crashed and none of them counts on its own: one incident counts once.
    this.link.send({ type: 'integration.lost' });
    if (!this.#crashTold) this.#records.crashed(facts.message);
    this.#crashTold = true;
    // Attempts, not calls: a listener may bring everything back, and the calls with it, before all are done.
    for (const attempt of [...this.#attempting].map((call) => call.attempt)) {
      if (attempt === undefined || attempt.over) continue;
      this.#giveUp(attempt, facts);
      this.#after(attempt.call, facts);
    }
  }

  /** The thing behind the integration is there again, and nothing of what was going on before. */
  restarted(): void {
    this.#places.forgive();
    this.#backInService();
  }

  #backInService(): void {
    if (this.#stopped || this.link.lastState !== 'crashed') return;
    this.#overwhelmed = false;
    this.#crashTold = false;
    this.link.send({ type: 'integration.restarted' });
    this.#records.restarted(this.#clock.now() - this.#crashedAt);
  }

  /** Closes the circuit, forgets what was counted, and takes a crashed function back into service. */
  reset(): void {
    if (this.#stopped) return;
    this.#places.forgive();
    this.link.reset();
    if (this.#overwhelmed) this.#backInService();
    this.#resume('pause');
  }

  /** Takes the machine of a new incarnation. */
  attach(ref: IntegrationRef, { open, down = false }: Beginning = {}): void {
    if (this.#stopped) return;
    this.#overwhelmed = false;
    for (const call of [...this.#attempting]) {
      this.end(call, refusal.machineLost(this.name));
    }
    const first: IntegrationEvent[] = [];
    if (open !== undefined) first.push({ type: 'breaker.restore', ...open });
    if (down) {
      this.#crashedAt = this.#clock.now();
      first.push({ type: 'integration.lost' });
    }
    this.link.attach(ref, first);
  }

  /** Ends every call and every wait. Nothing is left in the queue of deadlines afterwards. */
  stop(): void {
    this.#stopped = true;
    const facts = refusal.stopped(this.name);
    for (const call of [...this.#attempting, ...this.#waiting, ...this.#fallingBack]) this.end(call, facts);
    for (const attempt of this.#overstaying) this.#parts.deadlines.remove(attempt);
    this.#overstaying.clear();
    this.link.detach();
  }

  callExpired(call: Call<I, O>, now: number): void {
    if (call.settled) return;
    if (call.fallback !== undefined) {
      call.fallback.abort(new AttemptError(refusal.timedOut('overall_timeout', call.settings.overallMs)));
      this.#outOfTime(call);
    } else if (call.attempt !== undefined) this.#attemptExpired(call, call.attempt, now);
    else this.#waitExpired(call, now);
  }

  callAborted(call: Call<I, O>, reason: unknown): void {
    this.end(call, refusal.cancelled(reason, call.attempt !== undefined));
  }

  workOverstayed(attempt: Attempt<I, O>): void {
    this.#overstaying.delete(attempt);
    attempt.abandoned = true;
    const replaceable = this.#places.abandon();
    this.#records.attemptAbandoned(attempt, this.#places.abandoned);
    if (!replaceable && this.link.lastState !== 'crashed') {
      this.#overwhelmed = true;
      this.#lose(refusal.tooMuchAbandoned(this.name, this.policy));
    }
    this.#fillPlace();
  }

  /** The gate before every attempt: circuit, pause, places. */
  #proceed(call: Call<I, O>): void {
    if (call.settled || call.failed) return;
    const now = this.#clock.now();
    if (this.#stopped) this.#refuse(call, refusal.stopped(this.name));
    else if (now >= call.overallDue) this.#outOfTime(call);
    else if (this.link.lastState === 'crashed') this.#awaitRestart(call, now);
    else if (!this.link.closed) this.#proceedWhileOpen(call, now);
    else if (this.link.pausedUntil > now) this.#awaitPause(call, now);
    else if (this.#places.free) this.#dispatch(call);
    else if (call.accepted || this.#places.mayQueue) {
      this.#places.enqueue(call);
      this.#wait(call, 'place', call.overallDue);
    } else this.#refuse(call, refusal.tooMany(this.name, this.policy.maxInFlight));
  }

  #proceedWhileOpen(call: Call<I, O>, now: number): void {
    const mayHaveEffects = call.settings.effect !== 'readOnly' && !call.isProbe;
    if (this.#parts.probe !== undefined && mayHaveEffects) {
      if (this.#probe === undefined) this.#startProbe(now);
      // Who heard of the probe may have ended the call.
      if (call.failed || !this.#isOpen) this.#proceed(call);
      else if (this.#probe === undefined) this.#refuse(call, this.#circuitOpen(call.lastFailure));
      else if (this.#waiting.size < this.policy.maxInFlight) this.#wait(call, 'probe', call.overallDue);
      else this.#refuse(call, refusal.tooMany(this.name, this.policy.maxInFlight));
    } else if (this.#isProbeDue(now) && !this.#places.free) {
      this.#refuse(call, refusal.tooMany(this.name, this.policy.maxInFlight));
    } else if (this.#requestProbe(now)) {
      if (call.failed) this.link.recordIgnored(this.link.generation, this.link.incarnation);
      else this.#dispatch(call);
    } else if (this.#isOpen) this.#refuse(call, this.#circuitOpen(call.lastFailure));
    else this.#proceed(call);
  }

  get #isOpen(): boolean {
    return this.link.lastState === 'open' || this.link.lastState === 'half-open';
  }

  #isProbeDue(now: number): boolean {
    const { openUntil, pausedUntil, hasFreeProbe } = this.link;
    return now >= openUntil && now >= pausedUntil && hasFreeProbe;
  }

  #requestProbe(now: number): boolean {
    if (!this.#isProbeDue(now)) return false;
    if (this.link.lastState === 'open' && this.#parts.claimProbe?.(this.#leaseMs()) === false) return false;
    return this.link.requestProbe(now);
  }

  #awaitRestart(call: Call<I, O>, now: number): void {
    const waitUntil = call.attempts > 0 ? call.overallDue : Math.min(now + this.policy.restartWaitMs, call.overallDue);
    this.#wait(call, 'restart', waitUntil);
  }

  #awaitPause(call: Call<I, O>, now: number): void {
    const until = this.link.pausedUntil;
    if (until < call.overallDue) this.#wait(call, 'pause', until);
    else this.#end(call, refusal.paused(this.name, until - now, call.lastFailure));
  }

  #wait(call: Call<I, O>, waiting: Waiting, due: number): void {
    call.waiting = waiting;
    call.accepted = true;
    this.#waiting.add(call);
    call.due = due;
    this.#parts.deadlines.set(call);
    this.link.flushSoon();
  }

  #stopWaiting(call: Call<I, O>): void {
    if (call.waiting === 'place') this.#places.dequeue(call);
    call.waiting = undefined;
    this.#waiting.delete(call);
    this.#parts.deadlines.remove(call);
    this.link.flushSoon();
  }

  #waitExpired(call: Call<I, O>, now: number): void {
    const { waiting } = call;
    this.#stopWaiting(call);
    if (waiting === 'restart' && now < call.overallDue) {
      this.#refuse(call, refusal.unavailable(this.name, this.#parts.restartInMs?.()));
    } else this.#proceed(call);
  }

  /** Its time was over while no attempt was in flight. */
  #outOfTime(call: Call<I, O>): void {
    this.#end(call, call.lastFailure ?? refusal.notStarted(call.settings.overallMs));
  }

  #dispatch(call: Call<I, O>): void {
    this.#records.callAdmitted();
    call.attempts++;
    const { attemptMs } = call.settings;
    const limitMs = this.link.closed ? attemptMs : Math.min(attemptMs, this.#leaseMs());
    const attempt = new Attempt(this, call, this.link.generation, this.link.incarnation, limitMs, this.#now);
    call.attempt = attempt;
    this.#places.take();
    this.#attempting.add(call);
    call.due = this.#attemptDue(call, attempt);
    this.#parts.deadlines.set(call);
    if (!this.link.closed) this.#probeDue = call.due;
    this.link.attemptStarted();
    // Who heard of it may have ended the call by now.
    if (attempt.over) this.#workEnded(attempt);
    else this.#run(call, attempt);
  }

  #run(call: Call<I, O>, attempt: Attempt<I, O>): void {
    let pending: O | PromiseLike<O>;
    try {
      pending = call.isProbe
        ? (this.#parts.probe?.(attempt) as O | PromiseLike<O>)
        : this.#parts.operation(call.input, attempt);
      if (isThenable(pending)) {
        // Of native promises it is the promise itself; what only looks like one may call back at once.
        Promise.resolve(pending).then(
          (value) => this.#answered(attempt, value),
          (error: unknown) => this.#threw(attempt, error),
        );
        return;
      }
    } catch (error) {
      this.#threw(attempt, error);
      return;
    }
    this.#answered(attempt, pending);
  }

  #answered(attempt: Attempt<I, O>, value: O): void {
    // A native promise may have a `then` of somebody else's making, which calls back twice.
    if (attempt.ended) return;
    this.#workEnded(attempt);
    if (attempt.over) {
      this.#records.attemptWasLate(attempt, undefined);
      return;
    }
    const { call } = attempt;
    attempt.over = true;
    call.answered = true;
    this.link.recordAlive(attempt.generation, attempt.admittedBy);
    this.#leave(call, attempt);
    if (call.attempts === 1) this.#budget.succeededAtFirst();
    else this.#budget.succeededAfter(call.attempts - 1);
    this.#fillPlace();
    this.#settle(call, { ok: true, value });
  }

  #threw(attempt: Attempt<I, O>, error: unknown): void {
    if (attempt.ended) return;
    this.#workEnded(attempt);
    const facts = attemptFacts(error, this.#clock.wallNow(), this.policy.maxPauseMs);
    if (attempt.over) {
      // Work that ends because it was told to is no result that came late.
      if (facts.kind !== 'cancelled' && facts.kind !== attempt.endedFor)
        this.#records.attemptWasLate(attempt, facts.message);
      return;
    }
    this.#judge(attempt, facts);
    this.#fillPlace();
    this.#after(attempt.call, facts);
  }

  /** The attempt is over: it leaves the table, and the breaker hears of it. */
  #judge(attempt: Attempt<I, O>, facts: FailureFacts): void {
    const { call, generation, admittedBy } = attempt;
    // Before anybody hears of it: a listener that ends the call finds it judged.
    attempt.over = true;
    // While the attempt is still in the table: the machine takes failures of a closed circuit only while something is in flight.
    switch (breakerOutcome(facts)) {
      case 'failure':
        this.link.recordFailure(generation, admittedBy, facts.kind, facts.retryAfterMs);
        break;
      case 'alive':
        this.link.recordAlive(generation, admittedBy);
        break;
      case 'ignored':
        this.link.recordIgnored(generation, admittedBy);
        break;
    }
    if (attempt.ended) this.#leave(call, attempt);
    else this.#giveUp(attempt, facts);
    const pauseMs = facts.kind === 'rate_limit' ? facts.retryAfterMs : undefined;
    if (pauseMs !== undefined && pauseMs > 0) this.#pause(pauseMs);
  }

  #pause(pauseMs: number): void {
    const until = this.#clock.now() + pauseMs;
    if (this.link.lastState === 'crashed' || until <= this.link.pausedUntil) return;
    this.link.send({ type: 'integration.paused', until });
    this.#records.paused(pauseMs);
  }

  /** Ends an attempt whose work goes on: it is told to stop, and watched until it does or is written off. */
  #giveUp(attempt: Attempt<I, O>, facts: FailureFacts): void {
    this.#leave(attempt.call, attempt);
    attempt.endedAt = this.#clock.now();
    if (!this.#stopped) {
      attempt.due = attempt.endedAt + this.policy.abortGraceMs;
      this.#overstaying.add(attempt);
      this.#parts.deadlines.set(attempt);
    }
    attempt.abort(facts);
  }

  /** What follows a failed attempt, for its call. */
  #after(call: Call<I, O>, facts: FailureFacts): void {
    if (call.failed) return;
    call.noteFailure(facts);
    const now = this.#clock.now();
    const next = nextStep(call, facts, {
      now,
      random: this.#parts.random,
      open: this.#isOpen,
      crashed: this.link.lastState === 'crashed',
      circuitOpen: (cause) => this.#circuitOpen(cause),
      takeRetry: () => this.#budget.tryRetry(call.retrying ? this.#retrying - 1 : this.#retrying),
    });
    if (next.step === 'end' || this.#stopped) {
      this.#end(call, next.step === 'end' ? next.facts : refusal.stopped(this.name));
      return;
    }
    if (!call.retrying) this.#retrying++;
    call.retrying = true;
    const delayMs = next.step === 'wait' ? next.delayMs : null;
    call.waitedMs += delayMs ?? 0;
    if (delayMs === null) this.#wait(call, 'restart', call.overallDue);
    else this.#wait(call, 'backoff', now + delayMs);
    this.#records.callRetried(call, facts, delayMs);
  }

  #attemptDue(call: Call<I, O>, attempt: Attempt<I, O>): number {
    return Math.min(attempt.lastSignAt + call.settings.idleMs, attempt.startedAt + attempt.limitMs, call.overallDue);
  }

  /** A probe that never settles must give its place back, also where attempts have no limit of their own. */
  #leaseMs(): number {
    const { attemptMs, overallMs } = this.policy.limits;
    const limitMs = Number.isFinite(attemptMs)
      ? attemptMs
      : Number.isFinite(overallMs)
        ? overallMs
        : this.policy.breaker.resetTimeoutMs;
    return limitMs + this.policy.breaker.probeLeaseGraceMs;
  }

  #attemptExpired(call: Call<I, O>, attempt: Attempt<I, O>, now: number): void {
    const due = this.#attemptDue(call, attempt);
    if (due > now) {
      // It showed a sign of life since; only now is its place in the queue worth moving.
      call.due = due;
      this.#parts.deadlines.set(call);
      return;
    }
    const { idleMs, attemptMs, overallMs } = call.settings;
    const facts =
      now >= attempt.lastSignAt + idleMs
        ? this.#timedOut('idle_timeout', idleMs)
        : now >= attempt.startedAt + attemptMs
          ? this.#timedOut('attempt_timeout', attemptMs)
          : now >= call.overallDue
            ? this.#timedOut('overall_timeout', overallMs)
            : this.#timedOut('lease_expired', attempt.limitMs);
    this.#judge(attempt, facts);
    if (facts.reason === 'overall_timeout') this.#end(call, facts);
    else this.#after(call, facts);
    if (facts.reason !== 'overall_timeout') this.#parts.onSilence?.();
  }

  #timedOut(reason: FailureReason, limitMs: number): FailureFacts {
    const facts = refusal.timedOut(reason, limitMs);
    const { describeTimeout } = this.#parts;
    return describeTimeout === undefined ? facts : { ...facts, message: describeTimeout(reason, limitMs) };
  }

  /** The attempt leaves the table, whatever became of its work. */
  #leave(call: Call<I, O>, attempt: Attempt<I, O>): void {
    attempt.over = true;
    call.attempt = undefined;
    this.#attempting.delete(call);
    if (!call.failed) this.#parts.deadlines.remove(call);
    this.link.flushSoon();
  }

  #workEnded(attempt: Attempt<I, O>): void {
    attempt.ended = true;
    if (attempt.abandoned) {
      if (this.#places.reclaim() && this.#overwhelmed) this.#backInService();
      return;
    }
    this.#places.release();
    if (attempt.over && this.#overstaying.delete(attempt)) {
      this.#parts.deadlines.remove(attempt);
      this.#fillPlace();
    }
  }

  /** Gives a freed place to whoever has waited longest. */
  #fillPlace(): void {
    // An answer that comes at once frees its place in here: a loop, or a long queue would overflow the stack.
    if (this.#filling) return;
    this.#filling = true;
    while (this.#places.free && this.link.closed) {
      const next = this.#places.next();
      if (next === undefined) break;
      this.#stopWaiting(next);
      this.#proceed(next);
    }
    this.#filling = false;
  }

  #startProbe(now: number): void {
    const { limits, retry } = this.policy;
    const settings: CallSettings<I, O> = {
      ...limits,
      overallMs: Math.min(limits.overallMs, this.#leaseMs()),
      retry: { ...retry, maxAttempts: 1 },
      effect: 'readOnly',
      label: 'probe',
      session: undefined,
      signal: undefined,
      fallback: undefined,
    };
    if (!this.#requestProbe(now)) return;
    const probe = new Call<I, O>(this, ++this.#lastCall, undefined as I, settings, now, () => undefined, true);
    this.#probe = probe;
    this.#dispatch(probe);
  }

  #circuitOpen(cause: FailureFacts | undefined): FailureFacts {
    const { lastState, hasFreeProbe, openUntil, pausedUntil } = this.link;
    const probeAt = lastState !== 'half-open' ? openUntil : hasFreeProbe ? 0 : this.#probeDue;
    return refusal.circuitOpen(this.name, Math.max(probeAt, pausedUntil) - this.#clock.now(), cause);
  }

  /** Ends calls before dispatch: told once per episode, counted always. A call that was tried before has its own record. */
  #refuse(call: Call<I, O>, facts: FailureFacts): void {
    if (call.failed) return;
    if (call.attempts > 0) {
      this.#end(call, facts);
      return;
    }
    this.#records.callRefused(call, facts);
    // Who heard of it may have ended it in another way, which has a record of its own.
    if (call.failed) return;
    call.refused = true;
    this.#end(call, facts);
  }

  /** The last word on a call, unless a fallback has a better one. */
  #end(call: Call<I, O>, facts: FailureFacts): void {
    if (call.settled) return;
    call.failed = true;
    if (call.waiting !== undefined) this.#stopWaiting(call);
    const failure: Failure = {
      ...facts,
      outcome: call.effectAtEnd(facts),
      integration: this.name,
      attempts: call.attempts,
      retryable: facts.shouldRetry ?? isRetryable(facts),
    };
    const { fallback } = call.settings;
    const wanted = facts.kind !== 'cancelled' && facts.kind !== 'watchdog';
    if (fallback === undefined || !wanted || call.fallback !== undefined) this.#settle(call, { ok: false, failure });
    else this.#fallBack(call, failure);
  }

  #fallBack(call: Call<I, O>, failure: Failure): void {
    const controller = new AbortController();
    call.fallback = controller;
    call.lastFailure = failure;
    this.#fallingBack.add(call);
    call.due = call.overallDue;
    this.#parts.deadlines.set(call);
    const done = (outcome: Outcome<O>): void => {
      if (!call.settled) this.#settle(call, outcome);
    };
    const failed = (): void => done({ ok: false, failure });
    try {
      const answer = call.settings.fallback?.(call.input, failure, controller) as O | PromiseLike<O>;
      if (isThenable(answer)) Promise.resolve(answer).then((value) => done({ ok: true, value }), failed);
      else done({ ok: true, value: answer });
    } catch {
      failed();
    }
  }

  #settle(call: Call<I, O>, outcome: Outcome<O>): void {
    call.settled = true;
    this.#parts.deadlines.remove(call);
    if (call.fallback !== undefined) this.#fallingBack.delete(call);
    if (call.retrying) this.#retrying--;
    const { signal } = call.settings;
    if (signal !== undefined) this.#parts.signals.unwatch(signal, call);
    if (call.isProbe) {
      this.#probeEnded(call);
      return;
    }
    call.resolve(outcome);
    if (!outcome.ok) {
      if (!call.refused) this.#records.callFailed(call, outcome.failure);
    } else if (call.fallback !== undefined && call.lastFailure !== undefined)
      this.#records.callFellBack(call, call.lastFailure.kind);
    else this.#records.callSucceeded(call);
  }

  #probeEnded(probe: Call<I, O>): void {
    // One that is not waited for any more: the circuit is half-open no longer.
    if (this.#probe !== probe || this.#stopped) return;
    this.#probe = undefined;
    // A probe that neither closed nor opened the circuit (it was told to wait) helps nobody who waits for it.
    for (const call of [...this.#waiting]) {
      if (this.link.lastState !== 'half-open') return;
      if (call.waiting === 'probe') this.#refuse(call, this.#circuitOpen(call.lastFailure));
    }
  }

  #changed(from: IntegrationState, to: IntegrationState): void {
    if (this.#stopped) return;
    if (from === 'half-open') this.#probe = undefined;
    this.#records.tell({ type: 'integration.changed', integration: this.name, from, to });
    // Who heard of it may have changed it again.
    const { lastState, closed } = this.link;
    if (to === 'crashed' && lastState === to) this.#resume('probe');
    if (to === 'open' && lastState === to) this.#circuitOpened();
    // Or made a call: that leads on to `calling`, and others wait for this all the same.
    else if (closed && (from === 'half-open' || from === 'open' || from === 'crashed')) {
      this.#records.callAdmitted();
      this.#resume('restart');
      this.#resume('probe');
      this.#fillPlace();
    }
  }

  /** Waiting calls end now: they would only be refused later. Those that have been tried keep their failure as the cause. */
  #circuitOpened(): void {
    for (const call of [...this.#waiting]) {
      // Who heard of the last one may have closed the circuit again.
      if (this.link.lastState !== 'open') return;
      if (call.waiting === undefined) continue;
      this.#stopWaiting(call);
      this.#refuse(call, this.#circuitOpen(call.lastFailure));
    }
  }

  #resume(waiting: Waiting): void {
    for (const call of [...this.#waiting]) {
      if (call.waiting !== waiting) continue;
      this.#stopWaiting(call);
      this.#proceed(call);
    }
  }

  #emitted(event: IntegrationEmitted): void {
    const integration = this.name;
    switch (event.type) {
      case 'breaker.opened':
        this.#records.tell({ type: 'breaker.opened', integration, openForMs: event.openForMs, kind: event.kind });
        break;
      case 'breaker.half_opened':
        this.#records.tell({ type: 'breaker.half_opened', integration });
        break;
      case 'breaker.closed':
        this.#records.tell({ type: 'breaker.closed', integration });
        break;
    }
    this.#parts.onBreaker?.(event);
  }
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && typeof (value as { then?: unknown }).then === 'function';
}

function isRetryable(facts: FailureFacts): boolean {
  return (
    failureKinds[facts.kind].retried ||
    facts.kind === 'circuit_open' ||
    facts.kind === 'too_many_requests' ||
    facts.kind === 'unavailable'
  );
}
