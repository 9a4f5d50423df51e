import type { Clock, OrderResult, Timer } from '../src/policy/face.ts';
import type { Order } from './order.ts';

/** Progress of an order on many. */
export interface BulkProgress {
  readonly total: number;
  readonly done: number;
  readonly failed: number;
  readonly state: 'running' | 'stopped' | 'ended';
  /** Why the last one that failed was not done. */
  readonly lastError?: string | undefined;
}

interface BulkOptions {
  readonly clock: Pick<Clock, 'setTimeout' | 'clearTimeout'>;
  /** Never rejects. */
  readonly give: (order: Order) => Promise<OrderResult>;
  /** Told after each one, and of the end. Must not throw. @defaultValue nobody is told */
  readonly progressed?: ((progress: BulkProgress) => void) | undefined;
  /** Orders that begin in a second at most, above 0. @defaultValue 2 */
  readonly perSecond?: number | undefined;
}

/** An order on many: one after the other, no faster than so many a second, so that nothing is overrun by what follows from them. */
export class BulkOrder {
  /** Resolves when the last one was given, or none is given any more. Never rejects. */
  readonly ended: Promise<BulkProgress>;
  readonly #orders: readonly Order[];
  readonly #options: BulkOptions;
  #done = 0;
  #failed = 0;
  #state: BulkProgress['state'] = 'running';
  #lastError: string | undefined = undefined;
  #timer: Timer | undefined = undefined;
  #wake: () => void = () => undefined;

  constructor(orders: readonly Order[], options: BulkOptions) {
    this.#orders = orders;
    this.#options = options;
    this.ended = this.#run();
  }

  get progress(): BulkProgress {
    const lastError = this.#lastError;
    return {
      ...{ total: this.#orders.length, done: this.#done, failed: this.#failed, state: this.#state },
      ...(lastError !== undefined && { lastError }),
    };
  }

  /** Gives no further one; the one under way is carried out. */
  stop(): void {
    if (this.#state !== 'running') return;
    this.#state = 'stopped';
    this.#options.clock.clearTimeout(this.#timer);
    this.#wake();
  }

  async #run(): Promise<BulkProgress> {
    const { clock, give, progressed, perSecond = 2 } = this.#options;
    for (const [index, order] of this.#orders.entries()) {
      if (index > 0) await this.#pause(clock, 1000 / perSecond);
      if (this.#state !== 'running') break;
      const { ok, text } = await give(order);
      if (ok) this.#done++;
      else {
        this.#failed++;
        this.#lastError = text;
      }
      progressed?.(this.progress);
    }
    if (this.#state === 'running') this.#state = 'ended';
    progressed?.(this.progress);
    return this.progress;
  }

  #pause(clock: BulkOptions['clock'], ms: number): Promise<void> {
    if (this.#state !== 'running') return Promise.resolve();
    return new Promise((resolve) => {
      this.#wake = resolve;
      this.#timer = clock.setTimeout(resolve, ms, { ref: true });
    });
  }
}
