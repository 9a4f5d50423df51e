import type { Outcome } from '../policy/failure.ts';
import type { Acceptance } from './acceptance.ts';
import type { Message } from './mailbox.ts';
import { messageId } from './messageId.ts';
import type { Mailed, SessionMail } from './sessionMail.ts';
import type { SessionScope } from './sessionScope.ts';
import { sessionFailure, turnEnds } from './turnEnds.ts';

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
