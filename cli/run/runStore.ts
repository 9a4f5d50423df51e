import type { Timer } from '../../src/policy/face.ts';
import type { PersistedBreaker, RegisterChild } from '../../src/policy/records/face.ts';
import { type Registry, nameOfRun } from '../../src/runtime/face.ts';
import { sayUnstored, startRegistry } from '../startRegistry.ts';
import { canBeKept, mayHaveOrphans } from '../../reader/unopened.ts';
import type { RunPlan } from './request.ts';
import type { Store } from '../../src/store/face.ts';
import { hookMarker } from '../hook/hookMarker.ts';
import { type LogLevel, type Logger, say } from '../../src/policy/text/face.ts';

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
  /** True where earlier runs count against a budget. */
  readonly #counts: boolean;
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
    this.#counts = policy.budget?.day !== undefined;
    this.#isKept = path !== ':memory:' && canBeKept(path);
    // Before the first limit may pass: the failure has to be counted then.
    this.#waitMs = Math.min(lastingMs, ...Object.values<number>({ ...policy.limits }).map((limitMs) => limitMs / 2));
    this.#live = registry.show({ name: nameOfRun(name) });
  }

  /** Starts the registry; the store is opened first where earlier runs left something in it. */
  start(trace: CircuitTrace): Promise<void> {
    const hasLeft = trace.isThere() || mayHaveOrphans(this.#path) || this.#counts;
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

/** Trace of failures or of an open circuit that earlier runs left, told without opening the database. */
interface CircuitTrace {
  isThere(): boolean;
  /**
   * Ends the failures in a row that others counted while this run went well, and brings the trace up to date with what is kept.
   * Looks again after it is removed: a run that failed at that moment must not be forgotten.
   * @param wentWell - whether the run was an answer.
   */
  update(store: Store | undefined, wentWell: boolean): void;
}

/** @param database - its absolute path, or `:memory:`: then nothing is kept. */
export function circuitTrace(database: string, name: string): CircuitTrace {
  const marker = hookMarker(database, name, 'run');
  const isKept = database !== ':memory:';
  return {
    isThere: () => isKept && marker.isThere(),
    update(store, wentWell) {
      if (store === undefined || !isKept) return;
      const row = store.breakers.load(name);
      if (row === undefined) return;
      if (wentWell && row.state === 'closed' && row.failures > 0) {
        store.breakers.saveFailures(name, row.generation, 0);
        marker.remove();
      } else if (isTroubled(row)) marker.leave();
      else {
        marker.remove();
        if (isTroubled(store.breakers.load(name))) marker.leave();
      }
    },
  };
}

function isTroubled(row: PersistedBreaker | undefined): boolean {
  return row !== undefined && (row.state === 'open' || row.failures > 0);
}

/** Holds back what is logged until somebody is to hear it, and passes it on from then on. */
export class HeldLog {
  readonly #to: Logger;
  #held: (() => void)[] | undefined = [];

  constructor(to: Logger) {
    this.#to = to;
  }

  readonly logger: Logger = {
    debug: (message, fields) => this.#log('debug', message, fields),
    info: (message, fields) => this.#log('info', message, fields),
    warn: (message, fields) => this.#log('warn', message, fields),
    error: (message, fields) => this.#log('error', message, fields),
  };

  /** More calls do nothing. */
  release(): void {
    const held = this.#held;
    this.#held = undefined;
    for (const log of held ?? []) log();
  }

  #log(level: LogLevel, message: string, fields: object | undefined): void {
    const log = (): void => say(this.#to, level, message, fields);
    if (this.#held === undefined) log();
    else this.#held.push(log);
  }
}
