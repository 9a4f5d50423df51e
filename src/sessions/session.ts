import type { OrderNote, OrderResult } from '../policy/operatorOrder.ts';
import { anything, type Given, type KeysOf, name, text } from '../policy/options/optionKeys.ts';
import type { Acceptance } from './acceptance.ts';
import type { HistoryEntry } from './history.ts';
import type { Message } from './mailbox.ts';
import type { CloseOptions } from './sessionEnd.ts';
import type { SessionWhy } from './why.ts';

export const messageKeys = {
  kind: name,
  text: text({ empty: true }),
  data: anything,
} satisfies KeysOf<Message>;

export const sendKeys = {
  /**
   * Names the message: a second one of this key is refused as `duplicate`, with the outcome of the first, among the session's last 10,000 with keys. At most 1,024 bytes of UTF-8,
   * without NUL and lone surrogates.
   */
  key: text(),
};

/** Options of a message that is sent. */
export interface SendOptions extends Given<typeof sendKeys> {}

/**
 * A session: takes one message after the other, and goes on whatever becomes of a turn. `Result` is what its handler returns.
 */
export interface Session<Result = unknown> {
  readonly id: string;
  /** State of its machine, `idle` while it is asleep; `stopped` as well while its actor is not running, `recovering` while it finds out what became of calls of an earlier process. */
  readonly state: string;
  /** Messages waiting, those of an earlier process too; the one being processed is not counted. */
  readonly waiting: number;
  /** Messages, tool calls and their results, oldest first. Those of an earlier run are read when they are first asked for, from the gateway's start to its stop. */
  readonly history: readonly HistoryEntry[];
  /**
   * Another runtime that lives owns this session, or on PostgreSQL nobody knows whether one does: nothing of it is processed here. What is sent is left
   * for its owner on PostgreSQL, and refused elsewhere.
   */
  readonly heldElsewhere: boolean;
  /** Tells whether a message of this key was accepted, as far as it is remembered: of a session that is held elsewhere it is not known here. */
  knows(key: string): boolean;
  /**
   * Puts a message into the mailbox. Of a session that is kept, it is acknowledged once it is committed.
   * @throws TypeError or RangeError at once when it is no message, its `kind` no name, its `key` none that can be kept, or not JSON where it
   * is to be kept.
   * The session that has its id by then, or is adopted, takes the message where its gateway has let go of this one for idleness.
   */
  send(message: Message, options?: SendOptions): Promise<Acceptance<Result>>;
  /** Sends a heartbeat: processed in order like any message, and no progress for any watchdog. */
  heartbeat(): Promise<Acceptance<Result>>;
  /** Tells what the session waits for, and which rule ends it when. Without secrets; ids that are shown so may be ordered by. */
  why(): SessionWhy;
  /**
   * Has a rule of {@link why} act now, exactly as if its time had come. A rule that has changed since it was shown is refused; the result says
   * so. @throws TypeError or RangeError when `rule` is no text, or the note is none.
   */
  fire(rule: string, note?: OrderNote): OrderResult;
  /**
   * Has no further attempt of a pending call follow: what the attempt in flight ends with is the call's end.
   * @throws TypeError or RangeError when `call` is no text, or the note is none.
   */
  stopRetrying(call: string, note?: OrderNote): OrderResult;
  /**
   * Ends a pending call, by its id of {@link why}; the agent gets a synthetic error result. Without one, ends the turn under way. The session
   * goes on. @throws TypeError or RangeError when `call` is no text, or the note is none.
   */
  cancel(call?: string, note?: OrderNote): OrderResult;
  /**
   * Has a dead letter delivered again, as a new message with the same content: once, however often it is called.
   * @param message - the id of the dead letter. @throws TypeError or RangeError at once when it is no text, or the note is none.
   */
  sendAgain(message: string, note?: OrderNote): Promise<OrderResult>;
  /** Drops a dead letter for good. @throws as {@link sendAgain} */
  drop(message: string, note?: OrderNote): Promise<OrderResult>;
  /**
   * Ends the session here: it refuses messages (`closed`), and its gateway lets go of it. A turn under way and messages that wait may end within
   * `drainMs`; then the turn is cut, which its sender is told (`cancelled`, `closed`), and messages that wait are dead letters: they can be sent again. What
   * is kept of it stays: `gateway.session(id, options)` goes on with it, as after a restart. Resolves when that may be called; not to be awaited by a turn
   * of its own. Closed again it joins the first. @throws TypeError or RangeError at once when an option is wrong.
   */
  close(options?: CloseOptions): Promise<OrderResult>;
}
