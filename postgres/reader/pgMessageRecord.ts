import { checkInteger } from '../../src/policy/options.ts';
import type { HistoryEntry } from '../../src/sessions/history.ts';
import { messageNamed } from '../../src/sessions/messageId.ts';
import { messageRecordIn } from '../../src/store/recordRows.ts';
import { historyOf } from '../../src/store/sessionRows.ts';
import type { MessageRecord } from '../../src/store/storeReader.ts';
import { outcomeIn } from '../mailOutcome.ts';
import { callColumns, messageColumns, toCallRow, toMessageRow } from '../sessionReads.ts';
import type { Ask } from './pgReads.ts';

const messageBy = (column: 'number' | 'mail'): string => `
  SELECT m.number, m.mail, m.body, m.state, m.error, (
    SELECT c.result FROM uw.call c WHERE c.session = m.session AND c.turn = m.turn AND c.state = 'settled'
    ORDER BY coalesce(c.result_seq, c.seq) DESC LIMIT 1) AS result
  FROM uw.message m WHERE m.session = $1 AND m.${column} = $2`;

const mailOf = 'SELECT id AS mail, number, body, state, outcome FROM uw.mail WHERE session = $1 AND id = $2';

/** Reads one message of a session, whichever node accepted it and whichever has it. @throws what the server says. */
export async function readPgMessage(ask: Ask, session: string, id: string): Promise<MessageRecord | undefined> {
  const named = messageNamed(id, session);
  if (named === undefined) return undefined;
  const found = async (column: 'number' | 'mail', value: unknown): Promise<MessageRecord | undefined> => {
    const [row] = await ask(messageBy(column), [session, value]);
    return row && messageRecordIn(session, row, row['result']);
  };
  if ('number' in named) {
    const record = await found('number', named.number);
    // A message that came as mail has the id of the mail for good.
    return record?.id === id ? record : undefined;
  }
  const [mail] = await ask(mailOf, [session, named.mail]);
  if (mail === undefined) return found('mail', named.mail);
  // A mail that joined a message by its key is that message.
  if (mail['number'] !== null) return found('number', mail['number']);
  if (mail['state'] === 'waiting') return messageRecordIn(session, { ...mail, number: 0 }, undefined);
  // It was dropped before anybody took it.
  const outcome = mail['outcome'] === null ? undefined : outcomeIn(mail['outcome']);
  return { id, state: 'dropped', ...(outcome?.ok === false && { error: outcome.failure.message }) };
}

/** The latest whole turns of a session. @throws what the server says. */
export async function readPgHistory(ask: Ask, session: string, limit: number): Promise<readonly HistoryEntry[]> {
  checkInteger('limit', limit);
  const [messages, calls] = await Promise.all([
    ask(
      `SELECT ${messageColumns} FROM uw.message m WHERE m.session = $1 AND m.seq IS NOT NULL
       ORDER BY m.seq DESC LIMIT $2`,
      [session, limit],
    ),
    ask(
      `SELECT ${callColumns} FROM uw.call c WHERE c.session = $1 AND c.state = 'settled' ORDER BY c.seq DESC LIMIT $2`,
      [session, Math.ceil(limit / 2)],
    ),
  ]);
  return historyOf(session, messages.map(toMessageRow), calls.map(toCallRow), limit);
}
