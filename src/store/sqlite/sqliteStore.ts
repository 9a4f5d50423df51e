import type { Clock } from '../../policy/clock.ts';
import type { Facts } from '../../policy/facts/facts.ts';
import type { Logger } from '../../policy/text/logger.ts';
import type { Retention } from '../../policy/retention.ts';
import type { SessionStore } from '../../sessions/sessionStore.ts';
import type { RuntimeIdentity } from '../runtimes.ts';
import type { Store } from '../store.ts';
import { StoreUnavailableError } from '../storeOption.ts';
import { Pruner } from '../pruner.ts';
import { KeptRuntimes } from '../tables/runtimes.ts';
import { TableStore } from '../tables/tableStore.ts';
import { createChildMark } from './childMarks.ts';
import { type Connection, createConnection } from './connection.ts';
import type { Driver } from './database.ts';
import { EventLog } from './eventLog.ts';
import { FileTables } from './fileTables.ts';
import { createLeftRuns } from './leftRuns.ts';
import { prunedFile } from './prune.ts';
import { SqliteBreakers } from './sqliteBreakers.ts';
import { SqliteRates } from './sqliteRates.ts';
import { type SessionScope, SqliteSessions } from './sqliteSessions.ts';
import { StoreFile } from './storeFile.ts';
import { diagnose } from './trouble.ts';

export interface SqliteOptions {
  readonly driver: Driver;
  /** Absolute. */
  readonly path: string;
  readonly required: boolean;
  readonly synchronous: 'NORMAL' | 'FULL';
  readonly lockWaitMs: number | undefined;
  readonly retention: Retention | undefined;
  readonly runtimePid: number | undefined;
  readonly clock: Clock;
  readonly facts: Facts;
  readonly logger: Logger | undefined;
}

/**
 * Opens a file as a store; one that cannot be used gives a degraded store that tries again.
 * @throws {@link StoreUnavailableError} when it is `required` and cannot be had.
 */
export async function openSqlite(options: SqliteOptions): Promise<Store> {
  const { driver, path, required, synchronous, lockWaitMs, retention, clock, facts, logger, runtimePid } = options;
  const connection = createConnection(driver, path, synchronous, lockWaitMs);
  if (required) haveToUse(connection, path);
  const file = new StoreFile(connection, path, { clock, facts, logger });
  const log = new EventLog(file, runtimePid);
  file.recordsLost((database, schema, fact, at) => log.insert(database, schema, { ...fact, at }));
  await file.start();
  const engine = prunedFile(file, () => clock.now());
  const pruner = retention && new Pruner({ engine, clock, facts, retention });
  pruner?.start();
  return new SqliteStore(driver.kind, path, file, log, pruner);
}

/** A lock is waited for later: its holder can use the file. @throws {@link StoreUnavailableError} */
function haveToUse(connection: Connection, path: string): void {
  try {
    connection.use(() => undefined);
  } catch (error) {
    const { busy, reason, fix } = diagnose(error, path);
    if (busy) return;
    connection.close();
    throw new StoreUnavailableError(reason, fix, error);
  }
}

/** A store in a file that several processes may share. */
class SqliteStore extends TableStore implements Store {
  readonly kind: Driver['kind'];
  readonly breakers: SqliteBreakers;
  readonly rates: SqliteRates;
  readonly runtimes: KeptRuntimes;
  readonly #scope: SessionScope;
  readonly #pruner: Pruner | undefined;

  constructor(kind: Driver['kind'], path: string, file: StoreFile, log: EventLog, pruner: Pruner | undefined) {
    const tables = new FileTables(file, log);
    super(path, file, log, tables, createChildMark(path));
    const left = createLeftRuns(path);
    this.kind = kind;
    this.#scope = { file, log, left };
    this.#pruner = pruner;
    this.breakers = new SqliteBreakers(file);
    this.rates = new SqliteRates(file);
    this.runtimes = new KeptRuntimes(tables, left);
  }

  sessions(runtime: RuntimeIdentity): SessionStore {
    return new SqliteSessions(this.#scope, runtime);
  }

  async close(): Promise<void> {
    void this.#pruner?.stop();
    await this.#scope.file.close();
    this.runtimes.closed();
  }
}
