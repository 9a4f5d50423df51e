import type { Clock, Timer } from '../policy/clock.ts';
import type { PersistedBreaker } from '../policy/records/persistedBreaker.ts';
import type { Store } from '../store/store.ts';

/** Interval at which changes by other processes are looked for, in ms. */
const lookEveryMs = 1000;

type Heard = (kept: PersistedBreaker) => void;

/**
 * Tells integrations what other processes on the same store have found out of their servers. Looks once a second as long as anybody listens and there
 * is a store that others may use; keeps no process alive.
 */
export class SharedBreakers {
  readonly #clock: Clock;
  readonly #store: () => Store | undefined;
  readonly #heard = new Map<string, Heard>();
  #timer: Timer | undefined = undefined;

  constructor(clock: Clock, store: () => Store | undefined) {
    this.#clock = clock;
    this.#store = store;
  }

  /** @param heard - told of each breaker of this name that another process has changed; one for each name. Must not throw. */
  follow(name: string, heard: Heard): void {
    // One that is not open yet may be opened later, as that of a proxy is.
    if (this.#store()?.persistent === false) return;
    this.#heard.set(name, heard);
    this.#arm();
  }

  unfollow(name: string): void {
    this.#heard.delete(name);
    if (this.#heard.size > 0 || this.#timer === undefined) return;
    this.#clock.clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #arm(): void {
    this.#timer ??= this.#clock.setTimeout(() => this.#look(), lookEveryMs, { ref: false });
  }

  #look(): void {
    this.#timer = undefined;
    const changed = this.#store()?.breakers.changedElsewhere();
    if (changed !== undefined) {
      for (const [name, heard] of this.#heard) {
        const kept = changed.get(name);
        if (kept !== undefined) heard(kept);
      }
    }
    if (this.#heard.size > 0) this.#arm();
  }
}
