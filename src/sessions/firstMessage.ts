import type { MessageName } from './mailbox.ts';
import type { StoredDeadLetter } from './sessionStore.ts';

/** A message as it was first accepted, of one that is a dead letter sent again, and how often it was begun under its earlier names. */
export interface FirstMessage extends MessageName {
  readonly begun: number;
}

/** Beginning of the keys of dead letters that are sent again. No sender may give such a key. */
export const resendPrefix = 'sent again: ';

/**
 * The key of the message by which a dead letter is sent again: so it is sent once, and knows its first message wherever its row goes, of a letter of a
 * letter too. `sent again: FIRST [xMAIL] [begun TIMES] [as LETTER]`.
 */
export function resendKey({ number, mail, key, deliveries }: Omit<StoredDeadLetter, 'message' | 'reason'>): string {
  const before = firstMessage(key);
  const first = before ?? { number, mail };
  const begun = (before?.begun ?? 0) + deliveries;
  const words = [
    ...(first.mail === undefined ? [] : [`x${first.mail}`]),
    ...(begun === 0 ? [] : [`begun ${begun}`]),
    ...(before === undefined ? [] : [`as ${number}`]),
  ];
  return [`${resendPrefix}${first.number}`, ...words].join(' ');
}

/** Reads such a key; undefined for that of another message. */
export function firstMessage(key: string | undefined): FirstMessage | undefined {
  if (key?.startsWith(resendPrefix) !== true) return undefined;
  const [, number, mail, begun = '0'] = /^sent again: (\d+)(?: x(\d+))?(?: begun (\d+))?/.exec(key) ?? [];
  if (number === undefined) return undefined;
  return { number: Number(number), mail: mail === undefined ? undefined : Number(mail), begun: Number(begun) };
}
