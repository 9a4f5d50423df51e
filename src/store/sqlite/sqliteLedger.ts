import { boundedText, toJson } from '../../policy/storedJson.ts';
import type { Fact } from '../../policy/facts.ts';
import {
  type Kept,
  type MessageEnd,
  type Past,
  type Resend,
  resendKey,
  type SessionLedger,
  type StoredCall,
  type StoredDeadLetter,
  type StoredMessage,
  type StoredVerdict,
  type WaitingMessage,
} from '../../sessions/sessionStore.ts';
import type { NamedMessage } from '../../sessions/mailbox.ts';
import type { ToolResult } from '../../sessions/toolResult.ts';
import type { Carried } from '../outage.ts';
import type { Unprocessed } from '../sessionRows.ts';
import type { Carrier } from './fileCommitter.ts';
import type { Database } from './database.ts';
import { buryLetter, resendLetter, selectDeadLetter } from './deadLetters.ts';
import type { EventLog } from './eventLog.ts';
import { HeldRows, insertCall } from './heldRows.ts';
import { type Change, type Claimed, createFence, type Fence, KeptWrite, type WriteKind } from './keptWrite.ts';
import type { LeftRuns } from './leftRuns.ts';
import { forgetTurns, noteVerdict, settleOnce } from './sessionTables.ts';
import type { StoreFile } from './storeFile.ts';

/** Surroundings that the ledgers of a run share. */
export interface LedgerScope {
  readonly file: StoreFile;
  readonly log: Pick<EventLog, 'insert'>;
  readonly left: Pick<LeftRuns, 'owed'>;
}

/**
 * Rows of one session in the file: writes of one event-loop turn share a commit, in the order they were made. It knows which of its rows a new file needs.
 */
export class SqliteLedger implements SessionLedger, Carrier {
  readonly #claimed: Claimed;
  readonly #scope: LedgerScope;
  readonly #holds: Fence;
  /** None in a session of which nothing was ever posted: there are very many of these. */
  #rows: HeldRows | undefined = undefined;
  #givenUp = false;
  /** Messages and calls that were refused at the door: they have no row, and get none by what is written of them later. */
  #rowless: Set<number | string> | undefined = undefined;

  constructor(claimed: Claimed, scope: LedgerScope) {
    this.#claimed = claimed;
    this.#scope = scope;
    this.#holds = createFence(claimed);
  }

  post({ number, message, key, at }: StoredMessage): Promise<Kept> {
    const { session } = this.#claimed;
    const body = toJson(message);
    return this.#insert(
      number,
      (database) =>
        database
          .prepare(
            `INSERT INTO unwedge_messages (session, number, body, key, state, posted_at)
             VALUES (?, ?, ?, ?, 'waiting', CAST(? AS INTEGER))`,
          )
          .run(session, number, body, key ?? null, Math.round(at)),
      () => this.#held.posted({ number, body, key, at, deliveries: 0, stops: 0, taken: undefined }),
    );
  }

  /** Not refused: a row is owed its end, or it would come to life again. There are at most a few of these for each row. */
  take(message: number, turn: number, seq: number, wallNow: number): Promise<Kept> {
    const { session } = this.#claimed;
    if (this.#rowless?.has(message) === true) return Promise.resolve('volatile');
    return this.#write(
      (database) =>
        database
          .prepare(
            `UPDATE unwedge_messages
             SET state = 'taken', deliveries = deliveries + 1, turn = ?, seq = ?, taken_at = CAST(? AS INTEGER)
             WHERE session = ? AND number = ?`,
          )
          .run(turn, seq, Math.round(wallNow), session, message),
      () => this.#held.taken(message, turn, seq, wallNow),
      'begins',
    );
  }

  putBack(message: number, begun: boolean): Promise<Kept> {
    const { session } = this.#claimed;
    const change = begun ? 'stops = stops + 1' : 'deliveries = max(0, deliveries - 1)';
    const update = `UPDATE unwedge_messages SET state = 'waiting', ${change} WHERE session = ? AND number = ?`;
    return this.#end(
      message,
      (database) => database.prepare(update).run(session, message),
      () => this.#held.putBack(message, begun),
    );
  }

  finish(message: number, how: MessageEnd, wallNow: number, error?: string): Promise<Kept> {
    const { session } = this.#claimed;
    const { owed } = this.#scope.left;
    const said = error === undefined ? null : boundedText(error);
    const end = { ...this.#claimed, number: message, end: how, at: wallNow };
    const ended = this.#end(
      message,
      (database) =>
        database
          .prepare(
            `UPDATE unwedge_messages SET state = ?, ended_at = CAST(? AS INTEGER), error = ?
             WHERE session = ? AND number = ?`,
          )
          .run(how, Math.round(wallNow), said, session, message),
      () => {
        owed.delete(end);
        this.#held.finished(message);
      },
    );
    // It may never be written: its sender hears of the end all the same, and the message is not to be delivered again.
    void ended.then((kept) => kept === 'volatile' && this.#rows?.holds(message) === true && owed.add(end));
    return ended;
  }

  open(call: StoredCall): Promise<Kept> {
    const { session, runtime } = this.#claimed;
    const json = toJson(call.input);
    return this.#insert(
      call.call,
      (database) => insertCall(database, session, runtime, call, json),
      () => this.#held.opened(call),
    );
  }

  settle(call: string, result: ToolResult, seq: number | undefined, wallNow: number): Promise<Kept> {
    const json = toJson(result);
    const at = Math.round(wallNow);
    return this.#end(
      call,
      (database) => settleOnce(database, { call, json, seq, at }),
      () => this.#held.settled(call),
    );
  }

  async deadLetter(message: NamedMessage): Promise<StoredDeadLetter | undefined> {
    if ('mail' in message) return undefined;
    const { session } = this.#claimed;
    return this.#scope.file.ask((database) => selectDeadLetter(database, session, message.number), undefined);
  }

  resend({ fact, ...letter }: Resend): Promise<Kept> {
    if (this.#scope.file.refuses()) return Promise.resolve('volatile');
    const { session } = this.#claimed;
    const { number, at } = letter;
    let isOff = false;
    const kept = this.#write(
      (database, schema) => {
        if (isOff || !resendLetter(database, session, letter)) return 0;
        this.#scope.log.insert(database, schema, { ...fact, at });
        return 1;
      },
      () => {
        const [body, key] = [toJson(letter.message), resendKey(letter.letter)];
        this.#held.posted({ number, body, key, at, deliveries: 0, stops: 0, taken: undefined });
      },
    );
    // Its caller is told that it was not done: it must not come about when the store is back.
    return kept.then((what) => {
      isOff = true;
      return what;
    });
  }

  bury(message: number, wallNow: number, why: string, fact?: Fact): Promise<Kept> {
    return this.#write((database, schema) => {
      const buried = buryLetter(database, this.#claimed.session, message, wallNow, why);
      if (buried > 0 && fact !== undefined) this.#scope.log.insert(database, schema, { ...fact, at: wallNow });
      return buried;
    });
  }

  reconciling(call: string, wallNow: number): Promise<Kept> {
    return this.#write((database) => noteVerdict(database, call, undefined, wallNow));
  }

  reconciled(call: string, found: StoredVerdict, wallNow: number): Promise<Kept> {
    return this.#write((database) => noteVerdict(database, call, found, wallNow), undefined, 'toldNext');
  }

  forget(beforeTurn: number): void {
    void this.#write((database) => forgetTurns(database, this.#claimed.session, beforeTurn));
  }

  async release(): Promise<void> {
    this.#givenUp = true;
    const release = 'UPDATE unwedge_sessions SET owner = NULL WHERE id = ?';
    await this.#write((database) => database.prepare(release).run(this.#claimed.session));
  }

  /** Takes what the claim has found to be delivered, and calls that are pending still. */
  restored(waiting: readonly WaitingMessage[], stops: Unprocessed['stops'], open: readonly StoredCall[]): void {
    for (const { message, ...more } of waiting) {
      this.#held.posted({
        ...more,
        body: toJson(message),
        stops: stops.get(more.number) ?? 0,
        taken: undefined,
      });
    }
    for (const call of open) this.#held.opened(call);
  }

  /** The same of what is read later. */
  recalled(past: Past): void {
    if (past.lastMessage > 0) this.#held.recalled(past);
  }

  carry(database: Database, transaction: object): Carried {
    const size = this.#rows?.size ?? 0;
    if (this.#givenUp || !this.#holds(database, transaction)) return { carried: 0, lost: size };
    this.#rows?.write(database, this.#claimed.session, this.#claimed.runtime);
    return { carried: size, lost: 0 };
  }

  get #held(): HeldRows {
    this.#rows ??= new HeldRows();
    return this.#rows;
  }

  readonly #fenced = (): void => {
    this.#rows = undefined;
  };

  /** Makes the row of a message or a call; a full queue refuses it. */
  #insert(id: number | string, change: (database: Database) => number, note: () => void): Promise<Kept> {
    if (!this.#scope.file.refuses()) return this.#write(change, note);
    this.#rowless ??= new Set();
    this.#rowless.add(id);
    return Promise.resolve('volatile');
  }

  /** Writes what is written last of a message or a call; it is not refused either. */
  #end(id: number | string, change: (database: Database) => number, note: () => void): Promise<Kept> {
    return this.#rowless?.delete(id) === true ? Promise.resolve('volatile') : this.#write(change, note, 'toldNext');
  }

  /** @param note - called once it is committed. */
  #write(change: Change, note?: () => void, how?: WriteKind): Promise<Kept> {
    return new Promise((resolve) => {
      this.#scope.file.write(new KeptWrite(this.#holds, change, { resolve, note, fenced: this.#fenced }, how));
    });
  }
}
