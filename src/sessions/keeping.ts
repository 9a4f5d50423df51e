import type { Clock } from '../policy/clock.ts';
import type { Facts } from '../policy/facts.ts';
import { show } from '../policy/options.ts';
import type { Envelope } from './acceptance.ts';
import { lostCallFact, lostCallResult } from './lostCall.ts';
import type { Message } from './mailbox.ts';
import type { Kept, MessageEnd, Recovered, RecoveryLimits, SessionLedger, SessionStore } from './sessionStore.ts';

/** Keys remembered of a session. */
const maxKeys = 10_000;

export interface KeepingParts {
  readonly session: string;
  readonly clock: Clock;
  readonly facts: Facts;
  /** Another runtime has claimed the session. */
  readonly lost: () => void;
}

/** What a session has to do with the store: whose it is, and what is written of it. Without a store it does nothing. */
export class Keeping {
  readonly #parts: KeepingParts;
  readonly #wanted: boolean;
  readonly #keys = new Map<string, number>();
  #ledger: SessionLedger | undefined = undefined;
  #held = false;
  #opening: Promise<void> | undefined = undefined;
  #open: () => void = () => undefined;

  /** @param wanted - whether the session is to be kept, and has to be opened first. */
  constructor(wanted: boolean, parts: KeepingParts) {
    this.#wanted = wanted;
    this.#parts = parts;
    if (!wanted) return;
    this.#opening = new Promise((resolve) => {
      this.#open = resolve;
    });
  }

  /** Resolves when the session is open; undefined once it is. */
  get opening(): Promise<void> | undefined {
    return this.#opening;
  }

  /** Whether the session belongs to another runtime. */
  get held(): boolean {
    return this.#held;
  }

  /** The rows of this session, while it is this runtime's. Its answers are watched: one that is fenced ends the session here. */
  get ledger(): SessionLedger | undefined {
    return this.#ledger;
  }

  /** @throws TypeError when a message that is to be kept cannot be. */
  check(message: Message): void {
    if (!this.#wanted || message.data === undefined) return;
    try {
      if (JSON.stringify(message.data) !== undefined) return;
    } catch {
      // Cycles and numbers beyond JSON: said below.
    }
    throw new TypeError(`Expected \`message.data\` to be JSON, as the session is kept, got ${show(message.data)}`);
  }

  /** The message that was accepted under a key. */
  messageOf(key: string): number | undefined {
    return this.#keys.get(key);
  }

  post({ number, message }: Envelope, key: string | undefined): Promise<Kept> | undefined {
    if (key !== undefined) this.#remember(key, number);
    return this.#ledger?.post({ number, message, key, at: this.#parts.clock.wallNow() });
  }

  end(message: number, end: MessageEnd | 'put_back', error: string | undefined): Promise<Kept> | undefined {
    if (end === 'put_back') return this.#ledger?.putBack(message);
    return this.#ledger?.finish(message, end, this.#parts.clock.wallNow(), error);
  }

  /** Claims the session. @returns what an earlier run left of it, unless it stays with another runtime. */
  async open(
    store: SessionStore,
    limits: Pick<RecoveryLimits, 'maxDeliveries' | 'maxAgeMs' | 'historyLimit'>,
  ): Promise<Recovered | undefined> {
    if (!this.#wanted) return undefined;
    const { session, clock, facts } = this.#parts;
    const wallNow = clock.wallNow();
    const claim = await store.claim(session, { ...limits, wallNow, answer: (call) => lostCallResult(call, wallNow) });
    if (claim?.held === true) {
      if (!this.#held) facts.tell({ type: 'session.held', session, by: claim.by });
      this.#held = true;
      return undefined;
    }
    this.#held = false;
    if (claim === undefined) return undefined;
    this.#ledger = this.#watched(claim.ledger);
    for (const [key, number] of claim.recovered.keys) this.#remember(key, number);
    this.#tell(claim.recovered);
    return claim.recovered;
  }

  /** Lets those in who wait, whatever came of the claim. */
  opened(): void {
    this.#opening = undefined;
    this.#open();
  }

  /** Gives the session up. */
  async release(): Promise<void> {
    const ledger = this.#ledger;
    this.#ledger = undefined;
    await ledger?.release();
  }

  #tell({ waiting, aside, lost }: Recovered): void {
    const { session, facts } = this.#parts;
    for (const { number, reason } of aside) {
      facts.tell({ type: 'session.message_aside', session, message: `${session}-m${number}`, reason });
    }
    for (const call of lost) facts.tell(lostCallFact(call));
    if (waiting.length + aside.length + lost.length === 0) return;
    const counts = { waiting: waiting.length, lostCalls: lost.length, aside: aside.length };
    facts.tell({ type: 'session.resumed', session, ...counts });
  }

  #watched(ledger: SessionLedger): SessionLedger {
    const watch = (kept: Promise<Kept>): Promise<Kept> =>
      kept.then((what) => {
        if (what === 'fenced') this.#fenced();
        return what;
      });
    return {
      ...ledger,
      post: (message) => watch(ledger.post(message)),
      putBack: (message) => watch(ledger.putBack(message)),
      finish: (message, end, wallNow, error) => watch(ledger.finish(message, end, wallNow, error)),
      open: (call) => watch(ledger.open(call)),
      settle: (call, result, seq, wallNow) => watch(ledger.settle(call, result, seq, wallNow)),
    };
  }

  #fenced(): void {
    if (this.#ledger === undefined) return;
    this.#ledger = undefined;
    this.#held = true;
    this.#parts.facts.tell({ type: 'session.taken_over', session: this.#parts.session });
    this.#parts.lost();
  }

  #remember(key: string, number: number): void {
    this.#keys.set(key, number);
    if (this.#keys.size <= maxKeys) return;
    const [oldest] = this.#keys.keys();
    if (oldest !== undefined) this.#keys.delete(oldest);
  }
}
