import { createFactRedactor } from '../redaction/redactFact.ts';
import { messageIdIn } from './recordRows.ts';
import { messageIn } from './sessionRows.ts';
import type { DeadLetterRecord } from './storeReader.ts';

/** Most of a message's text that is shown, in characters. */
const shownChars = 300;

/** SQL for the messages that are dead letters, neither sent again nor dropped. */
export const isDeadLetter = `state IN ('poison', 'expired', 'malformed')`;

/** As a row of an engine holds it. */
export function deadLetterIn(row: Readonly<Record<string, unknown>>): DeadLetterRecord {
  const session = String(row['session']);
  const message = messageIn(String(row['body']));
  const text = message?.text === undefined ? undefined : shownText(message.text);
  return {
    id: messageIdIn(session, row),
    session,
    kind: message?.kind ?? 'unreadable',
    reason: String(row['state']),
    deliveries: Number(row['deliveries']),
    postedAt: Number(row['posted_at']),
    ...(row['ended_at'] !== null && { endedAt: Number(row['ended_at']) }),
    ...(text !== undefined && { text }),
    canSend: message !== undefined && row['state'] !== 'untaken',
  };
}

/** Messages are kept as they are: what is shown of one is masked here. */
const redact = createFactRedactor();
const shownText = (text: string): string => redact({ text }).text.slice(0, shownChars);
