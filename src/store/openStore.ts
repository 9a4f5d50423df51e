import type { Clock, Random } from '../policy/clock.ts';
import type { Facts } from '../policy/facts.ts';
import { type Logger, say } from '../policy/logger.ts';
import { anything, boolean, choice, integer, type Key, type KeysOf, number, text } from '../policy/optionKeys.ts';
import { readOptions } from '../policy/readOptions.ts';
import { type RetentionOptions, retentionKey } from '../policy/retention.ts';
import type { KnownSecrets } from '../redaction/knownSecrets.ts';
import { MemoryStore } from './memory/memoryStore.ts';
import { type Environment, storePlace } from './paths.ts';
import { isPostgresUrl } from '../policy/postgresUrl.ts';
import type { DriverLoader } from './sqlite/database.ts';
import { findDriver } from './sqlite/driver.ts';
import { openSqlite } from './sqlite/sqliteStore.ts';
import type { Store } from './store.ts';
import { StoreUnavailableError } from './storeOption.ts';
import { lateModule } from '../actors/process/lateModule.ts';

const postgresModule = lateModule(() => import('./postgres/postgresStore.ts'));

// Loaded with the store, by its subscriber.
export { storedTypes } from './record.ts';

export interface StoreOptions {
  /**
   * SQLite file; created with its directories, for their owner only. `':memory:'` keeps the last 10,000 events of this process.
   * @defaultValue `UNWEDGE_DB`, else `unwedge/unwedge.sqlite` in the XDG state directory
   */
  readonly path?: string | undefined;
  /** Makes it an error when the file cannot be had, for other reasons than a lock. @defaultValue false */
  readonly required?: boolean | undefined;
  readonly clock: Clock;
  /** A source of chance in [0, 1), where several nodes are not to do the same at one moment. @defaultValue Math.random */
  readonly random?: Random | undefined;
  /** Is told `store.degraded` and `store.recovered`. */
  readonly facts: Facts;
  readonly logger?: Logger | undefined;
  /** End that a commit survives: that of the process (`NORMAL`) or of the machine (`FULL`). @defaultValue 'NORMAL' */
  readonly synchronous?: 'NORMAL' | 'FULL' | undefined;
  /**
   * Time that one statement may block the event loop on the lock of another process, in ms, at least 0; a short-lived process that has nothing else to do
   * waits longer. @defaultValue 5
   */
  readonly lockWaitMs?: number | undefined;
  /**
   * Age and amount up to which records are kept: what is older or more is deleted in the background, the first time a minute after the opening.
   * @defaultValue false: a short-lived process deletes nothing
   */
  readonly retention?: RetentionOptions | false | undefined;
  /** The process that keeps the store. Where several share a file, it tells their records of one name apart. @defaultValue none is stored */
  readonly runtimePid?: number | undefined;
  /** Secrets of who tells facts, which learn the password of the store. @defaultValue none learn it */
  readonly secrets?: KnownSecrets | undefined;
  /** Source of the default path. @defaultValue process.env */
  readonly env?: Environment | undefined;
  /** Drivers in the order they are tried. @defaultValue better-sqlite3, node:sqlite */
  readonly drivers?: readonly DriverLoader[] | undefined;
}

const given = <T>(): Key<T | undefined> => anything as Key<T | undefined>;

const storeKeys = {
  path: text(),
  required: boolean({ default: false }),
  clock: given<Clock>(),
  random: given<Random>(),
  facts: given<Facts>(),
  logger: given<Logger>(),
  synchronous: choice(['NORMAL', 'FULL'], { default: 'NORMAL' }),
  lockWaitMs: number(),
  retention: { ...retentionKey, default: false },
  runtimePid: integer(),
  secrets: given<KnownSecrets>(),
  env: given<Environment>(),
  drivers: given<readonly DriverLoader[]>(),
} satisfies KeysOf<StoreOptions>;

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
    return new MemoryStore(parts);
  }
  const found = await findDriver(options.drivers);
  if (found.ok) {
    return openSqlite({ ...parts, driver: found.driver, required, synchronous, lockWaitMs, retention, runtimePid });
  }
  const { reason, fix } = found;
  if (required) throw new StoreUnavailableError(`${path}: ${reason}`, fix);
  say(logger, 'warn', `Nothing is stored: ${reason}; the last 10,000 events are kept in memory. Fix: ${fix}.`);
  facts.tell({ type: 'store.degraded', reason, fix });
  return new MemoryStore({ ...parts, degraded: true });
}
