import type { IntegrationRef, IntegrationState } from '../../machines/integration.ts';
import type { IntegrationEmitted, IntegrationEvent } from '../../machines/integrationEvents.ts';
import { openingRule } from '../../policy/breaker.ts';
import type { BreakerRule } from '../../policy/breakerRule.ts';
import type { FailureKind } from '../../policy/failures/failure.ts';
import type { BreakerCounts } from './breakerCounts.ts';
import type { CallPathOptions } from '../callPathOptions.ts';
import type { EffectQueue } from '../recorder/effectQueue.ts';
import type { Fence } from '../attempt.ts';
import { type FollowedCalls, type Follower, MachineSync } from './machineSync.ts';

/** Is told when the machine has changed. */
export interface MachineWatcher {
  /** @param shown - what `from` was shown as: before the first start that is `idle`. */
  changed(from: IntegrationState, to: IntegrationState, shown: IntegrationState): void;
  /** It is shown in another state, though nothing changed for the calls. */
  shown(from: IntegrationState, to: IntegrationState): void;
  emitted(event: IntegrationEmitted): void;
}

type LinkOptions = Pick<CallPathOptions<never, never>, 'clock' | 'everyEvent' | 'policy'>;

/**
 * The call path's side of its machine: sends the events that could change the state, and skips only those the machine would ignore.
 * Survives the incarnations of the machine's actor.
 */
export class MachineLink implements Follower {
  // Fields that every call asks for, copied from each new snapshot and written here alone: to ask the machine takes longer, and the code compiled for it goes with the machine.
  /** The state the machine was last left in; what the plain call looks at. */
  lastState: IntegrationState = 'crashed';
  closed = false;
  /** Fence of attempts: another one in each generation and incarnation. */
  fence: Fence = { generation: -1 };
  openUntil = Number.POSITIVE_INFINITY;
  pausedUntil = 0;
  readonly sync: MachineSync;
  readonly #options: LinkOptions;
  readonly #queue: EffectQueue;
  readonly #watcher: MachineWatcher;
  readonly #counts: BreakerCounts;
  /** Holders of an open circuit. Kept apart from the machine, of which a new incarnation knows nothing of them. */
  readonly #holders = new Set<object>();
  #ref: IntegrationRef | undefined = undefined;
  #unsubscribe: (() => void) | undefined = undefined;
  /** It is in service, or was: its first start is over, well or not, and nobody has stopped it since. */
  #started = false;
  /** The server has yet to start for the first time: calls wait as for a restart, the machine is as it begins. */
  #awaitsStart = false;
  readonly #untold: IntegrationEmitted[] = [];
  /** True while an incarnation begins, which is no circuit that closed: the failures that were kept still count. */
  #beginning = false;

  constructor(
    options: LinkOptions,
    counts: BreakerCounts,
    calls: FollowedCalls,
    queue: EffectQueue,
    watcher: MachineWatcher,
  ) {
    this.#options = options;
    this.#queue = queue;
    this.#watcher = watcher;
    this.#counts = counts;
    this.sync = new MachineSync(options.clock, calls, this);
  }

  /**
   * Takes the actor of a new incarnation, and starts it if nobody has: what is sent from here on must be taken in order.
   * @param first - what the machine is told before anybody learns that it runs.
   * @param awaitsStart - the server has yet to start for the first time.
   */
  attach(ref: IntegrationRef, first: readonly IntegrationEvent[] = [], awaitsStart = false): void {
    this.detach();
    this.#ref = ref;
    this.#awaitsStart = awaitsStart;
    const emitted = ref.on('*', (event) => this.#untold.push(event));
    // A machine that threw has no state of its own any more: it is shown as crashed until its next incarnation.
    const errors = ref.subscribe({ error: () => this.#threw() });
    this.#unsubscribe = () => {
      emitted.unsubscribe();
      errors.unsubscribe();
    };
    ref.start();
    this.#counts.begin();
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

  /** The state as of now: what the call table says, also within an event-loop turn. Before its first start, and after its stop, `idle`. */
  get state(): IntegrationState {
    this.flush();
    return this.#shown(this.lastState);
  }

  /** True once its first start is over, well or not, and nobody has stopped it since. */
  get started(): boolean {
    return this.#started;
  }

  /** It was stopped: nothing of it is in service, and nothing is wrong with it. */
  retire(): void {
    this.detach();
    this.#started = false;
  }

  /** The server has started. Calls that waited for that find the circuit closed. */
  restarted(): void {
    this.#awaitsStart = false;
    this.send({ type: 'integration.restarted' });
    // The machine itself never knew that something was missing.
    this.#follow();
  }

  /** The server is gone, or could not be started. */
  lost(): void {
    const isFirst = !this.#started;
    this.#awaitsStart = false;
    this.#started = true;
    this.send({ type: 'integration.lost' });
    if (isFirst && this.lastState === 'crashed') this.#watcher.shown('idle', 'crashed');
  }

  #shown(state: IntegrationState): IntegrationState {
    return state === 'crashed' && !this.#started ? 'idle' : state;
  }

  get isOpen(): boolean {
    return this.lastState === 'open' || this.lastState === 'half-open';
  }

  /** True while a half-open circuit has a place for a further probe. */
  get hasFreeProbe(): boolean {
    const context = this.#ref?.getSnapshot().context;
    return context !== undefined && context.probing < context.policy.probes;
  }

  get openings(): number {
    return this.#ref?.getSnapshot().context.openings ?? 0;
  }

  /** The rule that opened the circuit; undefined while it is closed, and where nobody knows. */
  get rule(): BreakerRule | undefined {
    return this.#ref?.getSnapshot().context.rule;
  }

  /** Tells whether an attempt admitted then may still change the state now. */
  isCurrent(fence: Fence): boolean {
    // While the circuit is closed, the machine of the current fence lives.
    return fence === this.fence && (this.closed || this.#isAlive);
  }

  send(event: IntegrationEvent): void {
    this.#queue.change(() => this.#send(event));
  }

  #send(event: IntegrationEvent): void {
    if (this.#isAlive) {
      this.#ref?.send(event);
      this.#follow();
    } else if (this.openings > 0 && (event.type === 'breaker.reset' || event.type === 'integration.restarted')) {
      // The store that keeps the circuit for the next incarnation has to hear of it all the same.
      this.#watcher.emitted({ type: 'breaker.closed' });
    }
  }

  get #isAlive(): boolean {
    return this.#ref !== undefined && (this.lastState !== 'crashed' || this.#ref.getSnapshot().status === 'active');
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
    this.#counts.clear();
    this.send({ type: 'breaker.reset' });
  }

  /** Counts a failure of an attempt, and lets the machine decide what it means. */
  recordFailure(fence: Fence, kind: FailureKind, hintMs: number | undefined): void {
    if (!this.isCurrent(fence)) return;
    const at = this.#options.clock.now();
    const tally = this.#counts.failed(at);
    // While the circuit is closed the machine ignores what does not open it.
    if (this.closed && !this.#everyEvent && openingRule(kind, tally, this.#options.policy.breaker) === undefined)
      return;
    this.send({ type: 'attempt.failed', generation: fence.generation, at, kind, tally, hintMs });
  }

  /** Asks for a probe's place. Whether it was given is the machine's decision, read from what changed. */
  requestProbe(at: number): boolean {
    const before = this.#ref?.getSnapshot().context;
    // The machine would ignore it: the answer to a call on an open circuit must cost next to nothing.
    if (before === undefined || (!this.#everyEvent && this.lastState === 'open' && at < this.openUntil)) return false;
    this.#ref?.send({ type: 'probe.requested', at });
    const after = this.#ref?.getSnapshot().context;
    const given = after !== undefined && (after.generation !== before.generation || after.probing !== before.probing);
    this.#follow();
    return given;
  }

  attemptStarted(): void {
    this.sync.isUsed = true;
    if (this.#everyEvent || this.lastState === 'idle' || this.lastState === 'backoff') this.flush();
  }

  /** Lets the machine follow the call table at the end of this turn, once however many calls changed. */
  flushSoon(): void {
    this.sync.soon();
  }

  flush(): void {
    if (!this.closed) return;
    const { figures, state } = this.sync;
    if (this.#everyEvent || state !== this.lastState) this.send({ type: 'calls.changed', ...figures });
  }

  mayLinger(): boolean {
    return this.lastState === 'calling' && !this.#queue.wants('integration.changed');
  }

  get #everyEvent(): boolean {
    return this.#options.everyEvent === true;
  }

  #threw(): void {
    this.#queue.change(() => this.#moveTo('crashed'));
  }

  /** Takes over what the machine made of an event. */
  #follow(): void {
    const snapshot = this.#ref?.getSnapshot();
    this.#copy();
    const state = snapshot?.status === 'active' ? snapshot.value : 'crashed';
    this.#moveTo(this.#awaitsStart ? 'crashed' : state);
    for (let told = this.#untold.shift(); told !== undefined; told = this.#untold.shift()) this.#watcher.emitted(told);
  }

  #copy(): void {
    const context = this.#ref?.getSnapshot().context;
    const isHeld = context === undefined || context.isolations > 0;
    const generation = context?.generation ?? -1;
    if (generation !== this.fence.generation) this.fence = { generation };
    this.openUntil = isHeld ? Number.POSITIVE_INFINITY : context.openUntil;
    this.pausedUntil = context?.pausedUntil ?? 0;
  }

  #moveTo(state: IntegrationState): void {
    const from = this.lastState;
    if (from === state) return;
    const shown = this.#shown(from);
    const wasClosed = this.closed;
    this.lastState = state;
    if (!this.#awaitsStart) this.#started = true;
    this.closed = state === 'calling' || state === 'idle' || state === 'backoff';
    this.sync.end();
    const begins = this.#beginning;
    this.#beginning = false;
    if (!wasClosed && this.closed) {
      if (!begins) this.#counts.clear();
      // Attempts of before may still be in flight.
      this.flushSoon();
    }
    this.#watcher.changed(from, state, shown);
  }
}
