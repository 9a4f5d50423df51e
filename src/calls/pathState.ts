import { RetryBudget } from '../policy/retryBudget.ts';
import { AbandonedAttempts, type AbandonmentWatcher } from './abandonedAttempts.ts';
import type { Attempt } from './attempt.ts';
import { type Call, CallsInFlight, type CallWatcher } from './call.ts';
import type { CallPathOptions } from './callPathOptions.ts';
import { CallRecords } from './recorder/callRecords.ts';
import { Circuit } from './circuit/circuit.ts';
import { Draining } from './draining.ts';
import { EffectQueue } from './recorder/effectQueue.ts';
import type { MachineWatcher } from './circuit/machineLink.ts';
import { KeptWork, type KeptWatcher } from './reconcile/keptWork.ts';
import { OpenEffects } from './reconcile/openEffects.ts';
import { Outage } from './outage.ts';
import { Scopes } from './scopes.ts';
import { Suspicion, type SuspicionWatcher } from './suspicion.ts';
import { ToolCircuits, type ToolWatcher } from './circuit/toolCircuits.ts';
import type { Waiting } from './callProgress.ts';
import { overallHalfOf } from './limits.ts';
import type { DeadlineQueue } from './deadlineQueue.ts';

/** Watcher whom the parts of a path tell when something has happened; the conductor moves the calls that it concerns. */
export interface PathWatcher<I, O>
  extends CallWatcher<I, O>,
    AbandonmentWatcher<Attempt<Call<I, O>>>,
    KeptWatcher<Attempt<Call<I, O>>>,
    MachineWatcher,
    SuspicionWatcher,
    ToolWatcher {
  /** A server that asked not to be called has answered before its time. */
  pauseEnded(): void;
}

/**
 * The state of a call path in one object. Its parts know nothing of one another and move no call. They are objects of classes, not
 * closures: the code that V8 has compiled for one integration then serves all others.
 */
export class PathState<I, O> {
  /** The path has stopped: no call is started any more. */
  stopped = false;
  /** Calls that were made, which is the number of the last one. */
  made = 0;
  /** Calls that are being tried again on the budget of retries; those that a crash ended are not counted. */
  retrying = 0;
  readonly options: CallPathOptions<I, O>;
  /** Moves the calls that something concerns which happens by itself. */
  readonly watcher: PathWatcher<I, O>;
  readonly queue: EffectQueue;
  readonly records: CallRecords<I, O>;
  readonly budget: RetryBudget;
  readonly permits: Permits;
  /** Calls with an attempt in flight. */
  readonly inFlight: CallsInFlight<I, O>;
  /** Calls that were accepted and have no attempt in flight. */
  readonly waiting: WaitingCalls<I, O>;
  /** Calls whose fallback runs. */
  readonly fallingBack = new Set<Call<I, O>>();
  readonly abandoned: AbandonedAttempts<Attempt<Call<I, O>>>;
  readonly kept: KeptWork<I, O>;
  readonly circuit: Circuit<I, O>;
  readonly tools: ToolCircuits<I, O>;
  readonly scopes = new Scopes<I, O>();
  readonly suspicion: Suspicion<Attempt<Call<I, O>>>;
  readonly outage = new Outage();
  readonly draining = new Draining();
  readonly pauseProbe: PauseProbe<Attempt<Call<I, O>>>;
  /** Effects of which it is not known whether they took place. */
  readonly openEffects = new OpenEffects<I, O>();

  constructor(options: CallPathOptions<I, O>, watcher: PathWatcher<I, O>) {
    this.options = options;
    this.watcher = watcher;
    this.queue = new EffectQueue(options.facts);
    this.records = new CallRecords(options, this.queue);
    this.budget = options.retryBudget ?? new RetryBudget();
    this.permits = new Permits(options.policy);
    this.inFlight = new CallsInFlight(watcher, options.policy, options.clock.now());
    this.waiting = new WaitingCalls(options.deadlines, this.queue, () => this.circuit.link.flushSoon());
    this.abandoned = new AbandonedAttempts(options, watcher);
    this.kept = new KeptWork(options, watcher);
    this.circuit = new Circuit(options, this, this.queue, watcher);
    this.tools = new ToolCircuits(options, this.queue, watcher);
    this.suspicion = new Suspicion(options, watcher);
    this.pauseProbe = new PauseProbe(watcher);
  }
}

/**
 * The permits of an integration, its bulkhead: how many attempts may be in flight. A permit is taken by an attempt and released when its
 * work ends or is abandoned.
 */
class Permits {
  /** Permits that are taken. */
  taken = 0;
  readonly limit: number;
  readonly #maxAbandoned: number;
  #abandoned = 0;
  /** Abandoned attempts that no longer count towards the bound. */
  #forgiven = 0;

  constructor(limits: { readonly maxInFlight: number; readonly maxAbandoned: number }) {
    this.limit = limits.maxInFlight;
    this.#maxAbandoned = limits.maxAbandoned;
  }

  /** Attempts that were abandoned and whose work still runs. */
  get abandoned(): number {
    return this.#abandoned;
  }

  get free(): boolean {
    return this.taken < this.limit;
  }

  take(): void {
    this.taken++;
  }

  release(): void {
    this.taken--;
  }

  /** Gives the permit of an abandoned attempt to others. @returns false when there are more of them than may be replaced. */
  abandon(): boolean {
    this.taken--;
    this.#abandoned++;
    return this.#withinBound;
  }

  /** The work of an abandoned attempt ended after all. @returns true when those that are left are within their bound. */
  reclaim(): boolean {
    this.#abandoned--;
    this.#forgiven = Math.min(this.#forgiven, this.#abandoned);
    return this.#withinBound;
  }

  /** Counts abandoned attempts from here on only. */
  forgive(): void {
    this.#forgiven = this.#abandoned;
  }

  get #withinBound(): boolean {
    return this.#abandoned - this.#forgiven <= this.#maxAbandoned;
  }
}

/** The one call that an operator lets through to a server which asked not to be called: where it is answered, the pause is over. */
class PauseProbe<A> {
  /** The attempt that tries the server. */
  attempt: A | undefined = undefined;
  #wantedUntil = Number.NEGATIVE_INFINITY;
  readonly #watcher: { pauseEnded(): void };

  constructor(watcher: { pauseEnded(): void }) {
    this.#watcher = watcher;
  }

  /** Tells whether the next call may be it. @param now - monotonic time in ms. */
  isWanted(now: number): boolean {
    return now < this.#wantedUntil;
  }

  /** Lets one call through that comes before `until`. */
  want(until: number): void {
    this.#wantedUntil = until;
  }

  /** An attempt begins while the server is not to be called. */
  begun(attempt: A): void {
    this.#wantedUntil = Number.NEGATIVE_INFINITY;
    this.attempt = attempt;
  }

  /** The attempt has ended. @param isAnswered - the server answered, and did not ask for a pause. */
  ended(isAnswered: boolean): void {
    this.attempt = undefined;
    if (isAnswered) this.#watcher.pauseEnded();
  }
}

/** The accepted calls of an integration that have no attempt in flight, and what each of them waits for. */
class WaitingCalls<I, O> {
  /** Calls that wait for a permit. */
  queued = 0;
  readonly #calls = new Set<Call<I, O>>();
  readonly #forPermit = new Set<Call<I, O>>();
  readonly #deadlines: DeadlineQueue;
  readonly #queue: EffectQueue;
  readonly #changed: () => void;

  /** @param queue - where those that follow calls are told. @param changed - told of every change. */
  constructor(deadlines: DeadlineQueue, queue: EffectQueue, changed: () => void) {
    this.#deadlines = deadlines;
    this.#queue = queue;
    this.#changed = changed;
  }

  get size(): number {
    return this.#calls.size;
  }

  /** The one that has waited longest for a permit. */
  nextForPermit(): Call<I, O> | undefined {
    for (const call of this.#forPermit) return call;
    return undefined;
  }

  /** Returns those that wait as of now, first come first; of a kind, or all. */
  list(waiting?: Waiting): readonly Call<I, O>[] {
    const all = [...this.#calls];
    return waiting === undefined ? all : all.filter((call) => call.waiting === waiting);
  }

  /** Lets a call wait until `due`, in monotonic ms; then it expires. */
  add(call: Call<I, O>, waiting: Waiting, due: number): void {
    if (waiting === 'permit') this.queued = this.#forPermit.add(call).size;
    const progress = call.ownProgress();
    progress.waiting = waiting;
    progress.accepted = true;
    const { trace } = progress;
    if (trace !== undefined) this.#queue.call(() => trace.waits(waiting), undefined);
    this.#calls.add(call);
    progress.waitUntil = Math.ceil(due);
    call.due = progress.isPendingTold ? progress.waitUntil : Math.ceil(Math.min(due, overallHalfOf(call)));
    this.#deadlines.set(call);
    this.#changed();
  }

  /** Its wait is over. Does nothing when it does not wait. */
  delete(call: Call<I, O>): void {
    if (call.waiting === undefined) return;
    const progress = call.ownProgress();
    if (progress.waiting === 'permit') this.#forPermit.delete(call);
    this.queued = this.#forPermit.size;
    if (progress.waiting === 'rate') progress.rate?.leave();
    call.noteStep(call.waiting);
    progress.waiting = undefined;
    this.#calls.delete(call);
    this.#deadlines.remove(call);
    this.#changed();
  }
}
