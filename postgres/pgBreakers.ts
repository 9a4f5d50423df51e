import type { Clock } from '../src/policy/face.ts';
import type { PersistedBreaker } from '../src/policy/records/face.ts';
import { type BreakerStates, type Statement, breakerIn, step } from '../src/store/face.ts';
import { MemoryBreakers } from '../src/store/memory/face.ts';
import {
  breakerRow,
  claimProbe,
  countFailures,
  pauseBreaker,
  releaseProbe,
  saveBreaker,
  setFailures,
} from '../src/store/tables/face.ts';
import { overRows } from './pgTables.ts';
import type { PgDatabase } from './pgDatabase.ts';
import type { PgRow } from './pgDriver.ts';
import { changedSince, type SharedRows } from './sharedRows.ts';
import { rowsOf, type RowStatement } from './rowStatement.ts';

/**
 * Breakers by a local copy: a call waits for nothing. What is changed here is written behind; what others have changed is read up to a second
 * later, and failures of others are counted that much later. Of nodes that had calls before the circuit opened one is given the probe, ahead of its time
 * ({@link ProbePermits}). Two may still both probe, once for each opening at most: where one of them had no calls of it before, where the circuit
 * opens for less than a look at the others takes, or where the database does not answer.
 */
export class PgBreakers implements BreakerStates, SharedRows {
  readonly changes = changedSince(
    'breaker',
    'name, state, opened_at, open_until, last_open_ms, openings, failures, generation, cause, paused_at, paused_until, lease_until, lease_owner',
  );
  readonly #database: PgDatabase;
  readonly #local = new MemoryBreakers();
  /** Number of writes of each that are not committed yet: what is read of these is older than what is here. */
  readonly #pending = new Map<string, number>();
  /** Breakers that were changed here since the last look began. */
  #changed = new Set<string>();
  readonly #permits: ProbePermits;

  constructor(database: PgDatabase, clock: Clock) {
    this.#database = database;
    this.#permits = new ProbePermits(database, clock);
  }

  load(name: string): PersistedBreaker | undefined {
    return this.#local.load(name);
  }

  save(name: string, breaker: PersistedBreaker): void {
    this.#local.save(name, breaker);
    if (breaker.state === 'open') this.#permits.used(name);
    this.#write(saveBreaker, name, breakerRow(name, breaker));
  }

  countFailure(name: string, generation: number): number {
    this.#write(countFailures, name, { name, generation });
    this.#permits.used(name);
    return this.#local.countFailure(name, generation);
  }

  saveFailures(name: string, generation: number, failures: number): void {
    this.#local.saveFailures(name, generation, failures);
    this.#permits.used(name);
    this.#write(setFailures, name, { name, generation, failures });
  }

  pause(name: string, at: number, until: number): void {
    this.#local.pause(name, at, until);
    this.#write(pauseBreaker, name, { name, pausedAt: at, pausedUntil: until });
  }

  changedElsewhere(): ReadonlyMap<string, PersistedBreaker> | undefined {
    return this.#local.changedElsewhere();
  }

  claimProbe(name: string, generation: number, owner: string, leaseMs: number, wallNow: number): boolean {
    if (this.#permits.isOthers(name, generation)) return false;
    if (!this.#local.claimProbe(name, generation, owner, leaseMs, wallNow)) return false;
    this.#write(claimProbe, name, { name, owner, now: wallNow, leaseMs: Math.ceil(leaseMs), generation });
    // The others are to know as soon as can be.
    void this.#database.flush();
    return true;
  }

  probeHolder(name: string): string | undefined {
    return this.#local.probeHolder(name);
  }

  releaseProbe(name: string, owner: string): void {
    this.#local.releaseProbe(name, owner);
    this.#write(releaseProbe, name, { name, owner });
  }

  begin(): void {
    this.#changed = new Set(this.#pending.keys());
  }

  take(rows: readonly PgRow[]): 'done' | 'again' {
    let isPartial = false;
    for (const row of rows) {
      const name = String(row['name']);
      if (this.#changed.has(name)) {
        isPartial = true;
        continue;
      }
      const { lease_owner: owner, lease_until: until } = row;
      const lease = typeof owner === 'string' ? { owner, until: Number(until) } : undefined;
      this.#local.adopt(name, { row: breakerIn(row), lease });
    }
    this.#permits.askAhead((name) => this.load(name));
    return isPartial ? 'again' : 'done';
  }

  /** By the rules of the local copy: of two who were both granted the probe there, the row has the first. */
  #write(statement: Statement, name: string, row: object): void {
    const { key, values } = step(statement, `breaker ${name}`, row);
    this.#changed.add(name);
    this.#pending.set(name, (this.#pending.get(name) ?? 0) + 1);
    this.#database.write({
      run(batch) {
        batch.add(overRows(statement), key, values);
      },
      committed: () => {
        const left = (this.#pending.get(name) ?? 1) - 1;
        if (left === 0) this.#pending.delete(name);
        else this.#pending.set(name, left);
      },
    });
  }
}

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
class ProbePermits {
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
