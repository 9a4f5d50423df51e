import type {
  CallRecovery,
  Claim,
  LostCall,
  Move,
  NamedMessage,
  Past,
  Recovered,
  RecoveryLimits,
  SessionMail,
  SessionStore,
  StoredEnd,
  Takeable,
} from '../src/sessions/face.ts';
import type { Clock, Random } from '../src/policy/face.ts';
import { type Work, lostCall, toCallRow } from '../src/store/face.ts';
import type { BatchRows } from './batch.ts';
import { rowsOf, type RowStatement } from './rowStatement.ts';
import type { Lease } from './leases.ts';
import type { Sql } from './pgConnections.ts';
import { acquireLease, lookAtNodes } from './leaseStatements.ts';
import type { NodeConnection } from './nodeConnection.ts';
import { endOverMail, takeAllMail } from './mailStatements.ts';
import { type LedgerScope, PgLedger } from './pgLedger.ts';
import { endBy, endIn, readLeft, readPast, settleDead, settleLeft } from '../src/store/tables/face.ts';
import { doWork, queryOf, queryValues } from './pgTables.ts';
import { Rebalance } from './rebalance.ts';
import { releasedHint, Takeovers } from './takeovers.ts';

/** Surroundings that the sessions of a run share. */
export interface SessionScope extends LedgerScope {
  readonly clock: Clock;
  readonly random: Random;
  readonly node: Pick<NodeConnection, 'notify' | 'onWake' | 'isPresent'>;
}

type Taken =
  | { readonly held: true; readonly by: string }
  | {
      readonly held: false;
      readonly lease: Lease;
      readonly recovered: Recovered;
      readonly past: (historyLimit: number) => Past;
      /** Runtimes whose mail is answered by the claim. */
      readonly senders: readonly string[];
    };

/** Calls that are answered in one commit. */
const mostLost = 200;
/** Entries of the history that are read with a claim where nobody says how many. */
const usualHistory = 1_000;

/** Pending calls of sessions that no node has, for nobody else to answer meanwhile. */
const deadCalls: RowStatement = {
  name: 'dead_calls',
  text: `WITH ${rowsOf('runtime text, most integer')}
    SELECT w.ord, c.* FROM w CROSS JOIN LATERAL (
      SELECT id, session, turn, integration, tool, input, effect, rule, idempotency_key, seq, started_at, state
      FROM uw.call c WHERE c.state = 'pending' AND c.rule IS NULL AND c.runtime <> w.runtime AND NOT EXISTS (
        SELECT 1 FROM uw.lease l JOIN uw.node n ON n.id = l.owner
        WHERE l.key = c.session AND n.expires_at > clock_timestamp())
      ORDER BY c.session, c.seq LIMIT w.most FOR UPDATE SKIP LOCKED) c`,
};

/** Sessions with something to do that nobody holds. */
const unownedSessions: Sql = {
  name: 'unowned_sessions',
  text: `SELECT u.session FROM (
      SELECT session FROM uw.message WHERE state IN ('waiting', 'taken')
      UNION SELECT session FROM uw.call WHERE state = 'pending'
      UNION SELECT session FROM uw.mail WHERE state = 'waiting') u
    WHERE NOT EXISTS (
      SELECT 1 FROM uw.lease l JOIN uw.node n ON n.id = l.owner
      WHERE l.key = u.session AND n.expires_at > clock_timestamp())
    LIMIT $1`,
};

/** Sessions in the database, for one runtime: whose a session is says its lease, by the clock of the database. */
export class PgSessions implements SessionStore {
  readonly #scope: SessionScope;
  readonly #takeovers: Takeovers;
  /** Sessions that were asked for, and that another runtime has. */
  #wanted = new Set<string>();
  readonly handsOver = true;
  /** A lease that is not renewed is free by then. */
  readonly claimEveryMs: number;

  get mail(): SessionMail {
    return this.#scope.mail;
  }

  constructor(scope: SessionScope) {
    this.#scope = scope;
    const { database, clock, random, runtime, node } = scope;
    const { leaseMs } = scope.leases;
    const hears = (): boolean => node.isPresent(runtime);
    const owned = (): number => scope.leases.owned;
    const rebalance = new Rebalance({ database, clock, random, runtime, leaseMs, owned });
    this.#takeovers = new Takeovers({ database, clock, random, runtime, leaseMs, hears, rebalance });
    this.claimEveryMs = Math.ceil(leaseMs / 2);
  }

  async takeable(sessions: readonly string[]): Promise<Takeable | undefined> {
    const found = await this.#takeovers.ask(sessions);
    if (found === undefined) return undefined;
    const free = new Set(found.free);
    this.#wants(new Set(sessions.filter((session) => !free.has(session))));
    return found;
  }

  onTakeable(listener: () => void): () => void {
    return this.#scope.node.onWake((hint) => {
      if (hint !== undefined && hint !== releasedHint) return;
      this.#takeovers.wake(hint === undefined);
      listener();
    });
  }

  onAsked(listener: (moves: readonly Move[]) => void): () => void {
    return this.#scope.leases.onAsked(listener);
  }

  async claim(session: string, limits: RecoveryLimits): Promise<Claim | undefined> {
    const { database, leases, mail } = this.#scope;
    mail.start();
    const life = await leases.entered();
    if (life === undefined) return undefined;
    const taken = await database.transact((batch) => this.#take(batch, session, limits));
    if (taken === undefined) return undefined;
    const wanted = this.#wanted;
    if (taken.held) wanted.add(session);
    else wanted.delete(session);
    this.#wants(wanted);
    if (taken.held) return taken;
    const { lease, recovered, past, senders } = taken;
    this.#takeovers.claimed(session);
    mail.wake(senders);
    // The node may have expired meanwhile: then it is not ours, or not for long.
    if (!leases.claimed(lease, life)) return undefined;
    return { held: false, ledger: new PgLedger(lease, this.#scope), recovered, past };
  }

  async recoverCalls(limits: CallRecovery): Promise<readonly LostCall[]> {
    const { database } = this.#scope;
    const lost: LostCall[] = [];
    for (let isMore = true; isMore; ) {
      const some = await database.transact((batch) => this.#recoverSome(batch, limits));
      lost.push(...(some ?? []));
      isMore = some?.length === mostLost;
    }
    return lost;
  }

  #wants(wanted: Set<string>): void {
    this.#wanted = wanted;
    this.#scope.leases.waiting = wanted.size;
  }

  async messageEnd(session: string, message: NamedMessage): Promise<StoredEnd | null | undefined> {
    const asked = endBy(message);
    const rows = await this.#scope.database.read(queryOf(asked), queryValues(asked, { session, ...message }));
    return rows && endIn(rows);
  }

  async unowned(most: number): Promise<readonly string[]> {
    const { database, runtime } = this.#scope;
    await database.read(lookAtNodes, [runtime, []]);
    const rows = await database.read(unownedSessions, [most]);
    return (rows ?? []).map((row) => String(row['session']));
  }

  async #take(batch: BatchRows, session: string, limits: RecoveryLimits): Promise<Taken> {
    const { runtime } = this.#scope;
    const leaseId = crypto.randomUUID();
    const [row] = await batch.row(acquireLease, session, [session, runtime, leaseId]);
    const token = row?.['token'];
    if (token === null || token === undefined) return { held: true, by: String(row?.['owner'] ?? '') };
    const [, left] = await Promise.all([
      batch.row(takeAllMail, session, [session]),
      this.#do(readLeft(session, limits), batch),
    ]);
    // The past is read behind what is written of it.
    const [, past, told] = await Promise.all([
      this.#do(settleLeft(session, left, limits), batch),
      this.#do(readPast(session, limits.historyLimit ?? usualHistory), batch),
      batch.row(endOverMail, session, [session]),
    ]);
    const senders = told.map(({ sender }) => String(sender));
    const { recovered } = left;
    return { held: false, lease: { session, token: String(token), leaseId }, recovered, past, senders };
  }

  /** In slices: a commit of very many would hold up the others. */
  async #recoverSome(batch: BatchRows, limits: CallRecovery): Promise<readonly LostCall[]> {
    const rows = await batch.row(deadCalls, 'dead calls', [this.#scope.runtime, mostLost]);
    const found = rows.map((row) => lostCall(toCallRow(row)));
    const ours = await Promise.all(
      [...new Set(found.map(({ session }) => session))].map(async (session) => {
        // For nobody. An owner that has only expired writes no second result then; what is being claimed or written is left to that.
        const [lease] = await batch.row(acquireLease, session, [session, null, crypto.randomUUID()]);
        return lease?.['token'] === null || lease?.['token'] === undefined ? [] : [session];
      }),
    );
    const lost = found.filter(({ session }) => ours.flat().includes(session));
    await this.#do(settleDead(lost, limits), batch);
    return lost;
  }

  #do<T>(work: Work<T>, batch: BatchRows): T | Promise<T> {
    return doWork(work, this.#scope.events, batch);
  }
}
