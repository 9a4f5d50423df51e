import { boundedJson } from '../../src/policy/text/face.ts';
import type { Fact } from '../../src/policy/facts/face.ts';
import { type OrderResult, notDone } from '../../src/policy/face.ts';
import { messageId, messageNamed, noLetter } from '../../src/sessions/face.ts';
import { type Value, type Work, isDeadLetter, statement, step } from '../../src/store/face.ts';
import { forgets, hadText } from '../../reader/forget.ts';
import {
  actOnLetter,
  type Letter,
  letterOf,
  type LetterOrder,
  type LetterWays,
  maskedEvent,
  recorded,
  sentAgain,
  unknownText,
} from '../../reader/letterOrder.ts';
import { letterIn } from '../../src/store/tables/face.ts';
import { Batch } from '../batch.ts';
import { acquireLease } from '../leaseStatements.ts';
import { PgConnections, type Sql, type Transaction } from '../pgConnections.ts';
import type { PgModule, PgRow } from '../pgDriver.ts';
import { eventValues, insertEvent, type PgEvents } from '../pgEvents.ts';
import { doWork } from '../pgTables.ts';
import type { PgTarget } from '../pgTarget.ts';
import { diagnosePg } from '../pgTrouble.ts';
import { dropUntaken, findUntaken, type LetterRows } from './pgUntakenMail.ts';

/**
 * Carries out an order about a dead letter, or a mail that nobody took, in one transaction. Where no gateway has the session that has its lease: one
 * that claims it comes before or after. Otherwise a letter that is sent again goes to its owner as mail. Never rejects.
 */
export function actInDatabase(pg: PgModule, target: PgTarget, order: LetterOrder): Promise<OrderResult> {
  return inDatabase(pg, target, (rows) => act(rows, { ...order, at: Math.round(order.at) }));
}

/** Does what somebody orders, in a transaction of its own. Never rejects. */
export function writeInDatabase(pg: PgModule, target: PgTarget, work: () => Work<OrderResult>): Promise<OrderResult> {
  return inDatabase(pg, target, async (rows) => doWork(work(), events, rows));
}

async function inDatabase(
  pg: PgModule,
  target: PgTarget,
  work: (rows: Rows) => Promise<OrderResult>,
): Promise<OrderResult> {
  const connections = new PgConnections(pg, target, 1);
  try {
    return await connections.transaction(async (transaction) => {
      const rows = new Rows(transaction);
      const result = await work(rows);
      await rows.send();
      return result;
    });
  } catch (error) {
    const { reason, fix } = diagnosePg(error, target.shown);
    return notDone(`The database cannot be written: ${reason}. Fix: ${fix}.`);
  } finally {
    await connections.close();
  }
}

/** Rows of one transaction, each sent at once; those of which nobody asks what became of them go with the next, or at the end. */
class Rows implements LetterRows {
  readonly #transaction: Transaction;
  readonly #batch = new Batch();

  constructor(transaction: Transaction) {
    this.#transaction = transaction;
  }

  async row(...row: Parameters<Batch['row']>): Promise<readonly PgRow[]> {
    const [rows] = await Promise.all([this.#batch.row(...row), this.send()]);
    return rows;
  }

  add(...row: Parameters<Batch['add']>): void {
    this.#batch.add(...row);
  }

  send(): Promise<void> {
    return this.#batch.send(this.#transaction);
  }

  ask(text: string, values: readonly Value[]): Promise<readonly PgRow[]> {
    const sql: Sql = { name: '', text };
    return this.#transaction.run(sql, values);
  }
}

async function act(rows: Rows, order: LetterOrder): Promise<OrderResult> {
  const { session } = order;
  const isForgotten = order.order === 'forget';
  if (isForgotten && order.message === 'look') return doWork(forgets(order), events, rows);
  // First: to take the lease makes one where there is none.
  const [known] = await rows.ask(
    `SELECT EXISTS (SELECT FROM uw.lease WHERE key = $1) OR EXISTS (SELECT FROM uw.mail WHERE session = $1) AS known`,
    [session],
  );
  if (known?.['known'] !== true && !isForgotten) return notDone(unknownText(session));
  const leaseId = crypto.randomUUID();
  // For nobody: its row is locked until the commit, and free behind it.
  const [taken] = await rows.row(acquireLease, session, [session, null, leaseId]);
  const token = taken?.['token'];
  const isFree = token !== null && token !== undefined;
  const lease = isFree ? { session, token: String(token), leaseId } : undefined;
  if (isForgotten && isFree) return doWork(forgets(order), events, rows);
  if (isForgotten) return notDone(hadText(await ownerName(rows, taken?.['owner'])));
  const letter = await findLetter(rows, order);
  if (letter !== undefined) {
    if (lease !== undefined) return doWork(actOnLetter(order, letter), events, rows, lease);
    const owner = await ownerName(rows, taken?.['owner']);
    return doWork(actOnLetter(order, letter, besideOwner(order, letter, owner)), events, rows);
  }
  const mail = await findUntaken(rows, order);
  if (mail === undefined) return notDone(noLetter(order.message));
  if (order.order === 'send_again')
    return notDone(`${order.message} waits still: it is delivered when a gateway that has the session starts.`);
  if (lease === undefined) {
    const owner = await ownerName(rows, taken?.['owner']);
    return notDone(`${order.message} waits for ${owner}, which has the session and takes it when it has room.`);
  }
  await dropUntaken(rows, mail, session);
  const dropped = { type: 'operator.dropped', session, message: order.message, ...order.note } as const;
  await doWork(recorded(dropped, order.at), events, rows);
  return { ok: true, text: `${order.message} was dropped for good; the gateway that sent it is told.` };
}

/** The row is locked until the commit: it is sent again, or dropped, by one order. */
async function findLetter(rows: Rows, { session, message }: LetterOrder): Promise<Letter | undefined> {
  const named = messageNamed(message, session);
  if (named === undefined) return undefined;
  const [is, place] = 'mail' in named ? ['mail = $2', named.mail] : ['number = $2 AND mail IS NULL', named.number];
  const [row] = await rows.ask(
    `SELECT number, mail, body, state, key, deliveries FROM uw.message WHERE session = $1 AND ${is} AND ${isDeadLetter} FOR NO KEY UPDATE`,
    [session, place],
  );
  return row && letterOf(letterIn(row));
}

/** The row is locked until the commit. */
const buryElsewhere = statement(
  'bury_elsewhere',
  'session text, number bigint, at bigint, why text',
  `UPDATE uw.message AS m SET state = 'dropped', ended_at = :at, error = :why FROM w
   WHERE m.session = :session AND m.number = :number`,
);
const mailLetter = statement(
  'mail_letter',
  'session text, number bigint, key text, at bigint',
  `INSERT INTO uw.mail (session, body, key, posted_at, sender)
   SELECT m.session, m.body, :key, :at, '' FROM w JOIN uw.message m ON m.session = :session AND m.number = :number
   RETURNING 1 AS ord, id`,
);

/**
 * Beside the owner: the letter goes to it as mail. It is at rest, nothing that the owner does counts on it, so its own lock is fence enough. Where the
 * owner sends it again at this moment both have the key of that, and are joined.
 */
function besideOwner(order: LetterOrder, { number }: Letter, owner: string): LetterWays {
  const { session, message, at } = order;
  function* bury(why: string, fact?: Fact): Work<void> {
    yield step(buryElsewhere, session, { session, number, at, why });
    if (fact !== undefined) yield { fact: { ...fact, at } };
  }
  return {
    bury,
    *send(key) {
      const [mail] = yield step(mailLetter, session, { session, number, key, at });
      const as = messageId(session, { number: 0, mail: Number(mail?.['id']) });
      yield* bury(`sent again as ${as}`, sentAgain(order, as));
      return `${message} was sent again as ${as}; ${owner} has the session, and takes it.`;
    },
  };
}

/** Nobody listens here: it is masked as it is recorded. */
const events: Pick<PgEvents, 'insert'> = {
  insert(batch, fact) {
    const event = maskedEvent(fact);
    if (event === undefined) return undefined;
    const { category, eventType: type, metadata } = event;
    return batch.row(insertEvent, 'events', eventValues({ category, type }, boundedJson(metadata), fact.at));
  },
};

/** Names who has the session, for people. */
async function ownerName(rows: Rows, owner: PgRow[string] | undefined): Promise<string> {
  const [node] = await rows.ask('SELECT name, pid, host FROM uw.node WHERE id = $1', [String(owner ?? '')]);
  if (node === undefined) return 'another gateway';
  const { name, pid, host } = node;
  return `${String(name)} (pid ${String(pid)} on ${String(host)})`;
}
