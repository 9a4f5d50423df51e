import type { Fact } from '../../policy/facts/facts.ts';
import { messageId } from '../../sessions/mailbox.ts';
import { type Kept, type Resend, type StoredCall } from '../../sessions/sessionStore.ts';
import { insertInto, type Statement, statement } from '../dialect.ts';
import { toJson } from '../../policy/text/storedJson.ts';
import { isDeadLetter } from '../sessionRows.ts';
import { step, type Work } from '../work.ts';

// Each is written under the lease by which a runtime has the session: a file asks once a transaction, and a server in the statement itself, where `w` are
// the rows whose lease holds.

export const postMessage = statement(
  'post_message',
  'session text, number bigint, body text, key text, posted_at bigint',
  `INSERT INTO uw.message (session, number, body, key, state, posted_at)
   {SELECT session, number, body, key, 'waiting', posted_at FROM w|VALUES (:session, :number, :body, :key, 'waiting', :posted_at)}`,
  { together: true, key: 'session, number' },
);

const ofMessage = '{FROM w |}WHERE m.session = :session AND m.number = :number';

export const takeMessage = statement(
  'take_message',
  'session text, number bigint, turn bigint, seq bigint, taken_at bigint',
  `UPDATE uw.message AS m
   SET state = 'taken', deliveries = m.deliveries + 1, turn = :turn, seq = :seq, taken_at = :taken_at ${ofMessage}`,
);

export const putBackMessage = statement(
  'put_back_message',
  'session text, number bigint, begun boolean',
  `UPDATE uw.message AS m SET state = 'waiting', stops = m.stops + CASE WHEN :begun THEN 1 ELSE 0 END,
     deliveries = CASE WHEN :begun THEN m.deliveries ELSE {greatest|max}(0, m.deliveries - 1) END ${ofMessage}`,
);

export const finishMessage = statement(
  'finish_message',
  'session text, number bigint, state text, ended_at bigint, error text, outcome text',
  `UPDATE uw.message AS m SET state = :state, ended_at = :ended_at, error = :error, outcome = :outcome ${ofMessage}`,
);

/** Takes a dead letter out. */
const buryLetter = statement(
  'bury_letter',
  'session text, number bigint, ended_at bigint, why text',
  `UPDATE uw.message AS m SET state = 'dropped', ended_at = :ended_at, error = :why ${ofMessage} AND m.${isDeadLetter}`,
);

/**
 * Makes the new message of a dead letter. On a server it takes the letter out, too: of two orders about one letter that are on their way together the second
 * finds it dead no more.
 */
const resendLetter = statement(
  'resend_letter',
  'session text, letter bigint, number bigint, key text, at bigint, why text',
  `{made AS (|}INSERT INTO uw.message (session, number, body, key, state, posted_at)
   SELECT m.session, :number, m.body, :key, 'waiting', :at FROM {w JOIN |}uw.message m
     {ON|WHERE} m.session = :session AND m.number = :letter {WHERE|AND} m.${isDeadLetter}
   {ON CONFLICT DO NOTHING RETURNING session, number),
   changed AS (
     UPDATE uw.message AS m SET state = 'dropped', ended_at = w.at, error = w.why
     FROM w JOIN made ON made.session = w.session AND made.number = w.number
     WHERE m.session = w.session AND m.number = w.letter RETURNING w.ord AS o)|}`,
);
/** A step for a file alone. */
const takeOut = statement(
  'take_out_letter',
  'session text, letter bigint, at bigint, why text',
  `{|UPDATE uw.message SET state = 'dropped', ended_at = :at, error = :why WHERE session = :session AND number = :letter}`,
);

/** The message that has a key, or else the mail. A statement of its own sees what another node has just made. */
export const firstOfKey = statement(
  'first_of_key',
  'session text, key text',
  `SELECT {w.ord, f.* FROM w CROSS JOIN LATERAL (
     SELECT number, mail, 1 AS place|number} FROM uw.message WHERE session = :session AND key = :key
   {UNION ALL SELECT coalesce(number, 0), id, 2 FROM uw.mail WHERE session = w.session AND key = w.key
     ORDER BY place LIMIT 1) f|}`,
  { rank: 6 },
);

const call = `session text, id text, turn bigint, integration text, tool text, input text, effect text, runtime text, started_at bigint,
  deadline_at bigint, seq bigint, rule text, idempotency_key text, message bigint`;
/**
 * SQL for whether a call of `session` (an expression) may be forgotten: it was not made once for a message that may be delivered again, or as which a dead
 * letter may be that was sent again.
 */
export const isForgettable = (call: string, session: string): string =>
  `(${call}.message IS NULL OR ${call}.message NOT IN (
     SELECT CASE WHEN m.key LIKE 'sent again: %'
       THEN {coalesce(substring(m.key from '^sent again: ([0-9]+)')::bigint, 0)|CAST(substr(m.key, 13) AS INTEGER)} ELSE m.number END
     FROM uw.message m WHERE m.session = ${session} AND (m.state IN ('waiting', 'taken') OR m.${isDeadLetter})))`;

/** Enters a call, unless it is there. */
export const openCall = statement('open_call', call, insertInto('uw.call', call, '{|ON CONFLICT DO NOTHING}'), {
  together: true,
  key: 'id',
});

const whilePending = (column: string, then: string): string =>
  `${column} = CASE c.state WHEN 'pending' THEN ${then} ELSE c.${column} END`;
const onceSettled = (column: string, then: string): string =>
  `${column} = CASE c.state WHEN 'pending' THEN c.${column} ELSE ${then} END`;
/** The first result stands; a second one is kept beside it. A result without a place of its own stands behind all that there is. */
export const settleCall = statement(
  'settle_call',
  'session text, id text, result text, seq bigint, at bigint',
  `UPDATE uw.call AS c SET state = 'settled', ${whilePending('result', ':result')}, ${whilePending('settled_at', ':at')},
     ${whilePending(
       'result_seq',
       `coalesce(:seq, (
       SELECT max({greatest|max}(o.seq, coalesce(o.result_seq, 0))) + 1 FROM uw.call o WHERE o.session = c.session))`,
     )},
     ${onceSettled('late_result', ':result')}, ${onceSettled('late_at', ':at')}
   {FROM w |}WHERE c.id = :id AND (c.state = 'pending' OR c.late_result IS NULL)`,
);

export const askCall = statement(
  'ask_call',
  'session text, id text, at bigint',
  'UPDATE uw.call AS c SET reconciling_at = :at {FROM w |}WHERE c.id = :id',
);

/** Notes what was found out; a call that is settled keeps it too. */
export const noteVerdict = statement(
  'note_verdict',
  'session text, id text, verdict text, at bigint',
  'UPDATE uw.call AS c SET verdict = :verdict, reconciled_at = :at {FROM w |}WHERE c.id = :id',
);

/** The row of a call of a runtime: field by field, as a rest or a spread costs as much as all the rest of a write. */
export function callRow(session: string, runtime: string, call: StoredCall) {
  return {
    session,
    id: call.call,
    turn: call.turn,
    integration: call.integration,
    tool: call.tool,
    input: toJson(call.input),
    effect: call.effect,
    runtime,
    startedAt: call.at,
    deadlineAt: call.deadlineAt,
    seq: call.seq,
    rule: call.rule,
    idempotencyKey: call.idempotencyKey,
    message: call.message,
  };
}

/** Makes the new message of a dead letter, takes the letter out, and records that it was sent again. */
export function* resent(session: string, { letter, number, key, at, fact }: Omit<Resend, 'message'>): Work<Kept> {
  const row = {
    session,
    letter,
    number,
    key,
    at,
    why: `sent again as ${messageId(session, { number })}`,
  };
  // The new one first: where a foreign database refuses its row, the letter stays.
  const made = yield* kept(resendLetter, session, row);
  if (made !== 'durable') return made;
  yield step(takeOut, session, row);
  yield { fact: { ...fact, at } };
  return made;
}

/** Takes a dead letter out, with the fact that tells of it. */
export function* buried(session: string, number: number, at: number, why: string, fact?: Fact): Work<Kept> {
  const made = yield* kept(buryLetter, session, { number, endedAt: at, why });
  if (made === 'durable' && fact !== undefined) yield { fact: { ...fact, at } };
  return made;
}

function* kept(write: Statement, session: string, row: object): Work<Kept> {
  const [made] = yield { kept: step(write, session, { session, ...row }) };
  return made?.['kept'] as Kept;
}
