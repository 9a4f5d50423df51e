import type { Outcome } from '../policy/failures/failure.ts';
import type { Fact } from '../policy/facts/facts.ts';
import type { HistoryEntry } from './history.ts';
import type { NamedMessage } from './mailbox.ts';
import type { ToolResult } from './toolResult.ts';
import type {
  Kept,
  MessageEnd,
  Resend,
  SessionLedger,
  StoredCall,
  StoredDeadLetter,
  StoredMessage,
  StoredVerdict,
  TakenMail,
} from './sessionStore.ts';

/** A ledger that is heard: `fenced` is called for each write that was not made because another runtime has the session. */
export class WatchedLedger implements SessionLedger {
  readonly #ledger: SessionLedger;
  readonly #fenced: (ledger: SessionLedger) => void;

  constructor(ledger: SessionLedger, fenced: (ledger: SessionLedger) => void) {
    this.#ledger = ledger;
    this.#fenced = fenced;
  }

  post(message: StoredMessage): Promise<Kept> {
    return this.#heard(this.#ledger.post(message));
  }

  take(message: number, turn: number, seq: number, wallNow: number): Promise<Kept> {
    return this.#heard(this.#ledger.take(message, turn, seq, wallNow));
  }

  putBack(message: number, begun: boolean): Promise<Kept> {
    return this.#heard(this.#ledger.putBack(message, begun));
  }

  takeMail(mail: TakenMail): Promise<Kept> {
    return this.#heard(this.#ledger.takeMail?.(mail) ?? Promise.resolve('volatile'));
  }

  finish(message: number, end: MessageEnd, wallNow: number, error?: string, outcome?: Outcome<unknown>): Promise<Kept> {
    return this.#heard(this.#ledger.finish(message, end, wallNow, error, outcome));
  }

  open(call: StoredCall): Promise<Kept> {
    return this.#heard(this.#ledger.open(call));
  }

  settle(call: string, result: ToolResult, seq: number | undefined, wallNow: number): Promise<Kept> {
    return this.#heard(this.#ledger.settle(call, result, seq, wallNow));
  }

  deadLetter(message: NamedMessage): Promise<StoredDeadLetter | undefined> {
    return this.#ledger.deadLetter(message);
  }

  resend(letter: Resend): Promise<Kept> {
    return this.#heard(this.#ledger.resend(letter));
  }

  bury(message: number, wallNow: number, why: string, fact?: Fact): Promise<Kept> {
    return this.#heard(this.#ledger.bury(message, wallNow, why, fact));
  }

  reconciling(call: string, wallNow: number): Promise<Kept> {
    return this.#heard(this.#ledger.reconciling(call, wallNow));
  }

  reconciled(call: string, found: StoredVerdict, wallNow: number): Promise<Kept> {
    return this.#heard(this.#ledger.reconciled(call, found, wallNow));
  }

  forget(beforeTurn: number): void {
    this.#ledger.forget(beforeTurn);
  }

  madeOnce(message: number): Promise<readonly HistoryEntry[]> {
    return this.#ledger.madeOnce(message);
  }

  release(): Promise<void> {
    return this.#ledger.release();
  }

  async #heard(write: Promise<Kept>): Promise<Kept> {
    const kept = await write;
    if (kept === 'fenced') this.#fenced(this);
    return kept;
  }
}
