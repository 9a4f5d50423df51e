import {
  type CallFigures,
  type IntegrationEmitted,
  type IntegrationEvent,
  type IntegrationRef,
  type IntegrationState,
} from '../machines/integration.ts';
import type { BreakerPolicy, Tally } from '../policy/breaker.ts';
import type { Clock, Timer } from '../policy/clock.ts';
import type { FailureKind } from '../policy/failure.ts';
import { OutcomeWindow } from '../policy/outcomeWindow.ts';
import type { Admission } from './call.ts';
import { createStreak, type FailureStreak } from './failureStreak.ts';

/** How long an integration that nobody calls any more is left `calling`, in ms; twice that at most. */
const lingerMs = 10;

/** What the call path does when the machine has changed. */
export interface MachineWatcher {
  changed(from: IntegrationState, to: IntegrationState): void;
  emitted(event: IntegrationEmitted): void;
}

/**
 * The call path's side of its machine: keeps the counters, sends the events that could change the state, and skips only those the
 * machine would ignore. Survives the incarnations of the machine's actor.
 */
export class MachineLink {
  readonly #clock: Clock;
  readonly #figures: () => CallFigures;
  readonly #watcher: MachineWatcher;
  readonly #window: OutcomeWindow;
  readonly #streak: FailureStreak;
  readonly #isWatched: () => boolean;
  readonly #everyEvent: boolean;
  #ref: IntegrationRef | undefined = undefined;
  #unsubscribe: (() => void) | undefined = undefined;
  #state: IntegrationState = 'crashed';
  // What every call asks for, copied from each new snapshot: to ask the machine takes longer, and the code compiled for it goes with
  // the machine.
  #admission: Admission = { generation: -1 };
  #openUntil = Number.POSITIVE_INFINITY;
  #pausedUntil = 0;
  /** Who holds the circuit open. Kept here, since a new incarnation of the machine knows nothing of them. */
  readonly #holders = new Set<object>();
  readonly #untold: IntegrationEmitted[] = [];
  #flushQueued = false;
  #lingering: Timer | undefined = undefined;
  #usedMeanwhile = false;
  /** What an incarnation begins with is no circuit that closed: the failures that were kept still count. */
  #beginning = false;

  /**
   * @param isWatched - whether anybody hears of every state: then none is left out.
   * @param everyEvent - sends also what the machine would ignore.
   * @param streak - counts the failures in a row.
   */
  constructor(
    policy: BreakerPolicy,
    clock: Clock,
    figures: () => CallFigures,
    watcher: MachineWatcher,
    isWatched: () => boolean,
    everyEvent = false,
    streak: FailureStreak = createStreak(),
  ) {
    this.#isWatched = isWatched;
    this.#everyEvent = everyEvent;
    this.#clock = clock;
    this.#figures = figures;
    this.#watcher = watcher;
    this.#window = new OutcomeWindow(policy.windowSize, policy.windowMs);
    this.#streak = streak;
  }

  /**
   * Takes the actor of a new incarnation, and starts it if nobody has: what is sent from here on must be taken in order.
   * @param first - what the machine is told before anybody learns that it runs.
   */
  attach(ref: IntegrationRef, first: readonly IntegrationEvent[] = []): void {
    this.detach();
    this.#ref = ref;
    const emitted = ref.on('*', (event) => this.#untold.push(event));
    // A machine that threw has no state of its own any more: it is shown as crashed until its next incarnation.
    const errors = ref.subscribe({ error: () => this.#moveTo('crashed') });
    this.#unsubscribe = () => {
      emitted.unsubscribe();
      errors.unsubscribe();
    };
    ref.start();
    this.#window.clear();
    this.#streak.begin();
    for (const event of first) ref.send(event);
    for (const _ of this.#holders) ref.send({ type: 'breaker.isolate' });
    this.#beginning = true;
    this.#follow();
    this.#beginning = false;
    this.flushSoon();
  }

  detach(): void {
    this.#unsubscribe?.();
    this.#unsubscribe = undefined;
    this.#ref = undefined;
    this.#copy();
    this.#moveTo('crashed');
  }

  /** The state as of now: what the call table says, also within an event-loop turn. */
  get state(): IntegrationState {
    this.flush();
    return this.#state;
  }

  /** The state the machine was last left in; what the fast path looks at. */
  get lastState(): IntegrationState {
    return this.#state;
  }

  get closed(): boolean {
    return this.#state === 'calling' || this.#state === 'idle' || this.#state === 'backoff';
  }

  get isOpen(): boolean {
    return this.#state === 'open' || this.#state === 'half-open';
  }

  /** What fences attempts: another one in each generation and incarnation. */
  get admission(): Admission {
    return this.#admission;
  }

  get openUntil(): number {
    return this.#openUntil;
  }

  /** Whether a half-open circuit has a place for a further probe. */
  get hasFreeProbe(): boolean {
    const context = this.#ref?.getSnapshot().context;
    return context !== undefined && context.probing < context.policy.probes;
  }

  get openings(): number {
    return this.#ref?.getSnapshot().context.openings ?? 0;
  }

  get pausedUntil(): number {
    return this.#pausedUntil;
  }

  /** Whether an attempt admitted then may still change the state now. */
  isCurrent(admission: Admission): boolean {
    return admission === this.#admission && this.#isAlive;
  }

  send(event: IntegrationEvent): void {
    if (this.#isAlive) {
      this.#ref?.send(event);
      this.#follow();
    } else if (this.openings > 0 && (event.type === 'breaker.reset' || event.type === 'integration.restarted')) {
      // Who keeps the circuit for the next incarnation has to hear of it all the same.
      this.#watcher.emitted({ type: 'breaker.closed' });
    }
  }

  get #isAlive(): boolean {
    return this.#ref !== undefined && (this.#state !== 'crashed' || this.#ref.getSnapshot().status === 'active');
  }

  /** Forces the circuit open until the returned function is called; a reset ends it too. */
  isolate(): () => void {
    const holder = {};
    this.#holders.add(holder);
    this.send({ type: 'breaker.isolate' });
    return () => {
      // After a reset the isolation is gone, and this release must not take away somebody else's.
      if (this.#holders.delete(holder)) this.send({ type: 'breaker.release' });
    };
  }

  /** Closes the circuit, whoever holds it open, and forgets what was counted. */
  reset(): void {
    this.#holders.clear();
    this.clearCounters();
    this.send({ type: 'breaker.reset' });
  }

  /** Asks for a probe's place. Whether it was given is the machine's decision, read from what changed. */
  requestProbe(at: number): boolean {
    const before = this.#ref?.getSnapshot().context;
    // The machine would ignore it: the answer to a call on an open circuit must cost next to nothing.
    if (before === undefined || (!this.#everyEvent && this.#state === 'open' && at < this.openUntil)) return false;
    this.#ref?.send({ type: 'probe.requested', at });
    const after = this.#ref?.getSnapshot().context;
    const given = after !== undefined && (after.generation !== before.generation || after.probing !== before.probing);
    this.#follow();
    // Whoever heard of it may have changed everything since.
    return given && this.#state === 'half-open' && this.#admission.generation === after.generation;
  }

  attemptStarted(): void {
    this.#usedMeanwhile = true;
    if (this.#everyEvent || this.#state === 'idle' || this.#state === 'backoff') this.flush();
  }

  /** An attempt has left the table. */
  attemptEnded(): void {
    // The last one out: what was called a moment ago is called again, and two events for each call would cost ten times the call.
    if (this.#lingering !== undefined) return;
    if (this.#state === 'calling' && !this.#isWatched()) this.#linger();
    else this.flushSoon();
  }

  /** Leaves the machine `calling` for a moment. Who reads the state has it follow at once; one timer does for all calls of its time. */
  #linger(): void {
    this.#usedMeanwhile = false;
    this.#lingering = this.#clock.setTimeout(this.#lingered, lingerMs);
  }

  readonly #lingered = (): void => {
    this.#lingering = undefined;
    if (this.#usedMeanwhile && this.#state === 'calling' && !this.#isWatched()) this.#linger();
    else this.flush();
  };

  #endLinger(): void {
    this.#clock.clearTimeout(this.#lingering);
    this.#lingering = undefined;
  }

  /** An attempt proved life: it succeeded, or the other side answered with an error. */
  recordAlive(admission: Admission): void {
    if (this.closed) {
      // The usual case: counters only, the machine would ignore an answer while the circuit is closed.
      if (!this.isCurrent(admission)) return;
      this.#streak.end();
      this.#window.record(false, this.#clock.now());
      if (this.#everyEvent) this.send({ type: 'attempt.answered', generation: admission.generation });
    } else if (this.isCurrent(admission)) {
      this.send({ type: 'attempt.answered', generation: admission.generation });
    }
  }

  recordFailure(admission: Admission, kind: FailureKind, hintMs: number | undefined): void {
    if (!this.isCurrent(admission)) return;
    const at = this.#clock.now();
    this.#window.record(true, at);
    const tally: Tally = {
      consecutive: this.#streak.failed(),
      failures: this.#window.failures(at),
      total: this.#window.total(at),
    };
    this.send({ type: 'attempt.failed', generation: admission.generation, at, kind, tally, hintMs });
  }

  recordIgnored(admission: Admission): void {
    if ((this.#everyEvent || this.#state === 'half-open') && this.isCurrent(admission)) {
      this.send({ type: 'attempt.ignored', generation: admission.generation });
    }
  }

  clearCounters(): void {
    this.#streak.end();
    this.#window.clear();
  }

  /** Lets the machine follow the call table at the end of this turn, once however many calls changed. */
  flushSoon(): void {
    if (this.#flushQueued) return;
    this.#flushQueued = true;
    this.#clock.nextTurn(this.#flushQueuedNow);
  }

  readonly #flushQueuedNow = (): void => {
    this.#flushQueued = false;
    this.flush();
  };

  flush(): void {
    if (!this.closed) return;
    const figures = this.#figures();
    const computed = figures.attempts > 0 ? 'calling' : figures.waiting > 0 ? 'backoff' : 'idle';
    if (this.#everyEvent || computed !== this.#state) this.send({ type: 'calls.changed', ...figures });
  }

  /** Takes over what the machine made of an event, then tells what it announced: listeners find everything in its new state. */
  #follow(): void {
    const snapshot = this.#ref?.getSnapshot();
    this.#copy();
    this.#moveTo(snapshot?.status === 'active' ? snapshot.value : 'crashed');
    for (let event = this.#untold.shift(); event !== undefined; event = this.#untold.shift())
      this.#watcher.emitted(event);
  }

  #copy(): void {
    const context = this.#ref?.getSnapshot().context;
    const isHeld = context === undefined || context.isolations > 0;
    const generation = context?.generation ?? -1;
    if (generation !== this.#admission.generation) this.#admission = { generation };
    this.#openUntil = isHeld ? Number.POSITIVE_INFINITY : context.openUntil;
    this.#pausedUntil = context?.pausedUntil ?? 0;
  }

  #moveTo(state: IntegrationState): void {
    const from = this.#state;
    if (from === state) return;
    this.#state = state;
    if (this.#lingering !== undefined) this.#endLinger();
    const begins = this.#beginning;
    this.#beginning = false;
    const wasClosed = from === 'calling' || from === 'idle' || from === 'backoff';
    if (!wasClosed && this.closed) {
      if (!begins) this.clearCounters();
      // Attempts of before may still be in flight.
      this.flushSoon();
    }
    this.#watcher.changed(from, state);
  }
}
