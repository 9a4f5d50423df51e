import type { Outcome } from '../policy/failures/failure.ts';
import { type Acceptance, makeEnvelope } from './acceptance.ts';
import { type Message, messageId } from './mailbox.ts';
import type { Persistence } from './persistence.ts';
import type { IncomingMail, Mailed, MailReceiver, SessionMail } from './sessionMail.ts';
import type { SessionScope } from './sessionScope.ts';
import type { Kept } from './sessionStore.ts';
import { sessionFailure, turnEnds } from './turnEnds.ts';

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

  /** True while senders wait for the end of a message that was left for another runtime. */
  get isAwaited(): boolean {
    return this.#outbox?.isAwaited === true;
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
    const envelope = makeEnvelope(session, name, mail.message, {
      acceptedAt: clock.now(),
      isMail: true,
      key: mail.key,
    });
    envelope.kept = durable;
    persistence.follow(mail.key, envelope);
    mailbox.add(envelope);
    scope.dispatch({ type: 'message.arrived' });
  }
}

const durable: Promise<Kept> = Promise.resolve('durable');

type Settle = (outcome: Outcome<unknown>) => void;

interface OutboxOwner {
  /** Tells whether the session is another runtime's. */
  readonly held: () => boolean;
  /** Resolves when the mail that is being taken here is in the mailbox. */
  readonly taken: () => Promise<unknown>;
}

/** Messages of this runtime to a session of another one, and what it is owed for that. */
export class Outbox {
  readonly #scope: SessionScope;
  readonly #mail: SessionMail;
  readonly #owner: OutboxOwner;
  /** Senders that wait to hear how their messages ended. */
  readonly #owed = new Set<Settle>();
  /** Mails of which it is not known yet whether they are kept. */
  #onTheirWay = 0;
  #posts: Promise<unknown> = Promise.resolve();
  /** True once one was kept when the session was this runtime's already: it may not be in the mailbox. */
  #isBehind = false;
  #line: Promise<void> = Promise.resolve();
  #inLine = 0;
  #closed = false;

  constructor(scope: SessionScope, mail: SessionMail, owner: OutboxOwner) {
    this.#scope = scope;
    this.#mail = mail;
    this.#owner = owner;
  }

  /** True while a message would overtake one that was sent before it. */
  get overtakes(): boolean {
    if (this.#inLine > 0) return true;
    return !this.#owner.held() && (this.#onTheirWay > 0 || this.#isBehind);
  }

  get isAwaited(): boolean {
    return this.#owed.size + this.#onTheirWay + this.#inLine > 0;
  }

  /** Sends a message when those before it are in the mailbox, or are known not to be. */
  inLine(send: () => Promise<Acceptance>): Promise<Acceptance> {
    this.#inLine++;
    this.#line = this.#line.then(() => this.#caughtUp());
    return this.#line.then(() => {
      this.#inLine--;
      return send();
    });
  }

  /** Leaves a message for the owner. @returns what became of it; an acknowledged one is answered when it has ended, or at the stop. */
  async post(message: Message, key: string | undefined): Promise<Acceptance | Exclude<Mailed, { mailed: 'kept' }>> {
    const { id: session, clock, mailbox } = this.#scope;
    let settle: Settle = () => undefined;
    const processed = new Promise<Outcome<unknown>>((resolve) => {
      settle = resolve;
    });
    const ended: Settle = (outcome) => {
      this.#owed.delete(settle);
      settle(outcome);
    };
    this.#onTheirWay++;
    const posting = this.#mail.post({ session, message, key, at: clock.wallNow(), limit: mailbox.limit, ended });
    this.#posts = Promise.all([this.#posts, posting]);
    const mailed = await posting;
    this.#onTheirWay--;
    if (mailed.mailed !== 'kept') return mailed;
    if (!this.#owner.held()) this.#isBehind = true;
    this.#owed.add(settle);
    if (this.#closed) this.close();
    return { accepted: true, id: messageId(session, { number: 0, mail: mailed.mail }), durable: true, processed };
  }

  /** Nobody is told any more how a message ends. */
  close(): void {
    this.#closed = true;
    if (this.#owed.size === 0) return;
    const failure = sessionFailure(this.#scope.id, turnEnds.unheard);
    for (const settle of this.#owed) settle({ ok: false, failure });
    this.#owed.clear();
  }

  async #caughtUp(): Promise<void> {
    while (this.#onTheirWay > 0) await this.#posts;
    if (!this.#isBehind || this.#owner.held()) return;
    this.#isBehind = false;
    await this.#mail.look();
    await this.#owner.taken();
  }
}
