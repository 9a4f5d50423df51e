import { createChildRegistry } from './actors/childRegistry.ts';
import type { reapOrphans } from './actors/orphans.ts';
import { DeadlineQueue } from './calls/deadlineQueue.ts';
import { SignalFanout } from './calls/signalFanout.ts';
import type { CheckedGatewayOptions } from './gatewayOptions.ts';
import type { RegisterChild } from './policy/childRecord.ts';
import type { Clock, Random } from './policy/clock.ts';
import type { Logger } from './policy/logger.ts';
import type { Policies } from './policy/policies.ts';
import { factTypes } from './policy/factTypes.ts';
import type { Fact, Told } from './policy/facts.ts';
import { clearChildMarks } from './store/childMarks.ts';
import type { KnownSecrets } from './store/knownSecrets.ts';
import { inSlices } from './slices.ts';
import type { Store, StoreOptions } from './store/store.ts';
import type { ChildSpec } from './supervisor/childSpec.ts';
import { createRootSupervisor, type RootSupervisor } from './supervisor/supervisor.ts';
import { type Bus, createBus } from './telemetry/bus.ts';

/** What the parts of one gateway share; nothing of it is global. */
export interface Runtime {
  readonly clock: Clock;
  readonly random: Random;
  /** What is configured for its integrations, and its presets. */
  readonly policies: Policies;
  readonly bus: Bus;
  /** What must not leave it; who starts a child adds what the child is given. */
  readonly secrets: KnownSecrets;
  /** What children inherit that are not given an `envMode` of their own. */
  readonly environment: 'extend' | 'safe';
  readonly deadlines: DeadlineQueue;
  readonly signals: SignalFanout;
  readonly root: RootSupervisor;
  /** Keeps a record of a live child, for the next start to end what outlives this process. */
  readonly register?: RegisterChild | undefined;
  /** Where diagnostics of what runs in it go. */
  readonly logger?: Logger | undefined;
  /** Open while the gateway runs. */
  store(): Store | undefined;
  /** Has the root supervisor start a child: now when it runs, else when it does, in the order of adding. */
  supervise(spec: ChildSpec): void;
}

/** What the owner of a runtime does about its own things while the runtime stops. Neither may throw. */
export interface StopSteps {
  /** Before the children are stopped. */
  readonly first?: (() => void) | undefined;
  /** After the last child has ended, while the store still takes records. */
  readonly ended?: (() => void) | undefined;
  /** Whether a store that is not open yet is opened for what was told before. @defaultValue false */
  readonly recordsEarly?: boolean | undefined;
}

export interface StartOptions {
  /**
   * Whether the store is opened with {@link RuntimeOwner.openStore} alone: what was told before is recorded then, and nothing is
   * if that never comes. For a short-lived process that may have nothing to keep. @defaultValue false
   */
  readonly storeLater?: boolean | undefined;
}

/** Facts that wait for a store that is opened later; what is told beyond is not recorded. */
const maxEarlyFacts = 1000;

/** A runtime and its life, for who owns it. */
export interface RuntimeOwner {
  readonly runtime: Runtime;
  /** Whether it has been started and not been told to stop since. */
  readonly running: boolean;
  /** Whether it was told to stop; nothing may be added then. */
  readonly stopped: boolean;
  /**
   * Opens the store and starts what was added, in order.
   * @throws Error when it was started or stopped before.
   * @throws StoreUnavailableError when a store that is required cannot be had; it may be started again then.
   */
  start(options?: StartOptions): Promise<void>;
  /** Opens the store of a runtime that was started without; later calls join the first. Never rejects where the store is not required. */
  readonly openStore: () => Promise<void>;
  /** Ends the children of runtimes that have died since the start; goes on behind. */
  readonly reap: () => void;
  /** Stops every child in reverse order, then closes the store and the bus. Always resolves; later calls join the first. */
  stop(steps?: StopSteps): Promise<void>;
}

/** How the store of a runtime is used, beyond what a gateway can say. */
export interface StoreTuning extends Pick<StoreOptions, 'lockWaitMs' | 'retention'> {
  /** Which of the facts that stores keep are worth a record. @defaultValue all */
  readonly records?: ((fact: Told<Fact>) => boolean) | undefined;
}

/** Makes the parts of a runtime; nothing runs before `start()`. */
export function createRuntime(options: CheckedGatewayOptions, tuning: StoreTuning = {}): RuntimeOwner {
  const {
    clock,
    random,
    logger,
    redact,
    secrets,
    environment,
    store: path,
    storeRequired: required,
    synchronous,
    supervisor,
    policies,
    childGuard,
  } = options;
  const { lockWaitMs, retention, records = () => true } = tuning;
  const bus = createBus({ clock, logger, redact, types: factTypes });
  const root = createRootSupervisor({ ...supervisor, clock, random, facts: bus });
  const children = createChildRegistry({ clock, logger, guarded: childGuard });
  const pending: ChildSpec[] = [];
  const early: Told<Fact>[] = [];
  let state: 'new' | 'starting' | 'running' | 'stopped' = 'new';
  let opening: Promise<void> | undefined;
  let store: Store | undefined;
  let reaping: Promise<void> | undefined;
  let stopping: Promise<void> | undefined;
  let stopSweeping: (() => void) | undefined;
  let isClosed = false;
  /** There once a store is open that keeps children. */
  let reapChildren: typeof reapOrphans | undefined;

  return {
    runtime: {
      clock,
      random,
      policies,
      bus,
      secrets,
      environment,
      deadlines: new DeadlineQueue(clock, (stalledMs) =>
        bus.tell({ type: 'runtime.stalled', stalledMs: Math.round(stalledMs) }),
      ),
      signals: new SignalFanout(),
      root,
      register: children.register,
      logger,
      store: () => store,
      supervise(spec) {
        if (state === 'running') root.startChild(spec);
        else pending.push(spec);
      },
    },
    get running() {
      return state === 'running';
    },
    get stopped() {
      return state === 'stopped';
    },
    async start({ storeLater = false } = {}) {
      if (state !== 'new') throw new Error(`The gateway ${state === 'stopped' ? 'is stopped' : 'was started already'}`);
      state = 'starting';
      try {
        if (storeLater) bus.on('*', keepEarly);
        else await open();
      } catch (error) {
        if (stopping === undefined) state = 'new';
        throw error;
      }
      // Stopped while the store was opening: stop() closes it.
      if (stopping !== undefined) return;
      state = 'running';
      root.start();
      await inSlices(clock, pending.splice(0), (spec) => {
        // Who hears of one that has started may stop them all.
        if (stopping === undefined) root.startChild(spec);
        return stopping === undefined;
      });
    },
    openStore: open,
    reap,
    stop(steps = {}) {
      if (stopping !== undefined) return stopping;
      let stopped: (end: Promise<void>) => void = () => undefined;
      // First: who hears of an end may call again, and is to join this one.
      stopping = new Promise((resolve) => {
        stopped = resolve;
      });
      stopped(stop(steps));
      return stopping;
    },
  };

  function open(): Promise<void> {
    if (isClosed) return Promise.resolve();
    opening ??= openFirst().catch((error: unknown) => {
      // What can be mended can be tried again.
      opening = undefined;
      throw error;
    });
    return opening;
  }

  /** Also while the runtime stops: what was told before is to be recorded. */
  async function openFirst(): Promise<void> {
    // Imported now: a short-lived process that has nothing to keep is spared the loading.
    const { openStore, storedTypes } = await import('./store/store.ts');
    const { sweepPrompts } = await import('./actors/promptSweep.ts');
    const { reapOrphans } = await import('./actors/orphans.ts');
    const opened = await openStore({
      path,
      required,
      clock,
      facts: bus,
      logger,
      synchronous,
      lockWaitMs,
      retention,
      secrets,
      runtimePid: process.pid,
    });
    store = opened;
    bus.off('*', keepEarly);
    for (const fact of early.splice(0)) opened.record(fact);
    for (const type of storedTypes) {
      bus.on(type, (fact) => {
        if (records(fact) && !bus.isRecorded(fact)) opened.record(fact);
      });
    }
    if (stopping !== undefined) return;
    if (opened.children !== undefined) {
      reapChildren = reapOrphans;
      reap();
      children.keepIn(opened.children);
    }
    stopSweeping ??= sweepPrompts(clock);
  }

  /** Goes on behind; nothing that starts meanwhile is taken for the child of a dead runtime. */
  function reap(): void {
    const records = store?.children;
    if (records === undefined || reapChildren === undefined || stopping !== undefined) return;
    const more = reapChildren({ records, clock, facts: bus, logger }).then(async () => {
      // What was forgotten is to be committed first.
      await store?.flush();
      clearChildMarks(path, new Set(records.list().map(({ ownerPid }) => ownerPid)));
    });
    reaping = Promise.all([reaping, more]).then(() => undefined);
  }

  function keepEarly(fact: Told<Fact>): void {
    if (early.length < maxEarlyFacts && records(fact)) early.push(fact);
  }

  async function stop({ first, ended, recordsEarly = false }: StopSteps): Promise<void> {
    state = 'stopped';
    stopSweeping?.();
    // It opens while the children end.
    const keep = async (): Promise<void> => {
      if (recordsEarly && early.length > 0) await open().catch(noop);
    };
    void keep();
    first?.();
    await root.stop();
    children.close();
    ended?.();
    await reaping;
    await keep();
    await opening?.catch(noop);
    isClosed = true;
    await store?.close();
    bus.close();
  }
}

function noop(): void {}
