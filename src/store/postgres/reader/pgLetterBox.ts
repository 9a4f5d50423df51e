import { notDone, type OrderResult } from '../../../policy/operatorOrder.ts';
import type { Fact } from '../../../policy/facts.ts';
import { noLetter } from '../../../sessions/deadLetterOrders.ts';
import { messageId, messageNamed } from '../../../sessions/messageId.ts';
import { resendKey } from '../../../sessions/sessionStore.ts';
import {
  droppedText,
  type LetterOrder,
  sentBeforeText,
  sentText,
  unknownText,
  unreadableText,
} from '../../letterOrder.ts';
import { isDeadLetter } from '../../deadLetterRows.ts';
import { storedEvent } from '../../record.ts';
import { createRedactor } from '../../redact.ts';
import { messageIn } from '../../sessionRows.ts';
import { Batch } from '../batch.ts';
import { writeFenced } from '../fenced.ts';
import type { Lease } from '../leases.ts';
import { acquireLease } from '../leaseStatements.ts';
import { buryLetter, resendLetter } from '../messageStatements.ts';
import { PgConnections, type Sql, type Transaction } from '../pgConnections.ts';
import type { PgModule, PgRow } from '../pgDriver.ts';
import { eventValues, insertEvent } from '../pgEvents.ts';
import type { PgTarget } from '../pgTarget.ts';
import { diagnosePg } from '../pgTrouble.ts';
import type { RowStatement, Value } from '../rowStatement.ts';

/**
 * Carries out an order about a dead letter in one transaction that has the session's lease: a gateway that claims it comes before or after. Where one
 * has it, nothing is done. Never rejects.
 */
export async function actInDatabase(pg: PgModule, target: PgTarget, order: LetterOrder): Promise<OrderResult> {
  const connections = new PgConnections(pg, target, 1);
  try {
    return await connections.transaction((transaction) =>
      act(new Rows(transaction), { ...order, at: Math.round(order.at) }),
    );
  } catch (error) {
    const { reason, fix } = diagnosePg(error, target.shown);
    return notDone(`The database cannot be written: ${reason}. Fix: ${fix}.`);
  } finally {
    await connections.close();
  }
}

/** Rows of one transaction, each sent at once. */
class Rows {
  readonly #transaction: Transaction;

  constructor(transaction: Transaction) {
    this.#transaction = transaction;
  }

  async row(statement: RowStatement, key: string, values: readonly Value[]): Promise<readonly PgRow[]> {
    const batch = new Batch();
    const [rows] = await Promise.all([batch.row(statement, key, values), batch.send(this.#transaction)]);
    return rows;
  }

  ask(text: string, values: readonly Value[]): Promise<readonly PgRow[]> {
    const sql: Sql = { name: '', text };
    return this.#transaction.run(sql, values);
  }
}

async function act(rows: Rows, order: LetterOrder): Promise<OrderResult> {
  const { session } = order;
  // First: to take the lease makes one where there is none.
  const known = await rows.ask('SELECT 1 AS known FROM uw.lease WHERE key = $1', [session]);
  if (known.length === 0) return notDone(unknownText(session));
  const leaseId = crypto.randomUUID();
  // For nobody: its row is locked until the commit, and free behind it.
  const [taken] = await rows.row(acquireLease, session, [session, null, leaseId]);
  const token = taken?.['token'];
  if (token === null || token === undefined) return notDone(await ownerText(rows, taken?.['owner']));
  return actOn(rows, { session, token: String(token), leaseId }, order);
}

async function actOn(
  rows: Rows,
  lease: Lease,
  { session, message, note, order, at }: LetterOrder,
): Promise<OrderResult> {
  const named = messageNamed(message, session);
  const isMail = named !== undefined && 'mail' in named;
  const place = named === undefined ? 0 : 'mail' in named ? named.mail : named.number;
  const [letter] = await rows.ask(
    `SELECT number, body FROM uw.message
     WHERE session = $1 AND ${isMail ? 'mail = $2' : 'number = $2 AND mail IS NULL'} AND ${isDeadLetter}`,
    [session, place],
  );
  if (letter === undefined) return notDone(noLetter(message));
  const number = Number(letter['number']);
  const bury = (why: string) => writeFenced(rows, buryLetter, lease, [number, at, why]);
  if (order === 'drop') {
    await bury('dropped by an operator');
    await tell(rows, { type: 'operator.dropped', session, message, ...note }, at);
    return { ok: true, text: droppedText(message) };
  }
  if (messageIn(String(letter['body'])) === undefined) return notDone(unreadableText(message));
  const [sent] = await rows.ask('SELECT number FROM uw.message WHERE session = $1 AND key = $2', [
    session,
    resendKey(number),
  ]);
  if (sent !== undefined) {
    // An earlier version may have left it in the list.
    const as = messageId(session, { number: Number(sent['number']) });
    await bury(`sent again as ${as}`);
    return notDone(sentBeforeText(as));
  }
  const [last] = await rows.ask('SELECT max(number) AS last FROM uw.message WHERE session = $1', [session]);
  const next = Number(last?.['last'] ?? 0) + 1;
  const as = messageId(session, { number: next });
  await writeFenced(rows, resendLetter, lease, [number, next, resendKey(number), at, `sent again as ${as}`]);
  await tell(rows, { type: 'operator.sent_again', session, message, as, ...note }, at);
  return { ok: true, text: sentText(message, as) };
}

async function tell(rows: Rows, fact: Fact, at: number): Promise<void> {
  const event = storedEvent({ ...fact, at });
  if (event === undefined) return;
  const { category, eventType: type, metadata } = event;
  await rows.row(insertEvent, 'events', eventValues({ category, type }, createRedactor()(metadata), at));
}

/** Who has the session: the order has to be given where that runs. */
async function ownerText(rows: Rows, owner: PgRow[string] | undefined): Promise<string> {
  const [node] = await rows.ask('SELECT name, pid, host FROM uw.node WHERE id = $1', [String(owner ?? '')]);
  if (node === undefined) return 'A gateway has the session: give the order on its machine.';
  const { name, pid, host } = node;
  return `${String(name)} (pid ${String(pid)} on ${String(host)}) has the session: give the order on ${String(host)}.`;
}
