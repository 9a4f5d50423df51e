import { boundedText, toJson } from '../../policy/text/storedJson.ts';
import type { Outcome } from '../../policy/failures/failure.ts';
import type { Fact } from '../../policy/facts/facts.ts';
import {
  type Kept,
  maxKeys,
  type MessageEnd,
  type Past,
  type Resend,
  type SessionLedger,
  type StoredCall,
  type StoredDeadLetter,
  type StoredMessage,
  type StoredVerdict,
  type WaitingMessage,
} from '../../sessions/sessionStore.ts';
import type { HistoryEntry } from '../../sessions/history.ts';
import type { NamedMessage } from '../../sessions/mailbox.ts';
import { keptOutcome } from '../../sessions/storedOutcome.ts';
import type { ToolResult } from '../../sessions/toolResult.ts';
import type { Statement } from '../dialect.ts';
import type { Carried } from '../outage.ts';
import type { Unprocessed } from '../sessionRows.ts';
import {
  askCall,
  buried,
  callRow,
  finishMessage,
  isForgettable,
  noteVerdict,
  openCall,
  postMessage,
  putBackMessage,
  resent,
  settleCall,
  takeMessage,
} from '../tables/ledger.ts';
import { letterBy, letterIn, madeOnce, madeOnceIn } from '../tables/claims.ts';
import { step, type Work } from '../work.ts';
import type { Carrier } from './fileCommitter.ts';
import type { Database } from './database.ts';
import type { EventLog } from './eventLog.ts';
import { changeRow, doRow, doWork, fileText } from './fileTables.ts';
import { HeldRows } from './heldRows.ts';
import { type Change, type Claimed, createFence, type Fence, KeptWrite, type WriteKind } from './keptWrite.ts';
import type { LeftRuns } from './leftRuns.ts';
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
  readonly #released: () => void;
  /** None in a session of which nothing was ever posted: there are very many of these. */
  #rows: HeldRows | undefined = undefined;
  #givenUp = false;
  #lost: () => void = () => undefined;
  /** Messages and calls that were refused at the door: they have no row, and get none by what is written of them later. */
  #rowless: Set<number | string> | undefined = undefined;

  /** @param released - told when it is given up. */
  constructor(claimed: Claimed, scope: LedgerScope, released: () => void = () => undefined) {
    this.#released = released;
    this.#claimed = claimed;
    this.#scope = scope;
    this.#holds = createFence(claimed, () => this.#givenUp);
  }

  post({ number, message, key, at }: StoredMessage): Promise<Kept> {
    const { session } = this.#claimed;
    const body = toJson(message);
    return this.#insert(number, postMessage, { session, number, body, key, postedAt: at }, () =>
      this.#held.posted({ number, body, key, at, deliveries: 0, stops: 0, taken: undefined }),
    );
  }

  /** Not refused: a row is owed its end, or it would come to life again. There are at most a few of these for each row. */
  take(message: number, turn: number, seq: number, wallNow: number): Promise<Kept> {
    if (this.#rowless?.has(message) === true) return Promise.resolve('volatile');
    const row = { session: this.#claimed.session, number: message, turn, seq, takenAt: wallNow };
    return this.#write(takeMessage, row, () => this.#held.taken(message, turn, seq, wallNow), 'begins');
  }

  putBack(message: number, begun: boolean): Promise<Kept> {
    const row = { session: this.#claimed.session, number: message, begun };
    return this.#end(message, putBackMessage, row, () => this.#held.putBack(message, begun));
  }

  finish(message: number, how: MessageEnd, wallNow: number, error?: string, outcome?: Outcome<unknown>): Promise<Kept> {
    const { owed } = this.#scope.left;
    const said = error === undefined ? null : boundedText(error);
    const end = { ...this.#claimed, number: message, end: how, at: wallNow };
    const told = { error: said, outcome: keptOutcome(outcome) };
    const row = { session: this.#claimed.session, number: message, state: how, endedAt: wallNow, ...told };
    const ended = this.#end(message, finishMessage, row, () => {
      owed.delete(end);
      this.#held.finished(message);
    });
    // It may never be written: its sender hears of the end all the same, and the message is not to be delivered again.
    void ended.then((kept) => kept === 'volatile' && this.#rows?.holds(message) === true && owed.add(end));
    return ended;
  }

  open(call: StoredCall): Promise<Kept> {
    const row = callRow(this.#claimed.session, this.#claimed.runtime, call);
    return this.#insert(call.call, openCall, row, () => this.#held.opened(call));
  }

  settle(call: string, result: ToolResult, seq: number | undefined, wallNow: number): Promise<Kept> {
    const row = { session: this.#claimed.session, id: call, result: toJson(result), seq, at: wallNow };
    return this.#end(call, settleCall, row, () => this.#held.settled(call));
  }

  async deadLetter(message: NamedMessage): Promise<StoredDeadLetter | undefined> {
    if ('mail' in message) return undefined;
    const made = step(letterBy(message), '', { session: this.#claimed.session, ...message });
    const [row] = this.#scope.file.ask((database) => doRow(database, made), []);
    return row && letterIn(row);
  }

  resend(letter: Resend): Promise<Kept> {
    if (this.#scope.file.refuses()) return Promise.resolve('volatile');
    const { session } = this.#claimed;
    let isOff = false;
    const kept = this.#work(
      () => (isOff ? undefined : resent(session, letter)),
      () => {
        const { number, at, key } = letter;
        const body = toJson(letter.message);
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
    return this.#work(() => buried(this.#claimed.session, message, wallNow, why, fact));
  }

  reconciling(call: string, wallNow: number): Promise<Kept> {
    return this.#write(askCall, { session: this.#claimed.session, id: call, at: wallNow });
  }

  reconciled(call: string, found: StoredVerdict, wallNow: number): Promise<Kept> {
    return this.#write(
      noteVerdict,
      { session: this.#claimed.session, id: call, verdict: toJson(found), at: wallNow },
      undefined,
      'toldNext',
    );
  }

  forget(beforeTurn: number): void {
    void this.#change((database) => forgetTurns(database, this.#claimed.session, beforeTurn));
  }

  async madeOnce(message: number): Promise<readonly HistoryEntry[]> {
    const made = step(madeOnce, '', { session: this.#claimed.session, message });
    return madeOnceIn(this.#scope.file.ask((database) => doRow(database, made), []));
  }

  async release(): Promise<void> {
    this.#givenUp = true;
    this.#released();
    const release = 'UPDATE unwedge_sessions SET owner = NULL WHERE id = ?';
    await this.#change((database) => database.prepare(release).run(this.#claimed.session));
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

  watch(lost: () => void): void {
    this.#lost = lost;
  }

  readonly #fenced = (): void => {
    this.#rows = undefined;
    queueMicrotask(this.#lost);
  };

  /** Makes the row of a message or a call; a full queue refuses it. */
  #insert(id: number | string, statement: Statement, row: object, note: () => void): Promise<Kept> {
    if (!this.#scope.file.refuses()) return this.#write(statement, row, note);
    this.#rowless ??= new Set();
    this.#rowless.add(id);
    return Promise.resolve('volatile');
  }

  /** Writes what is written last of a message or a call; it is not refused either. */
  #end(id: number | string, statement: Statement, row: object, note: () => void): Promise<Kept> {
    if (this.#rowless?.delete(id) === true) return Promise.resolve('volatile');
    return this.#write(statement, row, note, 'toldNext');
  }

  #write(statement: Statement, row: object, note?: () => void, how?: WriteKind): Promise<Kept> {
    const made = step(statement, '', row);
    return this.#change((database) => changeRow(database, made), note, how);
  }

  #work(work: () => Work<Kept> | undefined, note?: () => void): Promise<Kept> {
    const { log } = this.#scope;
    return this.#change((database, schema) => {
      const begun = work();
      return begun !== undefined && doWork(begun, log, database, schema) === 'durable' ? 1 : 0;
    }, note);
  }

  /** @param note - called once it is committed. */
  #change(change: Change, note?: () => void, how?: WriteKind): Promise<Kept> {
    return new Promise((resolve) => {
      this.#scope.file.write(new KeptWrite(this.#holds, change, { resolve, note, fenced: this.#fenced }, how));
    });
  }
}

/** Keeps the row of a message with a key, without its text, for as long as a second one of that key has to be recognised. */
function forgetTurns(database: Database, session: string, beforeTurn: number): number {
  const over = `session = ? AND (state IN ('done', 'failed') AND turn < ? OR state = 'dropped')`;
  const last = 'SELECT max(number) FROM unwedge_messages WHERE session = ?';
  const calls = database.prepare(
    fileText(
      `DELETE FROM uw.call AS c WHERE state = 'settled' AND session = ? AND turn < ? AND ${isForgettable('c', 'c.session')}`,
    ),
  );
  const messages = database.prepare(
    `DELETE FROM unwedge_messages WHERE ${over} AND (key IS NULL OR number <= (${last}) - ${maxKeys})`,
  );
  const texts = database.prepare(`UPDATE unwedge_messages SET body = '{}', seq = NULL WHERE ${over} AND body <> '{}'`);
  return calls.run(session, beforeTurn) + messages.run(session, beforeTurn, session) + texts.run(session, beforeTurn);
}
