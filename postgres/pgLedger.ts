import type { Outcome } from '../src/policy/failure.ts';
import type { Fact } from '../src/policy/facts.ts';
import {
  type Kept,
  type MessageEnd,
  type Resend,
  resendKey,
  type SessionLedger,
  type StoredCall,
  type StoredDeadLetter,
  type StoredMessage,
  type StoredVerdict,
  type TakenMail,
} from '../src/sessions/sessionStore.ts';
import { messageId, type NamedMessage } from '../src/sessions/mailbox.ts';
import type { ToolResult } from '../src/sessions/toolResult.ts';
import { boundedText, toJson } from '../src/policy/storedJson.ts';
import type { BatchRows } from './batch.ts';
import type { Value } from '../src/store/dialect.ts';
import type { FencedStatement } from './rowStatement.ts';
import { askCall, noteVerdict, openCall, settleCall } from './callStatements.ts';
import { writeFenced } from './fenced.ts';
import { KeptRow, type WriteKind } from './keptRow.ts';
import type { Lease, Leases } from './leases.ts';
import { releaseLease } from './leaseStatements.ts';
import type { NodeConnection } from './nodeConnection.ts';
import {
  buryLetter,
  finishMessage,
  forgetTurns,
  postMessage,
  putBackMessage,
  resendLetter,
  takeMessage,
} from './messageStatements.ts';
import type { PgDatabase } from './pgDatabase.ts';
import type { PgEvents } from './pgEvents.ts';
import type { PgRow } from './pgDriver.ts';
import type { PgMail } from './pgMail.ts';
import { endMail, takeMail } from './mailStatements.ts';
import { outcomeToJson } from './mailOutcome.ts';
import { readDeadLetter } from './sessionReads.ts';
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

  constructor(lease: Lease, scope: LedgerScope) {
    this.#lease = lease;
    this.#scope = scope;
  }

  post({ number, message, key, at }: StoredMessage): Promise<Kept> {
    const { database, leases } = this.#scope;
    if (!leases.mayHold(this.#lease)) return Promise.resolve('fenced');
    if (database.refuses()) return Promise.resolve('volatile');
    const values = [number, toJson(message), key ?? null, Math.round(at)];
    return new Promise((resolve) => {
      const ended = (kept: Kept): void => {
        this.#posting.delete(row);
        resolve(kept);
      };
      const row = new KeptRow(postMessage, this.#lease, values, ended, 'settles');
      this.#posting.add(row);
      database.write(row);
    });
  }

  take(message: number, turn: number, seq: number, wallNow: number): Promise<Kept> {
    return this.#write(takeMessage, [message, turn, seq, Math.round(wallNow)], 'begins');
  }

  putBack(message: number, begun: boolean): Promise<Kept> {
    return this.#write(putBackMessage, [message, begun], 'toldNext');
  }

  finish(message: number, how: MessageEnd, wallNow: number, error?: string, outcome?: Outcome<unknown>): Promise<Kept> {
    const said = error === undefined ? null : boundedText(error);
    const values = [message, how, Math.round(wallNow), said] as const;
    return outcome === undefined
      ? this.#write(finishMessage, values, 'toldNext')
      : this.#endForAll(message, values, outcome);
  }

  takeMail({ mail, number, joins }: TakenMail): Promise<Kept> {
    const { database, leases } = this.#scope;
    if (!leases.mayHold(this.#lease)) return Promise.resolve('fenced');
    return new Promise((resolve) => {
      let kept: Kept = 'volatile';
      database.write({
        awaited: true,
        run: async (batch) => {
          // The message that it joins may be one that is not written any more: it stays for the next owner.
          kept = this.#isLost ? 'fenced' : 'volatile';
          if (this.#isLost) return;
          kept = await writeFenced(batch, takeMail, this.#lease, [mail, number, joins]);
        },
        committed: () => resolve(kept),
        // It is written late: until then nobody knows whether it is.
        unwritten: () => resolve('volatile'),
      });
    });
  }

  open(call: StoredCall): Promise<Kept> {
    const { call: id, turn, integration, tool, input, effect, seq, at, deadlineAt, rule, idempotencyKey } = call;
    return this.#insert(id, openCall, [
      id,
      turn,
      integration,
      tool,
      toJson(input),
      effect ?? null,
      this.#scope.runtime,
      Math.round(at),
      Math.round(deadlineAt),
      seq,
      rule ?? null,
      idempotencyKey ?? null,
    ]);
  }

  settle(call: string, result: ToolResult, seq: number | undefined, wallNow: number): Promise<Kept> {
    return this.#end(call, settleCall, [call, toJson(result), seq ?? null, Math.round(wallNow)]);
  }

  deadLetter(message: NamedMessage): Promise<StoredDeadLetter | undefined> {
    return readDeadLetter(this.#scope.database, this.#lease.session, message);
  }

  async resend({ fact, letter, number, at }: Resend): Promise<Kept> {
    if (this.#scope.database.refuses()) return 'volatile';
    const { session } = this.#lease;
    let isOff = false;
    const why = `sent again as ${messageId(session, { number })}`;
    const kept = await this.#change(async (batch) => {
      if (isOff) return 'volatile';
      const values = [letter, number, resendKey(letter), Math.round(at), why];
      const made = await writeFenced(batch, resendLetter, this.#lease, values);
      if (made === 'durable') await this.#scope.events.insert(batch, { ...fact, at });
      return made;
    });
    // Its caller is told that it was not done: it must not come about when the store is back.
    isOff = true;
    return kept;
  }

  bury(message: number, wallNow: number, why: string, fact?: Fact): Promise<Kept> {
    return this.#change(async (batch) => {
      const buried = await writeFenced(batch, buryLetter, this.#lease, [message, Math.round(wallNow), why]);
      if (buried === 'durable' && fact !== undefined) {
        await this.#scope.events.insert(batch, { ...fact, at: wallNow });
      }
      return buried;
    });
  }

  reconciling(call: string, wallNow: number): Promise<Kept> {
    return this.#write(askCall, [call, Math.round(wallNow)]);
  }

  reconciled(call: string, found: StoredVerdict, wallNow: number): Promise<Kept> {
    return this.#write(noteVerdict, [call, toJson(found), Math.round(wallNow)], 'toldNext');
  }

  forget(beforeTurn: number): void {
    void this.#write(forgetTurns, [beforeTurn]);
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
    this.#scope.leases.watch(this.#lease, () => {
      this.#isLost = true;
      for (const row of this.#posting) row.lose();
      lost();
    });
  }

  /** Ends a message that others may have sent as mail, and tells them. */
  async #endForAll(message: number, values: readonly Value[], outcome: Outcome<unknown>): Promise<Kept> {
    const { session, token, leaseId } = this.#lease;
    const end = outcomeToJson(outcome);
    let senders: readonly PgRow[] = [];
    const kept = await this.#change(async (batch) => {
      const [ended, told] = await Promise.all([
        writeFenced(batch, finishMessage, this.#lease, values),
        batch.row(endMail, session, [session, token, leaseId, message, end]),
      ]);
      senders = told;
      return ended;
    }, 'toldNext');
    if (kept === 'durable') this.#scope.mail.wake(senders.map(({ sender }) => String(sender)));
    return kept;
  }

  /** Makes the row of a call; a full queue refuses it. */
  #insert(id: string, statement: FencedStatement, values: readonly Value[]): Promise<Kept> {
    if (!this.#scope.database.refuses()) return this.#write(statement, values);
    this.#rowless ??= new Set();
    this.#rowless.add(id);
    return Promise.resolve('volatile');
  }

  /** Writes what is written last of a call; it is not refused. */
  #end(id: string, statement: FencedStatement, values: readonly Value[]): Promise<Kept> {
    if (this.#rowless?.delete(id) === true) return Promise.resolve('volatile');
    return this.#write(statement, values, 'toldNext');
  }

  #write(statement: FencedStatement, values: readonly Value[], how?: WriteKind): Promise<Kept> {
    const { database, leases } = this.#scope;
    if (!leases.mayHold(this.#lease)) return Promise.resolve('fenced');
    return new Promise((resolve) => {
      database.write(new KeptRow(statement, this.#lease, values, resolve, how));
    });
  }

  #change(change: Change, how?: 'toldNext'): Promise<Kept> {
    const { database, leases } = this.#scope;
    if (!leases.mayHold(this.#lease)) return Promise.resolve('fenced');
    return new Promise((resolve) => {
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
