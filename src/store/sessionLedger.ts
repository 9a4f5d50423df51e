import {
  type Kept,
  maxKeys,
  type MessageEnd,
  type SessionLedger,
  type StoredCall,
  type StoredMessage,
} from '../sessions/sessionStore.ts';
import type { ToolResult } from '../sessions/toolResult.ts';
import { type Claimed, createFence } from './sessionFence.ts';
import type { Database } from './database.ts';
import { fromJson, toJson } from './json.ts';
import { KeptWrite, type WriteKind } from './keptWrite.ts';
import type { Redactor } from './redact.ts';
import type { WriteQueue } from './writeQueue.ts';

/** One session's rows over the store's write queue: writes of one event-loop turn share a commit, in the order they were made. */
export function createSessionLedger(queue: WriteQueue, claimed: Claimed, redact: Redactor): SessionLedger {
  const { session, runtime } = claimed;
  const holds = createFence(claimed);
  /** Messages and calls that were refused at the door: they have no row, and get none by what is written of them later. */
  let rowless: Set<number | string> | undefined;

  /** @param change - the number of rows it changed. */
  function write(change: (database: Database) => number, how?: WriteKind): Promise<Kept> {
    return new Promise((resolve) => queue.add(new KeptWrite(holds, change, resolve, how)));
  }

  /** Makes the row of a message or a call; a full queue refuses it. */
  function insert(id: number | string, change: (database: Database) => number): Promise<Kept> {
    if (!queue.refuses()) return write(change);
    rowless ??= new Set();
    rowless.add(id);
    return Promise.resolve('volatile');
  }

  /** Not refused: a row is owed its end, or it would come to life again. There are at most a few of these for each row. */
  function begin(id: number | string, change: (database: Database) => number): Promise<Kept> {
    return rowless?.has(id) === true ? Promise.resolve('volatile') : write(change, 'begins');
  }

  /** The same, for what is written of it last. */
  function end(id: number | string, change: (database: Database) => number): Promise<Kept> {
    return rowless?.delete(id) === true ? Promise.resolve('volatile') : write(change, 'toldNext');
  }

  return {
    post: ({ number, message, key, at }: StoredMessage) => {
      const body = toJson(message);
      return insert(number, (database) =>
        database
          .prepare(
            `INSERT INTO unwedge_messages (session, number, body, key, state, posted_at)
             VALUES (?, ?, ?, ?, 'waiting', CAST(? AS INTEGER))`,
          )
          .run(session, number, body, key ?? null, Math.round(at)),
      );
    },
    take: (message, turn, seq, wallNow) =>
      begin(message, (database) =>
        database
          .prepare(
            `UPDATE unwedge_messages
             SET state = 'taken', deliveries = deliveries + 1, turn = ?, seq = ?, taken_at = CAST(? AS INTEGER)
             WHERE session = ? AND number = ?`,
          )
          .run(turn, seq, Math.round(wallNow), session, message),
      ),
    putBack: (message, begun) =>
      end(message, (database) =>
        database
          .prepare(
            `UPDATE unwedge_messages SET state = 'waiting', ${begun ? 'stops = stops + 1' : 'deliveries = max(0, deliveries - 1)'}
             WHERE session = ? AND number = ?`,
          )
          .run(session, message),
      ),
    finish: (message: number, how: MessageEnd, wallNow: number, error?: string) => {
      // It is for people: nobody is given it back, and it may quote what the turn had at hand.
      const said = error === undefined ? null : withoutSecrets(redact, error);
      return end(message, (database) =>
        database
          .prepare(
            `UPDATE unwedge_messages SET state = ?, ended_at = CAST(? AS INTEGER), error = ?
             WHERE session = ? AND number = ?`,
          )
          .run(how, Math.round(wallNow), said, session, message),
      );
    },
    open: ({ call, turn, integration, tool, input, effect, seq, at, deadlineAt }: StoredCall) => {
      const json = toJson(input);
      const times = [Math.round(at), Math.round(deadlineAt)] as const;
      return insert(call, (database) =>
        database
          .prepare(
            `INSERT INTO unwedge_calls (id, session, turn, integration, tool, input, effect, runtime, started_at, deadline_at, seq)
             VALUES (?, ?, ?, ?, ?, ?, ?, ?, CAST(? AS INTEGER), CAST(? AS INTEGER), ?)`,
          )
          .run(call, session, turn, integration, tool, json, effect ?? null, runtime, ...times, seq),
      );
    },
    settle: (call, result: ToolResult, seq, wallNow) => {
      const json = toJson(result);
      const at = Math.round(wallNow);
      return end(call, (database) => settleOnce(database, { call, json, seq, at }));
    },
    forget(beforeTurn) {
      void write((database) => forget(database, session, beforeTurn));
    },
    async release() {
      await write((database) => database.prepare('UPDATE unwedge_sessions SET owner = NULL WHERE id = ?').run(session));
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
