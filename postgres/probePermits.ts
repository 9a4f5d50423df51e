import type { Clock } from '../src/policy/clock.ts';
import type { PersistedBreaker } from '../src/policy/persistedBreaker.ts';
import type { PgDatabase } from './pgDatabase.ts';
import { type RowStatement, rowsOf } from './rowStatement.ts';

/** Time before a circuit may be probed at which it is asked who will, and time after that for which the others leave it to him, in ms. */
const aheadMs = 1_500;
const longestMs = 2_000;

/** Gives a probe to one of several nodes that ask for it, by the clock of the database. A change of the circuit ends all permits on it. */
const ask: RowStatement = {
  name: 'ask_probe',
  rank: 1,
  text: `WITH ${rowsOf('name text, node text, generation bigint, permit_ms integer')}
    UPDATE uw.breaker AS b SET permit_node = w.node, permit_generation = w.generation,
      permit_until = clock_timestamp() + w.permit_ms * interval '1 ms'
    FROM w WHERE b.name = w.name AND b.generation = w.generation AND b.state = 'open' AND (
      b.permit_generation IS DISTINCT FROM w.generation OR b.permit_node = w.node OR b.permit_until <= clock_timestamp())
    RETURNING w.ord`,
};

interface Permit {
  readonly generation: number;
  /** Absent while the answer is on its way. */
  isOurs: boolean | undefined;
  /** In monotonic ms. */
  readonly until: number;
}

/**
 * Permits of several nodes to probe an open circuit, asked ahead, so that a call waits for nothing. Nodes ask that have calls of it. A node that has asked
 * and not got it leaves the probe to the other for 2 s after it is due; then, or without an answer, each decides by what it knows.
 */
export class ProbePermits {
  readonly #database: PgDatabase;
  readonly #clock: Clock;
  readonly #node = crypto.randomUUID();
  /** Circuits with calls here. */
  readonly #used = new Set<string>();
  readonly #permits = new Map<string, Permit>();

  constructor(database: PgDatabase, clock: Clock) {
    this.#database = database;
    this.#clock = clock;
  }

  /** A call of this node had to do with the circuit. */
  used(name: string): void {
    this.#used.add(name);
  }

  /** Asks for the probes that are due soon. @param load - gives a circuit as it is known here. */
  askAhead(load: (name: string) => PersistedBreaker | undefined): void {
    const wallNow = this.#clock.wallNow();
    for (const name of this.#used) {
      const { state, openUntil, generation } = load(name) ?? {};
      if (state !== 'open' || openUntil === undefined || generation === undefined) {
        this.#permits.delete(name);
        continue;
      }
      const waitMs = openUntil - wallNow;
      // A probe that is due is decided by what is known.
      if (waitMs <= 0 || waitMs > aheadMs || this.#permits.get(name)?.generation === generation) continue;
      void this.#ask(name, generation, Math.ceil(waitMs + longestMs));
    }
  }

  /** Tells whether a probe is left to another node. */
  isOthers(name: string, generation: number): boolean {
    const permit = this.#permits.get(name);
    return permit?.generation === generation && permit.isOurs === false && this.#clock.now() < permit.until;
  }

  /** Never rejects. */
  async #ask(name: string, generation: number, permitMs: number): Promise<void> {
    const permit: Permit = { generation, isOurs: undefined, until: this.#clock.now() + permitMs };
    this.#permits.set(name, permit);
    const given = await this.#database.transact(async (batch) => {
      return (await batch.row(ask, `breaker ${name}`, [name, this.#node, generation, permitMs])).length > 0;
    });
    permit.isOurs = given;
  }
}
