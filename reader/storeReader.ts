import type {
  CallFiguresRow,
  CallTotals,
  FlightRecord,
  OpenAlert,
  PersistedBreaker,
  PersonAnswer,
  PolicyRow,
  Question,
} from '../src/policy/records/face.ts';
import type { AlertCause, AlertEnd, FactOf } from '../src/policy/facts/face.ts';
import type { OrderResult } from '../src/policy/face.ts';
import type { DeadLetterReason, HistoryEntry, Message, MessageEnd, ToolResult } from '../src/sessions/face.ts';
import type { EventQuery, EventRow, FlightQuery, RuntimeRow } from '../src/store/face.ts';
import type { LetterOrder } from './letterOrder.ts';

/** A store of other processes, opened for reading: nothing is created or changed. All of it rejects where the store cannot be read. */
export interface StoreReader {
  /** Absolute. */
  readonly path: string;
  /** Changes when the store is replaced: ids begin anew then. */
  readonly identity: string;
  /** Events, oldest first. @throws TypeError or RangeError for a wrong query. */
  events(query: EventQuery): Promise<readonly EventRow[]>;
  /** The id of the newest event; 0 without any. */
  lastEventId(): Promise<number>;
  /** The id of the oldest event that is kept; 0 without any. */
  firstEventId(): Promise<number>;
  /** Tells what the records say, as of `now`, wall time in ms since the epoch. @throws TypeError or RangeError for a wrong `now`. */
  status(now: number): Promise<StoreStatus>;
  /**
   * That a log with what was acknowledged was lost: the newest such event since then, wall time in ms since the epoch, or what nobody has told yet. Undefined
   * where none was, and for a store without one.
   */
  lostLog(since: number): Promise<LostLogRecord | undefined>;
  /** Tells what the store says of alerts, as of `now`, wall time in ms since the epoch. */
  alerts(now: number): Promise<AlertView>;
  /**
   * Reads how calls ended, in minutes that began at `since` or later, wall time in ms since the epoch.
   * @param of - `whole` leaves out the rows of single tools. @defaultValue 'tools'
   */
  statistics(since: number, of?: 'tools' | 'whole'): Promise<readonly CallFiguresRow[]>;
  /** Reads how all calls ended that were ever counted, by integration and tool. */
  totals(): Promise<readonly CallTotals[]>;
  /** The last attempts of integrations, oldest first; none in a store of before. */
  flights(query: FlightQuery): Promise<readonly FlightRecord[]>;
  /** The policies that were in force, those seen last at the end. */
  policies(): Promise<readonly PolicyRow[]>;
  /** Runs that are entered, oldest first; none in a store that never had a runtime of this version. */
  runtimes(): Promise<readonly RuntimeRow[]>;
  /** Ids of the sessions that are kept, at most 1000. */
  sessionIds(): Promise<readonly string[]>;
  /** Ids of those of which messages wait or calls are pending, at most 1000. */
  waitingSessions(): Promise<readonly string[]>;
  /** Undefined for a session that was never kept here. */
  session(id: string): Promise<SessionRecords | undefined>;
  /** The last turns of a session that are kept, newest first; none of a session that was never kept here. @param limit - at least 1. */
  turns(session: string, limit: number): Promise<readonly TurnRecord[]>;
  /**
   * Reads one message of a session, with all that was said: for its sender. Undefined for one that nobody knows any more.
   * @param id - as its sender was told; that of a mail that joined a message finds the message.
   */
  message(session: string, id: string): Promise<MessageRecord | undefined>;
  /**
   * The latest whole turns of a session that are kept, oldest first, with all that was said; calls that have a result.
   * @param limit - most entries, at least 1.
   */
  history(session: string, limit: number): Promise<readonly HistoryEntry[]>;
  /**
   * Dead letters of a session or of all that are neither sent again nor dropped, the newest first, at most 500; behind them messages that were left
   * for sessions which no gateway has.
   */
  deadLetters(session?: string): Promise<readonly DeadLetterRecord[]>;
  /**
   * Sends a dead letter again, or drops it, where no runtime that may live has its session, or drops a message that was left for such a session: by a
   * connection of its own: this, `recordNote` and `answerQuestion` alone write. Where several machines share the store it also sends the letter to the one that has its
   * session. Never rejects.
   */
  orderAboutLetter(order: LetterOrder): Promise<OrderResult>;
  /** Records what somebody said of an alert, by a connection of its own. Never rejects. @param at - wall time in ms since the epoch. */
  recordNote(fact: AlertNoteFact, at: number): Promise<OrderResult>;
  /** Open questions to people, the oldest first, at most 1000; those whose deadline has passed too. */
  questions(): Promise<readonly Question[]>;
  /** The questions of the definitions of a server's tools, ended or not, the newest first, at most 1000. */
  toolQuestions(server: string): Promise<readonly Question[]>;
  /** The question of a signed link, open or not; undefined where the signature is not that of the id. */
  questionOfLink(id: string, signed: string): Promise<Question | undefined>;
  /** Answers a question, by a connection of its own, unless somebody was faster. Never rejects. @param id - its beginning will do. */
  answerQuestion(id: string, answer: PersonAnswer, at: number): Promise<OrderResult>;
  /** The gateways that share the store; undefined for a store of one machine. */
  cluster(): Promise<ClusterView | undefined>;
  close(): void;
}

/** Loss of a store, for people. */
export interface LostLogRecord {
  /** Time at which it was noticed, wall time in ms since the epoch; undefined where it is first now. */
  readonly at?: number | undefined;
  /** Writes that may be lost, and the cause. */
  readonly reason: string;
  /** Line that names what to do. */
  readonly fix: string;
}

/** The gateways on one database, and what they have. Durations are in ms, by the clock of the database. */
export interface ClusterView {
  /** The oldest first. */
  readonly nodes: readonly ClusterNode[];
  /** Sessions that are kept. */
  readonly sessions: number;
  /** Sessions with messages that wait or were begun, the one that waits longest first, at most 100. */
  readonly waiting: readonly ClusterSession[];
}

/** A gateway that keeps its sessions in the database. */
export interface ClusterNode {
  /** Id of its runtime. */
  readonly id: string;
  readonly name: string;
  readonly host: string;
  readonly pid: number;
  readonly upMs: number;
  /** Since its last renewal. */
  readonly silentMs: number;
  /** Time for which it has its sessions without another renewal; at most 0 where others may take them. */
  readonly leaseLeftMs: number;
  /** Sessions that are its own. */
  readonly owned: number;
  /** Sessions that it would take over, as it has said last. */
  readonly wanted: number;
  /** Time that its last renewal took. */
  readonly renewMs: number;
}

/** A session with something to do. */
export interface ClusterSession {
  readonly session: string;
  /** The node that owns it; undefined where none does. */
  readonly node: string | undefined;
  /** Grows with each change of its owner. */
  readonly fence: number;
  /** That wait or were begun. */
  readonly messages: number;
  /** Time that the oldest of them has waited, by the clock of who accepted it. */
  readonly oldestMs: number;
}

/** A message that is not delivered any more. Times are wall time in ms since the epoch. */
export interface DeadLetterRecord {
  /** Id of the message. */
  readonly id: string;
  readonly session: string;
  readonly kind: string;
  /**
   * `poison`: its gateway died of it too often; `expired`: it waited too long; `malformed`: it cannot be read; `untaken`: it was left for a session
   * which no gateway has, and is delivered once one has.
   */
  readonly reason: string;
  /** Number of times it was begun. */
  readonly deliveries: number;
  readonly postedAt: number;
  /** Time when it became one. */
  readonly endedAt?: number | undefined;
  /** The first 300 characters of its text, without secrets. */
  readonly text?: string | undefined;
  /** True where it can be sent again. */
  readonly canSend: boolean;
  /** Tools, each behind its integration, that its last turn called and that a further one may call again: nothing has them called once. */
  readonly again: readonly string[];
}

/** Figures of the records on the last day. */
export interface StoreStatus {
  /** Every event that is kept. */
  readonly events: number;
  readonly integrations: readonly IntegrationStatus[];
  /** Open, or as good as: see {@link UnwatchedAlert}. */
  readonly alerts: Pick<AlertView, 'open' | 'unwatched'>;
  /** The sessions seen last, newest first, at most 100. */
  readonly sessions: readonly SessionStatus[];
  /** Sessions that were seen in that day beside those. */
  readonly moreSessions: number;
}

/** Failures that count towards alerts, and the last that went wrong. */
export interface FailureFigures {
  /** Final failures of calls, and failures of hooks, within the last 10 min, of the kinds that count towards alerts. */
  readonly failures10m: number;
  /** The same within the last 24 h. */
  readonly failures24h: number;
  /** Crashes of the integration, and failed restarts, within the last 10 min. */
  readonly crashes10m: number;
  /** The same within the last 24 h. */
  readonly crashes24h: number;
  /** Last error of any kind, also of one that does not count. */
  readonly lastError?: { readonly at: number; readonly kind: string | undefined; readonly error: string } | undefined;
}

/** Failures that one process has recorded. */
export interface RuntimeFailures extends FailureFigures {
  readonly pid: number | undefined;
}

export interface IntegrationStatus extends FailureFigures {
  readonly integration: string;
  /** The same figures by the process that recorded them, as far as that is known. */
  readonly runtimes: readonly RuntimeFailures[];
  /** As it was last kept; of one that was never kept, closed. */
  readonly circuit: PersistedBreaker['state'];
  readonly breaker?: PersistedBreaker | undefined;
}

export interface SessionStatus {
  readonly session: string;
  /** Wall time in ms since the epoch. */
  readonly lastSeenAt: number;
  /** Turns that failed within the last 24 h. */
  readonly failedTurns24h: number;
  /** Tool calls that failed within the last 24 h, but not on request: an agent may go on after them. @defaultValue none */
  readonly failedCalls24h?: number | undefined;
  /** The last failed turn; without one the last failed call. */
  readonly lastError?: { readonly at: number; readonly kind: string | undefined; readonly error: string } | undefined;
}

/** An alert that is over. Times are wall time in ms since the epoch. */
export interface ClearedAlert extends OpenAlert {
  readonly clearedAt: number;
  readonly clearedBy: AlertEnd;
}

/**
 * Failures and crashes on record that would have raised an alert by the default thresholds, had a gateway watched: those of short-lived runs and
 * hooks.
 */
export interface UnwatchedAlert {
  readonly integration: string;
  readonly because: AlertCause;
  /** Final failures within the last 10 min. */
  readonly failures: number;
  /** Crashes within the last 10 min. */
  readonly crashes: number;
  /** Time of the last failure or crash. */
  readonly lastFailureAt: number;
  readonly kind: string | undefined;
  readonly message: string;
}

/** Somebody looks after an alert, or puts it off. */
export type AlertNoteFact = FactOf<'operator.acknowledged'> | FactOf<'operator.snoozed'>;

/** Alerts as a store tells of them. */
export interface AlertView {
  /** The oldest first. */
  readonly open: readonly OpenAlert[];
  readonly unwatched: readonly UnwatchedAlert[];
  /** The last ones that were cleared, newest first, at most 50. */
  readonly cleared: readonly ClearedAlert[];
}

/** Records of a store on a session that no live runtime answers for. Times are wall time in ms since the epoch. */
export interface SessionRecords {
  readonly session: string;
  /** Messages that wait or have been begun, at most 100, oldest first. */
  readonly messages: readonly {
    readonly id: string;
    readonly kind: string;
    readonly state: 'waiting' | 'taken';
    readonly deliveries: number;
    readonly postedAt: number;
  }[];
  /** Calls without a result, at most 100. */
  readonly calls: readonly {
    readonly call: string;
    readonly integration: string;
    readonly tool: string;
    readonly startedAt: number;
    readonly deadlineAt: number;
    /** The kind of its reconcile rule, which the next start asks. @defaultValue it has none, and is answered as unknown */
    readonly rule?: string | undefined;
  }[];
  /** Messages that are not delivered any more, the last 100. */
  readonly deadLetters: readonly { readonly id: string; readonly reason: string }[];
  /** The gateway of a store of several machines that has the session. @defaultValue none has it, or the store is that of one machine */
  readonly owner?: SessionOwner | undefined;
}

/** Owner of a session. Durations are in ms, by the clock of the database. */
export interface SessionOwner {
  readonly name: string;
  readonly host: string;
  readonly pid: number;
  /** Grows with each change of the owner. */
  readonly fence: number;
  /** Since it claimed the session. */
  readonly sinceMs: number;
  /** Time for which it has the session without another renewal. */
  readonly leaseLeftMs: number;
}

/** A message as it is kept, and what became of it. Not free of secrets. */
export interface MessageRecord {
  readonly id: string;
  /** @defaultValue it cannot be read, or is not kept any more: its key alone is remembered */
  readonly message?: Message | undefined;
  /** `taken` while it is under way, or was when its process ended. */
  readonly state: 'waiting' | 'taken' | MessageEnd | DeadLetterReason;
  /** Why it failed, or was dropped. */
  readonly error?: string | undefined;
  /** Result of the last call of its last turn. @defaultValue it made none, or that is not kept any more */
  readonly result?: ToolResult | undefined;
}

/** A turn as it is kept. Times are wall time in ms since the epoch; texts are not told, they are not free of secrets. */
export interface TurnRecord {
  readonly turn: number;
  /** Id of the message that it processed. */
  readonly message: string;
  readonly kind: string;
  /** As the row of the message has it: `taken` while it is under way, or was when its process ended. */
  readonly state: string;
  readonly deliveries: number;
  readonly postedAt: number;
  readonly takenAt?: number | undefined;
  readonly endedAt?: number | undefined;
  /** Why it failed. */
  readonly error?: string | undefined;
  /** Its tool calls, oldest first, the first 100. */
  readonly calls: readonly CallRecord[];
}

/** A tool call as it is kept: when, and how it ended; of its attempts their number alone. */
export interface CallRecord {
  readonly call: string;
  readonly integration: string;
  readonly tool: string;
  readonly startedAt: number;
  /** Absent while it has no result. */
  readonly settledAt?: number | undefined;
  readonly ok?: boolean | undefined;
  /** True where unwedge made the result, for want of an answer. @defaultValue false */
  readonly synthetic?: boolean | undefined;
  /** 0 of one that was refused. */
  readonly attempts?: number | undefined;
  /** A result came when the call had one already. */
  readonly lateAt?: number | undefined;
}
