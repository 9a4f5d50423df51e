import { boundedJson } from '../../policy/boundedJson.ts';
import type { PersistedBreaker } from '../../policy/persistedBreaker.ts';
import { breakerIn, type BreakerStates } from '../breakers.ts';
import type { Database } from './database.ts';
import { dataVersionOf } from './fileMarks.ts';
import type { StoreFile } from './storeFile.ts';

/** Breakers in the file. */
export class SqliteBreakers implements BreakerStates {
  readonly #file: StoreFile;
  /** Breakers saved here and not yet committed, the latest for each name; at most one write for each waits in the queue. */
  readonly #pending = new Map<string, PersistedBreaker>();

  /** Version of the file, when it was last looked at for what others have changed. */
  #version: unknown = undefined;

  constructor(file: StoreFile) {
    this.#file = file;
  }

  load(name: string): PersistedBreaker | undefined {
    return this.#pending.get(name) ?? this.#file.ask((database) => selectBreaker(database, name), undefined);
  }

  save(name: string, breaker: PersistedBreaker): void {
    const queued = this.#pending.has(name);
    this.#pending.set(name, breaker);
    if (queued) return;
    this.#file.write({
      run: (database) => upsertBreaker(database, name, this.#pending.get(name) ?? breaker),
      committed: () => this.#pending.delete(name),
    });
  }

  countFailure(name: string, generation: number): number | undefined {
    // A row that waits in the queue may be of the generation that is asked for.
    const counted = this.#pending.has(name)
      ? undefined
      : this.#file.ask((database) => countFailure(database, name, generation), undefined);
    if (counted !== undefined) return counted;
    this.#file.write({ run: (database) => void countFailure(database, name, generation) });
    return undefined;
  }

  saveFailures(name: string, generation: number, failures: number): void {
    this.#file.write({ run: (database) => setFailures(database, name, generation, failures) });
  }

  pause(name: string, at: number, until: number): void {
    this.#file.write({ run: (database) => setPause(database, name, at, until) });
  }

  changedElsewhere(): ReadonlyMap<string, PersistedBreaker> | undefined {
    return this.#file.ask((database) => {
      const version = dataVersionOf(database);
      if (version === this.#version) return undefined;
      this.#version = version;
      return selectBreakers(database);
    }, undefined);
  }

  claimProbe(name: string, generation: number, owner: string, leaseMs: number, wallNow: number): boolean {
    return this.#file.ask((database) => claimLease(database, { name, generation, owner, leaseMs, wallNow }), true);
  }

  probeHolder(name: string): string | undefined {
    return this.#file.ask((database) => leaseHolder(database, name), undefined);
  }

  releaseProbe(name: string, owner: string): void {
    this.#file.ask((database) => releaseLease(database, name, owner), undefined);
  }
}

const columns = 'name, state, opened_at, open_until, last_open_ms, openings, failures, generation, cause';

/** Every breaker of a database. */
export function selectBreakers(database: Database): Map<string, PersistedBreaker> {
  const rows = database.prepare('SELECT * FROM unwedge_breakers ORDER BY name').all();
  return new Map(rows.map((row) => [String(row['name']), breakerIn(row)]));
}

function selectBreaker(database: Database, name: string): PersistedBreaker | undefined {
  const row = database.prepare('SELECT * FROM unwedge_breakers WHERE name = ?').get(name);
  return row === undefined ? undefined : breakerIn(row);
}

function upsertBreaker(database: Database, name: string, breaker: PersistedBreaker): void {
  database
    .prepare(
      `INSERT INTO unwedge_breakers (${columns}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
       ON CONFLICT (name) DO UPDATE SET
         state = excluded.state, opened_at = excluded.opened_at, open_until = excluded.open_until,
         last_open_ms = excluded.last_open_ms, openings = excluded.openings, failures = excluded.failures,
         generation = excluded.generation, cause = excluded.cause,
         lease_until = NULL, lease_owner = NULL,
         paused_until = CASE excluded.state WHEN 'closed' THEN NULL ELSE paused_until END
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
      breaker.cause === undefined ? null : boundedJson({ ...breaker.cause }),
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

/** A pause that was told later may end earlier; the later end counts. */
function setPause(database: Database, name: string, at: number, until: number): void {
  database
    .prepare(
      `INSERT INTO unwedge_breakers (name, state, opened_at, open_until, last_open_ms, openings, failures, generation, paused_at, paused_until)
       VALUES (?, 'closed', 0, 0, 0, 0, 0, 0, ?, ?)
       ON CONFLICT (name) DO UPDATE SET paused_at = excluded.paused_at, paused_until = excluded.paused_until
       WHERE paused_until IS NULL OR paused_until < excluded.paused_until`,
    )
    .run(name, Math.round(at), Math.round(until));
}

interface Claim {
  readonly name: string;
  readonly generation: number;
  readonly owner: string;
  readonly leaseMs: number;
  readonly wallNow: number;
}

/**
 * Makes one fenced UPDATE, so that of all processes one wins. Times too far ahead to be true are those of a wall clock that has stepped back since; they must
 * not block probes for as long as the step was.
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
