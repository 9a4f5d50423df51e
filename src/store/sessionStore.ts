import { effects } from '../policy/effects.ts';
import type { Fact } from '../policy/facts.ts';
import type { Claim, LostCall, Recovered, RecoveryLimits, SessionStore } from '../sessions/sessionStore.ts';
import type { Database, SqlRow } from './database.ts';
import type { EventLog } from './eventLog.ts';
import { toJson } from './json.ts';
import type { LeftRuns } from './leftRuns.ts';
import { createSessionLedger } from './sessionLedger.ts';
import { type RuntimeRow, selectRuntime } from './runtimes.ts';
import type { Schema } from './schema.ts';
import { selectSession } from './sessionRows.ts';
import type { WriteQueue } from './writeQueue.ts';

/** Who claims sessions. */
export interface RuntimeIdentity {
  /** The id it has entered itself with, see {@link Runtimes}. */
  readonly id: string;
  /** Whether another run that is entered still lives; asked inside a transaction. */
  readonly isAlive: (run: RuntimeRow) => boolean;
}

/** Sessions in SQLite. */
export function createSessionStore(
  queue: WriteQueue,
  { id: runtime, isAlive }: RuntimeIdentity,
  { log, left }: { readonly log: Pick<EventLog, 'insert'>; readonly left: Pick<LeftRuns, 'has'> },
): SessionStore {
  /** Runs one transaction behind the writes made before it; undefined when the store is out of order. */
  function transact<T>(work: (database: Database, schema: Schema) => T): Promise<T | undefined> {
    return new Promise((resolve) => {
      if (queue.refuses()) {
        resolve(undefined);
        return;
      }
      let result: T | undefined;
      let tooLate = false;
      queue.add({
        run: (database, schema) => {
          if (!tooLate) result = work(database, schema);
        },
        committed: () => resolve(result),
        postponed: () => {
          tooLate = true;
          resolve(undefined);
        },
      });
    });
  }

  /** A run that has left is as dead as one that died. */
  function lives(database: Database, owner: string): boolean {
    const run = selectRuntime(database, owner);
    return run !== undefined && !left.has(owner) && isAlive(run);
  }

  return {
    async claim(session, limits): Promise<Claim | undefined> {
      const claimed = await transact((database, schema) => {
        const taken = claim(database, session, limits);
        if ('recovered' in taken) record(database, schema, limits.wallNow, limits.facts(taken.recovered));
        return taken;
      });
      if (claimed === undefined || 'by' in claimed) return claimed;
      const ledger = createSessionLedger(queue, { session, runtime, fence: claimed.fence });
      return { held: false, ledger, recovered: claimed.recovered };
    },
    unfinished: (after, most) =>
      transact((database) =>
        database
          .prepare(
            `SELECT id FROM (
               SELECT id FROM (SELECT id FROM unwedge_sessions WHERE owner IS NOT NULL AND id > ? ORDER BY id LIMIT ?)
               UNION
               SELECT id FROM (SELECT DISTINCT session AS id FROM unwedge_messages
                 WHERE state IN ('waiting', 'taken') AND session > ? ORDER BY session LIMIT ?)
             ) ORDER BY id LIMIT ?`,
          )
          .all(after, most, after, most, most)
          .map((row) => String(row['id'])),
      ),
    async recoverCalls(limits) {
      const lost = await transact((database, schema) => {
        const pending = database
          .prepare(`SELECT * FROM unwedge_calls WHERE state = 'pending' AND runtime <> ? ORDER BY started_at, id`)
          .all(runtime);
        const settled = pending
          .filter((row) => !lives(database, String(row['runtime'])))
          .map((row) => settleLost(database, row, limits));
        record(database, schema, limits.wallNow, settled.map(limits.fact));
        return settled;
      });
      return lost ?? [];
    },
  };

  /** With the change that they tell of: neither is there without the other. */
  function record(database: Database, schema: Schema, at: number, facts: readonly Fact[]): void {
    for (const fact of facts) log.insert(database, schema, { ...fact, at });
  }

  function claim(
    database: Database,
    session: string,
    limits: RecoveryLimits,
  ): { held: true; by: string } | { fence: number; recovered: Recovered } {
    const row = database.prepare('SELECT owner, fence FROM unwedge_sessions WHERE id = ?').get(session);
    const owner = row?.['owner'];
    if (typeof owner === 'string' && owner !== runtime && lives(database, owner)) return { held: true, by: owner };
    const fence = Number(row?.['fence'] ?? 0) + 1;
    database
      .prepare(
        `INSERT INTO unwedge_sessions (id, owner, fence) VALUES (?, ?, ?)
         ON CONFLICT (id) DO UPDATE SET owner = excluded.owner, fence = excluded.fence`,
      )
      .run(session, runtime, fence);
    const pending = database
      .prepare(`SELECT * FROM unwedge_calls WHERE session = ? AND state = 'pending' ORDER BY seq`)
      .all(session);
    const lost = pending.map((row) => settleLost(database, row, limits));
    return { fence, recovered: { ...selectSession(database, session, limits), lost } };
  }
}

/** The owner is dead: the state of the row alone decides. */
function settleLost(
  database: Database,
  row: SqlRow,
  { wallNow, answer }: Pick<RecoveryLimits, 'wallNow' | 'answer'>,
): LostCall {
  const call: LostCall = {
    session: String(row['session']),
    call: String(row['id']),
    turn: Number(row['turn']),
    integration: String(row['integration']),
    tool: String(row['tool']),
    effect: effects.find((effect) => effect === row['effect']),
    startedAt: Number(row['started_at']),
  };
  database
    .prepare(
      `UPDATE unwedge_calls SET state = 'settled', result = ?, settled_at = CAST(? AS INTEGER),
         result_seq = (SELECT max(max(seq), coalesce(max(result_seq), 0)) + 1 FROM unwedge_calls WHERE session = ?)
       WHERE id = ? AND state = 'pending'`,
    )
    .run(toJson(answer(call)), Math.round(wallNow), call.session, call.call);
  return call;
}
