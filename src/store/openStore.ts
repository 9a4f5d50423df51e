import type { Clock, Random } from '../policy/clock.ts';
import type { Facts } from '../policy/facts/facts.ts';
import { type Logger, say } from '../policy/text/logger.ts';
import {
  anything,
  boolean,
  choice,
  integer,
  type Key,
  type Given,
  number,
  text,
  more,
} from '../policy/options/optionKeys.ts';
import { readOptions } from '../policy/options/readOptions.ts';
import { retentionKey } from '../policy/retention.ts';
import type { KnownSecrets } from '../redaction/knownSecrets.ts';
import { MemoryStore } from './memory/memoryStore.ts';
import { type Environment, storePlace } from './paths.ts';
import { isPostgresUrl } from '../policy/text/postgresUrl.ts';
import type { DriverLoader } from './sqlite/database.ts';
import { findDriver } from './sqlite/driver.ts';
import { openSqlite } from './sqlite/sqliteStore.ts';
import type { Store } from './store.ts';
import { StoreUnavailableError } from './storeOption.ts';
import { lateModule } from '../actors/process/lateModule.ts';

const postgresModule = lateModule(() => import('../../postgres/postgresStore.ts'));

// Loaded with the store, by its subscriber.
export { storedTypes } from './record.ts';

const storeKeys = {
  /**
   * SQLite file; created with its directories, for their owner only. `':memory:'` keeps the last 10,000 events of this process.
   * @defaultValue `UNWEDGE_DB`, else `unwedge/unwedge.sqlite` in the XDG state directory
   */
  path: text(),
  /** Makes it an error when the file cannot be had, for other reasons than a lock. @defaultValue false */
  required: boolean({ default: false }),
  /** Source of time and timers. */
  clock: anything as Key<Clock>,
  /** A source of chance in [0, 1), where several nodes are not to do the same at one moment. @defaultValue Math.random */
  random: anything as Key<Random | undefined>,
  /** Is told `store.degraded` and `store.recovered`. */
  facts: anything as Key<Facts>,
  /** Is told the same, for people. @defaultValue silence */
  logger: anything as Key<Logger | undefined>,
  /** End that a commit survives: that of the process (`NORMAL`) or of the machine (`FULL`). @defaultValue 'NORMAL' */
  synchronous: choice(['NORMAL', 'FULL'], { default: 'NORMAL' }),
  /**
   * Time that one statement may block the event loop on the lock of another process, in ms, at least 0; a short-lived process that has nothing else to do
   * waits longer. @defaultValue 5
   */
  lockWaitMs: number(),
  /**
   * Age and amount up to which records are kept: what is older or more is deleted in the background, the first time a minute after the opening.
   * @defaultValue false: a short-lived process deletes nothing
   */
  retention: more(retentionKey, { default: false }),
  /** The process that keeps the store. Where several share a file, it tells their records of one name apart. @defaultValue none is stored */
  runtimePid: integer(),
  /** Secrets of who tells facts, which learn the password of the store. @defaultValue none learn it */
  secrets: anything as Key<KnownSecrets | undefined>,
  /** Source of the default path. @defaultValue process.env */
  env: anything as Key<Environment | undefined>,
  /** Drivers in the order they are tried. @defaultValue better-sqlite3, node:sqlite */
  drivers: anything as Key<readonly DriverLoader[] | undefined>,
};

export interface StoreOptions extends Given<typeof storeKeys> {}

/**
 * Opens the store with the engine for its path. A file that cannot be used gives a degraded store that tries again. A missing driver gives
 * a store in memory. Each is told once; where the store is `required`, each is an error. Waits up to 5 s for the lock of another process.
 * @throws TypeError or RangeError when an option is wrong.
 * @throws {@link StoreUnavailableError} when it is `required` and cannot be had.
 */
export async function openStore(options: StoreOptions): Promise<Store> {
  const { required, synchronous, lockWaitMs, runtimePid, retention: kept } = readOptions('options', options, storeKeys);
  const { clock, random = Math.random, facts, logger, env = process.env } = options;
  const retention = kept || undefined;
  const path = storePlace(options.path, env);
  if (isPostgresUrl(path)) {
    options.secrets?.learn({ store: path });
    // Loaded by those who name one alone.
    const { openPostgres } = await postgresModule();
    return openPostgres({ url: path, clock, random, facts, logger, required, retention, runtimePid });
  }
  const parts = { path, clock, facts, logger };
  if (path === ':memory:') {
    say(logger, 'debug', 'The store is in memory: the last 10,000 events are kept, and end with this process.');
    return new MemoryStore(path, false);
  }
  const found = await findDriver(options.drivers);
  if (found.ok) {
    return openSqlite({ ...parts, driver: found.driver, required, synchronous, lockWaitMs, retention, runtimePid });
  }
  const { reason, fix } = found;
  if (required) throw new StoreUnavailableError(`${path}: ${reason}`, fix);
  say(logger, 'warn', `Nothing is stored: ${reason}; the last 10,000 events are kept in memory. Fix: ${fix}.`);
  facts.tell({ type: 'store.degraded', reason, fix });
  return new MemoryStore(path, true);
}
