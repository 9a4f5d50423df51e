import { type RowStatement, rowsOf } from './rowStatement.ts';
import { fenced } from './fenced.ts';

export const openCall = fenced(
  'open_call',
  `id text, turn bigint, integration text, tool text, input text, effect text, runtime text, started_at bigint,
   deadline_at bigint, seq bigint, rule text, idempotency_key text`,
  {
    insert: `INSERT INTO uw.call (id, session, turn, integration, tool, input, effect, runtime, started_at, deadline_at, seq, rule,
        idempotency_key)
      SELECT id, session, turn, integration, tool, input, effect, runtime, started_at, deadline_at, seq, rule, idempotency_key
      FROM h`,
    key: 'id',
  },
  { together: true },
);

/** The first result stands; a second one is kept beside it. A result without a place of its own stands behind all that there is. */
export const settleCall = fenced(
  'settle_call',
  'id text, result text, seq bigint, at bigint',
  `changed AS (
      UPDATE uw.call AS c SET
        state = 'settled',
        result = CASE c.state WHEN 'pending' THEN h.result ELSE c.result END,
        settled_at = CASE c.state WHEN 'pending' THEN h.at ELSE c.settled_at END,
        result_seq = CASE c.state WHEN 'pending' THEN coalesce(h.seq, (
          SELECT max(greatest(o.seq, o.result_seq)) + 1 FROM uw.call o WHERE o.session = c.session)) ELSE c.result_seq END,
        late_result = CASE c.state WHEN 'pending' THEN c.late_result ELSE h.result END,
        late_at = CASE c.state WHEN 'pending' THEN c.late_at ELSE h.at END
      FROM h WHERE c.id = h.id AND (c.state = 'pending' OR c.late_result IS NULL) RETURNING h.ord AS o)`,
);

export const askCall = fenced(
  'ask_call',
  'id text, at bigint',
  'changed AS (UPDATE uw.call AS c SET reconciling_at = h.at FROM h WHERE c.id = h.id RETURNING h.ord AS o)',
);

/** Notes what was found out; a call that is settled keeps it too. */
export const noteVerdict = fenced(
  'note_verdict',
  'id text, verdict text, at bigint',
  `changed AS (
      UPDATE uw.call AS c SET verdict = h.verdict, reconciled_at = h.at FROM h WHERE c.id = h.id RETURNING h.ord AS o)`,
);

/** Answers pending calls of a session that is claimed in the same transaction, or of a dead runtime: the state of the row alone decides. */
export const settleLostCall: RowStatement = {
  name: 'settle_lost_call',
  together: true,
  text: `WITH ${rowsOf('id text, result text, seq bigint, at bigint')}
    UPDATE uw.call AS c SET state = 'settled', result = w.result, settled_at = w.at, result_seq = w.seq
    FROM w WHERE c.id = w.id AND c.state = 'pending' RETURNING w.ord`,
};
