import type { AlertRecords } from '../policy/records/alertRecord.ts';
import type { ChildRecords } from '../policy/records/childRecord.ts';
import type { QuestionRecords } from '../policy/records/question.ts';
import type { Fact, Told } from '../policy/facts/facts.ts';
import type { SessionStore } from '../sessions/sessionStore.ts';
import type { BreakerStates } from './breakers.ts';
import type { EventQuery, EventRow } from './events.ts';
import type { RateStates } from './rates.ts';
import type { FlightRecords } from './flights.ts';
import type { ScopedTexts } from './tables/scopedTexts.ts';
import type { CallStatisticsRecords } from './tables/statistics.ts';
import type { StoreOutage } from '../policy/records/storeOutage.ts';
import type { RuntimeIdentity, Runtimes } from './runtimes.ts';

/**
 * Store of any engine: memory, SQLite, and later ones. Once open it never throws. Rows that it cannot write, at most 10,000, wait in memory.
 *
 * The hot path is synchronous: `record`, all of `breakers` and `rates`, and each write that adds or removes a row. A file is asked at once. An engine
 * over a network answers from a local copy and reconciles later. All other reads and writes are off the hot path: they are promises.
 */
export interface Store {
  /** `memory`: nothing outlives the process. */
  readonly kind: 'better-sqlite3' | 'node:sqlite' | 'memory' | 'postgres';
  /** True where what is kept outlives the process. Else there are no children to reap and no sessions to go on with. */
  readonly persistent: boolean;
  /** Absolute, `:memory:`, or `postgres://HOST/DATABASE`, without who signs in. */
  readonly path: string;
  /** True while what is recorded now is not where it was asked to be: a promise made on it must say `durable: false`. */
  readonly degraded: boolean;
  /** Trouble with it; undefined while there is none, and where no store of its kind is at all. */
  readonly outage?: StoreOutage | undefined;
  /** Keeps a fact as it is, if its type is stored: who tells facts masks them. Commits with the others of this event-loop turn. False when it is refused. */
  record(fact: Told<Fact>): boolean;
  /**
   * Events that are committed, oldest first; none while the store cannot be read. Rejects with TypeError or RangeError for a wrong query, with
   * nothing else.
   */
  read(query: EventQuery): Promise<readonly EventRow[]>;
  readonly breakers: BreakerStates;
  /** Rate limits of all runtimes that share the store. */
  readonly rates: RateStates;
  /** Ends of calls, of all runtimes that share the store. */
  readonly statistics: CallStatisticsRecords;
  /** The last attempts of integrations, of all runtimes that share the store. */
  readonly flights: FlightRecords;
  /** Repetition that is watched across processes. */
  readonly spinning: ScopedTexts;
  /** Definitions of the tools of servers, as they were first seen or accepted. */
  readonly definitions: ScopedTexts;
  /** Questions to people, of all runtimes that share the store. */
  readonly questions: QuestionRecords;
  readonly runtimes: Runtimes;
  /** The live children of all runtimes that share the store. */
  readonly children: ChildRecords;
  /** Open alerts of all runtimes that share the store. */
  readonly alerts: AlertRecords;
  /** Sessions, their ledgers and mailboxes, for one runtime; absent where nothing of them would outlive the process. */
  sessions?(runtime: RuntimeIdentity): SessionStore;
  /** Tells whether everything recorded before is where it was asked to be. Waits for a lock up to 5 s, for nothing else. */
  flush(): Promise<boolean>;
  /** Flushes and closes. What is recorded later is refused. */
  close(): Promise<void>;
}
