import type { Clock } from '../../policy/clock.ts';
import type { Fact, Facts, Told } from '../../policy/facts.ts';
import type { Logger } from '../../policy/logger.ts';
import type { Retention } from '../../policy/retention.ts';
import type { SessionStore } from '../../sessions/sessionStore.ts';
import type { EventQuery, EventRow } from '../events.ts';
import type { StoreOutage } from '../../policy/storeOutage.ts';
import type { RuntimeIdentity } from '../runtimes.ts';
import type { Store } from '../store.ts';
import { StoreUnavailableError } from '../storeOption.ts';
import { Pruner } from '../pruner.ts';
import { Alerts } from '../tables/alerts.ts';
import { Children } from '../tables/children.ts';
import { Flights } from '../tables/flights.ts';
import { KeptRuntimes } from '../tables/runtimes.ts';
import { Statistics } from '../tables/statistics.ts';
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
  return new SqliteStore(driver.kind, file, log, options, pruner);
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
class SqliteStore implements Store {
  readonly kind: Driver['kind'];
  readonly persistent = true;
  readonly path: string;
  readonly breakers: SqliteBreakers;
  readonly rates: SqliteRates;
  readonly statistics: Statistics;
  readonly flights: Flights;
  readonly runtimes: KeptRuntimes;
  readonly children: Children;
  readonly alerts: Alerts;
  readonly #file: StoreFile;
  readonly #log: EventLog;
  readonly #sessionScope: SessionScope;
  readonly #pruner: Pruner | undefined;

  constructor(
    kind: Driver['kind'],
    file: StoreFile,
    log: EventLog,
    { path }: Pick<SqliteOptions, 'path'>,
    pruner: Pruner | undefined,
  ) {
    const left = createLeftRuns(path);
    this.kind = kind;
    this.path = path;
    this.#file = file;
    this.#pruner = pruner;
    this.#log = log;
    this.#sessionScope = { file, log: this.#log, left };
    const tables = new FileTables(file, log);
    this.breakers = new SqliteBreakers(file);
    this.rates = new SqliteRates(file);
    this.statistics = new Statistics(tables);
    this.flights = new Flights(tables);
    this.runtimes = new KeptRuntimes(tables, left);
    this.children = new Children(tables, createChildMark(path));
    this.alerts = new Alerts(tables);
  }

  get degraded(): boolean {
    return this.#file.degraded;
  }

  get outage(): StoreOutage | undefined {
    return this.#file.outage;
  }

  record(fact: Told<Fact>): boolean {
    return this.#log.record(fact);
  }

  read(query: EventQuery): Promise<readonly EventRow[]> {
    return this.#log.read(query);
  }

  sessions(runtime: RuntimeIdentity): SessionStore {
    return new SqliteSessions(this.#sessionScope, runtime);
  }

  flush(): Promise<boolean> {
    return this.#file.flush();
  }

  async close(): Promise<void> {
    void this.#pruner?.stop();
    await this.#file.close();
    this.runtimes.closed();
  }
}
