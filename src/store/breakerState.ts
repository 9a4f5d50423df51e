import { readBreakerCause } from '../policy/breakerCause.ts';
import type { PersistedBreaker } from '../policy/persistedBreaker.ts';
import type { Connection } from './connection.ts';
import type { Database, SqlRow } from './database.ts';
import { parseMetadata } from './query.ts';
import type { Redactor } from './redact.ts';
import type { WriteQueue } from './writeQueue.ts';

/** Circuit breakers between processes: what survives a restart, and who may probe. Nothing here throws. */
export interface BreakerStates {
  /** Every breaker that is kept, by integration. Empty when the store cannot be read. */
  loadAll(): ReadonlyMap<string, PersistedBreaker>;
  load(name: string): PersistedBreaker | undefined;
  /** Keeps a breaker and ends its lease, with the commit of this turn. A row of a higher generation stays as it is. */
  save(name: string, breaker: PersistedBreaker): void;
  /**
   * Counts a failure for all processes that share the breaker. Returns how many there are in a row, this one included; 0 when
   * the circuit has changed since `generation`; undefined when the store cannot answer now: then it is counted with a later commit.
   */
  countFailure(name: string, generation: number): number | undefined;
  /** Keeps how many failures there are in a row, with the commit of this turn, unless the circuit has changed since `generation`. */
  saveFailures(name: string, generation: number, failures: number): void;
  /**
   * Takes the lease on the next probe, for `leaseMs` from `wallNow`. False while another owner holds it, or while a row of a
   * higher generation says that the other side is not to be called yet: `load` it. Both pass by themselves. A store that
   * cannot answer allows the probe.
   */
  claimProbe(name: string, generation: number, owner: string, leaseMs: number, wallNow: number): boolean;
  /** Who holds the lease; undefined when nobody does, or the store cannot answer. */
  probeHolder(name: string): string | undefined;
  /** Gives back a lease that `owner` holds. */
  releaseProbe(name: string, owner: string): void;
}

export interface BreakerStatesOptions {
  readonly connection: Connection;
  readonly queue: WriteQueue;
  /** Why a circuit opened is kept without secrets. */
  readonly redact: Redactor;
}

export function createBreakerStates({ connection, queue, redact }: BreakerStatesOptions): BreakerStates {
  /** What is saved here and not yet committed, the latest for each name; at most one write for each waits in the queue. */
  const pending = new Map<string, PersistedBreaker>();

  /** Asks the database, unless it is known to be out of order. */
  function ask<T>(question: (database: Database) => T, otherwise: T): T {
    if (queue.degraded) return otherwise;
    try {
      return connection.use(question);
    } catch (error) {
      queue.report(error);
      return otherwise;
    }
  }

  return {
    loadAll() {
      const kept = ask(selectBreakers, new Map<string, PersistedBreaker>());
      for (const [name, breaker] of pending) kept.set(name, breaker);
      return kept;
    },
    load: (name) => pending.get(name) ?? ask((database) => selectBreaker(database, name), undefined),
    save(name, breaker) {
      const queued = pending.has(name);
      pending.set(name, breaker);
      if (queued) return;
      queue.add({
        run: (database) => upsertBreaker(database, redact, name, pending.get(name) ?? breaker),
        committed: () => pending.delete(name),
      });
    },
    countFailure(name, generation) {
      // What waits in the queue may be the generation that is asked for.
      const counted = pending.has(name)
        ? undefined
        : ask((database) => countFailure(database, name, generation), undefined);
      if (counted !== undefined) return counted;
      queue.add({ run: (database) => void countFailure(database, name, generation) });
      return undefined;
    },
    saveFailures(name, generation, failures) {
      queue.add({ run: (database) => setFailures(database, name, generation, failures) });
    },
    claimProbe: (name, generation, owner, leaseMs, wallNow) =>
      ask((database) => claimLease(database, { name, generation, owner, leaseMs, wallNow }), true),
    probeHolder: (name) => ask((database) => leaseHolder(database, name), undefined),
    releaseProbe: (name, owner) => ask((database) => releaseLease(database, name, owner), undefined),
  };
}

const columns = 'name, state, opened_at, open_until, last_open_ms, openings, failures, generation, cause';

/** Every breaker of a database. */
export function selectBreakers(database: Database): Map<string, PersistedBreaker> {
  const rows = database.prepare('SELECT * FROM unwedge_breakers ORDER BY name').all();
  return new Map(rows.map((row) => [String(row['name']), toBreaker(row)]));
}

function selectBreaker(database: Database, name: string): PersistedBreaker | undefined {
  const row = database.prepare('SELECT * FROM unwedge_breakers WHERE name = ?').get(name);
  return row === undefined ? undefined : toBreaker(row);
}

function toBreaker(row: SqlRow): PersistedBreaker {
  return {
    state: row['state'] === 'open' ? 'open' : 'closed',
    openedAt: Number(row['opened_at']),
    openUntil: Number(row['open_until']),
    lastOpenMs: Number(row['last_open_ms']),
    openings: Number(row['openings']),
    // A reader may meet a database of before, which has no such column.
    failures: Number(row['failures'] ?? 0),
    generation: Number(row['generation']),
    cause: typeof row['cause'] === 'string' ? readBreakerCause(parseMetadata(row['cause'])) : undefined,
  };
}

function upsertBreaker(database: Database, redact: Redactor, name: string, breaker: PersistedBreaker): void {
  database
    .prepare(
      `INSERT INTO unwedge_breakers (${columns}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
       ON CONFLICT (name) DO UPDATE SET
         state = excluded.state, opened_at = excluded.opened_at, open_until = excluded.open_until,
         last_open_ms = excluded.last_open_ms, openings = excluded.openings, failures = excluded.failures,
         generation = excluded.generation, cause = excluded.cause,
         lease_until = NULL, lease_owner = NULL
       WHERE excluded.generation >= generation`,
    )
    .run(
      name,
      breaker.state,
      Math.round(breaker.openedAt),
      Math.round(breaker.openUntil),
      Math.round(breaker.lastOpenMs),
      breaker.openings,
      breaker.failures,
      breaker.generation,
      breaker.cause === undefined ? null : redact({ ...breaker.cause }),
    );
}

const closedRow = `INSERT INTO unwedge_breakers (${columns}) VALUES (?, 'closed', 0, 0, 0, 0, ?, ?, NULL)`;
const sameClosed = `WHERE generation = excluded.generation AND unwedge_breakers.state = 'closed'`;

/** In one statement, so that no two processes count the same. 0: the row is of another generation, or open. */
function countFailure(database: Database, name: string, generation: number): number {
  const row = database
    .prepare(`${closedRow} ON CONFLICT (name) DO UPDATE SET failures = failures + 1 ${sameClosed} RETURNING failures`)
    .get(name, 1, generation);
  return row === undefined ? 0 : Number(row['failures']);
}

function setFailures(database: Database, name: string, generation: number, failures: number): void {
  database
    .prepare(`${closedRow} ON CONFLICT (name) DO UPDATE SET failures = excluded.failures ${sameClosed}`)
    .run(name, failures, generation);
}

interface Claim {
  readonly name: string;
  readonly generation: number;
  readonly owner: string;
  readonly leaseMs: number;
  readonly wallNow: number;
}

/**
 * One fenced UPDATE, so that of all processes one wins. Times too far ahead to be true are those of a wall clock that has
 * stepped back since; they must not block probes for as long as the step was.
 */
function claimLease(database: Database, { name, generation, owner, leaseMs, wallNow }: Claim): boolean {
  const now = Math.round(wallNow);
  const lease = Math.ceil(leaseMs);
  const changed = database
    .prepare(
      `UPDATE unwedge_breakers SET lease_owner = ?, lease_until = ?
       WHERE name = ?
         AND (lease_until IS NULL OR lease_owner = ? OR lease_until <= ? OR lease_until > ?)
         AND (generation <= ? OR state = 'closed' OR open_until <= ? OR open_until > ? + last_open_ms)`,
    )
    .run(owner, now + lease, name, owner, now, now + 2 * lease, generation, now, now);
  return changed > 0 || selectBreaker(database, name) === undefined;
}

function leaseHolder(database: Database, name: string): string | undefined {
  const owner = database.prepare('SELECT lease_owner FROM unwedge_breakers WHERE name = ?').get(name)?.['lease_owner'];
  return typeof owner === 'string' ? owner : undefined;
}

function releaseLease(database: Database, name: string, owner: string): void {
  database
    .prepare('UPDATE unwedge_breakers SET lease_owner = NULL, lease_until = NULL WHERE name = ? AND lease_owner = ?')
    .run(name, owner);
}
