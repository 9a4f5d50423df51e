import { existsSync, statSync } from 'node:fs';
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
import { eventsIn, forgets, hadText, seeEvents, seenEvents } from '../forget.ts';
import { actOnLetter, letterOf, type LetterOrder, maskedEvent, unknownText } from '../letterOrder.ts';

/** Largest file that is written anew to leave nothing behind, in bytes: one that a gateway runs on, which cannot write for some 50 ms then, and any other. */
const mostSwept = { live: 5_000_000, left: 100_000_000 };
/** Time that the lock of another process is waited for, in ms: nobody else waits for this one. */
const lockWaitMs = 2000;

/**
 * Sends a dead letter again, or drops it, in a database without a live owner of its session, in one transaction, which a gateway that claims the session
 * meanwhile comes before or after. Where a runtime that may live has the session nothing is done. Never rejects.
 * @param path - of the database, absolute.
 */
export function orderAboutLetter(path: string, order: LetterOrder): Promise<OrderResult> {
  const work: FileWork = (database, schema) => act(database, schema, { ...order, at: Math.round(order.at) });
  return inFile(path, work, order.order === 'forget' ? order : undefined);
}

/** Does what somebody orders, in a transaction of its own. Never rejects. @param path - of the database, absolute. */
export function writeInFile(path: string, work: () => Work<OrderResult>): Promise<OrderResult> {
  return inFile(path, (database, schema) => doWork(work(), log, database, schema));
}

type FileWork = (database: Database, schema: Schema) => OrderResult;

/** @param forget - that it carries out. */
async function inFile(path: string, work: FileWork, forget?: LetterOrder): Promise<OrderResult> {
  try {
    if (!existsSync(path)) return notDone(`nothing is recorded in ${path} yet`);
    const found = await findDriver();
    if (!found.ok) return notDone(`${found.reason}. Fix: ${found.fix}.`);
    const connection = createConnection(found.driver, path, 'FULL', lockWaitMs);
    try {
      return connection.use((database, schema) => {
        // What is erased is overwritten, in the log too as soon as nobody reads there.
        database.exec('PRAGMA secure_delete = ON');
        if (forget !== undefined && ownsEvents(schema)) doRow(database, seeEvents(schema.eventTable, forget));
        const result = database.immediate(() => work(database, schema));
        const isLeft =
          result.ok && forget !== undefined && forget.message !== 'look' && !swept(path, database, schema, forget);
        // Nobody waits for the copying of the first.
        for (const mode of ['PASSIVE', 'TRUNCATE']) database.prepare(`PRAGMA wal_checkpoint(${mode})`).get();
        return isLeft ? { ...result, text: `${result.text} ${copiesLeft}` } : result;
      });
    } finally {
      connection.close();
    }
  } catch (error) {
    return notDone(`The database cannot be written: ${messageOf(error)}.`);
  }
}

const copiesLeft =
  'Free parts of the file may still hold copies: `VACUUM` by `sqlite3`, while no gateway runs, ends that.';

/** Pages hold copies of rows that have moved to others. @returns false where it is not done now: the rows are gone all the same. */
function swept(path: string, database: Database, schema: Schema, { dead }: LetterOrder): boolean {
  const isLive = database
    .prepare('SELECT id FROM unwedge_runtimes')
    .all()
    .some(({ id }) => !dead.has(String(id)));
  if (!schema.ours || statSync(path).size > mostSwept[isLive ? 'live' : 'left']) return false;
  try {
    database.exec('PRAGMA temp_store = MEMORY; VACUUM');
    return true;
  } catch {
    // A writer was faster.
    return false;
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
  const isOurs = ownsEvents(schema);
  const more = isOurs ? [eventsIn(schema.eventTable, seenEvents)] : [];
  if (isForgotten) return doWork(forgets(order, more, [schema.eventTable, isOurs]), log, database, schema);
  const named = messageNamed(message, session);
  if (named === undefined || 'mail' in named) return notDone(noLetter(message));
  const [row] = doRow(database, step(letterBy(named), session, { session, ...named }));
  if (row === undefined) return notDone(noLetter(message));
  return doWork(actOnLetter(order, letterOf(letterIn(row))), log, database, schema);
}

/** Events in a table of somebody else are theirs. */
const ownsEvents = ({ ours, eventTable }: Schema): boolean => ours || eventTable !== 'events';

/** Tells whether a runtime that may live has the session: one that is entered, and was not found dead. */
function isOwned(database: Database, owner: unknown, dead: ReadonlySet<string>): boolean {
  if (typeof owner !== 'string' || dead.has(owner)) return false;
  return database.prepare('SELECT 1 FROM unwedge_runtimes WHERE id = ?').get(owner) !== undefined;
}
