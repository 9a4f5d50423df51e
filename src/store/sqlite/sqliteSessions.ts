import type {
  CallRecovery,
  Claim,
  LostCall,
  Past,
  RecoveryLimits,
  SessionStore,
  StoredEnd,
} from '../../sessions/sessionStore.ts';
import type { NamedMessage } from '../../sessions/mailbox.ts';
import type { RuntimeIdentity } from '../runtimes.ts';
import { lostCall, pastUnread, toCallRow } from '../sessionRows.ts';
import { carryAll } from './fileCommitter.ts';
import type { Database } from './database.ts';
import type { EventLog } from './eventLog.ts';
import type { LeftRuns } from './leftRuns.ts';
import type { Schema } from './schema.ts';
import { SqliteLedger } from './sqliteLedger.ts';
import { endBy, endIn, type Left, readLeft, readPast, settleDead, settleLeft } from '../tables/claims.ts';
import { runById, runIn } from '../tables/runtimes.ts';
import { doRow, doWork, readRows } from './fileTables.ts';
import { step, type Work } from '../work.ts';
import type { StoreFile } from './storeFile.ts';

/** Surroundings that the sessions of every runtime on one file share. */
export interface SessionScope {
  readonly file: StoreFile;
  readonly log: Pick<EventLog, 'insert'>;
  readonly left: LeftRuns;
}

type Taken = { readonly held: true; readonly by: string } | ({ readonly held: false; readonly fence: number } & Left);

/** Claims a session that no other runtime has. */
const claimFree = `INSERT INTO unwedge_sessions (id, owner, fence) VALUES (?, ?, 1)
  ON CONFLICT (id) DO UPDATE SET owner = excluded.owner, fence = fence + 1
  WHERE owner IS NULL OR owner = excluded.owner RETURNING fence`;
/** Those of some sessions that have something to go on. These indexes are small; a session may have many rows. */
const busyAmong = `SELECT session FROM unwedge_messages INDEXED BY unwedge_messages_unprocessed
  WHERE state IN ('waiting', 'taken') AND session IN (SELECT value FROM json_each(?))
  UNION SELECT session FROM unwedge_calls INDEXED BY unwedge_calls_pending_by_session
  WHERE state = 'pending' AND session IN (SELECT value FROM json_each(?))`;
const nothing: Left = {
  recovered: { waiting: [], deadLetters: [], lost: [], open: [] },
  stops: new Map(),
  open: [],
  lastSeq: 0,
};

type FreeClaim = Extract<Claim, { held: false }>;
/** File in which it was claimed, by its generation, and when. */
type ClaimedAt = { readonly generation: number; readonly wallNow: number };
type MakeClaim = (session: string, fence: number, at: ClaimedAt) => FreeClaim;

/** Claim of a session of which nothing has to go on: what it is asked for is made then, as there are very many. */
class IdleClaim {
  readonly held = false;
  readonly recovered = nothing.recovered;
  readonly #make: MakeClaim;
  readonly #session: string;
  readonly #fence: number;
  readonly #at: ClaimedAt;
  #made: FreeClaim | undefined = undefined;

  constructor(make: MakeClaim, session: string, fence: number, at: ClaimedAt) {
    this.#make = make;
    this.#session = session;
    this.#fence = fence;
    this.#at = at;
  }

  get ledger(): FreeClaim['ledger'] {
    return this.#claim.ledger;
  }

  past(historyLimit: number): Past | undefined {
    return this.#claim.past(historyLimit);
  }

  get #claim(): FreeClaim {
    this.#made ??= this.#make(this.#session, this.#fence, this.#at);
    return this.#made;
  }
}

/** Calls that are answered in one commit: it takes about 10 ms. */
const mostLost = 200;

/** Sessions in the file, for one runtime. */
export class SqliteSessions implements SessionStore {
  readonly #scope: SessionScope;
  readonly #runtime: RuntimeIdentity;
  /** Ledgers of this run; each session's latest. */
  readonly #ledgers = new Map<string, SqliteLedger>();
  /** Made here: where it is needed it would hold all that was claimed with one. */
  readonly #make: MakeClaim = (session, fence, at) => this.#claimed(session, { ...nothing, fence }, at);

  constructor(scope: SessionScope, runtime: RuntimeIdentity) {
    this.#scope = scope;
    this.#runtime = runtime;
    scope.file.carries({
      carry: (database, transaction) => carryAll(this.#ledgers.values(), database, transaction),
    });
  }

  async claim(session: string, limits: RecoveryLimits): Promise<Claim | undefined> {
    const [claim] = await this.claimAll([{ id: session, limits }]);
    return claim;
  }

  async claimAll(
    sessions: readonly { readonly id: string; readonly limits: RecoveryLimits }[],
  ): Promise<readonly (Claim | undefined)[]> {
    const { file } = this.#scope;
    let generation = 0;
    const found = await file.transact((database, schema) => {
      generation = file.generation;
      const ids = JSON.stringify(sessions.map(({ id }) => id));
      const busy = new Set(
        database
          .prepare(busyAmong)
          .all(ids, ids)
          .map(({ session }) => session),
      );
      const free = database.prepare(claimFree);
      return sessions.map(({ id, limits }): Taken => {
        const row = busy.has(id) ? undefined : free.get(id, this.#runtime.id);
        if (row === undefined) return this.#take(database, schema, id, limits);
        return { ...nothing, held: false, fence: Number(row['fence']) };
      });
    });
    const [first] = sessions;
    const at = { generation, wallNow: first?.limits.wallNow ?? 0 };
    return sessions.map(({ id }, index) => {
      const taken = found?.[index];
      if (taken === undefined || taken.held) return taken;
      return taken.recovered === nothing.recovered
        ? new IdleClaim(this.#make, id, taken.fence, at)
        : this.#claimed(id, taken, at);
    });
  }

  #claimed(session: string, taken: Left & { readonly fence: number }, { generation, wallNow }: ClaimedAt): FreeClaim {
    const { file } = this.#scope;
    const { recovered, stops, fence, open } = taken;
    const ledger = new SqliteLedger({ session, runtime: this.#runtime.id, fence }, this.#scope, () => {
      if (this.#ledgers.get(session) === ledger) this.#ledgers.delete(session);
    });
    ledger.restored(recovered.waiting, stops, open);
    this.#ledgers.set(session, ledger);
    const past = (historyLimit: number): Past | undefined => {
      const isSame = (): boolean => file.generation === generation;
      const found = file.ask<Past | undefined>(
        (database, schema) =>
          isSame() ? this.#do(readPast(session, historyLimit), database, schema)(historyLimit) : pastUnread(wallNow),
        undefined,
      );
      if (found !== undefined) ledger.recalled(found);
      return found;
    };
    return { held: false, ledger, recovered, past };
  }

  async recoverCalls(limits: CallRecovery): Promise<readonly LostCall[]> {
    const { file } = this.#scope;
    const lost: LostCall[] = [];
    const dead = await file.transact((database) =>
      selectCallers(database, this.#runtime.id).filter((owner) => !this.#lives(database, owner)),
    );
    for (const owner of dead ?? []) {
      for (let isMore = true; isMore; ) {
        const some = await file.transact((database, schema) => this.#recoverSome(database, schema, owner, limits));
        lost.push(...(some ?? []));
        isMore = some?.length === mostLost;
      }
    }
    return lost;
  }

  async messageEnd(session: string, message: NamedMessage): Promise<StoredEnd | null | undefined> {
    const asked = step(endBy(message), '', { session, ...message });
    return this.#scope.file.ask((database) => endIn(doRow(database, asked)), undefined);
  }

  async unowned(most: number): Promise<readonly string[]> {
    return this.#scope.file.ask((database) => {
      const rows = database
        .prepare(
          `SELECT u.id, s.owner FROM (
             SELECT session AS id FROM unwedge_messages WHERE state IN ('waiting', 'taken')
             UNION SELECT session FROM unwedge_calls WHERE state = 'pending') u
           LEFT JOIN unwedge_sessions s ON s.id = u.id`,
        )
        .all();
      const isFree = (owner: unknown): boolean =>
        typeof owner !== 'string' || (owner !== this.#runtime.id && !this.#lives(database, owner));
      const owners = new Map([...new Set(rows.map(({ owner }) => owner))].map((owner) => [owner, isFree(owner)]));
      return rows
        .filter(({ owner }) => owners.get(owner) === true)
        .slice(0, most)
        .map(({ id }) => String(id));
    }, []);
  }

  #take(database: Database, schema: Schema, session: string, limits: RecoveryLimits): Taken {
    const { left: runs } = this.#scope;
    const { id: runtime } = this.#runtime;
    const row = database.prepare('SELECT owner, fence FROM unwedge_sessions WHERE id = ?').get(session);
    const owner = row?.['owner'];
    if (typeof owner === 'string' && owner !== runtime) {
      if (this.#lives(database, owner)) return { held: true, by: owner };
      for (const row of runs.settle(owner)) doRow(database, row);
    }
    const fence = Number(row?.['fence'] ?? 0) + 1;
    database
      .prepare(
        `INSERT INTO unwedge_sessions (id, owner, fence) VALUES (?, ?, ?)
         ON CONFLICT (id) DO UPDATE SET owner = excluded.owner, fence = excluded.fence`,
      )
      .run(session, runtime, fence);
    const left = this.#do(readLeft(session, limits), database, schema);
    this.#do(settleLeft(session, left, limits), database, schema);
    return { held: false, fence, ...left };
  }

  /** Recovers those of a dead run, in slices: a commit of very many would block the event loop. */
  #recoverSome(database: Database, schema: Schema, owner: string, limits: CallRecovery): readonly LostCall[] {
    const lost = database
      .prepare(
        `SELECT * FROM unwedge_calls WHERE state = 'pending' AND rule IS NULL AND runtime = ? ORDER BY id LIMIT ?`,
      )
      .all(owner, mostLost)
      .map((row) => lostCall(toCallRow(row)));
    // It may only have stood still: what it then writes would be a second result.
    const fence = database.prepare('UPDATE unwedge_sessions SET fence = fence + 1 WHERE id = ? AND owner = ?');
    for (const session of new Set(lost.map((call) => call.session))) fence.run(session, owner);
    this.#do(settleDead(lost, limits), database, schema);
    return lost;
  }

  #do<T>(work: Work<T>, database: Database, schema: Schema): T {
    return doWork(work, this.#scope.log, database, schema);
  }

  /** A run that has left is as dead as one that died. */
  #lives(database: Database, owner: string): boolean {
    const [run] = readRows(database, runById, { id: owner });
    return run !== undefined && !this.#scope.left.has(owner) && this.#runtime.isAlive(runIn(run));
  }
}

/** The ids of other runtimes that have pending calls. */
function selectCallers(database: Database, runtime: string): readonly string[] {
  return database
    .prepare(`SELECT DISTINCT runtime FROM unwedge_calls WHERE state = 'pending' AND rule IS NULL AND runtime <> ?`)
    .all(runtime)
    .map((row) => String(row['runtime']));
}
