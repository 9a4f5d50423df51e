import type { Clock } from '../../policy/clock.ts';
import type { FailureFacts } from '../../policy/failures/failure.ts';

/** Least limit on a restart, in ms. */
const leastMs = 5000;
/** A restart may take so many times as long as the slowest start that worked. */
const allowance = 3;

/**
 * The limit on each start of a process that is kept alive. The first start may take long, for example while its package is fetched. A
 * restart that hangs keeps calls waiting, so its limit is shorter: 5 s, or three times the slowest start that worked where that is more.
 * Each start that the limit cut off doubles it, so that a slow process comes up too: the first to 3 min where its limit is less. That of
 * a restart is never above the limit under which the first one worked.
 */
export class StartLimit {
  readonly #clock: Pick<Clock, 'now'>;
  readonly #firstMs: number;
  /** Limit on the start that began last, while none has worked. */
  #mostMs: number;
  #begunAt: number | undefined = undefined;
  #slowestMs: number | undefined = undefined;
  #cut = 0;

  /** @param firstMs - limit on the first start, in ms. */
  constructor(clock: Pick<Clock, 'now'>, firstMs: number) {
    this.#clock = clock;
    this.#firstMs = firstMs;
    this.#mostMs = firstMs;
  }

  /** A start begins. @returns its limit, in ms. */
  begins(): number {
    this.#begunAt = this.#clock.now();
    if (this.#slowestMs === undefined) {
      this.#mostMs = Math.max(this.#firstMs, Math.min(this.#firstMs * 2 ** this.#cut, commandHandshakeMs));
      return this.#mostMs;
    }
    return Math.min(this.#mostMs, Math.max(leastMs, allowance * this.#slowestMs) * 2 ** this.#cut);
  }

  /** The start that began last worked; told again, it says nothing more. */
  worked(): void {
    if (this.#begunAt === undefined) return;
    this.#slowestMs = Math.max(this.#slowestMs ?? 0, this.#clock.now() - this.#begunAt);
    this.#begunAt = undefined;
    this.#cut = 0;
  }

  /** The process is lost, or did not come up. */
  lost({ reason }: Pick<FailureFacts, 'reason'>): void {
    if (this.#begunAt !== undefined && reason === 'init_timeout') this.#cut++;
    this.#begunAt = undefined;
  }
}

/** Default limit in ms on the start of a command that somebody configured, for whom nobody waits: its package may be fetched first. */
export const commandHandshakeMs = 180_000;

/** The same of a remote server: where it is known to be, it takes no longer than it takes to connect. */
export const remoteHandshakeMs = 30_000;
