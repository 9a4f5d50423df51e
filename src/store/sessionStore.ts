import { effects } from '../policy/effects.ts';
import type { Fact } from '../policy/facts.ts';
import type {
  CallRecovery,
  Claim,
  LostCall,
  Past,
  Recovered,
  RecoveryLimits,
  SessionStore,
} from '../sessions/sessionStore.ts';
import { carryAll } from './carriers.ts';
import type { Connection } from './connection.ts';
import type { Database, SqlRow } from './database.ts';
import type { EventLog } from './eventLog.ts';
import { toJson } from './json.ts';
import type { LeftRuns } from './leftRuns.ts';
import { type CarriedLedger, createSessionLedger } from './sessionLedger.ts';
import type { Redactor } from './redact.ts';
import { type RuntimeRow, selectRuntime } from './runtimes.ts';
import type { Schema } from './schema.ts';
import { selectPast, selectUnprocessed, type Unprocessed } from './sessionRows.ts';
import type { WriteQueue } from './writeQueue.ts';

/** Who claims sessions. */
export interface RuntimeIdentity {
  /** The id it has entered itself with, see {@link Runtimes}. */
  readonly id: string;
  /** Whether another run that is entered still lives; asked inside a transaction. */
  readonly isAlive: (run: RuntimeRow) => boolean;
}

export interface SessionStoreParts {
  readonly connection: Connection;
  readonly log: Pick<EventLog, 'insert'>;
  readonly left: LeftRuns;
  /** For what nobody is given back. */
  readonly redact: Redactor;
}

/** Calls that are answered in one commit: it takes about 10 ms. */
const mostLost = 200;

/** Sessions in SQLite. */
export function createSessionStore(
  queue: WriteQueue,
  { id: runtime, isAlive }: RuntimeIdentity,
  { connection, log, left, redact }: SessionStoreParts,
): SessionStore {
  /** Those of this run; each session's latest. */
  const ledgers = new Map<string, CarriedLedger>();
  queue.carries({
    carry: (database, transaction) => carryAll(ledgers.values(), database, transaction),
  });

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
        awaited: true,
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

  /** Undefined when the store is out of order. */
  function read<T>(select: (database: Database) => T): T | undefined {
    if (queue.degraded) return undefined;
    try {
      return connection.use(select);
    } catch (error) {
      queue.report(error);
      return undefined;
    }
  }

  /** A run that has left is as dead as one that died. */
  function lives(database: Database, owner: string): boolean {
    const run = selectRuntime(database, owner);
    return run !== undefined && !left.has(owner) && isAlive(run);
  }

  return {
    async claim(session, limits): Promise<Claim | undefined> {
      let generation = 0;
      const claimed = await transact((database, schema) => {
        const taken = claim(database, session, limits);
        generation = connection.generation;
        if ('recovered' in taken) record(database, schema, limits.wallNow, limits.facts(taken.recovered));
        return taken;
      });
      if (claimed === undefined || 'by' in claimed) return claimed;
      const ledger = createSessionLedger(queue, { session, runtime, fence: claimed.fence }, { redact, left });
      ledger.restored(claimed.recovered.waiting, claimed.stops);
      ledgers.set(session, ledger);
      const past = (historyLimit: number): Past | undefined => {
        const found = read((database) =>
          connection.generation === generation
            ? selectPast(database, session, historyLimit)
            : pastUnread(limits.wallNow),
        );
        if (found !== undefined) ledger.recalled(found);
        return found;
      };
      return { held: false, ledger, recovered: claimed.recovered, past };
    },
    async recoverCalls(limits) {
      const lost: LostCall[] = [];
      const dead = await transact((database) =>
        database
          .prepare(`SELECT DISTINCT runtime FROM unwedge_calls WHERE state = 'pending' AND runtime <> ?`)
          .all(runtime)
          .map((row) => String(row['runtime']))
          .filter((owner) => !lives(database, owner)),
      );
      for (const owner of dead ?? []) {
        for (let isMore = true; isMore; ) {
          const some = await transact((database, schema) => recoverSome(database, schema, owner, limits));
          lost.push(...(some ?? []));
          isMore = some?.length === mostLost;
        }
      }
      return lost;
    },
  };

  /** Those of a dead run, in slices: a commit of very many would block the event loop. */
  function recoverSome(database: Database, schema: Schema, owner: string, limits: CallRecovery): readonly LostCall[] {
    const settled = database
      .prepare(`SELECT * FROM unwedge_calls WHERE state = 'pending' AND runtime = ? ORDER BY id LIMIT ?`)
      .all(owner, mostLost)
      .map((row) => settleLost(database, row, limits));
    record(database, schema, limits.wallNow, settled.map(limits.fact));
    return settled;
  }

  /** With the change that they tell of: neither is there without the other. */
  function record(database: Database, schema: Schema, at: number, facts: readonly Fact[]): void {
    for (const fact of facts) log.insert(database, schema, { ...fact, at });
  }

  function claim(
    database: Database,
    session: string,
    limits: RecoveryLimits,
  ): { held: true; by: string } | ({ fence: number; recovered: Recovered } & Pick<Unprocessed, 'stops'>) {
    const row = database.prepare('SELECT owner, fence FROM unwedge_sessions WHERE id = ?').get(session);
    const owner = row?.['owner'];
    if (typeof owner === 'string' && owner !== runtime && lives(database, owner)) return { held: true, by: owner };
    if (typeof owner === 'string' && owner !== runtime && left.has(owner)) left.settle(database, owner);
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
    const { recovered, stops } = selectUnprocessed(database, session, limits);
    return { fence, recovered: { ...recovered, lost }, stops };
  }
}

/** The file with what was not read of it is lost: numbers above all that can be there. */
function pastUnread(wallNow: number): Past {
  const number = Math.floor(wallNow / 1000);
  return { history: [], keys: [], lastMessage: number, lastTurn: number, lastSeq: 0 };
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
