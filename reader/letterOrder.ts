import type { OrderNote } from '../src/policy/operatorOrder.ts';

/** Order about a dead letter, or a mail that nobody took, of a session that no live runtime of this machine has. */
export interface LetterOrder {
  readonly order: 'send_again' | 'drop';
  readonly session: string;
  /** Its id. */
  readonly message: string;
  readonly note: OrderNote;
  /** Wall time in ms since the epoch. */
  readonly at: number;
  /** The runtimes of this machine that were found dead: what they own in a file is nobody's. */
  readonly dead: ReadonlySet<string>;
}

/** Says what was done. */
export const droppedText = (message: string): string => `The dead letter ${message} was dropped for good.`;
export const unreadableText = (message: string): string =>
  `${message} cannot be read, and so not be sent again: drop it.`;
export const sentBeforeText = (as: string): string => `It was sent again already, as ${as}.`;
export const sentText = (message: string, as: string): string =>
  `${message} was sent again as ${as}; it is delivered when a gateway that has the session starts.`;
export const sentByMailText = (message: string, as: string, owner: string): string =>
  `${message} was sent again as ${as}; ${owner} has the session, and takes it.`;
/** Says it of a message that was left for a session. */
export const droppedMailText = (message: string): string =>
  `${message} was dropped for good; the gateway that sent it is told.`;
export const waitsText = (message: string): string =>
  `${message} waits still: it is delivered when a gateway that has the session starts.`;
export const takesText = (message: string, owner: string): string =>
  `${message} waits for ${owner}, which has the session and takes it when it has room.`;
export const unknownText = (session: string): string => `No session ${session} is kept there.`;
