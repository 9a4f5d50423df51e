import type { Timer } from '../../policy/clock.ts';
import type { RegisterChild } from '../../policy/childRecord.ts';
import { nameOfRun } from '../../runtime/diedRuns.ts';
import type { Registry } from '../../runtime/registry.ts';
import { mayHaveOrphans } from '../../store/unopened.ts';
import type { CircuitTrace } from './circuitTrace.ts';
import type { RunPlan } from './request.ts';

/** A run that lasts so long is entered in the store, for others to see it and to find what it left, in ms. */
const lastingMs = 1000;

/** The store of a run: most runs are over before it is worth opening. One that lasts is entered in it, with its child and as a live runtime. */
export class RunStore {
  readonly #registry: Registry;
  readonly #path: string;
  readonly #waitMs: number;
  readonly #live: { open(): Promise<unknown>; close(): void };
  #isEntered = false;

  /** @param path - absolute, or `:memory:`. */
  constructor(registry: Registry, path: string, { name, policy }: RunPlan) {
    this.#registry = registry;
    this.#path = path;
    // Before the first limit may pass: the failure has to be counted then.
    this.#waitMs = Math.min(lastingMs, ...Object.values(policy.limits).map((limitMs: number) => limitMs / 2));
    this.#live = registry.show({ name: nameOfRun(name) });
  }

  /** Starts the registry; the store is opened first where earlier runs left something in it. */
  start(trace: CircuitTrace): Promise<void> {
    return this.#registry.start({ storeLater: !trace.isThere() && !mayHaveOrphans(this.#path) });
  }

  /** Has a child that lives on entered, and the run with it. */
  readonly register: RegisterChild = (about) => {
    const { clock, register } = this.#registry.runtime;
    const registered = register?.(about);
    let timer: Timer | undefined;
    return {
      started: (pid) => {
        registered?.started(pid);
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
    await this.#registry.openStore();
    // Nobody finds one in memory.
    if (this.#isEntered || this.#path === ':memory:') return;
    this.#isEntered = true;
    await this.#live.open();
  }
}
