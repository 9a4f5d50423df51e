import {
  type Kept,
  maxKeys,
  type MessageEnd,
  type Past,
  type SessionLedger,
  type StoredMessage,
  type WaitingMessage,
} from '../sessions/sessionStore.ts';
import type { ToolResult } from '../sessions/toolResult.ts';
import type { Carrier } from './carriers.ts';
import { type Claimed, createFence } from './sessionFence.ts';
import type { Database } from './database.ts';
import { fromJson, toJson } from './json.ts';
import { HeldRows, insertCall } from './heldRows.ts';
import { KeptWrite, type WriteKind } from './keptWrite.ts';
import type { LeftRuns } from './leftRuns.ts';
import type { Redactor } from './redact.ts';
import type { Unprocessed } from './sessionRows.ts';
import type { WriteQueue } from './writeQueue.ts';

export interface LedgerParts {
  readonly redact: Redactor;
  readonly left: Pick<LeftRuns, 'owes' | 'wrote'>;
}

/** A ledger that knows which of its rows a new file needs. */
export interface CarriedLedger extends SessionLedger, Carrier {
  /** What the claim has found to be delivered. */
  restored(waiting: readonly WaitingMessage[], stops: Unprocessed['stops']): void;
  /** The same of what is read later. */
  recalled(past: Past): void;
}

/** One session's rows over the store's write queue: writes of one event-loop turn share a commit, in the order they were made. */
export function createSessionLedger(queue: WriteQueue, claimed: Claimed, { redact, left }: LedgerParts): CarriedLedger {
  const { session, runtime } = claimed;
  const holds = createFence(claimed);
  /** None in a session of which nothing was ever posted: there are very many of these. */
  let rows: HeldRows | undefined;
  let givenUp = false;
  /** Messages and calls that were refused at the door: they have no row, and get none by what is written of them later. */
  let rowless: Set<number | string> | undefined;

  function held(): HeldRows {
    rows ??= new HeldRows();
    return rows;
  }

  /**
   * @param change - the number of rows it changed.
   * @param note - called once it is committed.
   */
  function write(change: (database: Database) => number, note: () => void, how?: WriteKind): Promise<Kept> {
    return new Promise((resolve) => {
      const kept = (what: Kept): void => {
        if (what === 'durable') note();
        else if (what === 'fenced') rows = undefined;
        resolve(what);
      };
      queue.add(new KeptWrite(holds, change, kept, how));
    });
  }

  /** Makes the row of a message or a call; a full queue refuses it. */
  function insert(id: number | string, change: (database: Database) => number, note: () => void): Promise<Kept> {
    if (!queue.refuses()) return write(change, note);
    rowless ??= new Set();
    rowless.add(id);
    return Promise.resolve('volatile');
  }

  /** Not refused: a row is owed its end, or it would come to life again. There are at most a few of these for each row. */
  function begin(id: number | string, change: (database: Database) => number, note: () => void): Promise<Kept> {
    return rowless?.has(id) === true ? Promise.resolve('volatile') : write(change, note, 'begins');
  }

  /** The same, for what is written of it last. */
  function end(id: number | string, change: (database: Database) => number, note: () => void): Promise<Kept> {
    return rowless?.delete(id) === true ? Promise.resolve('volatile') : write(change, note, 'toldNext');
  }

  return {
    post: ({ number, message, key, at }: StoredMessage) => {
      const body = toJson(message);
      return insert(
        number,
        (database) =>
          database
            .prepare(
              `INSERT INTO unwedge_messages (session, number, body, key, state, posted_at)
             VALUES (?, ?, ?, ?, 'waiting', CAST(? AS INTEGER))`,
            )
            .run(session, number, body, key ?? null, Math.round(at)),
        () => held().posted({ number, body, key, at, deliveries: 0, stops: 0, taken: undefined }),
      );
    },
    take: (message, turn, seq, wallNow) =>
      begin(
        message,
        (database) =>
          database
            .prepare(
              `UPDATE unwedge_messages
             SET state = 'taken', deliveries = deliveries + 1, turn = ?, seq = ?, taken_at = CAST(? AS INTEGER)
             WHERE session = ? AND number = ?`,
            )
            .run(turn, seq, Math.round(wallNow), session, message),
        () => held().taken(message, turn, seq, wallNow),
      ),
    putBack: (message, begun) =>
      end(
        message,
        (database) =>
          database
            .prepare(
              `UPDATE unwedge_messages SET state = 'waiting', ${begun ? 'stops = stops + 1' : 'deliveries = max(0, deliveries - 1)'}
             WHERE session = ? AND number = ?`,
            )
            .run(session, message),
        () => held().putBack(message, begun),
      ),
    finish: (message: number, how: MessageEnd, wallNow: number, error?: string) => {
      // It is for people: nobody is given it back, and it may quote what the turn had at hand.
      const said = error === undefined ? null : withoutSecrets(redact, error);
      const owed = { ...claimed, number: message, end: how, at: wallNow };
      const ended = end(
        message,
        (database) =>
          database
            .prepare(
              `UPDATE unwedge_messages SET state = ?, ended_at = CAST(? AS INTEGER), error = ?
             WHERE session = ? AND number = ?`,
            )
            .run(how, Math.round(wallNow), said, session, message),
        () => {
          left.wrote(owed);
          held().finished(message);
        },
      );
      // It may never be written: its sender hears of the end all the same, and the message is not to be delivered again.
      void ended.then((kept) => kept === 'volatile' && rows?.holds(message) === true && left.owes(owed));
      return ended;
    },
    open: (call) => {
      const json = toJson(call.input);
      return insert(
        call.call,
        (database) => insertCall(database, session, runtime, call, json),
        () => held().opened(call),
      );
    },
    settle: (call, result: ToolResult, seq, wallNow) => {
      const json = toJson(result);
      const at = Math.round(wallNow);
      return end(
        call,
        (database) => settleOnce(database, { call, json, seq, at }),
        () => held().settled(call),
      );
    },
    forget(beforeTurn) {
      void write(
        (database) => forget(database, session, beforeTurn),
        () => undefined,
      );
    },
    async release() {
      givenUp = true;
      const release = 'UPDATE unwedge_sessions SET owner = NULL WHERE id = ?';
      await write(
        (database) => database.prepare(release).run(session),
        () => undefined,
      );
    },
    restored(waiting, stops) {
      for (const { message, ...more } of waiting) {
        held().posted({ ...more, body: toJson(message), stops: stops.get(more.number) ?? 0, taken: undefined });
      }
    },
    recalled(past) {
      if (past.lastMessage > 0) held().recalled(past);
    },
    carry(database, transaction) {
      const size = rows?.size ?? 0;
      if (givenUp || !holds(database, transaction)) return { carried: 0, lost: size };
      rows?.write(database, session, runtime);
      return { carried: size, lost: 0 };
    },
  };
}

function withoutSecrets(redact: Redactor, error: string): string | null {
  const clean = fromJson(redact({ error }))?.value;
  return typeof clean === 'object' && clean !== null && 'error' in clean ? String(clean.error) : null;
}

interface Settlement {
  readonly call: string;
  readonly json: string;
  readonly seq: number;
  readonly at: number;
}

/** The first result stands; a second one is kept beside it. */
function settleOnce(database: Database, { call, json, seq, at }: Settlement): number {
  const settled = database
    .prepare(
      `UPDATE unwedge_calls SET state = 'settled', result = ?, result_seq = ?, settled_at = CAST(? AS INTEGER)
       WHERE id = ? AND state = 'pending'`,
    )
    .run(json, seq, at, call);
  if (settled > 0) return settled;
  return database
    .prepare(
      `UPDATE unwedge_calls SET late_result = ?, late_at = CAST(? AS INTEGER) WHERE id = ? AND late_result IS NULL`,
    )
    .run(json, at, call);
}

/** Of a message with a key the row stays, without its text, for as long as a second one of that key has to be recognised. */
function forget(database: Database, session: string, beforeTurn: number): number {
  const over = `session = ? AND (state IN ('done', 'failed') AND turn < ? OR state = 'dropped')`;
  const last = 'SELECT max(number) FROM unwedge_messages WHERE session = ?';
  const calls = database.prepare(`DELETE FROM unwedge_calls WHERE state = 'settled' AND session = ? AND turn < ?`);
  const messages = database.prepare(
    `DELETE FROM unwedge_messages WHERE ${over} AND (key IS NULL OR number <= (${last}) - ${maxKeys})`,
  );
  const texts = database.prepare(`UPDATE unwedge_messages SET body = '{}', seq = NULL WHERE ${over} AND body <> '{}'`);
  return calls.run(session, beforeTurn) + messages.run(session, beforeTurn, session) + texts.run(session, beforeTurn);
}
