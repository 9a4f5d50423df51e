import { deadLetterIn, isDeadLetter } from '../../deadLetterRows.ts';
import { createRedactor } from '../../redact.ts';
import type { DeadLetterRecord } from '../../storeReader.ts';
import type { Ask } from './pgReads.ts';

/** Dead letters of a session or of all, the newest first. @throws what the server says. */
export async function readPgDeadLetters(
  ask: Ask,
  session: string | undefined,
  limit: number,
): Promise<readonly DeadLetterRecord[]> {
  const redact = createRedactor();
  const rows = await ask(
    `SELECT session, number, mail, body, state, deliveries, posted_at, ended_at FROM uw.message
     WHERE ${isDeadLetter} AND ($1::text IS NULL OR session = $1)
     ORDER BY ended_at DESC NULLS LAST, session, number DESC LIMIT $2`,
    [session ?? null, limit],
  );
  return rows.map((row) => deadLetterIn(row, redact));
}
