import { statSync } from 'node:fs';
import { boundedJson } from '../../src/policy/text/face.ts';
import { type OrderResult, notDone } from '../../src/policy/face.ts';
import { messageOf } from '../../src/policy/failures/face.ts';
import { messageNamed, noLetter } from '../../src/sessions/face.ts';
import {
  type Database,
  type EventLog,
  type Schema,
  createConnection,
  doRow,
  doWork,
  findDriver,
  insertEvent,
} from '../../src/store/sqlite/face.ts';
import { letterBy, letterIn } from '../../src/store/tables/face.ts';
import { step, type Work } from '../../src/store/face.ts';
import { eventsIn, forgets, hadText } from '../forget.ts';
import { actOnLetter, letterOf, type LetterOrder, maskedEvent, unknownText } from '../letterOrder.ts';

/** Largest file that is written anew to leave nothing behind, in bytes: its gateway cannot write meanwhile. */
const mostSwept = 100_000_000;
/** Time that the lock of another process is waited for, in ms: nobody else waits for this one. */
const lockWaitMs = 2000;

/**
 * Sends a dead letter again, or drops it, in a database without a live owner of its session, in one transaction, which a gateway that claims the session
 * meanwhile comes before or after. Where a runtime that may live has the session nothing is done. Never rejects.
 * @param path - of the database, absolute.
 */
export function orderAboutLetter(path: string, order: LetterOrder): Promise<OrderResult> {
  const sweeps = order.order === 'forget' && order.message !== 'look';
  return inFile(path, (database, schema) => act(database, schema, { ...order, at: Math.round(order.at) }), sweeps);
}

/** Does what somebody orders, in a transaction of its own. Never rejects. @param path - of the database, absolute. */
export function writeInFile(path: string, work: () => Work<OrderResult>): Promise<OrderResult> {
  return inFile(path, (database, schema) => doWork(work(), log, database, schema));
}

async function inFile(
  path: string,
  work: (database: Database, schema: Schema) => OrderResult,
  sweeps = false,
): Promise<OrderResult> {
  try {
    const found = await findDriver();
    if (!found.ok) return notDone(`${found.reason}. Fix: ${found.fix}.`);
    const connection = createConnection(found.driver, path, 'FULL', lockWaitMs);
    try {
      return connection.use((database, schema) => {
        // What is erased is overwritten, in the log too as soon as nobody reads there.
        database.exec('PRAGMA secure_delete = ON');
        const result = database.immediate(() => work(database, schema));
        if (sweeps && result.ok && schema.ours && statSync(path).size <= mostSwept) sweep(database);
        database.prepare('PRAGMA wal_checkpoint(TRUNCATE)').get();
        return result;
      });
    } finally {
      connection.close();
    }
  } catch (error) {
    return notDone(`The database cannot be written: ${messageOf(error)}.`);
  }
}

/** Pages hold copies of rows that have moved to others. Where it cannot be done now the rows are gone all the same. */
function sweep(database: Database): void {
  try {
    database.exec('PRAGMA temp_store = MEMORY; VACUUM');
  } catch {
    // A writer was faster.
  }
}

/** Nobody listens here: it is masked as it is recorded. */
const log: Pick<EventLog, 'insert'> = {
  insert(database, { eventTable }, fact) {
    const event = maskedEvent(fact);
    if (event === undefined) return;
    insertEvent(database, eventTable, fact.at, event.category, event.eventType, boundedJson(event.metadata));
  },
};

function act(database: Database, schema: Schema, order: LetterOrder): OrderResult {
  const { session, message } = order;
  const owned = database.prepare('SELECT owner FROM unwedge_sessions WHERE id = ?').get(session);
  const isForgotten = order.order === 'forget';
  if (owned === undefined && !isForgotten) return notDone(unknownText(session));
  if (message !== 'look' && owned !== undefined && isOwned(database, owned['owner'], order.dead))
    return notDone(
      isForgotten
        ? hadText('A gateway')
        : 'The gateway that has the session runs and does not answer: nothing can be done about it from outside.',
    );
  // Those in a table of somebody else are theirs.
  const isOurs = schema.ours || schema.eventTable !== 'events';
  const more = isOurs ? [eventsIn(schema.eventTable)] : [];
  if (isForgotten) return doWork(forgets(order, more, [schema.eventTable, isOurs]), log, database, schema);
  const named = messageNamed(message, session);
  if (named === undefined || 'mail' in named) return notDone(noLetter(message));
  const [row] = doRow(database, step(letterBy(named), session, { session, ...named }));
  if (row === undefined) return notDone(noLetter(message));
  return doWork(actOnLetter(order, letterOf(letterIn(row))), log, database, schema);
}

/** Tells whether a runtime that may live has the session: one that is entered, and was not found dead. */
function isOwned(database: Database, owner: unknown, dead: ReadonlySet<string>): boolean {
  if (typeof owner !== 'string' || dead.has(owner)) return false;
  return database.prepare('SELECT 1 FROM unwedge_runtimes WHERE id = ?').get(owner) !== undefined;
}
