import { messageId, messageNamed } from '../../src/sessions/mailbox.ts';
import { done, notDone, type OrderResult } from '../../src/policy/operatorOrder.ts';
import { noLetter } from '../../src/sessions/deadLetterOrders.ts';
import { resendKey } from '../../src/sessions/sessionStore.ts';
import type { Fact } from '../../src/policy/facts.ts';
import { storedEvent } from '../../src/store/record.ts';
import {
  droppedText,
  type LetterOrder,
  sentBeforeText,
  sentText,
  unknownText,
  unreadableText,
} from '../letterOrder.ts';
import { boundedJson } from '../../src/policy/storedJson.ts';
import { createFactRedactor } from '../../src/redaction/redactFact.ts';
import { createConnection } from '../../src/store/sqlite/connection.ts';
import type { Database } from '../../src/store/sqlite/database.ts';
import { buryLetter, resendLetter, selectDeadLetter } from '../../src/store/sqlite/deadLetters.ts';
import { insertEvent } from '../../src/store/sqlite/eventLog.ts';
import type { Schema } from '../../src/store/sqlite/schema.ts';
import { messageOf } from '../../src/policy/thrown.ts';
import { findDriver } from '../../src/store/sqlite/driver.ts';
import type { AlertNoteFact } from '../storeReader.ts';

/** Time that the lock of another process is waited for, in ms: nobody else waits for this one. */
const lockWaitMs = 2000;

/**
 * Sends a dead letter again, or drops it, in a database without a live owner of its session, in one transaction, which a gateway that claims the session
 * meanwhile comes before or after. Where a runtime that may live has the session nothing is done. Never rejects.
 * @param path - of the database, absolute.
 */
export function orderAboutLetter(path: string, order: LetterOrder): Promise<OrderResult> {
  return inFile(path, (database, schema) => act(database, schema, { ...order, at: Math.round(order.at) }));
}

/** Records what somebody said of an alert, in a transaction of its own. Never rejects. @param path - of the database, absolute. */
export function recordNote(path: string, fact: AlertNoteFact, at: number): Promise<OrderResult> {
  return inFile(path, (database, schema) => {
    record(database, schema, fact, Math.round(at));
    return done;
  });
}

async function inFile(path: string, work: (database: Database, schema: Schema) => OrderResult): Promise<OrderResult> {
  try {
    const found = await findDriver();
    if (!found.ok) return notDone(`${found.reason}. Fix: ${found.fix}.`);
    const connection = createConnection(found.driver, path, 'FULL', lockWaitMs);
    try {
      return connection.use((database, schema) => database.immediate(() => work(database, schema)));
    } finally {
      connection.close();
    }
  } catch (error) {
    return notDone(`The database cannot be written: ${messageOf(error)}.`);
  }
}

/** Nobody listens here: it is masked as it is recorded. */
function record(database: Database, schema: Schema, fact: Fact, at: number): void {
  const event = storedEvent(createFactRedactor()({ ...fact, at }));
  if (event === undefined) return;
  insertEvent(database, schema.eventTable, at, event.category, event.eventType, boundedJson(event.metadata));
}

function act(database: Database, schema: Schema, order: LetterOrder): OrderResult {
  const { session, message, at, note } = order;
  const owned = database.prepare('SELECT owner FROM unwedge_sessions WHERE id = ?').get(session);
  if (owned === undefined) return notDone(unknownText(session));
  if (isOwned(database, owned['owner'], order.dead))
    return notDone(
      'The gateway that has the session runs and does not answer: nothing can be done about it from outside.',
    );
  const named = messageNamed(message, session);
  const letter = named === undefined || 'mail' in named ? undefined : selectDeadLetter(database, session, named.number);
  if (letter === undefined) return notDone(noLetter(message));
  const { number } = letter;
  const tell = (fact: Fact): void => record(database, schema, fact, at);
  if (order.order === 'drop') {
    tell({ type: 'operator.dropped', session, message, ...note });
    buryLetter(database, session, number, at, 'dropped by an operator');
    return { ok: true, text: droppedText(message) };
  }
  if (letter.message === undefined) return notDone(unreadableText(message));
  const known = database
    .prepare('SELECT number FROM unwedge_messages WHERE session = ? AND key = ?')
    .get(session, resendKey(number));
  if (known !== undefined) {
    // An earlier version may have left it in the list.
    const as = messageId(session, { number: Number(known['number']) });
    buryLetter(database, session, number, at, `sent again as ${as}`);
    return notDone(sentBeforeText(as));
  }
  const last = database.prepare('SELECT max(number) AS last FROM unwedge_messages WHERE session = ?').get(session);
  const next = Number(last?.['last'] ?? 0) + 1;
  const as = messageId(session, { number: next });
  resendLetter(database, session, { letter: number, number: next, at });
  tell({ type: 'operator.sent_again', session, message, as, ...note });
  return { ok: true, text: sentText(message, as) };
}

/** Tells whether a runtime that may live has the session: one that is entered, and was not found dead. */
function isOwned(database: Database, owner: unknown, dead: ReadonlySet<string>): boolean {
  if (typeof owner !== 'string' || dead.has(owner)) return false;
  return database.prepare('SELECT 1 FROM unwedge_runtimes WHERE id = ?').get(owner) !== undefined;
}
