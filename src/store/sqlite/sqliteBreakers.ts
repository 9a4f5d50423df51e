import type { PersistedBreaker } from '../../policy/records/persistedBreaker.ts';
import { breakerIn, type BreakerStates } from '../breakers.ts';
import type { Statement } from '../dialect.ts';
import {
  breakerRow,
  claimProbe,
  countFailures,
  pauseBreaker,
  releaseProbe,
  saveBreaker,
  setFailures,
} from '../tables/breakers.ts';
import { step } from '../work.ts';
import type { Database, SqlRow } from './database.ts';
import { dataVersionOf } from './connection.ts';
import { doRow } from './fileTables.ts';
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
    const pending = this.#pending.get(name);
    if (pending !== undefined) return pending;
    const row = this.#file.ask((database) => selectRow(database, name), undefined);
    return row && breakerIn(row);
  }

  save(name: string, breaker: PersistedBreaker): void {
    const queued = this.#pending.has(name);
    this.#pending.set(name, breaker);
    if (queued) return;
    this.#file.write({
      run: (database) => doRow(database, step(saveBreaker, name, breakerRow(name, this.#pending.get(name) ?? breaker))),
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
    this.#write(setFailures, { name, generation, failures });
  }

  pause(name: string, at: number, until: number): void {
    this.#write(pauseBreaker, { name, pausedAt: at, pausedUntil: until });
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
    const claim = step(claimProbe, name, { name, owner, now: wallNow, leaseMs: Math.ceil(leaseMs), generation });
    return this.#file.ask(
      (database) => doRow(database, claim).length > 0 || selectRow(database, name) === undefined,
      true,
    );
  }

  probeHolder(name: string): string | undefined {
    const owner = this.#file.ask((database) => selectRow(database, name)?.['lease_owner'], undefined);
    return typeof owner === 'string' ? owner : undefined;
  }

  releaseProbe(name: string, owner: string): void {
    this.#file.ask((database) => doRow(database, step(releaseProbe, name, { name, owner })), []);
  }

  #write(made: Statement, row: object): void {
    const write = step(made, '', row);
    this.#file.write({ run: (database) => void doRow(database, write) });
  }
}

/** Every breaker of a database. */
export function selectBreakers(database: Database): Map<string, PersistedBreaker> {
  const rows = database.prepare('SELECT * FROM unwedge_breakers ORDER BY name').all();
  return new Map(rows.map((row) => [String(row['name']), breakerIn(row)]));
}

function selectRow(database: Database, name: string): SqlRow | undefined {
  return database.prepare('SELECT * FROM unwedge_breakers WHERE name = ?').get(name);
}

/** 0: the row is of another generation, or open. */
function countFailure(database: Database, name: string, generation: number): number {
  return Number(doRow(database, step(countFailures, name, { name, generation }))[0]?.['failures'] ?? 0);
}
