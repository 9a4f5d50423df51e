import type { Clock } from '../policy/clock.ts';
import type { Facts } from '../policy/facts/facts.ts';
import { type Logger, say } from '../policy/text/logger.ts';
import type { StoreOutage } from '../policy/records/storeOutage.ts';

/** Trouble of a store, for people. */
export interface Trouble {
  /** Another connection holds the lock; trying again soon is all it takes. */
  readonly busy: boolean;
  readonly reason: string;
  /** Line that names what to do. */
  readonly fix: string;
}

/** Rows that a live runtime needs, as they were given to a new file. */
export interface Carried {
  /** Messages and calls that were given to the file. */
  readonly carried: number;
  /** Number of those that were not: another runtime has their session in it. */
  readonly lost: number;
}

export interface OutageParts {
  readonly clock: Clock;
  /** Is told `store.degraded` and `store.recovered`. */
  readonly facts: Facts;
  readonly logger: Logger | undefined;
}

/** Time in which a store is degraded: what is written waits in memory. Its begin and its end are said once each. */
export class Outage {
  readonly #parts: OutageParts;
  readonly #since: number;
  #written = 0;
  #dropped = 0;
  #trouble: Pick<Trouble, 'reason' | 'fix'> | undefined = undefined;
  /** Rows that a new file was given, and those that only the earlier one has; absent while the file is the same. */
  #replaced: { readonly carried: number; readonly left: number } | undefined = undefined;

  constructor(parts: OutageParts) {
    this.#parts = parts;
    this.#since = parts.clock.now();
  }

  begin({ reason, fix }: Pick<Trouble, 'reason' | 'fix'>): void {
    const { facts, logger } = this.#parts;
    this.#trouble = { reason, fix };
    say(logger, 'warn', `The store is degraded, events wait in memory. ${reason}. Fix: ${fix}.`);
    facts.tell({ type: 'store.degraded', reason, fix });
  }

  /** As of now; undefined where nothing was wrong but the file. */
  now(waiting: number): StoreOutage | undefined {
    const forMs = Math.round(this.#parts.clock.now() - this.#since);
    return this.#trouble && { ...this.#trouble, forMs, waiting, dropped: this.#dropped };
  }

  wrote(rows: number): void {
    this.#written += rows;
  }

  dropped(): void {
    this.#dropped++;
  }

  /** @param committed - rows so far, whichever file has them. */
  replaced({ carried, lost }: Carried, committed: number): void {
    this.#dropped += lost;
    this.#replaced = { carried: carried + (this.#replaced?.carried ?? 0), left: committed - this.#written };
  }

  end(): void {
    const { clock, facts, logger } = this.#parts;
    const [written, dropped, replaced] = [this.#written, this.#dropped, this.#replaced];
    const more =
      replaced === undefined
        ? ''
        : ` A new file was given ${replaced.carried} messages and calls; ${replaced.left} earlier writes are not in it.`;
    say(logger, 'info', `The store has recovered: ${written} events written late, ${dropped} dropped.${more}`);
    facts.tell({ type: 'store.recovered', queued: written, dropped, downMs: clock.now() - this.#since, ...replaced });
  }
}
