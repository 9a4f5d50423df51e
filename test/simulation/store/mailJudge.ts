import type { Pglite } from './pglite.ts';
import type { SentMail } from './nodeMail.ts';

export interface MessageFound {
  readonly session: string;
  readonly number: number;
  readonly key: string | undefined;
  readonly state: string;
  readonly mark: string;
}

/** What a message of a session ends with in the simulation. */
export const endOf = (session: string, number: number): string => `${session} ${number}`;

/** Whether nothing waits any more, and no node that lives is owed an end. */
export async function isDrained(database: Pglite, living: readonly string[]): Promise<boolean> {
  const { rows } = await database.query(
    `SELECT 1 FROM unwedge.message WHERE state IN ('waiting', 'taken')
     UNION ALL SELECT 1 FROM unwedge.mail WHERE state IN ('waiting', 'taken')
     UNION ALL SELECT 1 FROM unwedge.mail WHERE state = 'ended' AND sender = ANY ($1::text[]) LIMIT 1`,
    [living],
  );
  return rows.length === 0;
}

/**
 * What mail promises: what was acknowledged is one message, or that of its key; in the order in which its node sent it; and its sender hears once of its
 * end. @param told - the nodes that have heard of every end: nothing waits any more. @returns the first promise that was broken.
 */
export async function judgeMail(
  database: Pglite,
  sent: readonly SentMail[],
  told: ReadonlySet<string>,
): Promise<string | undefined> {
  const messages = await messagesIn(database);
  const lasts = new Map<string, { readonly number: number; readonly mark: string }>();
  for (const each of sent) {
    const { mark, node, session, answer, ends, key } = each;
    const own = messages.filter((message) => message.mark === mark);
    if (own.length > 1) return `mail ${mark} is ${own.length} messages`;
    if (ends.length > 1) return `the sender of mail ${mark} was told ${ends.length} times of its end`;
    if (answer === undefined) continue;
    const ofKey = messages.filter((message) => key !== undefined && message.session === session && message.key === key);
    const keyed = ofKey.filter(({ state }) => state !== 'mail');
    if (keyed.length > 1) return `key ${key} of ${session} is that of ${keyed.length} messages`;
    const message = own[0] ?? ofKey[0];
    if (answer.mailed === 'duplicate' && message === undefined) return `the first of mail ${mark} is nowhere`;
    if (answer.mailed !== 'kept') {
      if (answer.mailed !== 'not_kept' && own.length > 0) return `mail ${mark} was refused, and is there`;
      continue;
    }
    if (message === undefined) return `mail ${mark} was acknowledged, and is nowhere`;
    const last = lasts.get(`${node} ${session}`);
    if (own.length > 0 && message.state !== 'mail') {
      if (last !== undefined && last.number > message.number)
        return `mail ${mark} stands before ${last.mark}, sent earlier`;
      lasts.set(`${node} ${session}`, { number: message.number, mark });
    }
    if (told.has(node) && ends.length === 0) return `the sender of mail ${mark} never heard of its end`;
    const [end] = ends;
    if (end === undefined) continue;
    if (!end.ok) return `the sender of mail ${mark} was told: ${end.failure.message}`;
    if (end.value !== undefined && end.value !== endOf(session, message.number))
      return `the sender of mail ${mark} was told of the end of another: ${JSON.stringify(end.value)}`;
    if (message.state !== 'done') return `the sender of mail ${mark} was told of its end, and it is ${message.state}`;
  }
  return undefined;
}

/** Messages, and mail that is none yet, in the order of their numbers. */
export async function messagesIn(database: Pglite): Promise<readonly MessageFound[]> {
  const { rows } = await database.query(
    `SELECT session, number, key, state, body FROM unwedge.message
     UNION ALL SELECT session, NULL, key, 'mail', body FROM unwedge.mail WHERE state = 'waiting' ORDER BY number NULLS LAST`,
  );
  return rows.map(messageIn);
}

function messageIn(row: Readonly<Record<string, unknown>>): MessageFound {
  const { key } = row;
  return {
    session: String(row['session']),
    number: Number(row['number']),
    key: typeof key === 'string' ? key : undefined,
    state: String(row['state']),
    mark: String((JSON.parse(String(row['body'])) as { data?: unknown }).data),
  };
}
