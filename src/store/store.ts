import type { AlertRecords } from '../policy/alertRecord.ts';
import type { ChildRecords } from '../policy/childRecord.ts';
import type { Clock } from '../policy/clock.ts';
import type { Fact, Facts, Told } from '../policy/facts.ts';
import { type Logger, say } from '../policy/logger.ts';
import { checkKeys, checkNumber, checkOneOf } from '../policy/options.ts';
import { checkRetention, type RetentionOptions } from '../policy/retention.ts';
import type { SessionStore } from '../sessions/sessionStore.ts';
import { createAlertRecords } from './alerts.ts';
import { type BreakerStates, createBreakerStates } from './breakerState.ts';
import { createChildRecords } from './children.ts';
import { type Connection, createConnection } from './connection.ts';
import type { DriverLoader } from './database.ts';
import { KnownSecrets } from './knownSecrets.ts';
import { findDriver } from './driver.ts';
import { createEventLog } from './eventLog.ts';
import { createLeftRuns } from './leftRuns.ts';
import { createMemoryStore } from './memoryStore.ts';
import { type Environment, storePath } from './paths.ts';
import type { EventQuery, EventRow } from './query.ts';
import { createRedactor } from './redact.ts';
import { startPruner } from './retention.ts';
import { createRuntimes, type Runtimes } from './runtimes.ts';
import { createSessionStore, type RuntimeIdentity } from './sessionStore.ts';
import { StoreUnavailableError } from './storeOption.ts';
import { diagnose } from './trouble.ts';
import { createWriteQueue } from './writeQueue.ts';

// Loaded with the store, by who subscribes it.
export { storedTypes } from './record.ts';

export interface StoreOptions {
  /**
   * SQLite file; created with its directories, for their owner only. `':memory:'` keeps the last 10,000 events of this process.
   * @defaultValue `UNWEDGE_DB`, else `unwedge/unwedge.sqlite` in the XDG state directory
   */
  readonly path?: string | undefined;
  /** Whether it is an error when the file cannot be had, for other reasons than a lock. @defaultValue false */
  readonly required?: boolean | undefined;
  readonly clock: Clock;
  /** Is told `store.degraded` and `store.recovered`. */
  readonly facts: Facts;
  readonly logger?: Logger | undefined;
  /** What a commit survives: the end of the process (`NORMAL`) or of the machine (`FULL`). @defaultValue 'NORMAL' */
  readonly synchronous?: 'NORMAL' | 'FULL' | undefined;
  /**
   * How long one statement may block the event loop on the lock of another process, in ms, at least 0; a short-lived process that
   * has nothing else to do waits longer. @defaultValue 5
   */
  readonly lockWaitMs?: number | undefined;
  /**
   * How long records are kept, and how much of them: what is older or more is deleted in the background, the first time a minute after the
   * opening. @defaultValue false: a short-lived process deletes nothing
   */
  readonly retention?: RetentionOptions | false | undefined;
  /** Of the process that keeps it, for who shares the file to tell records of one name apart. @defaultValue none is stored */
  readonly runtimePid?: number | undefined;
  /** What is never stored. @defaultValue the secrets of `env` */
  readonly secrets?: KnownSecrets | undefined;
  /** Where the default path comes from. @defaultValue process.env */
  readonly env?: Environment | undefined;
  /** Drivers in the order they are tried. @defaultValue better-sqlite3, node:sqlite */
  readonly drivers?: readonly DriverLoader[] | undefined;
}

/** Keeps facts and breaker states. Once open it never throws: what it cannot write waits in memory, at most 10,000 rows. */
export interface Store {
  /** `memory`: nothing outlives the process. */
  readonly kind: 'better-sqlite3' | 'node:sqlite' | 'memory';
  /** Absolute, or `:memory:`. */
  readonly path: string;
  /** Whether what is recorded now is not where it was asked to be: a promise made on it must say `durable: false`. */
  readonly degraded: boolean;
  /** Keeps a fact, if its type is stored; commits with the others of this event-loop turn. False when it is refused. */
  record(fact: Told<Fact>): boolean;
  /** Events that are committed, oldest first. @throws TypeError or RangeError for a wrong query. */
  read(query: EventQuery): readonly EventRow[];
  readonly breakers: BreakerStates;
  readonly runtimes: Runtimes;
  /** Sessions of one runtime; undefined where nothing outlives the process. */
  sessions(runtime: RuntimeIdentity): SessionStore | undefined;
  /** The live children of all runtimes that share the file; undefined in memory, where nothing would be left to find them. */
  readonly children: ChildRecords | undefined;
  /** Open alerts of all runtimes that share the file; undefined in memory. */
  readonly alerts: AlertRecords | undefined;
  /** Whether everything recorded before is where it was asked to be. Waits for a lock up to 5 s, for nothing else. */
  flush(): Promise<boolean>;
  /** Flushes and closes. What is recorded later is refused. */
  close(): Promise<void>;
}

const optionNames = [
  'path',
  'required',
  'clock',
  'facts',
  'logger',
  'synchronous',
  'lockWaitMs',
  'retention',
  'runtimePid',
  'secrets',
  'env',
  'drivers',
];

/**
 * Opens the store. Waits up to 5 s for the lock of another process; a file that cannot be used gives a degraded store that
 * tries again, no driver gives one in memory. Both are said once, or are errors where it is `required`.
 * @throws TypeError or RangeError when an option is wrong.
 * @throws {@link StoreUnavailableError} when it is `required` and cannot be had.
 */
export async function openStore(options: StoreOptions): Promise<Store> {
  checkKeys('options', options, optionNames);
  const { clock, facts, logger, required = false, env = process.env } = options;
  const synchronous = checkOneOf('synchronous', options.synchronous ?? 'NORMAL', ['NORMAL', 'FULL']);
  const lockWaitMs = options.lockWaitMs === undefined ? undefined : checkNumber('lockWaitMs', options.lockWaitMs);
  const retention = checkRetention('retention', options.retention ?? false);
  const path = storePath(options.path, env);
  const redact = createRedactor(options.secrets ?? new KnownSecrets(env));
  if (path === ':memory:') {
    say(logger, 'debug', 'The store is in memory: the last 10,000 events are kept, and end with this process.');
    return createMemoryStore(redact, path, false);
  }

  const found = await findDriver(options.drivers);
  if (!found.ok) {
    const { reason, fix } = found;
    if (required) throw new StoreUnavailableError(`${path}: ${reason}`, fix);
    say(logger, 'warn', `Nothing is stored: ${reason}; the last 10,000 events are kept in memory. Fix: ${fix}.`);
    facts.tell({ type: 'store.degraded', reason, fix });
    return createMemoryStore(redact, path, true);
  }

  const connection = createConnection(found.driver, path, synchronous, lockWaitMs);
  if (required) haveToUse(connection, path);
  const queue = createWriteQueue({ connection, path, clock, facts, logger });
  const log = createEventLog({ connection, queue, redact, runtimePid: options.runtimePid });
  await queue.start();
  const left = createLeftRuns(path);
  const runtimes = createRuntimes({ connection, queue, left });
  const pruner = retention === undefined ? undefined : startPruner({ queue, clock, facts, retention });
  return {
    kind: found.driver.kind,
    path,
    get degraded() {
      return queue.degraded;
    },
    record: (fact) => log.record(fact),
    read: (query) => log.read(query),
    breakers: createBreakerStates({ connection, queue, redact }),
    runtimes,
    sessions: (runtime) => createSessionStore(queue, runtime, { connection, log, left, redact }),
    children: createChildRecords({ connection, queue, path }),
    alerts: createAlertRecords({ connection, queue, log }),
    flush: () => queue.flush(),
    async close() {
      pruner?.stop();
      await queue.close();
      runtimes.closed();
    },
  };
}

/** A lock is waited for later: whoever holds it can use the file. @throws {@link StoreUnavailableError} */
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
