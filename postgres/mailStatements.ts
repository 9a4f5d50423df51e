import { columnsOf } from '../src/store/face.ts';
import { fenced, heldRows } from './fenced.ts';
import type { Sql } from './pgConnections.ts';
import { type RowStatement, rowsOf } from './rowStatement.ts';

/** Time for which a key is remembered here after its message has ended: by then it stands in `uw.message` for all to see. */
const keyFor = `interval '10 min'`;
/** Time that the end of a message waits for its sender, who may have gone. */
const endFor = `interval '1 hour'`;

/**
 * Leaves messages for the owners of sessions. Their ids are given out in the order in which they were sent; rows are made in the order of their keys,
 * so that two nodes with the same keys do not wait for each other.
 * @returns of each row its `mail` where it was made, and who owns the session; `fits` is false where too many wait.
 */
export const postMail: RowStatement = {
  name: 'post_mail',
  rank: 6,
  text: `WITH ${rowsOf('session text, body text, key text, posted_at bigint, sender text, most integer')},
    known AS MATERIALIZED (
      SELECT w.*, w.key IS NOT NULL AND coalesce(
        (SELECT true FROM uw.message m WHERE m.session = w.session AND m.key = w.key LIMIT 1),
        (SELECT true FROM uw.mail m WHERE m.session = w.session AND m.key = w.key), false) AS is_known FROM w),
    placed AS MATERIALIZED (
      SELECT k.*, row_number() OVER (PARTITION BY k.session, k.is_known ORDER BY k.ord) AS place FROM known k),
    counted AS MATERIALIZED (
      SELECT p.*, CASE WHEN p.place = 1 AND NOT p.is_known THEN (
        SELECT count(*) FROM (SELECT 1 FROM uw.mail m WHERE m.session = p.session AND m.number IS NULL
          AND m.state = 'waiting' LIMIT p.most) AS few) END AS waiting FROM placed p),
    judged AS MATERIALIZED (
      SELECT c.*, c.place + max(c.waiting) OVER (PARTITION BY c.session) <= c.most AS fits FROM counted c),
    given AS MATERIALIZED (
      SELECT nextval('uw.mail_id_seq') AS id, j.* FROM (SELECT * FROM judged WHERE fits AND NOT is_known ORDER BY ord) AS j),
    made AS (
      INSERT INTO uw.mail (id, session, body, key, posted_at, sender)
      SELECT id, session, body, key, posted_at, sender FROM given ORDER BY session, key, id
      ON CONFLICT DO NOTHING RETURNING id)
    SELECT g.ord, CASE WHEN g.id IN (SELECT id FROM made) THEN g.id END AS mail, true AS fits,
      (SELECT l.owner FROM uw.lease l WHERE l.key = g.session) AS owner FROM given g
    UNION ALL SELECT ord, NULL, is_known OR fits, NULL FROM judged WHERE is_known OR NOT fits`,
};

/** The mail that waits for sessions of an owner, but for those it cannot take any of now. */
export const waitingMail: Sql = {
  name: 'waiting_mail',
  text: `SELECT m.id, m.session, m.body, m.key FROM uw.mail m
    WHERE m.state = 'waiting' AND m.session <> ALL ($2::text[])
      AND (SELECT l.owner FROM uw.lease l WHERE l.key = m.session) = $1
    ORDER BY m.id LIMIT $3`,
};

/** The oldest mail of each session. It counts where somebody could take it: no live node owns its session, or nothing else is before it there. */
export const oldestMail: Sql = {
  name: 'oldest_mail',
  text: `SELECT m.session, extract(epoch FROM clock_timestamp() - min(m.sent_at)) * 1000 AS wait_ms FROM uw.mail m
    WHERE m.state = 'waiting' AND NOT (
      EXISTS (SELECT 1 FROM uw.lease l JOIN uw.node n ON n.id = l.owner
        WHERE l.key = m.session AND n.expires_at > clock_timestamp())
      AND EXISTS (SELECT 1 FROM uw.message u WHERE u.session = m.session AND u.state IN ('waiting', 'taken')))
    GROUP BY m.session ORDER BY min(m.sent_at) LIMIT $1`,
};

/** Reads how messages ended that a runtime has sent. */
export const endedMail: Sql = {
  name: 'ended_mail',
  text: `SELECT id, outcome FROM uw.mail WHERE sender = $1 AND state = 'ended' ORDER BY changed_at LIMIT $2`,
};

/** The sender knows how it ended. Of one with a key the row stays for a while. */
export const answeredMail: RowStatement = {
  name: 'answered_mail',
  together: true,
  rank: 6,
  text: `WITH ${rowsOf('mail bigint')},
    gone AS (DELETE FROM uw.mail m USING w WHERE m.id = w.mail AND m.state = 'ended' AND m.key IS NULL)
    UPDATE uw.mail m SET state = 'answered', outcome = NULL, changed_at = clock_timestamp()
    FROM w WHERE m.id = w.mail AND m.state = 'ended' AND m.key IS NOT NULL`,
};

/** Deletes what has gone by age, some at a time; rows that another node is at are left to it. */
export const oldMail: RowStatement = {
  name: 'old_mail',
  rank: 6,
  text: `WITH ${rowsOf('most integer')},
    old AS MATERIALIZED (
      SELECT m.id FROM uw.mail m WHERE m.state = 'answered' AND m.changed_at < clock_timestamp() - ${keyFor}
      LIMIT (SELECT most FROM w) FOR UPDATE SKIP LOCKED),
    unread AS MATERIALIZED (
      SELECT m.id FROM uw.mail m WHERE m.state = 'ended' AND m.changed_at < clock_timestamp() - ${endFor}
      LIMIT (SELECT most FROM w) FOR UPDATE SKIP LOCKED)
    DELETE FROM uw.mail m WHERE m.id IN (SELECT id FROM old UNION ALL SELECT id FROM unread)`,
};

/** Says how a message ended of which no more is known than its row says; `m` is that row, or none. @param session - an expression of SQL. */
const endInRow = (session: string): string => `CASE m.state WHEN 'done' THEN '{"ok":true}' ELSE json_build_object(
        'ok', false, 'failure', json_build_object(
          'kind', CASE m.state WHEN 'poison' THEN 'crash' WHEN 'expired' THEN CASE WHEN m.error IS NULL THEN 'timeout' ELSE 'cancelled' END ELSE 'unknown' END,
          'message', CASE m.state WHEN 'poison' THEN 'It ended its gateway too often: it is a dead letter'
            WHEN 'expired' THEN coalesce(m.error, 'It has waited too long') || ': it is a dead letter'
            WHEN 'malformed' THEN 'It cannot be read: it is a dead letter'
            ELSE coalesce(m.error, 'How it ended is not known any more') END,
          'outcome', CASE WHEN m.state IN ('expired', 'malformed') THEN 'not_started' ELSE 'unknown' END,
          'integration', 'session:' || ${session}, 'attempts', 1, 'retryable', false))::text END`;
const isOver = `coalesce(m.state, 'over') NOT IN ('waiting', 'taken')`;

/**
 * Makes a message of a mail that waits, under the number that its owner gives it. One that joins a message by its key is answered with that one, at
 * once where it has ended.
 */
export const takeMail = fenced(
  'take_mail',
  'mail bigint, number bigint, joins boolean',
  `found AS MATERIALIZED (
      SELECT w.ord AS o, w.number AS as_number, w.joins, x.* FROM w CROSS JOIN LATERAL (
        SELECT * FROM uw.mail x WHERE x.id = w.mail AND x.session = w.session AND x.state = 'waiting' FOR UPDATE) x),
    made AS (
      INSERT INTO uw.message (session, number, mail, body, key, posted_at)
      SELECT session, as_number, id, body, key, posted_at FROM found WHERE NOT joins),
    ends AS MATERIALIZED (
      SELECT f.id, CASE WHEN f.joins AND ${isOver} THEN ${endInRow('f.session')} END AS outcome
      FROM found f LEFT JOIN LATERAL (
        SELECT state, error FROM uw.message m WHERE m.session = f.session AND m.number = f.as_number) m ON true),
    changed AS (
      UPDATE uw.mail x SET number = f.as_number, body = NULL, outcome = e.outcome,
        state = CASE WHEN e.outcome IS NULL THEN 'taken' ELSE 'ended' END, changed_at = clock_timestamp()
      FROM found f JOIN ends e ON e.id = f.id WHERE x.id = f.id RETURNING f.o AS o)`,
  true,
);

/** Notes how a message ended for all who sent it as mail. @returns the `sender` of each. */
export const endMail: RowStatement = {
  name: 'end_mail',
  isFenced: true,
  text: `WITH ${heldRows(columnsOf('session text, number bigint, outcome text'))}
    UPDATE uw.mail x SET state = 'ended', outcome = w.outcome, changed_at = clock_timestamp()
    FROM w WHERE x.session = w.session AND x.number = w.number AND x.state = 'taken' RETURNING w.ord, x.sender`,
};

/** Makes messages of all mail that waits for a session that is being claimed, behind what there is. */
export const takeAllMail: RowStatement = {
  name: 'take_all_mail',
  text: `WITH ${rowsOf('session text')},
    found AS MATERIALIZED (
      SELECT x.* FROM w CROSS JOIN LATERAL (
        SELECT * FROM uw.mail x WHERE x.session = w.session AND x.number IS NULL AND x.state = 'waiting'
        ORDER BY x.id FOR UPDATE) x),
    numbered AS MATERIALIZED (
      SELECT f.*, CASE WHEN f.key IS NOT NULL THEN (
          SELECT m.number FROM uw.message m WHERE m.session = f.session AND m.key = f.key LIMIT 1) END AS joined,
        coalesce((SELECT max(m.number) FROM uw.message m WHERE m.session = f.session), 0)
          + row_number() OVER (PARTITION BY f.session ORDER BY f.id) AS next
      FROM found f),
    made AS (
      INSERT INTO uw.message (session, number, mail, body, key, posted_at)
      SELECT session, next, id, body, key, posted_at FROM numbered WHERE joined IS NULL)
    UPDATE uw.mail x SET number = coalesce(n.joined, n.next), body = NULL, state = 'taken', changed_at = clock_timestamp()
    FROM numbered n WHERE x.id = n.id`,
};

/** Answers the mail of a session that is being claimed whose message has ended, though nobody was told: its owner died, or it is a dead letter now. */
export const endOverMail: RowStatement = {
  name: 'end_over_mail',
  text: `WITH ${rowsOf('session text')},
    over AS MATERIALIZED (
      SELECT w.ord, x.id, ${endInRow('x.session')} AS outcome FROM w
      CROSS JOIN LATERAL (
        SELECT id, session, number FROM uw.mail x WHERE x.session = w.session AND x.state = 'taken') x
      LEFT JOIN LATERAL (
        SELECT state, error FROM uw.message m WHERE m.session = x.session AND m.number = x.number) m ON true
      WHERE ${isOver})
    UPDATE uw.mail x SET state = 'ended', outcome = o.outcome, changed_at = clock_timestamp()
    FROM over o WHERE x.id = o.id RETURNING o.ord, x.sender`,
};
