import { messageNamed, sessionFailure } from '../../src/sessions/face.ts';
import type { LetterOrder } from '../../reader/letterOrder.ts';
import { outcomeToJson } from '../../src/sessions/face.ts';
import type { PgRow } from '../pgDriver.ts';
import type { Value } from '../../src/store/face.ts';

/** For how long mail has to wait for a gateway that has its session before it is listed as untaken: a take-over is over by then. */
const patience = `interval '30 s'`;

/**
 * Mail that nobody takes, as rows of letters: no live gateway has its session.
 * @param session - an expression of SQL. @param limit - another one.
 */
export const untakenMail = (session: string, limit: string): string => `
  SELECT session, NULL::bigint AS number, id AS mail, body, 'untaken' AS state, 0 AS deliveries, posted_at, NULL::bigint AS ended_at
  FROM uw.mail m
  WHERE m.state = 'waiting' AND m.sent_at < clock_timestamp() - ${patience} AND (${session} IS NULL OR m.session = ${session})
    AND NOT EXISTS (SELECT FROM uw.lease l JOIN uw.node n ON n.id = l.owner
      WHERE l.key = m.session AND n.expires_at > clock_timestamp())
  ORDER BY m.id DESC LIMIT ${limit}`;

/** Rows of one transaction. */
export interface LetterRows {
  ask(text: string, values: readonly Value[]): Promise<readonly PgRow[]>;
}

/** The mail that an order names, where it waits. */
export async function findUntaken(
  rows: LetterRows,
  { session, message }: Pick<LetterOrder, 'session' | 'message'>,
): Promise<number | undefined> {
  const named = messageNamed(message, session);
  if (named === undefined || !('mail' in named)) return undefined;
  const [row] = await rows.ask(
    `SELECT id FROM uw.mail WHERE id = $1 AND session = $2 AND state = 'waiting' FOR UPDATE`,
    [named.mail, session],
  );
  return row && named.mail;
}

/** Ends a mail that waits; its sender hears of it as of any other end. The lease of its session has to be held: nobody takes it meanwhile. */
export async function dropUntaken(rows: LetterRows, mail: number, session: string): Promise<void> {
  const failure = sessionFailure(session, {
    kind: 'cancelled',
    reason: 'by_operator',
    message: 'An operator dropped it: no gateway had its session',
    outcome: 'not_started',
  });
  await rows.ask(
    `UPDATE uw.mail SET state = 'ended', body = NULL, outcome = $2, changed_at = clock_timestamp() WHERE id = $1`,
    [mail, outcomeToJson({ ok: false, failure })],
  );
}
