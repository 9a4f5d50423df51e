import type {
  CallEntry,
  CallRow,
  ClaimEntry,
  HistoryRows,
  JournalEntry,
  LeaseChange,
  LeaveEntry,
  MessageEntry,
  MessageRow,
  RowWrite,
  SenderEntry,
} from './journalEntry.ts';

/** What was done under one token. */
export interface Incarnation {
  readonly token: number;
  /** Undefined where nobody has heard that its claim was made. */
  claim: ClaimEntry | undefined;
  /** In the order of the journal. */
  readonly entries: (ClaimEntry | MessageEntry | CallEntry | LeaveEntry)[];
}

/** All that is known of one session. */
export interface SessionHistory {
  readonly session: string;
  /** By their tokens. */
  readonly incarnations: readonly Incarnation[];
  readonly senders: readonly SenderEntry[];
  readonly messages: readonly MessageRow[];
  readonly calls: readonly CallRow[];
  readonly leases: readonly LeaseChange[];
  readonly writes: readonly RowWrite[];
}

interface Found {
  readonly byToken: Map<number, Incarnation>;
  readonly senders: SenderEntry[];
  readonly messages: MessageRow[];
  readonly calls: CallRow[];
  readonly leases: LeaseChange[];
  readonly writes: RowWrite[];
}

/** The history of each session by itself: promises are given for a session. */
export function sessionsOf(entries: Iterable<JournalEntry>, rows: HistoryRows): readonly SessionHistory[] {
  const found = new Map<string, Found>();
  const of = (session: string): Found => {
    const known = found.get(session);
    if (known !== undefined) return known;
    const made: Found = { byToken: new Map(), senders: [], messages: [], calls: [], leases: [], writes: [] };
    found.set(session, made);
    return made;
  };
  for (const entry of entries) {
    const { byToken, senders } = of(entry.session);
    if ('key' in entry && !('token' in entry)) senders.push(entry);
    else if ('token' in entry) add(byToken, entry);
  }
  for (const row of rows.messages ?? []) of(row.session).messages.push(row);
  for (const row of rows.calls ?? []) of(row.session).calls.push(row);
  for (const row of rows.leases ?? []) of(row.session).leases.push(row);
  for (const row of rows.writes ?? []) of(row.session).writes.push(row);
  return Array.from(found, ([session, { byToken, ...more }]) => ({
    session,
    ...more,
    incarnations: [...byToken.values()].sort((one, other) => one.token - other.token),
  }));
}

function add(byToken: Map<number, Incarnation>, entry: Incarnation['entries'][number]): void {
  const { token } = entry;
  const known = byToken.get(token) ?? { token, claim: undefined, entries: [] };
  byToken.set(token, known);
  if (entry.type === 'claim') known.claim ??= entry;
  known.entries.push(entry);
}

/** Whether a message of this state is not delivered any more. */
export function isEnded(state: string): boolean {
  return state !== 'waiting' && state !== 'taken';
}
