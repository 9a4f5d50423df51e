import { choice, integer, type Given } from '../policy/optionKeys.ts';

/**
 * Conduct of a full mailbox on one message more: refuses it (`refuse`), or makes room by dropping the message that has waited longest (`drop_oldest`) or
 * shortest (`drop_newest`).
 */
export type Overflow = 'refuse' | 'drop_oldest' | 'drop_newest';

/** The options of a mailbox. */
export const mailboxKeys = {
  /** Messages that may wait; at least 0, which keeps none, as in OTP. @defaultValue 0 */
  capacity: integer({ min: 0, default: 0 }),
  /** Conduct of a full mailbox on one more. @defaultValue 'refuse' */
  overflow: choice(['refuse', 'drop_oldest', 'drop_newest'], { given: {} as Overflow, default: 'refuse' }),
};

/**
 * Messages that the supervisor keeps for a child on its way back. Its `send` keeps them while the child starts, restarts, is stopped for a restart, or waits
 * in a quarantine that ends by time. The child gets them in order as soon as it runs again, ahead of all later messages. A message that makes the child fail
 * is not delivered again; the messages after it wait for the next incarnation. The waiting messages become dead letters when no start is to come.
 *
 * A live actor needs no mailbox: it processes an event before `send` returns. Only what it is sent while it processes waits inside XState.
 * Nothing bounds that queue, and an incarnation that fails takes it along. An event that goes to the actor itself, past the supervisor, is
 * not held, counted or told.
 */
export interface MailboxOptions extends Given<typeof mailboxKeys> {}
