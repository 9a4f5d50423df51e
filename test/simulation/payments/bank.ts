import type { Clock } from '../../../src/policy/clock.ts';
import { AttemptError } from '../../../src/policy/failures/failure.ts';
import type { Chance } from '../chance.ts';

/** What the bank is asked to do. */
export interface Charge {
  readonly reference: string;
  readonly amount: number;
  readonly key?: string | undefined;
}

/** An effect: a payment that was made. */
export interface Payment extends Charge {
  readonly id: string;
  /** By the bank's wall clock. */
  readonly at: number;
  /** The request that made it. */
  readonly request: BankRequest;
}

/** One request as the bank has it: it may act on it long after the answer was lost. */
export interface BankRequest {
  readonly charge: Charge;
  /** The call of the session that sent it. */
  readonly call: string;
  payment: Payment | undefined;
}

/** How the bank answers: well, not before it loses the connection, after a long time, or not at all. */
export type BankMood = 'well' | 'lossy' | 'slow' | 'refusing' | 'mad';

/** When a bank acts after its answer is lost, and how long what it did is not listed, in ms. */
export interface BankBounds {
  readonly actsWithinMs: number;
  readonly listsWithinMs: number;
  readonly honoursKeys: boolean;
  /** How far its wall clock is behind. */
  readonly clockBehindMs: number;
}

const lost = (): AttemptError =>
  new AttemptError({ kind: 'crash', message: 'The connection broke', outcome: 'unknown' });
const refused = (): AttemptError =>
  new AttemptError({ kind: 'overloaded', message: 'Come again later', outcome: 'failed' });

interface Pending {
  readonly request: BankRequest;
  /** Nothing of it happens after this. */
  lastAt: number;
  readonly lose: () => void;
}

/** A server with a ledger of its own, which loses answers before or after it has acted. */
export class Bank {
  mood: BankMood = 'well';
  readonly bounds: BankBounds;
  readonly payments: Payment[] = [];
  readonly #clock: Clock;
  readonly #chance: Chance;
  readonly #paid: (payment: Payment) => void;
  readonly #pending = new Set<Pending>();

  constructor(clock: Clock, chance: Chance, bounds: BankBounds, paid: (payment: Payment) => void) {
    this.#clock = clock;
    this.#chance = chance;
    this.bounds = bounds;
    this.#paid = paid;
  }

  /** Asks for a payment. */
  charge(request: BankRequest, signal: AbortSignal): Promise<Payment> {
    const chance = this.#chance;
    const { actsWithinMs } = this.bounds;
    if (chance.happens(this.mood === 'refusing' ? 0.8 : 0.03)) return Promise.reject(refused());
    return new Promise((resolve, reject) => {
      const pending: Pending = { request, lastAt: Number.POSITIVE_INFINITY, lose: () => reject(lost()) };
      this.#pending.add(pending);
      const isBad = this.mood === 'lossy' || this.mood === 'mad';
      const acts = chance.happens(isBad ? 0.6 : 0.95);
      const actsInMs = chance.span(1, this.mood === 'slow' ? 40_000 : 300);
      const act = (): void => {
        if (!this.#pending.has(pending) || this.#clock.now() > pending.lastAt) return;
        const payment = this.#act(request);
        if (!chance.happens(isBad ? 0.5 : 0.05)) this.#clock.setTimeout(() => resolve(payment), chance.span(1, 500));
        else if (chance.happens(0.7)) this.#clock.setTimeout(pending.lose, chance.span(1, 500));
      };
      if (acts) this.#clock.setTimeout(act, actsInMs);
      if (chance.happens(isBad ? 0.4 : 0.02)) {
        this.#clock.setTimeout(
          () => {
            this.#lastAt(pending, actsWithinMs);
            pending.lose();
          },
          chance.span(1, 5000),
        );
      }
      // Who does not wait any longer is answered, or not; the bank acts on it no later than it says.
      const left = (): void => {
        if (chance.happens(0.3)) this.#pending.delete(pending);
        else this.#lastAt(pending, actsWithinMs);
        if (chance.happens(0.5)) reject(signal.reason as Error);
      };
      if (signal.aborted) left();
      else signal.addEventListener('abort', left, { once: true });
    });
  }

  /** The answers of all that is under way are lost; what it does about it, it does within its bound. */
  loseAll(): void {
    for (const pending of this.#pending) {
      this.#lastAt(pending, this.bounds.actsWithinMs);
      pending.lose();
    }
  }

  /** Who asked has ended; nobody is answered any more. */
  callerEnded(): void {
    for (const pending of this.#pending) this.#lastAt(pending, this.bounds.actsWithinMs);
  }

  /** Its process ends, and with it all that it would have done. */
  end(): void {
    this.#pending.clear();
  }

  /** What it lists now: what it did a moment ago may be missing. */
  list(isCurrent: boolean): Payment[] {
    const lagMs = isCurrent ? 0 : this.bounds.listsWithinMs;
    const now = this.#clock.wallNow() - this.bounds.clockBehindMs;
    return this.payments.filter(({ at }) => at <= now - lagMs);
  }

  #lastAt(pending: Pending, inMs: number): void {
    pending.lastAt = Math.min(pending.lastAt, this.#clock.now() + inMs);
  }

  #act(request: BankRequest): Payment {
    const { charge } = request;
    const known = this.bounds.honoursKeys
      ? this.payments.find(({ key }) => key !== undefined && key === charge.key)
      : undefined;
    if (known !== undefined) return known;
    const at = this.#clock.wallNow() - this.bounds.clockBehindMs;
    const payment = { ...charge, id: `ch_${this.payments.length + 1}`, at, request };
    this.payments.push(payment);
    request.payment = payment;
    this.#paid(payment);
    return payment;
  }
}
