import type { Clock } from '../src/policy/clock.ts';
import type { PersistedBreaker } from '../src/policy/persistedBreaker.ts';
import { breakerIn, type BreakerStates } from '../src/store/breakers.ts';
import { boundedJson } from '../src/policy/boundedJson.ts';
import { MemoryBreakers } from '../src/store/memory/memoryBreakers.ts';
import type { Value } from '../src/store/dialect.ts';
import { type RowStatement, rowsOf } from './rowStatement.ts';
import { ProbePermits } from './probePermits.ts';
import type { PgDatabase } from './pgDatabase.ts';
import type { PgRow } from './pgDriver.ts';
import { changedSince, type SharedRows } from './sharedRows.ts';

const rank = 1;
const touched = 'xid = pg_current_xact_id()';

const save: RowStatement = {
  name: 'save_breaker',
  rank,
  text: `WITH ${rowsOf(`name text, state text, opened_at bigint, open_until bigint, last_open_ms bigint, openings integer,
      failures integer, generation bigint, cause text`)}
    INSERT INTO uw.breaker AS b (name, state, opened_at, open_until, last_open_ms, openings, failures, generation, cause)
    SELECT name, state, opened_at, open_until, last_open_ms, openings, failures, generation, cause FROM w ORDER BY name
    ON CONFLICT (name) DO UPDATE SET
      state = excluded.state, opened_at = excluded.opened_at, open_until = excluded.open_until,
      last_open_ms = excluded.last_open_ms, openings = excluded.openings, failures = excluded.failures,
      generation = excluded.generation, cause = excluded.cause, lease_until = NULL, lease_owner = NULL,
      paused_at = CASE excluded.state WHEN 'closed' THEN NULL ELSE b.paused_at END,
      paused_until = CASE excluded.state WHEN 'closed' THEN NULL ELSE b.paused_until END, ${touched}
    WHERE excluded.generation >= b.generation`,
};

/** Failures that were counted here are added to those of others. */
const count: RowStatement = {
  name: 'count_failures',
  rank,
  together: true,
  text: `WITH ${rowsOf('name text, generation bigint')}
    INSERT INTO uw.breaker AS b (name, generation, failures)
    SELECT name, max(generation), count(*) FROM w GROUP BY name, generation HAVING generation = (
      SELECT max(generation) FROM w o WHERE o.name = w.name) ORDER BY name
    ON CONFLICT (name) DO UPDATE SET failures = b.failures + excluded.failures, ${touched}
    WHERE b.generation = excluded.generation AND b.state = 'closed'`,
};

const setFailures: RowStatement = {
  name: 'set_failures',
  rank,
  text: `WITH ${rowsOf('name text, generation bigint, failures integer')}
    INSERT INTO uw.breaker AS b (name, generation, failures) SELECT name, generation, failures FROM w ORDER BY name
    ON CONFLICT (name) DO UPDATE SET failures = excluded.failures, ${touched}
    WHERE b.generation = excluded.generation AND b.state = 'closed'`,
};

/** A pause that was told later may end earlier; the later end counts. */
const pause: RowStatement = {
  name: 'pause_breaker',
  rank,
  text: `WITH ${rowsOf('name text, paused_at bigint, paused_until bigint')}
    INSERT INTO uw.breaker AS b (name, paused_at, paused_until) SELECT name, paused_at, paused_until FROM w ORDER BY name
    ON CONFLICT (name) DO UPDATE SET paused_at = excluded.paused_at, paused_until = excluded.paused_until, ${touched}
    WHERE b.paused_until IS NULL OR b.paused_until < excluded.paused_until`,
};

/** By the rules of the local copy: of two who were both granted the probe there, the row has the first. */
const claim: RowStatement = {
  name: 'claim_probe',
  rank,
  text: `WITH ${rowsOf('name text, owner text, now bigint, lease_ms bigint, generation bigint')}
    UPDATE uw.breaker AS b SET lease_owner = w.owner, lease_until = w.now + w.lease_ms, ${touched}
    FROM w WHERE b.name = w.name
      AND (b.lease_until IS NULL OR b.lease_owner = w.owner OR b.lease_until <= w.now OR b.lease_until > w.now + 2 * w.lease_ms)
      AND (b.generation <= w.generation OR b.state = 'closed' OR b.open_until <= w.now OR b.open_until > w.now + b.last_open_ms)`,
};

const release: RowStatement = {
  name: 'release_probe',
  rank,
  text: `WITH ${rowsOf('name text, owner text')}
    UPDATE uw.breaker AS b SET lease_owner = NULL, lease_until = NULL, ${touched}
    FROM w WHERE b.name = w.name AND b.lease_owner = w.owner`,
};

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
    const { state, openedAt, openUntil, lastOpenMs, openings, failures, generation, cause } = breaker;
    const times = [openedAt, openUntil, lastOpenMs].map(Math.round);
    const why = cause === undefined ? null : boundedJson({ ...cause });
    this.#write(save, [name, state, ...times, openings, failures, generation, why]);
  }

  countFailure(name: string, generation: number): number {
    this.#write(count, [name, generation]);
    this.#permits.used(name);
    return this.#local.countFailure(name, generation);
  }

  saveFailures(name: string, generation: number, failures: number): void {
    this.#local.saveFailures(name, generation, failures);
    this.#permits.used(name);
    this.#write(setFailures, [name, generation, failures]);
  }

  pause(name: string, at: number, until: number): void {
    this.#local.pause(name, at, until);
    this.#write(pause, [name, Math.round(at), Math.round(until)]);
  }

  changedElsewhere(): ReadonlyMap<string, PersistedBreaker> | undefined {
    return this.#local.changedElsewhere();
  }

  claimProbe(name: string, generation: number, owner: string, leaseMs: number, wallNow: number): boolean {
    if (this.#permits.isOthers(name, generation)) return false;
    if (!this.#local.claimProbe(name, generation, owner, leaseMs, wallNow)) return false;
    this.#write(claim, [name, owner, Math.round(wallNow), Math.ceil(leaseMs), generation]);
    // The others are to know as soon as can be.
    void this.#database.flush();
    return true;
  }

  probeHolder(name: string): string | undefined {
    return this.#local.probeHolder(name);
  }

  releaseProbe(name: string, owner: string): void {
    this.#local.releaseProbe(name, owner);
    this.#write(release, [name, owner]);
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

  #write(statement: RowStatement, values: readonly [string, ...Value[]]): void {
    const [name] = values;
    this.#changed.add(name);
    this.#pending.set(name, (this.#pending.get(name) ?? 0) + 1);
    this.#database.write({
      run(batch) {
        batch.add(statement, `breaker ${name}`, values);
      },
      committed: () => {
        const left = (this.#pending.get(name) ?? 1) - 1;
        if (left === 0) this.#pending.delete(name);
        else this.#pending.set(name, left);
      },
    });
  }
}
