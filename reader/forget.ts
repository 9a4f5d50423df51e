import { type OrderResult, notDone } from '../src/policy/face.ts';
import { type RowStep, type Work, bucketOf, statement, step } from '../src/store/face.ts';
import { declared } from '../src/store/tables/face.ts';
import { forgetsWords } from './forgetWords.ts';
import { type LetterOrder, recorded, unknownText } from './letterOrder.ts';

const columns = 'session text, mark text, key_mark text, child_mark text, budget text, at bigint';

/** Statements that find, and that erase, the rows `t` of a table that are of a session. */
function rowsOf(what: string, table: string, condition: string) {
  const [name, where] = [table.replace('.', '_'), `WHERE (${condition})`];
  const found = statement(`find_${name}`, columns, `SELECT {w.ord|1} AS ord FROM {w, |}${table} AS t ${where}`);
  const returned = `${where} RETURNING {w.ord|1} AS ord`;
  return {
    what,
    found,
    erased: statement(`erase_${name}`, columns, `DELETE FROM ${table} AS t {USING w |}${returned}`),
  };
}

const ofSession = ['mark', 'key_mark', 'child_mark']
  .map((mark) => `{strpos|instr}(t.metadata, :${mark}) > 0`)
  .join(' OR ');

/** The same of events. @param table - as the engine calls it. @param where - they are, as is known before. */
export const eventsIn = (table: string, where = 'TRUE') => rowsOf('events', table, `(${where}) AND (${ofSession})`);

/**
 * Finds the events of a session in a file before it is locked, as a gateway cannot write meanwhile and there may be very many. Of those it has seen the last
 * is the latest of all: what came after it is looked at in the transaction.
 */
export function seeEvents(table: string, order: LetterOrder): RowStep {
  const text = `CREATE TEMP TABLE unwedge_seen AS SELECT t.id FROM ${table} AS t WHERE ${ofSession}
    UNION ALL SELECT coalesce(max(id), 0) FROM ${table}`;
  return step(statement(`see_${table}`, columns, text), order.session, marksOf(order));
}

/** Those events, with what came since. */
export const seenEvents = 't.id IN (SELECT id FROM unwedge_seen) OR t.id > (SELECT max(id) FROM unwedge_seen)';

/** How rows name a session. */
function marksOf({ session, at }: LetterOrder) {
  const marks = { mark: `"session":${JSON.stringify(session)}`, keyMark: `"session_key":${JSON.stringify(session)}` };
  const budget = bucketOf(`budget session:${session}`);
  return { session, ...marks, childMark: JSON.stringify(`session:${session}`), budget, at };
}

const tables = declared.flatMap(([name, { session, move }]) =>
  'of' in session ? [rowsOf('what' in move ? move.what : name, `uw.${name}`, session.of)] : [],
);
const onServer = [
  rowsOf('messages left by other gateways', 'uw.mail', 't.session = :session'),
  rowsOf('moves', 'uw.move', 't.session = :session'),
  eventsIn('uw.event'),
];
const owner = rowsOf('owner', 'uw.lease', 't.{key|id} = :session');
const open = statement(
  'find_open',
  columns,
  `SELECT {w.ord|1} AS ord FROM {w, |}uw.message AS t WHERE t.session = :session AND t.state IN ('waiting', 'taken')
   UNION ALL SELECT {w.ord|1} FROM {w, |}uw.call AS t WHERE t.session = :session AND t.state = 'pending'
   UNION ALL SELECT {w.ord|1} FROM {w, |}uw.question AS t WHERE t.session = :session AND t.state = 'open' AND t.deadline_at > :at`,
);

/**
 * Erases all of a session that nobody has, within one transaction; where the order says `look` it only says what there is.
 * @param more - tables that one engine alone has. @param events - whose they are.
 */
export function* forgets(
  order: LetterOrder,
  more = onServer,
  [events, isOurs]: readonly [table: string, isOurs: boolean] = ['uw.event', true],
): Work<OrderResult> {
  const { session, message: how, note, at } = order;
  const row = marksOf(order);
  const isLook = how === 'look';
  const waits = (yield step(open, session, row)).length;
  if (waits > 0 && how === '')
    return notDone(
      `${waits} messages, calls or questions of ${session} have not ended: nothing was erased; --close gives them up.`,
    );
  const said: string[] = [];
  // Before what tells of its calls is erased.
  const quoted = isLook ? 0 : yield* forgetsWords(session, row.mark, events, isOurs);
  let rows = quoted;
  for (const { what, found, erased } of [...tables, ...more]) {
    const { length } = yield step(isLook ? found : erased, session, row);
    if (length > 0) said.push(`${what}: ${length}`);
    rows += length;
  }
  if (quoted > 0) said.push(`words of its calls in causes and alerts: ${quoted}`);
  const owned = (yield step(isLook ? owner.found : owner.erased, session, row)).length;
  if (rows + owned === 0) return notDone(unknownText(session));
  if (!isLook) yield* recorded({ type: 'operator.forgot', rows, ...note }, at);
  const list = said.join(', ') || 'nothing but its name';
  return { ok: true, text: isLook ? `Of ${session} is kept: ${list}.` : `Of ${session} was erased: ${list}.` };
}

/** Says that a session was not erased, as a gateway has it that nobody has reached, or by now. */
export const hadText = (owner: string): string =>
  `${owner} has the session: it was named again meanwhile, or that one does not answer. Nothing was erased.`;
