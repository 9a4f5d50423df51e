import { done, notDone, type OrderResult } from '../../src/policy/operatorOrder.ts';
import type { Fact } from '../../src/policy/facts.ts';
import { noLetter } from '../../src/sessions/deadLetterOrders.ts';
import { messageId, messageNamed } from '../../src/sessions/mailbox.ts';
import { resendKey } from '../../src/sessions/sessionStore.ts';
import {
  droppedMailText,
  droppedText,
  type LetterOrder,
  sentBeforeText,
  sentByMailText,
  sentText,
  takesText,
  unknownText,
  unreadableText,
  waitsText,
} from '../../reader/letterOrder.ts';
import { storedEvent } from '../../src/store/record.ts';
import { boundedJson } from '../../src/policy/storedJson.ts';
import { createFactRedactor } from '../../src/redaction/redactFact.ts';
import { isDeadLetter, messageIn, nameOf } from '../../src/store/sessionRows.ts';
import { Batch } from '../batch.ts';
import { writeFenced } from '../fenced.ts';
import type { Lease } from '../leases.ts';
import { acquireLease } from '../leaseStatements.ts';
import { firstOfKey } from '../mailStatements.ts';
import { buryLetter, resendLetter } from '../messageStatements.ts';
import { PgConnections, type Sql, type Transaction } from '../pgConnections.ts';
import type { PgModule, PgRow } from '../pgDriver.ts';
import { eventValues, insertEvent } from '../pgEvents.ts';
import type { PgTarget } from '../pgTarget.ts';
import { diagnosePg } from '../pgTrouble.ts';
import type { Value } from '../../src/store/dialect.ts';
import type { RowStatement } from '../rowStatement.ts';
import { dropUntaken, findUntaken, type LetterRows } from './pgUntakenMail.ts';

interface Letter {
  readonly number: number;
  readonly isReadable: boolean;
}

/**
 * Carries out an order about a dead letter, or a mail that nobody took, in one transaction. Where no gateway has the session that has its lease: one
 * that claims it comes before or after. Otherwise a letter that is sent again goes to its owner as mail. Never rejects.
 */
export function actInDatabase(pg: PgModule, target: PgTarget, order: LetterOrder): Promise<OrderResult> {
  return inDatabase(pg, target, (rows) => act(rows, { ...order, at: Math.round(order.at) }));
}

/** Records a fact in a transaction of its own. Never rejects. */
export function recordInDatabase(pg: PgModule, target: PgTarget, fact: Fact, at: number): Promise<OrderResult> {
  return inDatabase(pg, target, async (rows) => {
    await tell(rows, fact, Math.round(at));
    return done;
  });
}

async function inDatabase(
  pg: PgModule,
  target: PgTarget,
  work: (rows: Rows) => Promise<OrderResult>,
): Promise<OrderResult> {
  const connections = new PgConnections(pg, target, 1);
  try {
    return await connections.transaction((transaction) => work(new Rows(transaction)));
  } catch (error) {
    const { reason, fix } = diagnosePg(error, target.shown);
    return notDone(`The database cannot be written: ${reason}. Fix: ${fix}.`);
  } finally {
    await connections.close();
  }
}

/** Rows of one transaction, each sent at once. */
class Rows implements LetterRows {
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
  const [known] = await rows.ask(
    `SELECT EXISTS (SELECT FROM uw.lease WHERE key = $1) OR EXISTS (SELECT FROM uw.mail WHERE session = $1) AS known`,
    [session],
  );
  if (known?.['known'] !== true) return notDone(unknownText(session));
  const leaseId = crypto.randomUUID();
  // For nobody: its row is locked until the commit, and free behind it.
  const [taken] = await rows.row(acquireLease, session, [session, null, leaseId]);
  const token = taken?.['token'];
  const isFree = token !== null && token !== undefined;
  const lease = isFree ? { session, token: String(token), leaseId } : undefined;
  const letter = await findLetter(rows, order);
  if (letter !== undefined) {
    if (lease !== undefined) return actOn(rows, lease, order, letter);
    return actElsewhere(rows, await ownerName(rows, taken?.['owner']), order, letter);
  }
  const mail = await findUntaken(rows, order);
  if (mail === undefined) return notDone(noLetter(order.message));
  if (order.order === 'send_again') return notDone(waitsText(order.message));
  if (lease === undefined) return notDone(takesText(order.message, await ownerName(rows, taken?.['owner'])));
  await dropUntaken(rows, mail, session);
  await tell(rows, { type: 'operator.dropped', session, message: order.message, ...order.note }, order.at);
  return { ok: true, text: droppedMailText(order.message) };
}

/** The row is locked until the commit: it is sent again, or dropped, by one order. */
async function findLetter(rows: Rows, { session, message }: LetterOrder): Promise<Letter | undefined> {
  const named = messageNamed(message, session);
  if (named === undefined) return undefined;
  const [is, place] = 'mail' in named ? ['mail = $2', named.mail] : ['number = $2 AND mail IS NULL', named.number];
  const [row] = await rows.ask(
    `SELECT number, body FROM uw.message WHERE session = $1 AND ${is} AND ${isDeadLetter} FOR NO KEY UPDATE`,
    [session, place],
  );
  return row && { number: Number(row['number']), isReadable: messageIn(String(row['body'])) !== undefined };
}

/** In the place of an owner: nobody has the session until the commit. */
async function actOn(rows: Rows, lease: Lease, order: LetterOrder, letter: Letter): Promise<OrderResult> {
  const { session, at } = order;
  const bury = (why: string) => writeFenced(rows, buryLetter, lease, [letter.number, at, why]);
  return actAbout(rows, order, letter, {
    bury,
    send: async (key) => {
      const [last] = await rows.ask('SELECT max(number) AS last FROM uw.message WHERE session = $1', [session]);
      const number = Number(last?.['last'] ?? 0) + 1;
      const as = messageId(session, { number });
      await writeFenced(rows, resendLetter, lease, [letter.number, number, key, at, `sent again as ${as}`]);
      return { as, text: sentText(order.message, as) };
    },
  });
}

/**
 * Beside the owner: the letter goes to it as mail. It is at rest, nothing that the owner does counts on it, so its own lock is fence enough. Where the
 * owner sends it again at this moment both have the key of that, and are joined.
 */
function actElsewhere(rows: Rows, owner: string, order: LetterOrder, letter: Letter): Promise<OrderResult> {
  const { session, at } = order;
  const bury = (why: string) =>
    rows.ask(`UPDATE uw.message SET state = 'dropped', ended_at = $3, error = $4 WHERE session = $1 AND number = $2`, [
      ...[session, letter.number],
      ...[at, why],
    ]);
  return actAbout(rows, order, letter, {
    bury,
    send: async (key) => {
      const [mail] = await rows.ask(
        `INSERT INTO uw.mail (session, body, key, posted_at, sender)
         SELECT session, body, $3, $4, '' FROM uw.message WHERE session = $1 AND number = $2 RETURNING id`,
        [session, letter.number, key, at],
      );
      const as = messageId(session, { number: 0, mail: Number(mail?.['id']) });
      await bury(`sent again as ${as}`);
      return { as, text: sentByMailText(order.message, as, owner) };
    },
  });
}

interface Ways {
  readonly bury: (why: string) => Promise<unknown>;
  /** Makes the new message, under the key that says what it is, and takes the letter out. */
  readonly send: (key: string) => Promise<{ readonly as: string; readonly text: string }>;
}

async function actAbout(
  rows: Rows,
  { session, message, note, order, at }: LetterOrder,
  { number, isReadable }: Letter,
  { bury, send }: Ways,
): Promise<OrderResult> {
  if (order === 'drop') {
    await bury('dropped by an operator');
    await tell(rows, { type: 'operator.dropped', session, message, ...note }, at);
    return { ok: true, text: droppedText(message) };
  }
  if (!isReadable) return notDone(unreadableText(message));
  const key = resendKey(number);
  const [sent] = await rows.row(firstOfKey, session, [session, key]);
  if (sent !== undefined) {
    // An earlier version may have left it in the list.
    const as = messageId(session, nameOf(sent));
    await bury(`sent again as ${as}`);
    return notDone(sentBeforeText(as));
  }
  const { as, text } = await send(key);
  await tell(rows, { type: 'operator.sent_again', session, message, as, ...note }, at);
  return { ok: true, text };
}

/** Nobody listens here: it is masked as it is recorded. */
async function tell(rows: Rows, fact: Fact, at: number): Promise<void> {
  const event = storedEvent(createFactRedactor()({ ...fact, at }));
  if (event === undefined) return;
  const { category, eventType: type, metadata } = event;
  await rows.row(insertEvent, 'events', eventValues({ category, type }, boundedJson(metadata), at));
}

/** Names who has the session, for people. */
async function ownerName(rows: Rows, owner: PgRow[string] | undefined): Promise<string> {
  const [node] = await rows.ask('SELECT name, pid, host FROM uw.node WHERE id = $1', [String(owner ?? '')]);
  if (node === undefined) return 'another gateway';
  const { name, pid, host } = node;
  return `${String(name)} (pid ${String(pid)} on ${String(host)})`;
}
