import type { Effect } from '../policy/effects.ts';
import type { Outcome } from '../policy/failures/failure.ts';
import type { Fact } from '../policy/facts/facts.ts';
import type { HistoryEntry } from './history.ts';
import type { Message, MessageName, NamedMessage } from './mailbox.ts';
import type { SessionMail } from './sessionMail.ts';
import type { ToolResult } from './toolResult.ts';

/**
 * Outcome of a write: `durable` survives the end of this process, `volatile` is not promised to (the store is out of order, or has no row it could change),
 * `fenced` was not made, since another runtime has taken the session over.
 */
export type Kept = 'durable' | 'volatile' | 'fenced';

/** Keys of a session that are remembered, the latest. */
export const maxKeys = 10_000;

/** A message as it is kept. Times are wall time in ms since the epoch. */
export interface StoredMessage extends MessageName {
  /** From 1, in the order of acceptance; never used twice in a session. */
  readonly number: number;
  readonly message: Message;
  /** By which a second one is recognised. */
  readonly key: string | undefined;
  readonly at: number;
}

/** End of a message: its turn ended well or not, a newer heartbeat took its place, or its session was closed and it is a dead letter. */
export type MessageEnd = 'done' | 'failed' | 'dropped' | 'expired';

/** The same, or the message waits again: its turn was cut by an orderly stop, or had not begun. */
export type TurnEnd = MessageEnd | 'put_back' | 'not_begun';

/** A tool call as it is written before it is dispatched. */
export interface StoredCall {
  readonly call: string;
  readonly turn: number;
  readonly integration: string;
  readonly tool: string;
  readonly input: unknown;
  readonly effect: Effect | undefined;
  /** Its place in the history. */
  readonly seq: number;
  readonly at: number;
  readonly deadlineAt: number;
  /** Settles its answer when that is lost: its rule asks, or it carries a key. @defaultValue nothing does */
  readonly rule?: CallRule | undefined;
  readonly idempotencyKey?: string | undefined;
  /** Number of the message for which it is made once, whatever that is delivered as. @defaultValue it is made anew by each delivery */
  readonly message?: number | undefined;
}

/** Way in which the reconcile rule of a call settles it. */
export type CallRule = 'ask' | 'key';

/** Finding of a reconcile rule about a call. */
export interface StoredVerdict {
  readonly verdict: 'done' | 'not_done' | 'unknown';
  readonly how: string;
  /** Its agent had been answered before. */
  readonly late: boolean;
  /** An equal call was given what became of it, once. @defaultValue none was */
  readonly given?: true | undefined;
}

/** A call that a limit had ended, and that went on when its agent had been answered: an equal call is to be given what became of it. */
export interface KeptCallRow
  extends Pick<LostCall, 'session' | 'call' | 'integration' | 'tool' | 'effect' | 'startedAt' | 'input'> {
  /** In wall time. */
  readonly until: number;
  /** Its answer, where that came. */
  readonly late?: { readonly result: ToolResult; readonly at: number } | undefined;
}

/** A mail as its owner takes it. */
export interface TakenMail {
  readonly mail: number;
  /** Its own, or that of the message it joins. */
  readonly number: number;
  readonly joins: boolean;
}

/** A message of an earlier incarnation that was not processed to its end. */
export interface WaitingMessage extends StoredMessage {
  /** Number of times it was begun; each of these ended with its runtime, or was cut by an orderly stop. */
  readonly deliveries: number;
}

/** Why a message is not delivered again. */
export type DeadLetterReason = 'poison' | 'expired' | 'malformed';

/** A message that is not delivered any more, as it is kept. */
export interface StoredDeadLetter extends MessageName {
  /** Undefined where it cannot be read. */
  readonly message: Message | undefined;
  readonly reason: DeadLetterReason;
  readonly key: string | undefined;
  readonly deliveries: number;
}

/** End of a message, as its row has it; `waiting` and `taken` for one that has none. */
export interface StoredEnd {
  readonly state: string;
  readonly error?: string | undefined;
  /** JSON, of one that others may ask for. @defaultValue it is not kept, or was too long */
  readonly outcome?: string | undefined;
}

/** The new message of a dead letter that is sent again, and the fact that tells of it. */
export interface Resend extends StoredMessage {
  readonly key: string;
  readonly letter: number;
  readonly fact: Fact;
}

/** Parts of a session that an earlier incarnation left and that have to go on. */
export interface Recovered {
  /** To be delivered, in order. */
  readonly waiting: readonly WaitingMessage[];
  readonly deadLetters: readonly (MessageName & { readonly reason: DeadLetterReason })[];
  /** Calls that were pending; each is answered. */
  readonly lost: readonly LostCall[];
  /** Calls that are pending still: their rule is to say what became of them. */
  readonly open: readonly LostCall[];
}

/** Rest that is kept of a session: nobody needs it before its history is asked for or its next message comes. */
export interface Past {
  readonly history: readonly HistoryEntry[];
  /** Keys in use and the messages they belong to, oldest first. */
  readonly keys: readonly (readonly [key: string, message: number, mail?: number | undefined])[];
  /** Calls of the history that are kept, oldest first. @defaultValue none */
  readonly kept?: readonly KeptCallRow[] | undefined;
  readonly lastMessage: number;
  readonly lastTurn: number;
  readonly lastSeq: number;
}

/** Limits on what may be recovered. */
export interface RecoveryLimits {
  /** A message whose turn was cut this often by the end of its runtime becomes a dead letter; orderly stops do not count. */
  readonly maxDeliveries: number;
  /** A message older than this becomes a dead letter, in ms. */
  readonly maxAgeMs: number;
  readonly wallNow: number;
  /** Makes the result of a call whose runtime died. */
  readonly answer: (call: LostCall) => ToolResult;
  /** Tells whether a pending call is left so, as its rule can be asked. @defaultValue none is */
  readonly keeps?: ((call: LostCall) => boolean) | undefined;
  /** Most entries of the history that `past` is asked for: an engine behind a network reads them with the claim. @defaultValue 1000 */
  readonly historyLimit?: number | undefined;
  /** Tells of what was recovered: recorded in the same transaction. */
  readonly facts: (recovered: Recovered) => readonly Fact[];
}

/** The same of calls alone. */
export interface CallRecovery extends Pick<RecoveryLimits, 'wallNow' | 'answer'> {
  readonly fact: (call: LostCall) => Fact;
}

/** Either the session is this runtime's now, or it belongs to another one that lives. */
export type Claim =
  | {
      readonly held: false;
      readonly ledger: SessionLedger;
      readonly recovered: Recovered;
      /**
       * Reads the rest, at once: the claim of a session of which nothing waits costs little, however long its history is. It is on the hot
       * path: an engine behind a network reads it with the claim.
       * @param historyLimit - most entries of the history.
       * @returns undefined when the store is out of order.
       */
      readonly past: (historyLimit: number) => Past | undefined;
    }
  | { readonly held: true; readonly by: string };

/**
 * Rows of one session, for the runtime that claimed it. Every write carries the fence of the claim, checked together with the write. Writes take effect in
 * the order they are made. Nothing here throws or rejects.
 */
export interface SessionLedger {
  /** Keeps a message; it may be acknowledged when this resolves. */
  post(message: StoredMessage): Promise<Kept>;
  /** Counts a delivery of a message; its turn may begin when this resolves, so that one which ends its runtime at once is counted. */
  take(message: number, turn: number, seq: number, wallNow: number): Promise<Kept>;
  /**
   * Notes that a turn ended without its message having been processed, through no fault of its own: it waits again. A turn that had begun
   * stays counted as a delivery, but not as one that ended its runtime.
   */
  putBack(message: number, begun: boolean): Promise<Kept>;
  /** @param outcome - for those who sent it as mail, or may have: kept with the end, as far as JSON goes. */
  finish(message: number, end: MessageEnd, wallNow: number, error?: string, outcome?: Outcome<unknown>): Promise<Kept>;
  /**
   * Makes a message of a mail, or joins it to the message that was accepted under its key before. Absent in an engine without mail. Resolves when it
   * is committed, however long that takes: it must not be begun before. `volatile`: it is no mail that waits.
   */
  takeMail?(mail: TakenMail): Promise<Kept>;
  /** Keeps a call; it may be dispatched when this resolves. */
  open(call: StoredCall): Promise<Kept>;
  /** Settles a call that is pending, in the history at `seq`, or at its end; one that is settled keeps its result, and this one is kept apart as late. */
  settle(call: string, result: ToolResult, seq: number | undefined, wallNow: number): Promise<Kept>;
  /** A dead letter that is neither sent again nor dropped; undefined where there is none, or the store cannot be read now. */
  deadLetter(message: NamedMessage): Promise<StoredDeadLetter | undefined>;
  /**
   * Keeps the new message of a dead letter, takes the letter out and records the fact: all of it, or none. `durable`, or nothing was written and
   * nothing will be.
   */
  resend(letter: Resend): Promise<Kept>;
  /** Takes a dead letter out: it is no longer listed. @param why - in a few words, for people. @param fact - recorded with it. */
  bury(message: number, wallNow: number, why: string, fact?: Fact): Promise<Kept>;
  /** Notes that it is asked what became of a call; the first probe is made when this resolves. */
  reconciling(call: string, wallNow: number): Promise<Kept>;
  /** Notes what was found out, before the call is settled by it. */
  reconciled(call: string, found: StoredVerdict, wallNow: number): Promise<Kept>;
  /** Forgets turns before this one that are over. */
  forget(beforeTurn: number): void;
  /** Calls that were made once for a message, with their results, in order; none where the store cannot be read now. @param message - its first number. */
  madeOnce(message: number): Promise<readonly HistoryEntry[]>;
  /** Gives the session up: another runtime may claim it. */
  release(): Promise<void>;
  /**
   * @param lost - told when the session is this runtime's no more, without having been released: where the engine can know before it can be another's, and
   * with each write that was `fenced`, before its caller is. Takes the place of an earlier one. Must not throw. @defaultValue nothing is ever fenced
   */
  watch?(lost: () => void): void;
}

/** A call whose runtime died. */
export interface LostCall {
  readonly session: string;
  readonly call: string;
  readonly turn: number;
  readonly integration: string;
  readonly tool: string;
  /** Effect that it may have on the world, where somebody said. */
  readonly effect?: Effect | undefined;
  readonly startedAt: number;
  readonly input: unknown;
  readonly rule?: CallRule | undefined;
  readonly idempotencyKey?: string | undefined;
}

/** Sessions that other runtimes had, as far as they are known. */
export interface Takeable {
  /** Can be claimed now. */
  readonly free: readonly string[];
  /** Time until one of the others can be, in ms. */
  readonly againInMs: number;
}

/** A session that is to go to another runtime, which owns fewer. */
export interface Move {
  readonly session: string;
  /** The runtime that takes it. */
  readonly to: string;
}

/** Keeper of sessions: a part of the store, which each of its engines has. Nothing here throws or rejects. */
export interface SessionStore {
  /** Time after which it is worth while to ask again for a session that another runtime holds, in ms. @defaultValue 10 000 */
  readonly claimEveryMs?: number | undefined;
  /**
   * True where others can take a session that is released before the end of this runtime: then a stop releases each as soon as it can. @defaultValue false
   */
  readonly handsOver?: boolean | undefined;
  /** Finds which of these sessions can be claimed now; undefined while the store is out of order. @defaultValue each is claimed to find out */
  takeable?(sessions: readonly string[]): Promise<Takeable | undefined>;
  /** @param listener - told when it is worth while to ask that at once. Must not throw. @returns how it leaves. */
  onTakeable?(listener: () => void): () => void;
  /**
   * @param listener - told of sessions of this runtime that are to go to others, again until they have or need not any more. Must not throw.
   * @returns how it leaves.
   */
  onAsked?(listener: (moves: readonly Move[]) => void): () => void;
  /** Messages to sessions of other runtimes. @defaultValue a session takes messages of its own runtime alone */
  readonly mail?: SessionMail | undefined;
  /** Takes a session for this runtime, with what an earlier one left, unless a live one holds it; undefined when the store is out of order. */
  claim(session: string, limits: RecoveryLimits): Promise<Claim | undefined>;
  /** The same of many by their ids, in one commit, in their order; none while it is out of order. @defaultValue each is claimed by itself, side by side */
  claimAll?(
    sessions: readonly { readonly id: string; readonly limits: RecoveryLimits }[],
  ): Promise<readonly (Claim | undefined)[]>;
  /** Answers the pending calls of all runtimes that are dead, also in sessions that nobody claims; those with a rule wait for their owner. */
  recoverCalls(limits: CallRecovery): Promise<readonly LostCall[]>;
  /** Reads how a message ended, whoever has its session: null for one that is not known any more, undefined while the store is out of order. */
  messageEnd?(session: string, message: NamedMessage): Promise<StoredEnd | null | undefined>;
  /**
   * Sessions that have something to do and that no live runtime holds, this one included: messages that wait or were begun, calls without a result.
   * None while the store is out of order. @param most - how many at the most.
   */
  unowned(most: number): Promise<readonly string[]>;
}
