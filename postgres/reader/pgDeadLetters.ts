import { deadLetterIn, isDeadLetter } from '../../src/store/deadLetterRows.ts';
import type { DeadLetterRecord } from '../../src/store/storeReader.ts';
import { untakenMail } from './pgUntakenMail.ts';
import type { Ask } from './pgReads.ts';

/** Dead letters of a session or of all, the newest first, and behind them the mail that nobody takes. @throws what the server says. */
export async function readPgDeadLetters(
  ask: Ask,
  session: string | undefined,
  limit: number,
): Promise<readonly DeadLetterRecord[]> {
  const letters = ask(
    `SELECT session, number, mail, body, state, deliveries, posted_at, ended_at FROM uw.message
     WHERE ${isDeadLetter} AND ($1::text IS NULL OR session = $1)
     ORDER BY ended_at DESC NULLS LAST, session, number DESC LIMIT $2`,
    [session ?? null, limit],
  );
  const [dead, untaken] = await Promise.all([letters, ask(untakenMail('$1::text', '$2'), [session ?? null, limit])]);
  return [...dead, ...untaken].slice(0, limit).map((row) => deadLetterIn(row));
}
