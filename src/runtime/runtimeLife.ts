import { createChildRegistry } from '../actors/process/childRegistry.ts';
import { DeadlineQueue } from '../calls/deadlineQueue.ts';
import { RateBuckets } from '../calls/rates/rateBuckets.ts';
import { SignalFanout } from '../calls/signalFanout.ts';
import type { Tracing } from '../calls/tracing.ts';
import type { Clock } from '../policy/clock.ts';
import { factTypes } from '../policy/facts/factTypes.ts';
import { createShownNames } from '../redaction/shownNames.ts';
import type { Store } from '../store/store.ts';
import type { ChildSpec } from '../supervisor/childSpec.ts';
import type { Sleepers } from '../supervisor/supervision.ts';
import { createRootSupervisor } from '../supervisor/supervisor.ts';
import { createBus } from '../telemetry/bus.ts';
import { CallStatistics } from './callStatistics.ts';
import { takeOffDied } from './diedRuns.ts';
import { Flights } from './flights.ts';
import { ResultFiles } from '../store/resultFiles.ts';
import { resultsDirectory } from '../store/paths.ts';
import { StoredInbox } from './inbox.ts';
import { LastingCalls } from './lastingCalls.ts';
import { LateStore, type StoreTuning } from './lateStore.ts';
import { StoredRates } from './rateKeeper.ts';
import type { Runtime } from './runtime.ts';
import type { CheckedGatewayOptions } from './runtimeOptions.ts';
import { seeRuns } from './seeRuns.ts';
import { SharedBreakers } from './sharedBreakers.ts';

export interface StartOptions {
  /**
   * Leaves the store to be opened later, by the host: what was told before is recorded then, and nothing is if that never comes. For a short-lived process
   * that may have nothing to keep. @defaultValue false
   */
  readonly storeLater?: boolean | undefined;
}

/** Steps that the owner of a runtime takes for its own things while the runtime stops. None may throw or reject. */
interface StopSteps {
  /** At once. */
  readonly first: () => void;
  /** The children are stopped when it resolves. */
  readonly last: () => Promise<void>;
  /** After the last child has ended, while the store still takes records. */
  readonly ended: () => void;
  /** Opens a store that is not open yet for what was told before. @defaultValue false */
  readonly recordsEarly?: boolean | undefined;
}

type OfRuntime = Omit<
  Runtime,
  'name' | 'running' | 'stopped' | 'store' | 'supervise' | 'declare' | 'path' | 'enter' | 'leave' | 'join'
>;

/** The bus, the children and the store of a runtime, from their start to their end. */
export class RuntimeLife {
  readonly parts: OfRuntime;
  /** Sessions that were erased, of which nothing may be recorded. */
  readonly forgotten = new Set<string>();
  readonly #store: LateStore;
  readonly #children: ReturnType<typeof createChildRegistry>;
  readonly #pending: ChildSpec[] = [];
  #state: 'new' | 'starting' | 'running' | 'stopped' = 'new';

  constructor(options: CheckedGatewayOptions, tuning: StoreTuning, sleepers?: Sleepers) {
    const { clock, random, logger, redact, secrets, environment, policies, redactAnswer, agentProfiles } = options;
    const bus = createBus({ clock, logger, redact, types: factTypes });
    const root = createRootSupervisor({ ...options.supervisor, clock, random, facts: bus }, sleepers);
    const stalled = (ms: number): void => bus.tell({ type: 'runtime.stalled', stalledMs: Math.round(ms) });
    const deadlines = new DeadlineQueue(clock, stalled);
    const signals = new SignalFanout();
    const tracing: Tracing = { tracer: undefined };
    const keeper = new StoredRates(clock, () => this.#store.current);
    const rates = new RateBuckets(keeper);
    const sharedBreakers = new SharedBreakers(clock, () => this.#store.current);
    const statistics = new CallStatistics(clock, () => this.#store.current, createShownNames(secrets));
    const { forgotten } = this;
    const flights = new Flights({ clock, bus, store: () => this.#store.current, redact: redactAnswer, forgotten });
    const children = createChildRegistry({ clock, logger, guarded: options.childGuard });
    const { register } = children;
    const { inbox = false } = options;
    const records = () => this.#store.current?.questions;
    const inboxScope = { clock, bus, records, redact: redactAnswer, isRunning: () => this.running };
    this.#children = children;
    const isOver = (fact: object): boolean => 'session' in fact && forgotten.has(String(fact.session));
    const recorded: StoreTuning['records'] = (fact) => !isOver(fact) && tuning.records?.(fact) !== false;
    this.#store = new LateStore(options, { ...tuning, records: recorded }, bus, children, () => this.#takeOffDied());
    const given = { clock, random, policies, agentProfiles, secrets, redactAnswer, environment, logger };
    this.parts = {
      ...given,
      bus,
      deadlines,
      signals,
      tracing,
      rates,
      budgets: { keeper, facts: bus, accounts: new Map(), are: tuning.are },
      sharedBreakers,
      statistics,
      flights,
      lasting: new LastingCalls(clock),
      results: new ResultFiles(resultsDirectory(options.store, process.env), () => clock.wallNow()),
      root,
      inbox: inbox === false ? undefined : new StoredInbox(inboxScope, inbox === true ? {} : inbox),
      register,
    };
  }

  /** True while it may be started: it was not, or the start has failed. */
  get isNew(): boolean {
    return this.#state === 'new';
  }

  get running(): boolean {
    return this.#state === 'running';
  }

  get stopped(): boolean {
    return this.#state === 'stopped';
  }

  get store(): Store | undefined {
    return this.#store.current;
  }

  supervise(spec: ChildSpec): void {
    if (this.#state === 'running') this.parts.root.startChild(spec);
    else this.#pending.push(spec);
  }

  async start({ storeLater = false }: StartOptions): Promise<void> {
    if (this.#state !== 'new') {
      throw new Error(`The gateway ${this.#state === 'stopped' ? 'is stopped' : 'was started already'}`);
    }
    this.#state = 'starting';
    try {
      if (storeLater) this.#store.keepEarly();
      if (!storeLater) await this.#store.open();
      // What others have spent has to be known first; whoever opens it later says what is wrong with it.
      else if (this.parts.policies.hasBudget) await this.#store.open().catch(() => undefined);
    } catch (error) {
      if (!this.stopped) this.#state = 'new';
      throw error;
    }
    // Stopped while the store was opening: stop() closes it.
    if (this.stopped) return;
    this.#state = 'running';
    const { root, clock } = this.parts;
    root.start();
    await inSlices(clock, this.#pending.splice(0), (spec) => {
      // A listener that hears of a start may stop them all.
      if (!this.stopped) root.startChild(spec);
      return !this.stopped;
    });
  }

  openStore(): Promise<void> {
    return this.#store.open();
  }

  reap(): void {
    this.#store.reap();
  }

  async #takeOffDied(): Promise<void> {
    const pids = (await this.store?.runtimes.pids()) ?? [];
    if (pids.length === 0) return;
    const { clock, bus, statistics } = this.parts;
    await takeOffDied({ clock, bus, statistics, store: () => this.store }, await seeRuns(clock, pids));
  }

  /** Once. Always resolves. */
  async stop({ first, last, ended, recordsEarly = false }: StopSteps): Promise<void> {
    this.#state = 'stopped';
    this.#store.end();
    // It opens while the children end.
    if (recordsEarly) void this.#store.keepRest();
    first();
    await last();
    await this.parts.root.stop();
    this.#children.close();
    ended();
    this.parts.rates.flush();
    this.parts.statistics.keep();
    await this.#store.reaped();
    if (recordsEarly) await this.#store.keepRest();
    await this.#store.close();
    this.parts.bus.close();
  }
}

/** Longest slice, in ms: half of the 20 ms for which the event loop may be blocked, as what it leads to comes in the same turn. */
const sliceMs = 10;
/** Most items of a slice: what they tell fits into one commit. */
const mostItems = 200;

/**
 * Works through many items without blocking the event loop: in slices, with a turn of the loop after each. What is added meanwhile is worked
 * through too.
 * @param work - returns false to end it.
 */
export async function inSlices<T>(
  clock: Pick<Clock, 'now' | 'nextTurn'>,
  items: readonly T[],
  work: (item: T) => boolean,
): Promise<void> {
  let begun = clock.now();
  let done = 0;
  for (const item of items) {
    if (!work(item)) return;
    done++;
    if (done < mostItems && clock.now() - begun < sliceMs) continue;
    await new Promise<void>((resolve) => {
      clock.nextTurn(resolve);
    });
    begun = clock.now();
    done = 0;
  }
}
