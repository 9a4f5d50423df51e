import type { Outcome } from '../policy/failures/failure.ts';
import { type FirstMessage, firstMessage } from './firstMessage.ts';
import { type Message, messageId, type MessageName } from './mailbox.ts';
import type { Kept } from './sessionStore.ts';

/** The answer to a message; `Result` is what the handler of the session returns. */
export type Acceptance<Result = unknown> =
  | {
      readonly accepted: true;
      /**
       * Id of the message: one with a key that another gateway has accepted at the same moment too is processed as that one, under the id of that one, which
       * is the id that a later duplicate is told.
       */
      readonly id: string;
      /** True where the message survives the end of this process. */
      readonly durable: boolean;
      /**
       * The end of the message's turn; never rejects. A failure for the reason `stopped` or `taken_over` ends the wait for it here: a message that is
       * `durable` is processed all the same, after the next start or by the session's next owner.
       */
      readonly processed: Promise<Outcome<Result>>;
    }
  | {
      /** One with this key was accepted before, under this id. */
      readonly accepted: false;
      readonly reason: 'duplicate';
      readonly id: string;
      /**
       * The end of the first one, waited for while it is under way; never rejects. After a restart that of the record, as far as JSON goes. Where what came of it
       * is not kept any more (more than 65,536 characters of JSON, or forgotten) a failure that says so, with `outcome: 'done'` of one that was processed.
       */
      readonly processed: Promise<Outcome<Result>>;
    }
  | { readonly accepted: false; readonly reason: RefusalReason; readonly id?: undefined };

/**
 * Why a session takes no message now. `stopped`: its gateway stops or is stopped, or its start has failed and was not tried again. `closed`: it was closed, or let go as it was idle; named again by its id it goes on. `owned_elsewhere`: it lives in another process, and the store (a file) has no way there. `unavailable`: the
 * PostgreSQL database is out of reach, which knows whose the session is. Where the connection broke in the middle of a commit the message may be
 * delivered all the same, so send it again under the same key.
 */
export type RefusalReason = 'mailbox_full' | 'stopped' | 'closed' | 'owned_elsewhere' | 'unavailable';

/** An accepted message on its way. */
export interface Envelope {
  readonly id: string;
  readonly number: number;
  readonly message: Message;
  /** Message that it was when it was first accepted, of a dead letter that is sent again. */
  readonly first: FirstMessage | undefined;
  /** Deliveries that did not end, of earlier runs and under earlier names. */
  readonly deliveries: number;
  readonly processed: Promise<Outcome<unknown>>;
  readonly settle: (outcome: Outcome<unknown>) => void;
  /** On the monotonic clock, in ms; of one of an earlier run, when it was taken up. */
  readonly acceptedAt: number;
  /** True where others may wait for its end: it came as mail, or has a key by which a mail may have joined it. */
  readonly isMail: boolean;
  /** Work that was under way where it was sent, for who follows its turn. */
  readonly origin?: unknown;
  /** Absent for one that is not in the ledger: nothing is kept, or was not when it came. */
  kept: Promise<Kept> | undefined;
}

/** @param session - id of the session, the first part of the message's. */
export function makeEnvelope(
  session: string,
  name: MessageName,
  message: Message,
  {
    acceptedAt,
    deliveries = 0,
    isMail = false,
    key,
    origin,
  }: Pick<Envelope, 'acceptedAt'> &
    Partial<Pick<Envelope, 'deliveries' | 'isMail' | 'origin'>> & { readonly key?: string | undefined },
): Envelope {
  const first = firstMessage(key);
  let settle: (outcome: Outcome<unknown>) => void = () => undefined;
  const processed = new Promise<Outcome<unknown>>((resolve) => {
    settle = resolve;
  });
  return {
    id: messageId(session, name),
    number: name.number,
    message,
    first,
    deliveries: deliveries + (first?.begun ?? 0),
    processed,
    settle,
    acceptedAt,
    isMail,
    origin,
    kept: undefined,
  };
}
