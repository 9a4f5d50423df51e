import type { Timer } from '../../src/policy/clock.ts';
import type { RegisterChild } from '../../src/policy/childRecord.ts';
import { nameOfRun } from '../../src/runtime/diedRuns.ts';
import type { Registry } from '../../src/runtime/registry.ts';
import { sayUnstored, startRegistry } from '../startRegistry.ts';
import { canBeKept, mayHaveOrphans } from '../../src/store/unopened.ts';
import type { CircuitTrace } from './circuitTrace.ts';
import type { HeldLog } from './heldLog.ts';
import type { RunPlan } from './request.ts';

/** A run that lasts so long is entered in the store, for others to see it and to find what it left, in ms. */
const lastingMs = 1000;

/**
 * The store of a run. It is opened while the command runs, so that it costs nobody any time: every run is counted in it. One that lasts is
 * entered in it as a live runtime.
 */
export class RunStore {
  readonly #registry: Registry;
  readonly #path: string;
  readonly #log: HeldLog;
  /** True where it outlives this process. */
  readonly #isKept: boolean;
  readonly #waitMs: number;
  readonly #live: { open(): Promise<unknown>; close(): void };
  #isEntered = false;
  #isUnstored = false;

  /**
   * @param path - absolute, or `:memory:`.
   * @param log - what the store logs: of one that is there for counting alone nobody is to hear what is wrong with it.
   */
  constructor(registry: Registry, path: string, { name, policy }: RunPlan, log: HeldLog) {
    this.#registry = registry;
    this.#log = log;
    this.#path = path;
    this.#isKept = path !== ':memory:' && canBeKept(path);
    // Before the first limit may pass: the failure has to be counted then.
    this.#waitMs = Math.min(lastingMs, ...Object.values(policy.limits).map((limitMs: number) => limitMs / 2));
    this.#live = registry.show({ name: nameOfRun(name) });
  }

  /** Starts the registry; the store is opened first where earlier runs left something in it. */
  start(trace: CircuitTrace): Promise<void> {
    const hasLeft = trace.isThere() || mayHaveOrphans(this.#path);
    if (hasLeft) this.#log.release();
    return startRegistry(this.#registry, this.#log.logger, { storeLater: !hasLeft });
  }

  /** Has it open. Never rejects: the command is run without one as well. */
  async open(): Promise<void> {
    try {
      await this.#registry.openStore();
    } catch (error) {
      if (!this.#isUnstored) sayUnstored(this.#log.logger, error);
      this.#isUnstored = true;
    }
  }

  /**
   * Has it open for what is to be counted, and recorded.
   * @param failed - whether there is something to record.
   * @param isNamed - whether this store was asked for: what is wrong with it is said then, unless no SQLite is there at all.
   */
  async end(failed: boolean, isNamed: boolean): Promise<void> {
    const isAskedFor = isNamed && this.#path !== ':memory:';
    if (failed) this.#log.release();
    if (failed || isAskedFor || this.#isKept) await this.open();
    const store = this.#registry.runtime.store();
    if (isAskedFor && store?.degraded === true && store.kind !== 'memory') this.#log.release();
  }

  /** Has a child entered while it lives, and the run with it once that lasts. */
  readonly register: RegisterChild = (about) => {
    const { clock, register } = this.#registry.runtime;
    const registered = register?.(about);
    let timer: Timer | undefined;
    return {
      started: (pid) => {
        registered?.started(pid);
        if (this.#isKept) void this.open();
        timer = clock.setTimeout(() => void this.#lasts(), this.#waitMs);
      },
      ended: () => {
        clock.clearTimeout(timer);
        registered?.ended();
      },
    };
  };

  /** The process ends at once: what can still be done without waiting. */
  cut(): void {
    this.#live.close();
    void this.#registry.runtime.store()?.flush();
  }

  async #lasts(): Promise<void> {
    this.#log.release();
    await this.open();
    // Nobody finds one in memory.
    if (this.#isEntered || this.#path === ':memory:') return;
    this.#isEntered = true;
    await this.#live.open();
  }
}
