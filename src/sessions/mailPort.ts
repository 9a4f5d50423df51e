import { type Acceptance, makeEnvelope } from './acceptance.ts';
import type { Message } from './mailbox.ts';
import { Outbox } from './outbox.ts';
import type { Persistence } from './persistence.ts';
import type { IncomingMail, Mailed, MailReceiver, SessionMail } from './sessionMail.ts';
import type { SessionScope } from './sessionScope.ts';
import type { Kept } from './sessionStore.ts';

interface MailPortParts {
  readonly scope: SessionScope;
  readonly persistence: Persistence;
  /** The number of the next message. */
  readonly nextNumber: () => number;
}

/** Mail of other runtimes that comes to a session, and what this one sends while the session is another's. */
export class MailPort implements MailReceiver {
  readonly #parts: MailPortParts;
  readonly #mail: SessionMail;
  #outbox: Outbox | undefined = undefined;
  /** Mails that are being taken. */
  readonly #taking = new Map<number, Promise<unknown>>();
  /** Resolves when the mail that came last is in the mailbox, or is known not to be. */
  #placed: Promise<unknown> = Promise.resolve();
  #closed = false;

  constructor(mail: SessionMail, parts: MailPortParts) {
    this.#mail = mail;
    this.#parts = parts;
  }

  get isTaking(): boolean {
    return this.#taking.size > 0;
  }

  /** Makes a message wait that would overtake one which was sent as mail before it; undefined where it would not. */
  inLine(send: () => Promise<Acceptance>): Promise<Acceptance> | undefined {
    return this.#outbox?.overtakes === true ? this.#outbox.inLine(send) : undefined;
  }

  /** Leaves a message for the runtime that has the session. */
  send(message: Message, key: string | undefined): Promise<Acceptance | Exclude<Mailed, { mailed: 'kept' }>> {
    const { scope, persistence } = this.#parts;
    this.#outbox ??= new Outbox(scope, this.#mail, {
      held: () => persistence.held,
      taken: () => Promise.all(this.#taking.values()),
    });
    return this.#outbox.post(message, key);
  }

  receive(mails: readonly IncomingMail[]): boolean {
    const { persistence, scope } = this.#parts;
    const { mailbox } = scope;
    // Messages that an earlier run left come first.
    const isOpen = persistence.opening === undefined && persistence.settling === undefined;
    if (this.#closed || persistence.ledger === undefined || !isOpen) return false;
    persistence.goOn();
    for (const mail of mails) {
      if (this.#taking.has(mail.mail)) continue;
      if (mailbox.length + this.#taking.size >= mailbox.limit) return false;
      const taken = this.#take(mail, this.#placed).then(() => this.#taking.delete(mail.mail));
      this.#taking.set(mail.mail, taken);
      this.#placed = taken;
    }
    return true;
  }

  /** Takes no mail any more; senders are not told how their messages end. */
  close(): void {
    this.#closed = true;
    this.#outbox?.close();
  }

  /** Makes a message of a mail. It is in the mailbox, behind the mail before it, and may be begun, when that is committed. Never rejects. */
  async #take(mail: IncomingMail, before: Promise<unknown>): Promise<void> {
    const { scope, persistence, nextNumber } = this.#parts;
    const { id: session, mailbox, clock } = scope;
    const { ledger } = persistence;
    const joins = mail.key !== undefined && persistence.known(mail.key) !== undefined;
    const number = joins ? 0 : nextNumber();
    const taking = persistence.takeMail(mail, number);
    await before;
    const kept = await taking;
    // A mail that joins another is answered with it. A mail that is not begun here is begun by who has the session next.
    if (kept !== 'durable' || joins || this.#closed || persistence.ledger !== ledger) return;
    const name = { number, mail: mail.mail };
    const envelope = makeEnvelope(session, name, mail.message, { acceptedAt: clock.now(), isMail: true });
    envelope.kept = durable;
    mailbox.add(envelope);
    scope.dispatch({ type: 'message.arrived' });
  }
}

const durable: Promise<Kept> = Promise.resolve('durable');
