import type { CheckedSessionOptions } from './sessionOptions.ts';
import { withoutSecrets } from './toolResult.ts';
import type { Outcome } from '../policy/failures/failure.ts';
import { show } from '../policy/options/options.ts';
import type { Envelope } from './acceptance.ts';
import { lateGiven, lostCallResult, recoveredFacts } from './lostCall.ts';
import { OpenCalls } from './openCalls.ts';
import type { Message, MessageName, NamedMessage } from './mailbox.ts';
import {
  type Claim,
  type Kept,
  maxKeys,
  type Past,
  type Recovered,
  type RecoveryLimits,
  type Resend,
  type SessionLedger,
  type SessionStore,
  type StoredEnd,
  type TurnEnd,
} from './sessionStore.ts';
import type { IncomingMail } from './sessionMail.ts';
import type { SessionScope } from './sessionScope.ts';
import type { SessionWhy } from './why.ts';

/** Steps of the session about what is kept of it. */
interface PersistenceOwner {
  /** The session is this runtime's, with what an earlier one left of it to go on with. */
  readonly claimed: (recovered: Recovered) => void;
  /** Receives what else is kept of it, once read; undefined when it cannot be. */
  readonly recalled: (past: Past | undefined) => void;
  /** Another runtime has claimed the session. */
  readonly lost: () => void;
}

/** Place where a session is claimed again. */
export interface Claims {
  /** The session has been taken over, and is to be claimed again some time. */
  readonly again: () => void;
  /** A message has come for a session that is held: it may be free by now. Resolves when that is known. */
  readonly ask: (session: string) => Promise<void>;
  /** Lost calls of the session that its runtime has answered before it claims it. @defaultValue none */
  readonly answered?: ((session: string) => number) | undefined;
}

/** Store on which sessions are opened. */
export interface Opened {
  readonly store: SessionStore;
  readonly claims: Claims;
}

/** Claim of a session that is this runtime's now. */
export type FreeClaim = Extract<Claim, { held: false }>;

/** Part of a session that is recovered with its claim. @param answered - lost calls of it that were answered before. */
export function recoveryLimits(
  session: string,
  { clock, tools, facts }: Pick<SessionScope, 'clock' | 'tools' | 'facts'>,
  { historyLimit, recovery }: Pick<CheckedSessionOptions, 'historyLimit' | 'recovery'>,
  answered: number,
): RecoveryLimits {
  const wallNow = clock.wallNow();
  return {
    ...recovery,
    ...{ wallNow, historyLimit },
    answer: (call) => lostCallResult(call, wallNow),
    facts: (recovered) => recoveredFacts(session, recovered, answered).map((fact) => facts.masked(fact)),
    keeps: (call) => tools.canRecover(call),
  };
}

/** A message that was accepted under a key. */
interface Known extends MessageName {
  /** Its end, while that is not on record. */
  processed?: Promise<Outcome<unknown>> | undefined;
  readonly kept: Promise<Kept> | undefined;
}

/** Dealings of a session with the store: whose it is, and what is written of it. Without a store it does nothing. */
export class Persistence {
  /** Resolves when the session is open; undefined once it is. Written here alone, as what follows. */
  opening: Promise<void> | undefined = undefined;
  /** True while the session belongs to another runtime. */
  held = false;
  /** The rows of this session, while it is this runtime's. */
  ledger: SessionLedger | undefined = undefined;
  /** Resolves when it is known what became of the calls that were left open; undefined where none was. */
  settling: Promise<void> | undefined = undefined;
  readonly #scope: SessionScope;
  readonly #owner: PersistenceOwner;
  /** Made with the first key: most sessions have none. */
  #keys: Map<string, Known> | undefined = undefined;
  #wanted: boolean;
  /** Rest that the claim has left unread. */
  #past: Pick<FreeClaim, 'past'> | undefined = undefined;
  /** True once turns were made without it, as it could not be read. */
  #wentOn = false;
  #claiming: Promise<void> | undefined = undefined;
  #handsOver = false;
  /** While it is given back. */
  #giving: Promise<void> | undefined = undefined;
  /** Calls that an earlier gateway left open, where it left any. */
  #openCalls: OpenCalls | undefined = undefined;
  /** Messages that go on when it is known what became of those calls. */
  #withheld = 0;
  #claims: Claims | undefined = undefined;
  #store: SessionStore | undefined = undefined;
  #open: () => void = () => undefined;

  /** @param wanted - whether the session is to be kept, and has to be opened first. */
  constructor(wanted: boolean, scope: SessionScope, owner: PersistenceOwner) {
    this.#wanted = wanted;
    this.#scope = scope;
    this.#owner = owner;
    this.opensLater();
  }

  /** True while the session is to be kept and is not this runtime's. */
  get unclaimed(): boolean {
    return this.#wanted && this.ledger === undefined && this.#giving === undefined;
  }

  /** @throws TypeError when a message that is to be kept cannot be. */
  check(message: Message): void {
    const { data } = message;
    if (!this.#wanted || data === undefined || typeof data === 'string') return;
    try {
      if (JSON.stringify(data) !== undefined) return;
    } catch {
      // Cycles and numbers beyond JSON: said below.
    }
    throw new TypeError(`Expected \`message.data\` to be JSON, as the session is kept, got ${show(data)}`);
  }

  /** The message that was accepted under a key. */
  known(key: string): Known | undefined {
    return this.#keys?.get(key);
  }

  /** Notes how the message of a key ends. Of one that is kept the record tells of it then. */
  follow(key: string | undefined, { processed, kept }: Pick<Envelope, 'processed' | 'kept'>): void {
    const known = key === undefined ? undefined : this.#keys?.get(key);
    if (known === undefined) return;
    known.processed = processed;
    if (kept !== undefined) void processed.then(() => delete known.processed);
  }

  /** Reads how a message ended. */
  async messageEnd(message: NamedMessage): Promise<StoredEnd | null | undefined> {
    return this.#store?.messageEnd === undefined ? null : this.#store.messageEnd(this.#scope.id, message);
  }

  post({ number, message }: Envelope, key: string | undefined): Promise<Kept> | undefined {
    const posted = this.ledger?.post({ number, message, key, at: this.#scope.clock.wallNow() });
    if (key === undefined) return posted;
    const kept = posted?.then((what) => {
      if (this.isUnkept(what) && this.#keys?.get(key)?.kept === kept) this.#keys?.delete(key);
      return what;
    });
    this.#remember(key, { number, kept });
    return kept;
  }

  /**
   * Tells whether a message that this became of is not this session's: its number may be another message's, as any of several runtimes gives it out that owns
   * the session next.
   */
  isUnkept(kept: Kept): boolean {
    return kept === 'fenced' || (kept === 'volatile' && this.#handsOver);
  }

  /** Keeps the new message of a dead letter; undefined where the session is not kept here now. Its key is its message's once that is durable. */
  resend(letter: Resend): Promise<Kept> | undefined {
    const ledger = this.ledger;
    if (ledger === undefined) return undefined;
    const { key } = letter;
    const kept = ledger.resend(letter).then((what) => {
      if (what !== 'durable') this.#keys?.delete(key);
      return what;
    });
    this.#remember(key, { number: letter.number, kept });
    return kept;
  }

  /** Takes a mail as a message of this number, or joins it to the one that has its key. */
  takeMail({ mail, key }: IncomingMail, number: number): Promise<Kept> | undefined {
    const known = key === undefined ? undefined : this.#keys?.get(key);
    const kept = this.ledger?.takeMail?.({ mail, number: known?.number ?? number, joins: known !== undefined });
    if (kept === undefined || key === undefined || known !== undefined) return kept;
    this.#remember(key, { number, mail, kept });
    return kept.then((what) => {
      if (what !== 'durable') this.#keys?.delete(key);
      return what;
    });
  }

  /** Writes a message's end; undefined for one that is not in the ledger. */
  end(
    { number, kept, isMail }: Envelope,
    end: TurnEnd,
    error: string | undefined,
    outcome?: Outcome<unknown>,
  ): Promise<Kept> | undefined {
    if (kept === undefined) return undefined;
    if (end === 'put_back' || end === 'not_begun') return this.ledger?.putBack(number, end === 'put_back');
    const { clock, clean } = this.#scope;
    const failed = outcome?.ok === false ? withoutSecrets(outcome.failure, clean) : undefined;
    const told = failed === undefined ? outcome : { ok: false as const, failure: failed };
    // It is for people: no caller is given it back, and it may quote what the turn had at hand.
    const said = error === undefined ? undefined : clean(error);
    return this.ledger?.finish(number, end, clock.wallNow(), said, isMail ? told : undefined);
  }

  /**
   * Claims the session; one that is being claimed is waited for. While a live runtime is known to have it, it stays with that one.
   * @param made - what came of a claim of it that was made while it slept.
   */
  async open(opened: Opened, limits: RecoveryLimits, made?: { readonly claim: Claim | undefined }): Promise<void> {
    if (!this.unclaimed) {
      if (made?.claim?.held === false) await made.claim.ledger.release();
      return;
    }
    this.#join(opened);
    const claiming = async () =>
      this.#take(made ? made.claim : await opened.store.claim(this.#scope.id, limits), limits.facts);
    this.#claiming ??= claiming().finally(() => {
      this.#claiming = undefined;
    });
    await this.#claiming;
  }

  /** Goes on at once with a claim that was made while the session slept, of which nothing has to go on. */
  wake(opened: Opened, claim: FreeClaim): void {
    this.#join(opened);
    this.#take(claim, () => []);
    this.opened();
  }

  #join({ store, claims }: Opened): void {
    this.#store = store;
    this.#claims = claims;
    this.#handsOver = store.handsOver === true;
  }

  #take(claim: Claim | undefined, factsOf: RecoveryLimits['facts']): void {
    const { id: session, facts } = this.#scope;
    if (claim === undefined) {
      // Nobody can say whose it is: of several nodes another one may own it.
      if (this.#handsOver) this.held = true;
      return;
    }
    if (claim.held) {
      if (!this.held) facts.tell({ type: 'session.held', session, by: claim.by });
      this.held = true;
      return;
    }
    this.held = false;
    const { ledger } = claim;
    this.ledger = ledger;
    this.#past = claim;
    this.#wentOn = false;
    const { recovered } = claim;
    for (const fact of factsOf(recovered)) facts.tell(fact, true);
    if (recovered.open.length === 0) this.#owner.claimed(recovered);
    else this.settling = this.#settleOpen(ledger, recovered);
    ledger.watch?.(() => this.#fenced(ledger));
  }

  /** Calls of an earlier gateway that are open still, and how many messages wait for that; undefined where none is. */
  get recovering(): { readonly calls: NonNullable<SessionWhy['recovering']>; readonly waiting: number } | undefined {
    if (this.settling === undefined) return undefined;
    return { calls: this.#openCalls?.why() ?? [], waiting: this.#withheld };
  }

  /** The session goes on when its calls have their answers: a handler may look at them. */
  async #settleOpen(ledger: SessionLedger, recovered: Recovered): Promise<void> {
    this.#withheld = recovered.waiting.length;
    this.#openCalls = new OpenCalls(this.#scope);
    await this.#openCalls.settle(ledger, recovered.open);
    this.#withheld = 0;
    this.settling = undefined;
    if (this.ledger === ledger) this.#owner.claimed(recovered);
  }

  /** Tells whether the session is this runtime's, or free, now that a message has come for it. Its owner may have ended since it was asked last. */
  async canTake(): Promise<boolean> {
    if (this.held) await this.#claims?.ask(this.#scope.id);
    return !this.held;
  }

  /** Reads what the claim has left unread, for readers of the history. What cannot be read now may be read the next time. */
  recall(): void {
    // Calls that are settled now belong into it.
    if (this.#wentOn || this.settling !== undefined) return;
    const past = this.#past?.past(this.#scope.historyLimit);
    if (past === undefined) return;
    this.#past = undefined;
    const { tools, clock } = this.#scope;
    const { ledger } = this;
    for (const row of past.kept ?? [])
      tools.restoreKept(row, clock.wallNow(), () => void ledger?.reconciled(row.call, lateGiven, clock.wallNow()));
    for (const [key, number, mail] of past.keys) this.#remember(key, { number, mail, kept: durable });
    this.#owner.recalled(past);
  }

  /** The same before the session goes on: for the next message now is the time. */
  goOn(): void {
    this.recall();
    if (this.#past === undefined || this.#wentOn) return;
    this.#wentOn = true;
    this.#owner.recalled(undefined);
  }

  /** Forgets turns before this one; never what could not be read. */
  forget(beforeTurn: number): void {
    if (this.#past === undefined) this.ledger?.forget(beforeTurn);
  }

  /** Has messages wait until the session is open. One that is not kept needs no opening. */
  opensLater(): void {
    if (!this.#wanted) return;
    this.opening = new Promise((resolve) => {
      this.#open = resolve;
    });
  }

  /** Lets the waiting messages in, whatever came of the claim. */
  opened(): void {
    this.opening = undefined;
    this.#open();
  }

  /** There is no store to keep the session in. */
  goUnkept(): void {
    this.#wanted = false;
    this.opened();
  }

  /** Gives the session up, which the runtime itself goes on without. */
  async release(): Promise<void> {
    const ledger = this.ledger;
    this.leave();
    await ledger?.release();
  }

  /** The session goes on nowhere but at another runtime: it may do so now, where others can be told. */
  handOver(): void {
    if (this.#handsOver && this.settling === undefined) void this.release();
  }

  /** Gives the session up for another runtime to take; it stays wanted here. @returns whether it was this runtime's, and nothing of it is settled now. */
  giveBack(): boolean {
    const ledger = this.ledger;
    if (ledger === undefined || this.settling !== undefined) return false;
    this.#forgetClaim();
    // Until then it would be claimed again as our own.
    this.#giving = ledger.release().then(() => {
      this.#giving = undefined;
      if (this.unclaimed) this.#claims?.again();
    });
    return true;
  }

  /** Writes nothing any more. A runtime that has left the store holds no session: it does not say so of each of very many. */
  leave(): void {
    this.#wanted = false;
    this.ledger = undefined;
    this.#past = undefined;
  }

  /** A turn of an earlier claim may still write under the fence of that one. */
  #fenced(ledger: SessionLedger): void {
    if (this.ledger !== ledger) return;
    this.#forgetClaim();
    this.#scope.facts.tell({ type: 'session.taken_over', session: this.#scope.id });
    this.#owner.lost();
    this.#claims?.again();
  }

  #forgetClaim(): void {
    this.ledger = undefined;
    this.#past = undefined;
    this.held = true;
    // The other runtime is to know what was accepted under them; a message of which it never heard may be sent again.
    this.#keys = undefined;
  }

  #remember(key: string, known: Known): void {
    const keys = (this.#keys ??= new Map<string, Known>());
    keys.set(key, known);
    if (keys.size <= maxKeys) return;
    const [oldest] = keys.keys();
    if (oldest !== undefined) keys.delete(oldest);
  }
}

const durable: Promise<Kept> = Promise.resolve('durable');
