import type { Kept, MessageEnd, SessionLedger, StoredCall, StoredMessage } from '../sessions/sessionStore.ts';
import type { ToolResult } from '../sessions/toolResult.ts';
import type { Database } from './database.ts';
import { toJson } from './json.ts';
import type { WriteQueue } from './writeQueue.ts';

export interface LedgerParts {
  readonly queue: WriteQueue;
  readonly session: string;
  /** The runtime that claimed the session. */
  readonly runtime: string;
  readonly fence: number;
}

/** True for the fence this write was made under; a row of the session that says otherwise makes the write change nothing. */
const fenced = 'EXISTS (SELECT 1 FROM unwedge_sessions WHERE id = ? AND fence = ?)';

/** One session's rows over the store's write queue: writes of one event-loop turn share a commit, in the order they were made. */
export function createSessionLedger({ queue, session, runtime, fence }: LedgerParts): SessionLedger {
  /** @param change - the number of rows it changed; none means that the fence has gone up. */
  function keep(change: (database: Database) => number): Promise<Kept> {
    return new Promise((resolve) => {
      // A full queue refuses; then nothing is kept and the answer says so.
      if (queue.refuses()) {
        resolve('volatile');
        return;
      }
      // Stays so for a row that a foreign database refuses.
      let changed: number | undefined;
      queue.add({
        run: (database) => {
          changed = change(database);
        },
        committed: () => resolve(changed === undefined ? 'volatile' : changed > 0 ? 'durable' : 'fenced'),
        postponed: () => resolve('volatile'),
      });
    });
  }

  return {
    post: ({ number, message, key, at }: StoredMessage) => {
      const body = toJson(message);
      return keep((database) =>
        database
          .prepare(
            `INSERT INTO unwedge_messages (session, number, body, key, state, posted_at)
             SELECT ?, ?, ?, ?, 'waiting', CAST(? AS INTEGER) WHERE ${fenced}`,
          )
          .run(session, number, body, key ?? null, Math.round(at), session, fence),
      );
    },
    take(message, turn, seq, wallNow) {
      void keep((database) =>
        database
          .prepare(
            `UPDATE unwedge_messages
             SET state = 'taken', deliveries = deliveries + 1, turn = ?, seq = ?, taken_at = CAST(? AS INTEGER)
             WHERE session = ? AND number = ? AND ${fenced}`,
          )
          .run(turn, seq, Math.round(wallNow), session, message, session, fence),
      );
    },
    putBack: (message) =>
      keep((database) =>
        database
          .prepare(
            `UPDATE unwedge_messages SET state = 'waiting', deliveries = max(0, deliveries - 1)
             WHERE session = ? AND number = ? AND ${fenced}`,
          )
          .run(session, message, session, fence),
      ),
    finish: (message: number, end: MessageEnd, wallNow: number, error?: string) =>
      keep((database) =>
        database
          .prepare(
            `UPDATE unwedge_messages SET state = ?, ended_at = CAST(? AS INTEGER), error = ?
             WHERE session = ? AND number = ? AND ${fenced}`,
          )
          .run(end, Math.round(wallNow), error ?? null, session, message, session, fence),
      ),
    open: ({ call, turn, integration, tool, input, effect, seq, at, deadlineAt }: StoredCall) => {
      const json = toJson(input);
      return keep((database) =>
        database
          .prepare(
            `INSERT INTO unwedge_calls (id, session, turn, integration, tool, input, effect, runtime, started_at, deadline_at, seq)
             SELECT ?, ?, ?, ?, ?, ?, ?, ?, CAST(? AS INTEGER), CAST(? AS INTEGER), ? WHERE ${fenced}`,
          )
          .run(
            call,
            session,
            turn,
            integration,
            tool,
            json,
            effect ?? null,
            runtime,
            Math.round(at),
            Math.round(deadlineAt),
            seq,
            session,
            fence,
          ),
      );
    },
    settle: (call, result, seq, wallNow) => {
      const json = toJson(result);
      const at = Math.round(wallNow);
      return keep((database) => settleOnce(database, { session, fence, call, json, seq, at }));
    },
    forget(beforeTurn) {
      void keep((database) => {
        const over = `session = ? AND turn < ? AND ${fenced}`;
        const calls = database.prepare(`DELETE FROM unwedge_calls WHERE state = 'settled' AND ${over}`);
        const messages = database.prepare(
          `DELETE FROM unwedge_messages WHERE state IN ('done', 'failed', 'dropped') AND ${over}`,
        );
        return calls.run(session, beforeTurn, session, fence) + messages.run(session, beforeTurn, session, fence);
      });
    },
    async release() {
      await keep((database) =>
        database.prepare('UPDATE unwedge_sessions SET owner = NULL WHERE id = ? AND fence = ?').run(session, fence),
      );
    },
  };
}

interface Settlement {
  readonly session: string;
  readonly fence: number;
  readonly call: string;
  readonly json: string;
  readonly seq: number;
  readonly at: number;
}

/** The first result stands; a second one is kept beside it. */
function settleOnce(database: Database, { session, fence, call, json, seq, at }: Settlement): number {
  const settled = database
    .prepare(
      `UPDATE unwedge_calls SET state = 'settled', result = ?, result_seq = ?, settled_at = CAST(? AS INTEGER)
       WHERE id = ? AND state = 'pending' AND ${fenced}`,
    )
    .run(json, seq, at, call, session, fence);
  if (settled > 0) return settled;
  return database
    .prepare(
      `UPDATE unwedge_calls SET late_result = ?, late_at = CAST(? AS INTEGER)
       WHERE id = ? AND late_result IS NULL AND ${fenced}`,
    )
    .run(json, at, call, session, fence);
}
