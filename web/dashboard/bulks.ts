import { type Clock, type OrderResult, notDone } from '../../src/policy/face.ts';
import type { Order } from '../../operator/order.ts';
import { BulkOrder } from '../../operator/bulkOrder.ts';
import type { BulkLine } from './snapshot.ts';

interface BulksOptions {
  readonly clock: Clock;
  /** Never rejects. */
  readonly give: (order: Order) => Promise<OrderResult>;
  /** Told after each one that was given, and of the end. Must not throw. */
  readonly progressed: () => void;
}

/** Time in ms that an order on many is shown after its end. */
const shownMs = 600_000;

/** The order on many of a dashboard: one at a time, so that two of them are no faster than one. */
export class Bulks {
  readonly #options: BulksOptions;
  #last: { readonly about: Pick<BulkLine, 'key' | 'order' | 'by' | 'startedAt'>; readonly bulk: BulkOrder } | undefined;
  #number = 0;
  #endedAt = Number.POSITIVE_INFINITY;

  constructor(options: BulksOptions) {
    this.#options = options;
  }

  /** The one that runs, or else the last one for ten minutes after its end. */
  get lines(): readonly BulkLine[] {
    if (this.#last === undefined || this.#options.clock.wallNow() - this.#endedAt > shownMs) return [];
    return [{ ...this.#last.about, ...this.#last.bulk.progress }];
  }

  /** Begins. @param orders - at least one, all of them the same order by the same person. */
  begin(orders: readonly Order[]): OrderResult {
    const { clock, give, progressed } = this.#options;
    const [first] = orders;
    if (first === undefined) return notDone('Nothing was chosen: nothing was done.');
    if (this.#last?.bulk.progress.state === 'running')
      return notDone('Another order on many is under way: wait for its end, or stop it.');
    const startedAt = Math.round(clock.wallNow());
    const about = { key: `${startedAt} ${++this.#number}`, order: first.order, by: first.by, startedAt };
    this.#endedAt = Number.POSITIVE_INFINITY;
    const ended = ({ state }: Pick<BulkLine, 'state'>): void => {
      if (state !== 'running') this.#endedAt = clock.wallNow();
      progressed();
    };
    this.#last = { about, bulk: new BulkOrder(orders, { clock, give, progressed: ended }) };
    return { ok: true, text: `Begun: ${orders.length}, two a second.` };
  }

  /** Gives no further one of it. */
  stop(key: string): OrderResult {
    if (this.#last?.about.key !== key || this.#last.bulk.progress.state !== 'running')
      return notDone('It is over: there is nothing to stop.');
    this.#last.bulk.stop();
    return { ok: true, text: 'Stopped: no further one is given.' };
  }

  close(): void {
    this.#last?.bulk.stop();
  }
}
