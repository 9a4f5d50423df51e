import { createFactRedactor } from '../src/redaction/face.ts';
import { type ToolResult, messageId } from '../src/sessions/face.ts';
import { type Row, messageIn } from '../src/store/face.ts';
import { fromJson } from '../src/policy/text/face.ts';
import type { CallRecord, DeadLetterRecord, MessageRecord, SessionRecords, TurnRecord } from './storeReader.ts';

/** Most of a dead letter's text that is shown, in characters. */
const shownChars = 300;

/** Gives what a session has on record, by the rows of what waits, of calls without a result and of dead letters. */
export function sessionRecordsIn(
  session: string,
  { messages, calls, deadLetters }: Readonly<Record<'messages' | 'calls' | 'deadLetters', readonly Row[]>>,
): SessionRecords {
  return {
    session,
    messages: messages.map((row) => ({
      id: messageIdIn(session, row),
      kind: kindIn(row['body']),
      state: row['state'] === 'taken' ? 'taken' : 'waiting',
      deliveries: Number(row['deliveries']),
      postedAt: Number(row['posted_at']),
    })),
    calls: calls.map((row) => ({
      call: String(row['id']),
      integration: String(row['integration']),
      tool: String(row['tool']),
      startedAt: Number(row['started_at']),
      deadlineAt: Number(row['deadline_at']),
      ...(typeof row['rule'] === 'string' && { rule: row['rule'] }),
    })),
    deadLetters: deadLetters.map((row) => ({ id: messageIdIn(session, row), reason: String(row['state']) })),
  };
}

/** A message by its row. @param result - JSON of the last call of its turn; undefined or null where there is none. */
export function messageRecordIn(session: string, row: Row, result: unknown): MessageRecord {
  const { state, body, error } = row;
  const message = typeof body === 'string' ? messageIn(body) : undefined;
  const answer = fromJson(result)?.value as ToolResult | null | undefined;
  return {
    id: messageIdIn(session, row),
    state: state as MessageRecord['state'],
    ...(message !== undefined && { message }),
    ...(typeof error === 'string' && { error }),
    ...(typeof answer === 'object' && answer !== null && { result: answer }),
  };
}

/** A turn by the row of its message. @param kind - of the message; undefined where it cannot be read. */
export function turnIn(session: string, row: Row, kind: string | undefined, calls: readonly CallRecord[]): TurnRecord {
  return {
    turn: Number(row['turn']),
    message: messageIdIn(session, row),
    kind: kind ?? 'unreadable',
    state: String(row['state']),
    deliveries: Number(row['deliveries']),
    postedAt: Number(row['posted_at']),
    ...numberIn(row['taken_at'], 'takenAt'),
    ...numberIn(row['ended_at'], 'endedAt'),
    ...(typeof row['error'] === 'string' && { error: row['error'] }),
    calls,
  };
}

/** Parts of the result of a call that are shown; undefined or null where there is none. */
export interface ShownResult {
  readonly status?: unknown;
  readonly synthetic?: unknown;
  readonly attempts?: unknown;
}

/** A call by its row. */
export function callRecordIn(row: Row, { status, synthetic, attempts }: ShownResult): CallRecord {
  return {
    call: String(row['id']),
    integration: String(row['integration']),
    tool: String(row['tool']),
    startedAt: Number(row['started_at']),
    ...numberIn(row['settled_at'], 'settledAt'),
    ...numberIn(row['late_at'], 'lateAt'),
    ...(status !== null && status !== undefined && { ok: status === 'ok' }),
    ...((synthetic === 1 || synthetic === true) && { synthetic: true }),
    ...numberIn(attempts, 'attempts'),
  };
}

/** A dead letter by its row. */
export function deadLetterIn(row: Row): DeadLetterRecord {
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
    again: typeof row['again'] === 'string' ? row['again'].split(',') : [],
  };
}

/** Messages are kept as they are: what is shown of one is masked here. */
const redact = createFactRedactor();
const shownText = (text: string): string => redact({ text }).text.slice(0, shownChars);

function kindIn(body: unknown): string {
  const kind = (fromJson(body)?.value as { kind?: unknown } | null | undefined)?.kind;
  return typeof kind === 'string' ? kind : 'unreadable';
}

/** The id of a message in a row; one that came as mail has that of the mail. */
function messageIdIn(session: string, { number, mail }: Row): string {
  const isMail = mail !== null && mail !== undefined;
  return messageId(session, { number: Number(number), mail: isMail ? Number(mail) : undefined });
}

function numberIn<K extends string>(value: unknown, name: K): { readonly [key in K]?: number } {
  return value === null || value === undefined ? {} : ({ [name]: Number(value) } as { readonly [key in K]?: number });
}
