import type { Outcome } from '../src/policy/failures/face.ts';
import type { Fact } from '../src/policy/facts/face.ts';
import {
  type HistoryEntry,
  type Kept,
  type MessageEnd,
  type NamedMessage,
  type Resend,
  type SessionLedger,
  type StoredCall,
  type StoredDeadLetter,
  type StoredMessage,
  type StoredVerdict,
  type TakenMail,
  type ToolResult,
  keptOutcome,
  maxKeys,
  outcomeToJson,
} from '../src/sessions/face.ts';
import { boundedText, toJson } from '../src/policy/text/face.ts';
import type { BatchRows } from './batch.ts';
import { type Statement, type Value, type Work, step, valuesOf, written } from '../src/store/face.ts';
import {
  askCall,
  buried,
  callRow,
  finishMessage,
  isForgettable,
  madeOnce,
  madeOnceIn,
  noteVerdict,
  openCall,
  postMessage,
  putBackMessage,
  readDeadLetter,
  resent,
  settleCall,
  takeMessage,
} from '../src/store/tables/face.ts';
import type { FencedStatement } from './rowStatement.ts';
import { askFenced, fenced, underLease, writeFenced } from './fenced.ts';
import { KeptRow, type WriteKind } from './keptRow.ts';
import type { Lease, Leases } from './leases.ts';
import { releaseLease } from './leaseStatements.ts';
import type { NodeConnection } from './nodeConnection.ts';
import type { PgDatabase } from './pgDatabase.ts';
import type { PgEvents } from './pgEvents.ts';
import type { PgRow } from './pgDriver.ts';
import { doWork, readFrom } from './pgTables.ts';
import type { PgMail } from './pgMail.ts';
import { endMail, takeMail } from './mailStatements.ts';
import { releasedHint } from './takeovers.ts';

/** Surroundings that the ledgers of a run share. */
export interface LedgerScope {
  readonly database: PgDatabase;
  readonly events: Pick<PgEvents, 'insert'>;
  readonly leases: Leases;
  readonly mail: PgMail;
  /** Tells other nodes. */
  readonly node: Pick<NodeConnection, 'notify'>;
  /** The runtime that claims. */
  readonly runtime: string;
}

/** Keeps the row of a message with a key, without its text, for as long as a second one of that key has to be recognised. */
const forgetTurns = fenced(
  'forget_turns',
  'before_turn bigint',
  `over AS (
      SELECT m.session, m.number, m.key IS NULL
        OR m.number <= (SELECT max(number) FROM uw.message WHERE session = m.session) - ${maxKeys} AS gone
      FROM uw.message m JOIN w ON w.session = m.session
      WHERE m.state = 'dropped' OR m.state IN ('done', 'failed') AND m.turn < w.before_turn),
    calls AS (
      DELETE FROM uw.call c USING w WHERE c.session = w.session AND c.state = 'settled' AND c.turn < w.before_turn
        AND ${written(isForgettable('c', 'c.session'), 'server', () => '')}),
    messages AS (
      DELETE FROM uw.message m USING over
      WHERE m.session = over.session AND m.number = over.number AND over.gone),
    texts AS (
      UPDATE uw.message m SET body = '{}', seq = NULL FROM over
      WHERE m.session = over.session AND m.number = over.number AND NOT over.gone AND m.body <> '{}'),
    changed AS (SELECT w.ord AS o FROM w)`,
);

type Change = (batch: BatchRows) => Promise<Kept>;

/**
 * Rows of one session in the database: writes of one event-loop turn share a commit, in the order they were made. Each is checked against the lease by the
 * statement that makes it. Without a renewal of the lease in time, it is not asked any more.
 */
export class PgLedger implements SessionLedger {
  readonly #lease: Lease;
  readonly #scope: LedgerScope;
  /** Calls that were refused at the door: they have no row, and get none by what is written of them later. */
  #rowless: Set<string> | undefined = undefined;
  /** Messages that are not committed yet. */
  readonly #posting = new Set<KeptRow>();
  #isLost = false;
  #lost: () => void = () => undefined;

  constructor(lease: Lease, scope: LedgerScope) {
    this.#lease = lease;
    this.#scope = scope;
  }

  post({ number, message, key, at }: StoredMessage): Promise<Kept> {
    const { database } = this.#scope;
    return this.#heard((resolve) => {
      if (database.refuses()) return resolve('volatile');
      const values = valuesIn(postMessage, { number, body: toJson(message), key, postedAt: at });
      const ended = (kept: Kept): void => {
        this.#posting.delete(row);
        resolve(kept);
      };
      const row = new KeptRow(underLease(postMessage), this.#lease, values, ended, 'settles');
      this.#posting.add(row);
      database.write(row);
    });
  }

  take(message: number, turn: number, seq: number, wallNow: number): Promise<Kept> {
    return this.#write(takeMessage, { number: message, turn, seq, takenAt: wallNow }, 'begins');
  }

  putBack(message: number, begun: boolean): Promise<Kept> {
    return this.#write(putBackMessage, { number: message, begun }, 'toldNext');
  }

  finish(message: number, how: MessageEnd, wallNow: number, error?: string, outcome?: Outcome<unknown>): Promise<Kept> {
    const said = error === undefined ? null : boundedText(error);
    const row = { number: message, state: how, endedAt: wallNow, error: said, outcome: keptOutcome(outcome) };
    return outcome === undefined ? this.#write(finishMessage, row, 'toldNext') : this.#endForAll(message, row, outcome);
  }

  takeMail({ mail, number, joins }: TakenMail): Promise<Kept> {
    const { database } = this.#scope;
    return this.#heard((resolve) => {
      let kept: Kept = 'volatile';
      database.write({
        awaited: true,
        run: async (batch) => {
          // The message that it joins may be one that is not written any more: it stays for the next owner.
          kept = this.#isLost ? 'fenced' : 'volatile';
          if (this.#isLost) return;
          kept = await askFenced(batch, takeMail, this.#lease, [mail, number, joins]);
        },
        committed: () => resolve(kept),
        // It is written late: until then nobody knows whether it is.
        unwritten: () => resolve('volatile'),
      });
    });
  }

  open(call: StoredCall): Promise<Kept> {
    const row = callRow(this.#lease.session, this.#scope.runtime, call);
    if (!this.#scope.database.refuses()) return this.#write(openCall, row);
    this.#rowless ??= new Set();
    this.#rowless.add(call.call);
    return Promise.resolve('volatile');
  }

  /** Not refused. */
  settle(call: string, result: ToolResult, seq: number | undefined, wallNow: number): Promise<Kept> {
    if (this.#rowless?.delete(call) === true) return Promise.resolve('volatile');
    return this.#write(settleCall, { id: call, result: toJson(result), seq, at: wallNow }, 'toldNext');
  }

  deadLetter(message: NamedMessage): Promise<StoredDeadLetter | undefined> {
    return readDeadLetter(readFrom(this.#scope.database), this.#lease.session, message);
  }

  async resend(letter: Resend): Promise<Kept> {
    if (this.#scope.database.refuses()) return 'volatile';
    let isOff = false;
    const kept = await this.#change(async (batch) =>
      isOff ? 'volatile' : this.#do(resent(this.#lease.session, letter), batch),
    );
    // Its caller is told that it was not done: it must not come about when the store is back.
    isOff = true;
    return kept;
  }

  bury(message: number, wallNow: number, why: string, fact?: Fact): Promise<Kept> {
    return this.#change(async (batch) => this.#do(buried(this.#lease.session, message, wallNow, why, fact), batch));
  }

  reconciling(call: string, wallNow: number): Promise<Kept> {
    return this.#write(askCall, { id: call, at: wallNow });
  }

  reconciled(call: string, found: StoredVerdict, wallNow: number): Promise<Kept> {
    return this.#write(noteVerdict, { id: call, verdict: toJson(found), at: wallNow }, 'toldNext');
  }

  forget(beforeTurn: number): void {
    void this.#writeRow(forgetTurns, [beforeTurn]);
  }

  async madeOnce(message: number): Promise<readonly HistoryEntry[]> {
    const { database } = this.#scope;
    return madeOnceIn(await readFrom(database)(madeOnce, { session: this.#lease.session, message }));
  }

  async release(): Promise<void> {
    const { session, token, leaseId } = this.#lease;
    await this.#change(async (batch) => {
      await batch.row(releaseLease, session, [session, token, leaseId]);
      return 'durable';
    });
    this.#scope.leases.released(this.#lease);
    this.#scope.mail.leave(session);
    this.#scope.node.notify(releasedHint);
  }

  watch(lost: () => void): void {
    this.#lost = lost;
    this.#scope.leases.watch(this.#lease, () => {
      this.#isLost = true;
      for (const row of this.#posting) row.lose();
      lost();
    });
  }

  /** Makes a write where the lease may hold, and tells of one that was not made for that. */
  async #heard(write: (resolve: (kept: Kept) => void) => void): Promise<Kept> {
    const mayHold = this.#scope.leases.mayHold(this.#lease);
    const kept: Kept = await new Promise<Kept>((resolve) => (mayHold ? write(resolve) : resolve('fenced')));
    if (kept === 'fenced') this.#lost();
    return kept;
  }

  /** Ends a message that others may have sent as mail, and tells them. */
  async #endForAll(message: number, row: object, outcome: Outcome<unknown>): Promise<Kept> {
    const { session, token, leaseId } = this.#lease;
    const end = outcomeToJson(outcome);
    let senders: readonly PgRow[] = [];
    const kept = await this.#change(async (batch) => {
      const [ended, told] = await Promise.all([
        writeFenced(batch, step(finishMessage, session, row), this.#lease),
        batch.row(endMail, session, [session, token, leaseId, message, end]),
      ]);
      senders = told;
      return ended;
    }, 'toldNext');
    if (kept === 'durable') this.#scope.mail.wake(senders.map(({ sender }) => String(sender)));
    return kept;
  }

  #do(work: Work<Kept>, batch: BatchRows): Kept | Promise<Kept> {
    return doWork(work, this.#scope.events, batch, this.#lease);
  }

  #write(statement: Statement, row: object, how?: WriteKind): Promise<Kept> {
    return this.#writeRow(underLease(statement), valuesIn(statement, row), how);
  }

  #writeRow(statement: FencedStatement, values: readonly Value[], how?: WriteKind): Promise<Kept> {
    return this.#heard((resolve) =>
      this.#scope.database.write(new KeptRow(statement, this.#lease, values, resolve, how)),
    );
  }

  #change(change: Change, how?: 'toldNext'): Promise<Kept> {
    const { database } = this.#scope;
    return this.#heard((resolve) => {
      // Stays so for a row that the database refuses.
      let kept: Kept = 'volatile';
      database.write({
        toldNext: how === 'toldNext',
        awaited: true,
        async run(batch) {
          kept = 'volatile';
          kept = await change(batch);
        },
        committed: () => resolve(kept),
        postponed: () => resolve('volatile'),
      });
    });
  }
}

/** Its values behind the session, which its lease names. */
function valuesIn({ columns }: Statement, row: object): readonly Value[] {
  return valuesOf(columns.slice(1), row);
}
