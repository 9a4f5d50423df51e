import type { FailureFacts, Outcome } from '../policy/failures/failure.ts';
import { type Acceptance, type Envelope, makeEnvelope, type RefusalReason } from './acceptance.ts';
import { duplicateOf, recordedOutcome } from './duplicate.ts';
import type { Persistence } from './persistence.ts';
import type { Fact } from '../policy/facts/facts.ts';
import { resendKey } from './firstMessage.ts';
import { type Message, messageId, type MessageName, type NamedMessage } from './mailbox.ts';
import { MailPort } from './mailPort.ts';
import type { MailReceiver, SessionMail } from './sessionMail.ts';
import type { SessionScope } from './sessionScope.ts';
import type { Kept, StoredDeadLetter, TurnEnd, WaitingMessage } from './sessionStore.ts';
import { sessionFailure, turnEnds } from './turnEnds.ts';

/** A dead letter that can be sent again. */
interface ReadableLetter extends Pick<StoredDeadLetter, 'number' | 'mail' | 'key' | 'deliveries'> {
  readonly message: Message;
}

/** Outcome of sending it: its new message, made now or by an earlier order, or why there is none. */
type Resent = { readonly id: string; readonly isFirst: boolean } | { readonly refused: RefusalReason | 'not_kept' };

/** Tells whether others may wait for the end of a message. */
const isMail = ({ mail }: MessageName, key: string | undefined): boolean => mail !== undefined || key !== undefined;

const durable: Promise<Kept> = Promise.resolve('durable');

/** Entry of messages into a session, which tells their senders of their end. */
export class Intake {
  readonly #scope: SessionScope;
  readonly #persistence: Persistence;
  #lastMessage = 0;
  /** Senders that wait for the session to be opened. */
  #outside = 0;
  /** Refusals since the last one that was told; a full mailbox refuses many. */
  #refusing: RefusalReason | undefined = undefined;
  #untold = 0;
  #closed = false;
  #refusal: 'stopped' | 'closed' = 'stopped';
  /** True once the start of its runtime has failed, while nobody has tried again. */
  #isSuspended = false;
  /** Mail port, where the store has mail. */
  #mail: MailPort | undefined = undefined;

  constructor(scope: SessionScope, persistence: Persistence) {
    this.#scope = scope;
    this.#persistence = persistence;
  }

  /** Takes a message in, or says why not; of a session that is kept, once that is committed. */
  send(message: Message, key: string | undefined): Promise<Acceptance> {
    const { mailbox } = this.#scope;
    const persistence = this.#persistence;
    if (persistence.opening === undefined) return this.#admit(message, key);
    if (this.#outside >= mailbox.limit) return this.#refuse(message, 'mailbox_full');
    this.#outside++;
    return persistence.opening.then(() => {
      this.#outside--;
      return this.#admit(message, key);
    });
  }

  /**
   * Takes in the new message of a dead letter. Its handler may end the process at once: it is not begun before what was ordered is committed.
   * @param fact - tells of it, once that is known to be so.
   */
  async resend(readable: ReadableLetter, fact: (id: string) => Fact): Promise<Resent> {
    const { id: session, mailbox, clock, facts, tracing } = this.#scope;
    const persistence = this.#persistence;
    const { number: letter, message } = readable;
    const key = resendKey(readable);
    await persistence.opening;
    if (this.#refusesAll) return { refused: this.#refusal };
    if (!(await persistence.canTake())) return { refused: 'owned_elsewhere' };
    persistence.goOn();
    const known = persistence.known(key);
    if (known !== undefined)
      return (await known.kept) === 'durable'
        ? { id: messageId(session, known), isFirst: false }
        : { refused: 'not_kept' };
    if (mailbox.length >= mailbox.limit) return { refused: 'mailbox_full' };
    const number = ++this.#lastMessage;
    const origin = tracing?.tracer?.here();
    const id = messageId(session, { number });
    const told = facts.masked(fact(id));
    const { ledger } = persistence;
    const kept = await persistence.resend({ letter, number, message, key, at: clock.wallNow(), fact: told });
    if (kept === 'fenced') return { refused: 'owned_elsewhere' };
    if (kept !== 'durable') return { refused: 'not_kept' };
    facts.tell(told, true);
    // Otherwise it is delivered by who has the session next.
    if (!this.#closed && persistence.ledger === ledger) {
      const about = { acceptedAt: clock.now(), isMail: true, key, origin };
      const envelope = makeEnvelope(session, { number }, message, about);
      envelope.kept = durable;
      persistence.follow(key, envelope);
      mailbox.add(envelope);
      this.#scope.dispatch({ type: 'message.arrived' });
    }
    return { id, isFirst: true };
  }

  /** The store has mail: messages come from other runtimes, and go to the one that has the session. @returns who takes them. */
  mailBy(mail: SessionMail): MailReceiver {
    this.#mail ??= new MailPort(mail, {
      scope: this.#scope,
      persistence: this.#persistence,
      nextNumber: () => ++this.#lastMessage,
    });
    return this.#mail;
  }

  /** Leaves a message for the runtime that has the session. */
  async #sendElsewhere(message: Message, key: string | undefined): Promise<Acceptance> {
    if (this.#closed) return this.#refuse(message, this.#refusal);
    const answer = await this.#mail?.send(message, key);
    if (answer === undefined) {
      if (!this.#closed && this.#mail === undefined && (await this.#persistence.canTake()))
        return this.#admit(message, key);
      return this.#refuse(message, 'owned_elsewhere');
    }
    if ('accepted' in answer) {
      this.#refusing = undefined;
      return answer;
    }
    if (answer.mailed === 'duplicate') return this.#duplicate(answer.first);
    return this.#refuse(message, answer.mailed === 'full' ? 'mailbox_full' : 'unavailable');
  }

  /** Answers a second message of a key, with the outcome of the first for who looks for it. */
  #duplicate({ processed, ...first }: MessageName & { readonly processed?: Promise<Outcome<unknown>> | undefined }) {
    const { id: session, clock } = this.#scope;
    return duplicateOf(messageId(session, first), async () => {
      const here = await processed;
      if (here !== undefined && (here.ok || here.failure.reason !== 'taken_over')) return here;
      const named = first.mail === undefined ? { number: first.number } : { mail: first.mail };
      const read = (message: NamedMessage) => this.#persistence.messageEnd(message);
      return recordedOutcome(session, named, read, { clock, isOver: () => this.#closed });
    });
  }

  /** True while mail is being made into messages. */
  get isTaking(): boolean {
    return this.#mail?.isTaking === true;
  }

  /** True while senders wait for an answer, or for the end of a message that is another runtime's. */
  get isAwaited(): boolean {
    return this.#outside > 0 || this.#mail?.isTaking === true || this.#mail?.isAwaited === true;
  }

  /** Numbers the next message above this one. */
  numberAbove(number: number): void {
    this.#lastMessage = Math.max(this.#lastMessage, number);
  }

  /** Puts what was accepted by an earlier run first. */
  restore(waiting: readonly WaitingMessage[]): void {
    if (this.#closed || waiting.length === 0) return;
    const { mailbox, id: session, clock } = this.#scope;
    const acceptedAt = clock.now();
    mailbox.restore(
      waiting.map(({ message, deliveries, key, ...name }) => {
        const envelope = makeEnvelope(session, name, message, {
          deliveries,
          acceptedAt,
          key,
          isMail: isMail(name, key),
        });
        envelope.kept = durable;
        this.#persistence.follow(key, envelope);
        return envelope;
      }),
    );
    this.#scope.dispatch({ type: 'message.arrived' });
  }

  /** Refuses what comes, as the session ends; messages that wait are begun still. */
  refuse(): void {
    this.#closed = true;
    this.#refusal = 'closed';
    this.#mail?.close();
  }

  /** Makes dead letters of the messages that wait. @param facts - why. @returns how many. */
  bury(facts: FailureFacts): number {
    const { mailbox, id: session } = this.#scope;
    const failure = sessionFailure(session, { ...facts, outcome: 'not_started' });
    let letters = 0;
    for (const envelope of mailbox.takeAll()) {
      const isBeat = envelope.message.kind === 'heartbeat';
      if (!isBeat && envelope.kept !== undefined) letters++;
      this.end(envelope, isBeat ? 'dropped' : 'expired', { ok: false, failure });
    }
    return letters;
  }

  /** Refuses from now on; messages that wait end here, and stay in the store. */
  close(): void {
    this.#closed = true;
    this.#persistence.opened();
    this.#mail?.close();
    this.#endAll(({ kept }) =>
      kept === undefined ? { ...turnEnds.stopped, outcome: 'not_started' } : turnEnds.putBack,
    );
  }

  /** Refuses until {@link resume}; who waits for the session to be opened is refused as well. What is in the mailbox stays there. */
  suspend(): void {
    this.#isSuspended = true;
    this.#persistence.opened();
  }

  /** Senders wait again for the session to be opened. */
  resume(): void {
    if (!this.#isSuspended) return;
    this.#isSuspended = false;
    this.#persistence.opensLater();
  }

  get #refusesAll(): boolean {
    return this.#closed || this.#isSuspended;
  }

  /** Leaves what waits here to another runtime, which delivers it. */
  lose(): void {
    this.#endAll(() => turnEnds.takenOver);
  }

  /** Ends a message. Of one that is kept, its sender hears when that is committed. */
  end(envelope: Envelope, end: TurnEnd, outcome: Outcome<unknown>): void {
    const error = outcome.ok ? undefined : outcome.failure.message;
    const kept = this.#persistence.end(envelope, end, error, outcome);
    const { facts, id: session } = this.#scope;
    if (kept !== undefined && end === 'expired')
      facts.tell({ type: 'session.dead_letter', session, message: envelope.id, reason: 'closed' });
    if (kept === undefined) envelope.settle(outcome);
    else void kept.then(() => envelope.settle(outcome));
  }

  #admit(message: Message, key: string | undefined): Promise<Acceptance> {
    const inLine = this.#closed ? undefined : this.#mail?.inLine(() => this.#take(message, key));
    return inLine ?? this.#take(message, key);
  }

  /** Takes a message whose turn it is: one that asked for its place in the line again would wait for those behind it. */
  #take(message: Message, key: string | undefined): Promise<Acceptance> {
    const { id: session, mailbox, facts, clock, tracing } = this.#scope;
    const persistence = this.#persistence;
    if (this.#refusesAll) return this.#refuse(message, this.#refusal);
    if (persistence.held) return this.#sendElsewhere(message, key);
    persistence.goOn();
    const known = key === undefined ? undefined : persistence.known(key);
    if (known !== undefined) {
      // Like the first one it is answered when that is committed: its sender need not send it again.
      return this.#answer({ message, kept: known.kept }, key, () => this.#duplicate(known));
    }
    const envelope = makeEnvelope(session, { number: this.#lastMessage + 1 }, message, {
      acceptedAt: clock.now(),
      isMail: key !== undefined,
      origin: tracing?.tracer?.here(),
    });
    const posted = mailbox.post(envelope);
    if (posted.posted === 'refused') return this.#refuse(message, 'mailbox_full');
    this.#refusing = undefined;
    if (posted.posted === 'coalesced') {
      facts.tell({ type: 'session.heartbeat_dropped', session, reason: 'coalesced' });
      return this.#accept(posted.into, key);
    }
    this.#lastMessage = envelope.number;
    envelope.kept = persistence.post(envelope, key);
    persistence.follow(key, envelope);
    if (posted.dropped !== undefined) {
      facts.tell({ type: 'session.heartbeat_dropped', session, reason: 'drop_oldest' });
      this.end(posted.dropped, 'dropped', { ok: false, failure: sessionFailure(session, turnEnds.dropped) });
    }
    this.#scope.dispatch({ type: 'message.arrived' });
    return this.#accept(envelope, key);
  }

  #accept(envelope: Envelope, key: string | undefined): Promise<Acceptance> {
    const { id, processed } = envelope;
    return this.#answer(envelope, key, (durable) => ({ accepted: true, id, durable, processed }));
  }

  /** Leaves what the session could not keep, as another runtime has it, to that one; refuses what may be kept all the same, for it might be twice. */
  async #answer(
    sent: Pick<Envelope, 'message' | 'kept'>,
    key: string | undefined,
    answer: (durable: boolean) => Acceptance,
  ): Promise<Acceptance> {
    // Nothing is waited for that there is not: its sender hears of a message before the next one is taken.
    const what = sent.kept === undefined ? undefined : await sent.kept;
    if (what === undefined || !this.#persistence.isUnkept(what)) return answer(what === 'durable');
    this.#scope.mailbox.remove(sent);
    if (what === 'volatile') return this.#refuse(sent.message, 'unavailable');
    return this.#sendElsewhere(sent.message, key);
  }

  #refuse({ kind }: Message, reason: RefusalReason): Promise<Acceptance> {
    if (this.#refusing === reason) this.#untold++;
    else {
      this.#refusing = reason;
      const refused = this.#untold;
      this.#untold = 0;
      const { facts, id: session } = this.#scope;
      facts.tell({ type: 'session.refused', session, kind, reason, refused });
    }
    return Promise.resolve({ accepted: false, reason });
  }

  /** @param factsOf - why a message ends here. */
  #endAll(factsOf: (envelope: Envelope) => FailureFacts): void {
    const { mailbox, id: session } = this.#scope;
    // Most of very many sessions that are closed at once have none, and a failure has a stack.
    if (mailbox.length === 0) return;
    for (const envelope of mailbox.takeAll())
      envelope.settle({ ok: false, failure: sessionFailure(session, factsOf(envelope)) });
  }
}
