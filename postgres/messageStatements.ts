import { maxKeys } from '../src/sessions/sessionStore.ts';
import { fenced } from './fenced.ts';

export const postMessage = fenced(
  'post_message',
  'number bigint, body text, key text, posted_at bigint',
  {
    insert:
      'INSERT INTO uw.message (session, number, body, key, posted_at) SELECT session, number, body, key, posted_at FROM h',
    key: 'session, number',
  },
  { together: true },
);

export const takeMessage = fenced(
  'take_message',
  'number bigint, turn bigint, seq bigint, taken_at bigint',
  `changed AS (
      UPDATE uw.message AS m
      SET state = 'taken', deliveries = deliveries + 1, turn = h.turn, seq = h.seq, taken_at = h.taken_at
      FROM h WHERE m.session = h.session AND m.number = h.number RETURNING h.ord AS o)`,
);

export const putBackMessage = fenced(
  'put_back_message',
  'number bigint, begun boolean',
  `changed AS (
      UPDATE uw.message AS m
      SET state = 'waiting', stops = stops + CASE WHEN h.begun THEN 1 ELSE 0 END,
        deliveries = CASE WHEN h.begun THEN deliveries ELSE greatest(0, deliveries - 1) END
      FROM h WHERE m.session = h.session AND m.number = h.number RETURNING h.ord AS o)`,
);

export const finishMessage = fenced(
  'finish_message',
  'number bigint, state text, ended_at bigint, error text',
  `changed AS (
      UPDATE uw.message AS m SET state = h.state, ended_at = h.ended_at, error = h.error
      FROM h WHERE m.session = h.session AND m.number = h.number RETURNING h.ord AS o)`,
);

const isDead = `m.state IN ('poison', 'expired', 'malformed')`;

export const buryLetter = fenced(
  'bury_letter',
  'number bigint, ended_at bigint, why text',
  `changed AS (
      UPDATE uw.message AS m SET state = 'dropped', ended_at = h.ended_at, error = h.why
      FROM h WHERE m.session = h.session AND m.number = h.number AND ${isDead} RETURNING h.ord AS o)`,
);

/** Makes the new message of a dead letter and takes the letter out. */
export const resendLetter = fenced(
  'resend_letter',
  'letter bigint, number bigint, key text, at bigint, why text',
  `made AS (
      INSERT INTO uw.message (session, number, body, key, posted_at)
      SELECT m.session, h.number, m.body, h.key, h.at
      FROM h JOIN uw.message m ON m.session = h.session AND m.number = h.letter WHERE ${isDead}
      ON CONFLICT DO NOTHING RETURNING session, number),
    changed AS (
      UPDATE uw.message AS m SET state = 'dropped', ended_at = h.at, error = h.why
      FROM h JOIN made ON made.session = h.session AND made.number = h.number
      WHERE m.session = h.session AND m.number = h.letter RETURNING h.ord AS o)`,
);

/** Keeps the row of a message with a key, without its text, for as long as a second one of that key has to be recognised. */
export const forgetTurns = fenced(
  'forget_turns',
  'before_turn bigint',
  `over AS (
      SELECT m.session, m.number, m.key IS NULL
        OR m.number <= (SELECT max(number) FROM uw.message WHERE session = m.session) - ${maxKeys} AS gone
      FROM uw.message m JOIN h ON h.session = m.session
      WHERE m.state = 'dropped' OR m.state IN ('done', 'failed') AND m.turn < h.before_turn),
    calls AS (
      DELETE FROM uw.call c USING h WHERE c.session = h.session AND c.state = 'settled' AND c.turn < h.before_turn),
    messages AS (
      DELETE FROM uw.message m USING over
      WHERE m.session = over.session AND m.number = over.number AND over.gone),
    texts AS (
      UPDATE uw.message m SET body = '{}', seq = NULL FROM over
      WHERE m.session = over.session AND m.number = over.number AND NOT over.gone AND m.body <> '{}'),
    changed AS (SELECT h.ord AS o FROM h)`,
);
