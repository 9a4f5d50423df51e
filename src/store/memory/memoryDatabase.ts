import type { CallFiguresRow, CallTotals } from '../../policy/callFigures.ts';
import type { ChildRecord } from '../../policy/childRecord.ts';
import type { FlightRecord, PolicyRow } from '../../policy/flight.ts';
import type { OpenAlert } from '../../policy/alertRecord.ts';
import type { PersistedBreaker } from '../../policy/persistedBreaker.ts';
import type { EventRow } from '../events.ts';
import type { RateLevels } from '../../policy/rateLimit.ts';
import type { DeadLetterReason } from '../../sessions/sessionStore.ts';
import type { RuntimeRow } from '../runtimes.ts';
import type { StoredVerdict } from '../../sessions/sessionStore.ts';
import type { CallRow, MessageRow } from '../sessionRows.ts';

/** Events that are kept; one more drops the oldest. */
const maxEvents = 10_000;

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

/** A message with its state. */
interface MemoryMessage extends Mutable<MessageRow> {
  state: 'waiting' | 'taken' | 'over';
  /** True where it is over without a turn. */
  dropped: boolean;
  /** Why it is not delivered any more. */
  dead?: DeadLetterReason | undefined;
}

/** A call with the runtime that made it. */
export interface MemoryCall extends Mutable<CallRow> {
  readonly runtime: string;
  late: boolean;
  verdict?: StoredVerdict | undefined;
}

/** A session, and the runtime that it belongs to. */
export interface MemorySession {
  owner: string | undefined;
  fence: number;
  readonly messages: Map<number, MemoryMessage>;
  readonly calls: Map<string, MemoryCall>;
  lastTurn: number;
  lastSeq: number;
}

/** A breaker, and the lease on its next probe. */
export interface MemoryBreaker {
  row: PersistedBreaker;
  lease?: { readonly owner: string; readonly until: number } | undefined;
}

/** Memory that the stores of one process keep together. A simulation gives one to several runtimes. */
export class MemoryDatabase {
  readonly breakers = new Map<string, MemoryBreaker>();
  /** Grows with every change of one of them. */
  breakerVersion = 0;
  /** With when they were last asked for, in wall time. */
  readonly rates = new Map<string, { readonly levels: RateLevels; readonly at: number }>();
  /** By minute, integration and tool. */
  readonly statistics = new Map<string, CallFiguresRow>();
  /** By integration and tool. */
  readonly totals = new Map<string, CallTotals>();
  /** By integration. */
  readonly flights = new Map<string, readonly FlightRecord[]>();
  readonly policies = new Map<string, PolicyRow>();
  readonly runtimes = new Map<string, RuntimeRow>();
  /** By pid and start. */
  readonly children = new Map<string, ChildRecord>();
  /** Open ones, by integration. */
  readonly alerts = new Map<string, OpenAlert>();
  readonly sessions = new Map<string, MemorySession>();
  readonly #events: EventRow[] = [];
  #lastEvent = 0;

  get events(): readonly EventRow[] {
    return this.#events.slice(-maxEvents);
  }

  append(event: Omit<EventRow, 'id'>): void {
    this.#events.push({ id: ++this.#lastEvent, ...event });
    // Shifting one by one would move all of them each time.
    if (this.#events.length >= 2 * maxEvents) this.#events.splice(0, this.#events.length - maxEvents);
  }
}
