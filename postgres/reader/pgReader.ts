import type { CallFiguresRow, CallTotals } from '../../src/policy/callFigures.ts';
import type { OrderResult } from '../../src/policy/operatorOrder.ts';
import type { FlightRecord, PolicyRow } from '../../src/policy/flight.ts';
import type { HistoryEntry } from '../../src/sessions/history.ts';
import { checkQuery, type EventQuery, type EventRow } from '../../src/store/events.ts';
import type { FlightQuery } from '../../src/store/flights.ts';
import type { LetterOrder } from '../../src/store/letterOrder.ts';
import type { RuntimeRow } from '../../src/store/runtimes.ts';
import type {
  AlertView,
  ClusterView,
  DeadLetterRecord,
  MessageRecord,
  SessionRecords,
  StoreReader,
  StoreStatus,
  TurnRecord,
} from '../../src/store/storeReader.ts';
import { readFlights, readPolicies } from '../../src/store/tables/flights.ts';
import { readStatistics, readTotals } from '../../src/store/tables/statistics.ts';
import type { Read } from '../../src/store/work.ts';
import { queryOf, queryValues } from '../pgTables.ts';
import { eventsIn, selectEvents, settledId } from '../eventRows.ts';
import { readPgAlerts } from './pgAlertView.ts';
import { readPgCluster } from './pgCluster.ts';
import { readPgDeadLetters } from './pgDeadLetters.ts';
import { readPgHistory, readPgMessage } from './pgMessageRecord.ts';
import type { Ask } from './pgReads.ts';
import { readPgRuntimes } from './pgRuntimeRows.ts';
import { readPgSessionIds, readPgWaitingSessions, readPgSessionRecords } from './pgSessionRecords.ts';
import { readPgStatus } from './pgStatus.ts';
import { readPgTurns } from './pgTurnRecords.ts';

/** Most dead letters that are read. */
const mostLetters = 500;

export interface PgReaderParts {
  /** For people: without user and password. */
  readonly path: string;
  readonly identity: string;
  readonly ask: Ask;
  /** Carries out what is ordered about a dead letter, see {@link StoreReader.orderAboutLetter}. */
  readonly orderAboutLetter: (order: LetterOrder) => Promise<OrderResult>;
  /** See {@link StoreReader.recordNote}. */
  readonly recordNote: StoreReader['recordNote'];
  readonly close: () => void;
}

/** A schema of a PostgreSQL database, opened for reading. */
export class PgReader implements StoreReader {
  readonly path: string;
  readonly identity: string;
  readonly orderAboutLetter: PgReaderParts['orderAboutLetter'];
  readonly recordNote: PgReaderParts['recordNote'];
  readonly close: () => void;
  readonly #ask: Ask;

  constructor({ path, identity, ask, orderAboutLetter, recordNote, close }: PgReaderParts) {
    this.path = path;
    this.identity = identity;
    this.orderAboutLetter = orderAboutLetter;
    this.recordNote = recordNote;
    this.close = close;
    this.#ask = ask;
  }

  async events(query: EventQuery): Promise<readonly EventRow[]> {
    checkQuery(query);
    const { text, values } = selectEvents(query);
    return eventsIn(await this.#ask(text, values), query);
  }

  lastEventId(): Promise<number> {
    return this.#id(settledId('0::bigint'));
  }

  firstEventId(): Promise<number> {
    return this.#id('(SELECT min(id) FROM uw.event)');
  }

  status(now: number): Promise<StoreStatus> {
    return readPgStatus(this.#ask, now);
  }

  /** Its log is the server's, which does not go on without it. */
  async lostLog(): Promise<undefined> {
    return undefined;
  }

  alerts(now: number): Promise<AlertView> {
    return readPgAlerts(this.#ask, now);
  }

  statistics(since: number, of?: 'tools' | 'whole'): Promise<readonly CallFiguresRow[]> {
    return readStatistics(this.#read, since, of);
  }

  totals(): Promise<readonly CallTotals[]> {
    return readTotals(this.#read);
  }

  flights(query: FlightQuery): Promise<readonly FlightRecord[]> {
    return readFlights(this.#read, query);
  }

  policies(): Promise<readonly PolicyRow[]> {
    return readPolicies(this.#read);
  }

  runtimes(): Promise<readonly RuntimeRow[]> {
    return readPgRuntimes(this.#ask);
  }

  sessionIds(): Promise<readonly string[]> {
    return readPgSessionIds(this.#ask);
  }

  waitingSessions(): Promise<readonly string[]> {
    return readPgWaitingSessions(this.#ask);
  }

  session(id: string): Promise<SessionRecords | undefined> {
    return readPgSessionRecords(this.#ask, id);
  }

  turns(session: string, limit: number): Promise<readonly TurnRecord[]> {
    return readPgTurns(this.#ask, session, limit);
  }

  message(session: string, id: string): Promise<MessageRecord | undefined> {
    return readPgMessage(this.#ask, session, id);
  }

  history(session: string, limit: number): Promise<readonly HistoryEntry[]> {
    return readPgHistory(this.#ask, session, limit);
  }

  cluster(): Promise<ClusterView> {
    return readPgCluster(this.#ask);
  }

  deadLetters(session?: string): Promise<readonly DeadLetterRecord[]> {
    return readPgDeadLetters(this.#ask, session, mostLetters);
  }

  readonly #read: Read = (statement, row = {}) => this.#ask(queryOf(statement).text, queryValues(statement, row));

  async #id(text: string): Promise<number> {
    const [row] = await this.#ask(`SELECT ${text} AS id`);
    return Number(row?.['id'] ?? 0);
  }
}
