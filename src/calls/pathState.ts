import { RetryBudget } from '../policy/retryBudget.ts';
import { AbandonedAttempts, type AbandonmentWatcher } from './abandonedAttempts.ts';
import type { Attempt } from './attempt.ts';
import type { Call, CallWatcher } from './call.ts';
import type { CallPathOptions } from './callPathOptions.ts';
import { CallRecords } from './callRecords.ts';
import { CallsInFlight } from './callsInFlight.ts';
import { Circuit } from './circuit.ts';
import { Draining } from './draining.ts';
import { EffectQueue } from './effectQueue.ts';
import type { MachineWatcher } from './machineLink.ts';
import { OpenEffects } from './openEffects.ts';
import { Outage } from './outage.ts';
import { type PauseWatcher, PauseProbe } from './pauseProbe.ts';
import { Permits } from './permits.ts';
import { Scopes } from './scopes.ts';
import { Suspicion, type SuspicionWatcher } from './suspicion.ts';
import { ToolCircuits, type ToolWatcher } from './toolCircuits.ts';
import { WaitingCalls } from './waitingCalls.ts';

/** Watcher whom the parts of a path tell when something has happened; the conductor moves the calls that it concerns. */
export interface PathWatcher<I, O>
  extends CallWatcher<I, O>,
    AbandonmentWatcher<Attempt<Call<I, O>>>,
    MachineWatcher,
    PauseWatcher,
    SuspicionWatcher,
    ToolWatcher {}

/**
 * The state of a call path in one object. Its parts know nothing of one another and move no call. They are objects of classes, not
 * closures: the code that V8 has compiled for one integration then serves all others.
 */
export class PathState<I, O> {
  /** The path has stopped: no call is started any more. */
  stopped = false;
  /** Calls that are being tried again on the budget of retries; those that a crash ended are not counted. */
  retrying = 0;
  readonly options: CallPathOptions<I, O>;
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
    this.queue = new EffectQueue(options.facts);
    this.records = new CallRecords(options, this.queue);
    this.budget = options.retryBudget ?? new RetryBudget();
    this.permits = new Permits(options.policy);
    this.inFlight = new CallsInFlight(watcher, options.policy, options.clock.now());
    this.waiting = new WaitingCalls(options.deadlines, this.queue, () => this.circuit.link.flushSoon());
    this.abandoned = new AbandonedAttempts(options, watcher);
    this.circuit = new Circuit(options, this, this.queue, watcher);
    this.tools = new ToolCircuits(options, this.queue, watcher);
    this.suspicion = new Suspicion(options, watcher);
    this.pauseProbe = new PauseProbe(watcher);
  }
}
