import type {
  IntegrationEmitted,
  IntegrationEvent,
  IntegrationRef,
  IntegrationState,
} from '../machines/integration.ts';
import type { FailureFacts, Outcome } from '../policy/failure.ts';
import type { IntegrationPolicy } from '../policy/policy.ts';
import { RetryBudget } from '../policy/retryBudget.ts';
import { Attempts } from './attempts.ts';
import { Call, type CallKeeper, type CallSettings } from './call.ts';
import type { Beginning, CallPathParts, CallStats } from './callPathParts.ts';
import { CallRecords } from './callRecords.ts';
import { CallTable } from './callTable.ts';
import { Doubt } from './doubt.ts';
import { Endings } from './endings.ts';
import { Gate } from './gate.ts';
import { MachineLink } from './machineLink.ts';
import { nextStep } from './nextStep.ts';
import { Outage } from './outage.ts';
import { Places } from './places.ts';
import { Probing } from './probing.ts';
import * as refusal from './refusal.ts';
import { Scopes } from './scopes.ts';
import { Waits } from './waits.ts';

/**
 * The way of every call to an integration: through the gate, attempts and waits in turn, and one ending. A call is a row here, not
 * an actor; the machine is told what could change its state and decides it.
 *
 * The caller is settled at the deadline; work that goes on behind is aborted, fenced and, if need be, written off. Anybody who
 * hears of something on the way may call back into the path, end calls or stop it: each step looks again at what it finds.
 */
export class CallPath<I, O> implements CallKeeper<I, O> {
  readonly name: string;
  readonly policy: IntegrationPolicy;
  readonly link: MachineLink;
  readonly #parts: CallPathParts<I, O>;
  readonly #budget: RetryBudget;
  readonly #places: Places<Call<I, O>>;
  readonly #records: CallRecords<I, O>;
  readonly #waits: Waits<I, O>;
  readonly #endings: Endings<I, O>;
  readonly #probing: Probing<I, O>;
  readonly #attempts: Attempts<I, O>;
  readonly #gate: Gate<I, O>;
  readonly #outage: Outage;
  readonly #scopes: Scopes<I, O>;
  readonly #doubt: Doubt;
  #stopped = false;
  #retrying = 0;
  #lastCall = 0;

  constructor(parts: CallPathParts<I, O>) {
    const { name, policy, clock } = parts;
    this.#parts = parts;
    this.name = name;
    this.policy = policy;
    this.#budget = parts.retryBudget ?? new RetryBudget();
    this.#places = new Places(policy);
    this.#records = new CallRecords(name, clock, parts.facts);
    this.link = new MachineLink(
      policy.breaker,
      clock,
      () => ({ attempts: this.#attempts.size, waiting: this.#waits.size }),
      { changed: (from, to) => this.#changed(from, to), emitted: (event) => this.#emitted(event) },
      () => parts.facts.wants('integration.changed'),
      parts.everyEvent,
      parts.streak,
    );
    const { link } = this;
    const places = this.#places;
    const records = this.#records;
    const waits = new Waits(parts.deadlines, places, () => link.flushSoon());
    const endings = new Endings<I, O>({
      ...parts,
      records,
      waits,
      settled: (call) => this.#settled(call),
      isStopped: () => this.#stopped,
    });
    const probing = new Probing<I, O>({
      ...parts,
      link,
      makeProbe: (settings) => this.#makeCall(undefined as I, settings, clock.now(), () => undefined),
      dispatch: (probe) => this.#attempts.dispatch(probe),
    });
    const doubt = new Doubt({
      link,
      inquire: parts.onSilence,
      nextTurn: (callback) => clock.nextTurn(callback),
      over: () => {
        this.#gate.resume('doubt');
        this.#gate.fillPlaces();
      },
    });
    const attempts = new Attempts(
      parts,
      link,
      places,
      probing,
      records,
      doubt,
      {
        answered: (call, value) => this.#answered(call, value),
        failed: (call, facts) => this.#failed(call, facts),
        placeFreed: () => this.#gate.fillPlaces(),
        workStarted: (attempt) => this.#scopes.workStarted(attempt),
        workEnded: (attempt) => this.#scopes.workEnded(attempt),
        overwhelmed: () => this.#outage.overwhelm(),
        withinBound: () => {
          if (!this.#stopped) this.#outage.withinBound();
        },
      },
      new CallTable(this, policy, clock.now()),
    );
    const scopes = new Scopes<I, O>({
      name,
      end: (call, facts) => this.end(call, facts),
      refuse: (call, facts) => endings.refuse(call, facts),
      proceed: (call) => {
        waits.remove(call);
        this.#gate.proceed(call);
      },
    });
    this.#scopes = scopes;
    this.#doubt = doubt;
    this.#waits = waits;
    this.#endings = endings;
    this.#probing = probing;
    this.#attempts = attempts;
    this.#outage = new Outage({ ...parts, link, records, loseAll: (facts) => attempts.loseAll(facts) });
    this.#gate = new Gate({
      ...parts,
      link,
      places,
      waits,
      endings,
      attempts,
      probing,
      scopes,
      doubt,
      isStopped: () => this.#stopped,
      lastCrash: () => this.#outage.last,
    });
  }

  get stats(): CallStats {
    return {
      attempts: this.#attempts.size,
      waiting: this.#waits.size,
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
    const now = this.now();
    const call = this.#makeCall(input, settings, now, settled);
    const { signal } = settings;
    if (this.#stopped) this.#endings.refuse(call, refusal.stopped(this.name));
    else if (signal?.aborted === true) this.#endings.fail(call, refusal.cancelled(signal.reason, false));
    else {
      if (signal !== undefined) this.#parts.signals.watch(signal, call);
      if (settings.scope === undefined) this.#gate.proceed(call, now);
      else {
        this.#scopes.enter(call);
        // Who heard of the end of the call that it replaced may have taken any time.
        this.#gate.proceed(call);
      }
    }
    return call;
  }

  /** Ends a call that has not ended yet, for the reason given. */
  end(call: Call<I, O>, facts: FailureFacts): void {
    if (call.settled || call.ending === 'answered') return;
    if (call.trouble.fallback !== undefined) {
      this.#endings.cutShort(call, facts);
      return;
    }
    this.#attempts.end(call, facts);
    this.#endings.fail(call, facts);
  }

  /** Ends the call that holds a scope. False when none does. */
  endScope(scope: string, reason: unknown): boolean {
    const holder = this.#scopes.holder(scope);
    if (holder !== undefined) this.end(holder, refusal.cancelled(reason, holder.attempt !== undefined));
    return holder !== undefined;
  }

  /**
   * The thing behind the integration is gone: its attempts end, and what may be tried again waits for the restart.
   * @param quietly - it ended as it was to: nothing is told, and its coming back neither.
   */
  crashed(facts: FailureFacts, quietly = false): void {
    if (this.#stopped) return;
    this.#outage.needsRestart();
    this.#outage.begin(facts, quietly);
    this.#doubt.forget();
  }

  /** The thing behind the integration is there again, and nothing of what was going on before. */
  restarted(): void {
    if (this.#stopped) return;
    this.#places.forgive();
    this.#outage.end();
    this.#doubt.forget();
    this.#scopes.forgive();
  }

  /** Closes the circuit, forgets what was counted, and takes a crashed function back into service. */
  reset(): void {
    if (this.#stopped) return;
    this.#places.forgive();
    this.link.reset();
    this.#outage.withinBound();
    this.#gate.resume('pause');
    this.#doubt.forget();
    this.#scopes.forgive();
  }

  /** Takes the machine of a new incarnation. */
  attach(ref: IntegrationRef, { open, down = false }: Beginning = {}): void {
    if (this.#stopped) return;
    this.#outage.needsRestart();
    // Before its attempts are ended: that our own machine is gone says nothing about the other side.
    this.link.detach();
    for (const call of this.#attempts.calls) this.end(call, refusal.machineLost(this.name));
    const first: IntegrationEvent[] = [];
    if (open !== undefined) first.push({ type: 'breaker.restore', ...open });
    if (down) {
      this.#outage.startsDown();
      first.push({ type: 'integration.lost' });
    }
    this.link.attach(ref, first);
  }

  /** Ends every call and every wait. Nothing is left in the queue of deadlines afterwards. */
  stop(): void {
    this.#stopped = true;
    this.#attempts.stop();
    const facts = refusal.stopped(this.name);
    for (const call of [...this.#attempts.calls, ...this.#waits.list(), ...this.#endings.fallingBack]) {
      this.end(call, facts);
    }
    this.link.detach();
    this.#parts.onStop?.();
  }

  now(): number {
    return this.#parts.clock.now();
  }

  callExpired(call: Call<I, O>, now: number): void {
    if (call.settled) return;
    const { fallback, lastFailure } = call.trouble;
    if (fallback !== undefined && lastFailure !== undefined) {
      this.#endings.cutShort(call, lastFailure, refusal.timedOut('overall_timeout', call.settings.overallMs));
    } else if (call.attempt !== undefined) this.#attempts.expired(call.attempt, now);
    else this.#gate.waitExpired(call, now);
  }

  callAborted(call: Call<I, O>, reason: unknown): void {
    this.end(call, refusal.cancelled(reason, call.attempt !== undefined));
  }

  #makeCall(input: I, settings: CallSettings<I, O>, now: number, settled: (outcome: Outcome<O>) => void): Call<I, O> {
    return new Call(this, ++this.#lastCall, input, settings, now, settled);
  }

  #answered(call: Call<I, O>, value: O): void {
    if (call.attempts === 1) this.#budget.succeededAtFirst();
    else this.#budget.succeededAfter(call.attempts - 1);
    this.#endings.succeed(call, value);
  }

  /** What follows a failed attempt, for its call. */
  #failed(call: Call<I, O>, facts: FailureFacts): void {
    if (call.failed) return;
    call.noteFailure(facts);
    const now = this.#parts.clock.now();
    const next = nextStep(call, facts, {
      now,
      random: this.#parts.random,
      open: this.link.isOpen,
      crashed: this.link.lastState === 'crashed',
      circuitOpen: (cause) => this.#probing.circuitOpen(cause),
      takeRetry: () => this.#budget.tryRetry(call.trouble.retrying ? this.#retrying - 1 : this.#retrying),
    });
    if (next.step === 'end' || this.#stopped) {
      this.#endings.fail(call, next.step === 'end' ? next.facts : refusal.stopped(this.name));
      return;
    }
    const trouble = call.ownTrouble();
    if (!trouble.retrying) this.#retrying++;
    trouble.retrying = true;
    const delayMs = next.step === 'wait' ? next.delayMs : null;
    trouble.waitedMs += delayMs ?? 0;
    if (delayMs === null) this.#waits.add(call, 'restart', call.overallDue);
    else this.#waits.add(call, 'backoff', now + delayMs);
    const { attempts } = call;
    this.#records.callRetried(call, facts, delayMs);
    // Who heard of it may have ended the call, or had it go on.
    if (!call.settled && !call.failed) call.settings.retried?.(facts, attempts);
  }

  #settled(call: Call<I, O>): void {
    if (call.trouble.retrying) this.#retrying--;
    this.#scopes.leave(call);
    // A circuit that is half-open no longer has forgotten its probe.
    if (call.settings.isProbe !== true || !this.#probing.isTheProbe(call) || this.#stopped) return;
    this.#probing.forget();
    this.#gate.refuseProbeWaiters();
  }

  #changed(from: IntegrationState, to: IntegrationState): void {
    if (this.#stopped) return;
    if (from === 'half-open') this.#probing.forget();
    this.#records.tell({ type: 'integration.changed', integration: this.name, from, to });
    // Who heard of it may have changed it again.
    const { lastState, isOpen, closed } = this.link;
    if (to === 'crashed' && lastState === to) this.#gate.resume('probe');
    if (to === 'open' && isOpen) this.#gate.refuseAll();
    // Or made a call: that leads on to `calling`, and others wait for this all the same.
    else if (closed && (from === 'half-open' || from === 'open' || from === 'crashed')) {
      this.#records.callAdmitted();
      this.#gate.resume('restart');
      this.#gate.resume('probe');
      this.#gate.fillPlaces();
    }
  }

  #emitted(event: IntegrationEmitted): void {
    // First what is kept: who hears of it may change the breaker again, and the last change is to be the one that stays.
    this.#parts.onBreaker?.(event);
    this.#records.tell({ ...event, integration: this.name });
  }
}
