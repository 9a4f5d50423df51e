import { choice, integer, type KeysOf } from '../policy/optionKeys.ts';

/**
 * What a full mailbox does with one message more: refuses it (`refuse`), or makes room by dropping the message that has
 * waited longest (`drop_oldest`) or shortest (`drop_newest`).
 */
export type Overflow = 'refuse' | 'drop_oldest' | 'drop_newest';

/**
 * What is kept of the messages that come, by `send` of the supervisor, while a child is on its way back: while it is
 * restarting, starting, being stopped for a restart, or in a quarantine that ends by time. They are delivered in order as
 * soon as it runs again, ahead of all that is sent after them; one that makes it fail is not delivered again, those behind
 * it wait for the next incarnation. What waits becomes dead letters when no start is to come.
 *
 * A live actor needs no mailbox: it processes an event before `send` returns. Only what is sent to it from within its own
 * processing waits, inside XState, where nothing bounds it and an incarnation that fails takes it along. Nor is anything
 * held, counted or told that is sent to the actor itself, past the supervisor.
 */
export interface MailboxOptions {
  /** Messages that may wait; at least 0, which keeps none, as in OTP. @defaultValue 0 */
  readonly capacity?: number | undefined;
  /** @defaultValue 'refuse' */
  readonly overflow?: Overflow | undefined;
}

/** {@link MailboxOptions} that were checked. */
export interface Mailbox {
  readonly capacity: number;
  readonly overflow: Overflow;
}

/** The options of a mailbox. */
export const mailboxKeys = {
  capacity: integer({ min: 0, default: 0 }),
  overflow: choice(['refuse', 'drop_oldest', 'drop_newest'], { default: 'refuse' }),
} satisfies KeysOf<MailboxOptions>;
