import type { Outcome } from '../policy/failures/failure.ts';
import type { Message, MessageName } from './mailbox.ts';

/** A message for a session of another runtime. */
export interface OutgoingMail {
  readonly session: string;
  readonly message: Message;
  /** By which a second one is recognised, whoever sends it. */
  readonly key: string | undefined;
  /** Wall time in ms since the epoch. */
  readonly at: number;
  /** Mails of the session that may wait: about so many, as several runtimes may send at once. */
  readonly limit: number;
  /** Told once how the message ended, whoever processed it; not before the mail is kept. */
  readonly ended: (outcome: Outcome<unknown>) => void;
}

/**
 * Outcome of a mail: `kept`, it is committed; `duplicate`, a message or a mail of its key was there first; `full`, too many wait; `not_kept`, the store is
 * out of order. After a connection that broke in the middle of a commit, one that is `not_kept` may be delivered all the same.
 */
export type Mailed =
  | { readonly mailed: 'kept'; readonly mail: number }
  | { readonly mailed: 'duplicate'; readonly first: MessageName }
  | { readonly mailed: 'full' | 'not_kept' };

/** A mail that waits for its session. */
export interface IncomingMail {
  readonly mail: number;
  readonly message: Message;
  readonly key: string | undefined;
}

/** Receiver of the mail of a session. */
export interface MailReceiver {
  /** Takes what there is room for, in order; a mail that is being taken already is no news. False: some of it stays where it is. Must not throw. */
  receive(mails: readonly IncomingMail[]): boolean;
}

/** The mail of a session that has waited longest though somebody could take it. */
export interface OldestMail {
  readonly session: string;
  /** In ms, by the clock of the store. */
  readonly waitMs: number;
}

/** Messages between the runtimes of a store, for one of them. Nothing here throws or rejects. */
export interface SessionMail {
  /** Leaves a message for the owner of a session; it may be acknowledged when this resolves. */
  post(mail: OutgoingMail): Promise<Mailed>;
  /** The mail of a session that this runtime has claimed goes to this receiver from now on. */
  serve(session: string, receiver: MailReceiver): void;
  /** Hands over the mail that waits for sessions of this runtime; resolves when what was kept before is handed over. */
  look(): Promise<void>;
  /**
   * Oldest mail of each session that has any, the longest wait first, at most 500, as of the last look. Mail behind others that its owner is busy with is not
   * counted: their own wait tells of it.
   */
  readonly oldest: readonly OldestMail[];
}
