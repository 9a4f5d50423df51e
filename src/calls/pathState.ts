import { RetryBudget } from '../policy/retryBudget.ts';
import { AbandonedAttempts, type AbandonmentWatcher } from './abandonedAttempts.ts';
import type { Attempt } from './attempt.ts';
import type { Call, CallKeeper } from './call.ts';
import type { CallPathOptions } from './callPathOptions.ts';
import { CallRecords } from './callRecords.ts';
import { CallTable } from './callTable.ts';
import { Circuit } from './circuit.ts';
import { Draining } from './draining.ts';
import { EffectQueue } from './effectQueue.ts';
import type { MachineWatcher } from './machineLink.ts';
import { Outage } from './outage.ts';
import { Permits } from './permits.ts';
import { Scopes } from './scopes.ts';
import { Suspicion, type SuspicionWatcher } from './suspicion.ts';
import { ToolCircuits, type ToolWatcher } from './toolCircuits.ts';
import { WaitingCalls } from './waitingCalls.ts';

/** What moves the calls of a path: each part of its state tells it what has happened. */
export interface Mover<I, O>
  extends CallKeeper<I, O>,
    AbandonmentWatcher<Attempt<Call<I, O>>>,
    MachineWatcher,
    SuspicionWatcher,
    ToolWatcher {}

/**
 * The state of a call path in one object. Its parts know nothing of one another and move no call. Objects of classes and no closures
 * between them: what V8 has learned of the calls of one integration holds for all others.
 */
export class PathState<I, O> {
  /** Nothing is begun any more. */
  stopped = false;
  /** Calls that are being tried again, but for those that a crash took with it. */
  retrying = 0;
  readonly options: CallPathOptions<I, O>;
  readonly queue: EffectQueue;
  readonly records: CallRecords<I, O>;
  readonly budget: RetryBudget;
  readonly permits: Permits;
  /** Calls with an attempt in flight. */
  readonly attempts: CallTable<I, O>;
  /** Calls without one. */
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

  constructor(options: CallPathOptions<I, O>, mover: Mover<I, O>) {
    this.options = options;
    this.queue = new EffectQueue(options.facts);
    this.records = new CallRecords(options, this.queue);
    this.budget = options.retryBudget ?? new RetryBudget();
    this.permits = new Permits(options.policy);
    this.attempts = new CallTable(mover, options.policy, options.clock.now());
    this.waiting = new WaitingCalls(options.deadlines, () => this.circuit.link.flushSoon());
    this.abandoned = new AbandonedAttempts(options, mover);
    this.circuit = new Circuit(options, this, this.queue, mover);
    this.tools = new ToolCircuits(options, this.queue, mover);
    this.suspicion = new Suspicion(options, mover);
  }
}
