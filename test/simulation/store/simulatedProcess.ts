import type { Clock, Timer } from '../../../src/policy/clock.ts';
import { readTarget } from '../../../postgres/pgTarget.ts';
import { PostgresStore } from '../../../postgres/postgresStore.ts';
import type { SimulatedClock } from '../../../testing/index.ts';
import type { Chance } from '../chance.ts';
import type { ClientProcess, SimulatedServer } from './simulatedServer.ts';

/** Of the leases of nodes, in ms. */
export const leaseMs = 1_000;

/** The text of a statement as a planted bug has it. */
export type Mutate = (text: string, process: { readonly wallNow: number }) => string;

export interface SimulatedProcessParts {
  readonly server: SimulatedServer;
  readonly clock: SimulatedClock;
  readonly chance: Chance;
  /** Of its wall clock, in ms. */
  readonly skewMs: number;
  readonly mutate?: Mutate | undefined;
}

/** A process with a store: it runs, stands still with all that comes meanwhile, or is dead. */
export class SimulatedProcess implements ClientProcess {
  readonly name: string;
  readonly clock: Clock;
  readonly store: PostgresStore;
  readonly #mutate: Mutate | undefined;
  #state: 'runs' | 'frozen' | 'dead' = 'runs';
  readonly #late: (() => void)[] = [];

  constructor(name: string, { server, clock, chance, skewMs, mutate }: SimulatedProcessParts) {
    this.name = name;
    this.#mutate = mutate;
    this.clock = this.#clockOf(clock, skewMs);
    const url = `postgres://nobody@localhost/simulation?leaseMs=${leaseMs}&direct=false`;
    this.store = new PostgresStore(server.module(this), readTarget(url), {
      url,
      required: false,
      runtimePid: undefined,
      retention: undefined,
      clock: this.clock,
      random: () => chance.integer(0, 999_999) / 1_000_000,
      facts: { tell: () => undefined, wants: () => false },
      logger: undefined,
    });
  }

  get isRunning(): boolean {
    return this.#state === 'runs';
  }

  get isDead(): boolean {
    return this.#state === 'dead';
  }

  mutate = (text: string): string => this.#mutate?.(text, { wallNow: this.clock.wallNow() }) ?? text;

  deliver(what: () => void): void {
    if (this.#state === 'runs') what();
    else if (this.#state === 'frozen') this.#late.push(what);
  }

  kill(): void {
    this.#state = 'dead';
  }

  freeze(): void {
    this.#state = 'frozen';
  }

  goOn(): void {
    this.#state = 'runs';
    for (const what of this.#late.splice(0)) what();
  }

  #clockOf(base: SimulatedClock, skewMs: number): Clock {
    const own = (callback: () => void) => () => this.deliver(callback);
    return {
      now: () => base.now(),
      wallNow: () => base.wallNow() + skewMs,
      setTimeout: (callback, delayMs, options): Timer => base.setTimeout(own(callback), delayMs, options),
      clearTimeout: (timer) => base.clearTimeout(timer),
      nextTurn: (callback) => base.nextTurn(own(callback)),
    };
  }
}
