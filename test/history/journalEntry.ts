/** Whose a session was when something was done: the fence under which a node wrote. */
export interface JournalFence {
  /** The name of the node that says so. One that is started again may keep its name, as long as it goes on with the same journal. */
  readonly node: string;
  readonly session: string;
  /** The token of the lease. */
  readonly token: number;
}

/** The node holds the session from here on, with what it found. */
export interface ClaimEntry extends JournalFence {
  readonly type: 'claim';
  /** Messages that it found without an end, by number. */
  readonly waiting: readonly number[];
  /** Calls that it found without a result. @defaultValue not told */
  readonly pending?: readonly string[] | undefined;
  /** Messages that became dead letters with the claim. @defaultValue none */
  readonly deadLetters?: readonly number[] | undefined;
}

/** A write of which the node has or has not heard that it was made. */
export interface WriteEntry extends JournalFence {
  /** Whether no answer has come that could be relied upon: it may have been made or not. @defaultValue false: the database confirmed it */
  readonly unheard?: boolean | undefined;
}

/** What a node wrote about a message. */
export interface MessageEntry extends WriteEntry {
  /**
   * `post`: it is in the mailbox; `take`: it is delivered to the handler now; `put_back`: it waits again; `end`: it was processed to its end, or dropped.
   */
  readonly type: 'post' | 'take' | 'put_back' | 'end';
  /** Its number in the session. */
  readonly message: number;
  /** Of `put_back`: whether its handler had it; without, the delivery is not counted. @defaultValue true */
  readonly begun?: boolean | undefined;
  /** Of `post`: it was left for the owner by another node. It may be begun behind a later one that came directly. @defaultValue false */
  readonly isMail?: boolean | undefined;
  /** By which a second one is recognised. @defaultValue it has none */
  readonly key?: string | undefined;
}

/** What a node wrote about a call. */
export interface CallEntry extends WriteEntry {
  /** `dispatch`: it is in the ledger, and is made now; `settle`: it has this result. */
  readonly type: 'dispatch' | 'settle';
  readonly call: string;
  /** Of `settle`: its result as text, or a digest of it. */
  readonly result?: string | undefined;
}

/** The node has the session no more: it gave it back, or learnt that it was taken over. */
export interface LeaveEntry extends JournalFence {
  readonly type: 'release' | 'lost';
}

/** What a sender knows of its message. It owns nothing, so it has no fence. */
export interface SenderEntry {
  /** `send`: it is about to be sent; `accepted`: the sender was told that it is kept; `reply`: it was told that it was processed. */
  readonly type: 'send' | 'accepted' | 'reply';
  readonly node: string;
  readonly session: string;
  readonly key: string;
  /** Whose order counts. @defaultValue the node */
  readonly sender?: string | undefined;
}

/**
 * One belief of a node, as it is written to the node's journal when the answer has come. Entries of one node are in the order in which they were
 * written; between nodes there is no order but that of tokens.
 */
export type JournalEntry = ClaimEntry | MessageEntry | CallEntry | LeaveEntry | SenderEntry;

/** A message as it is kept in the end. */
export interface MessageRow {
  readonly session: string;
  readonly number: number;
  readonly key: string | null;
  /** `waiting` and `taken` are no end. */
  readonly state: string;
  readonly deliveries: number;
}

/** A call as it is kept in the end. */
export interface CallRow {
  readonly id: string;
  readonly session: string;
  readonly state: string;
  /** As text, or the same digest as in the journals; null where it has none. */
  readonly result: string | null;
}

/** One change of the owner of a lease, or one renewal, as the database saw it. Times are its own, in ms. */
export interface LeaseChange {
  readonly session: string;
  readonly token: number;
  /** Null for one that was given back. */
  readonly owner: string | null;
  readonly at: number;
  /** When the lease ends by itself. */
  readonly until: number;
  /** What it was before; null for the first. */
  readonly before: { readonly token: number; readonly owner: string | null; readonly until: number } | null;
}

/** One write to a message or a call, as the database saw it: who wrote, and whose the session was in that very transaction. */
export interface RowWrite {
  readonly session: string;
  readonly table: 'message' | 'call';
  /** The number of the message, or the id of the call. */
  readonly row: string;
  /** By the name under which the database knows the writer, that of owners. */
  readonly writer: string;
  /** Null where nobody held it. */
  readonly owner: string | null;
  readonly token: number;
}

/** What the database says in the end. Without a part of it, what it would show is not looked for. */
export interface HistoryRows {
  readonly messages?: readonly MessageRow[] | undefined;
  readonly calls?: readonly CallRow[] | undefined;
  /** In the order in which they were made. */
  readonly leases?: readonly LeaseChange[] | undefined;
  readonly writes?: readonly RowWrite[] | undefined;
  /** The longest life of a lease, in ms. @defaultValue not looked at */
  readonly leaseMs?: number | undefined;
  /** Whether everything was to be processed by now: then a message that waits is one that is lost. @defaultValue true */
  readonly isDrained?: boolean | undefined;
}
