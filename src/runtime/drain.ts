import type { Deadline, DeadlineQueue } from '../calls/deadlineQueue.ts';
import type { DrainOrder } from '../calls/draining.ts';
import type { Clock } from '../policy/clock.ts';

/** Subject of a drain. */
interface Drained {
  readonly clock: Pick<Clock, 'now' | 'nextTurn'>;
  readonly deadlines: DeadlineQueue;
  /** Tells all parts what is ordered. */
  readonly tell: (order: DrainOrder) => void;
  /** Tells whether one of them is busy. */
  readonly isBusy: () => boolean;
}

/** The time in which what is under way may end by itself. */
export class Drain {
  readonly #drained: Drained;
  readonly #deadline: Deadline = { due: Number.POSITIVE_INFINITY, heapIndex: -1, expire: () => this.#finish() };
  #since: number | undefined = undefined;
  #looking = false;
  #over = false;
  #finish: () => void = () => undefined;

  constructor(drained: Drained) {
    this.#drained = drained;
  }

  get begun(): boolean {
    return this.#since !== undefined;
  }

  /** Time when it began, in monotonic ms; undefined before. */
  get since(): number | undefined {
    return this.#since;
  }

  /** Time when what is under way is cut, in monotonic ms; undefined before its begin. */
  get until(): number | undefined {
    return this.begun ? this.#deadline.due : undefined;
  }

  /** Resolves when nothing is under way any more, or the time is over. Never rejects. */
  begin(ms: number): Promise<void> {
    const { clock, deadlines } = this.#drained;
    this.#since = clock.now();
    return new Promise((resolve) => {
      this.#finish = () => {
        this.#over = true;
        deadlines.remove(this.#deadline);
        resolve();
      };
      this.#endBy(clock.now() + ms);
      this.#ended();
    });
  }

  /** The time is over in so many ms at the latest; it is never made longer. */
  shorten(ms: number): void {
    const until = this.#drained.clock.now() + ms;
    if (!this.begun || this.#over || until >= this.#deadline.due) return;
    if (ms === 0) this.#finish();
    else this.#endBy(until);
  }

  #endBy(until: number): void {
    const deadline = this.#deadline;
    deadline.due = Math.ceil(until);
    this.#drained.deadlines.set(deadline);
    // As of when it is asked: a listener that hears of a first end may shorten it, before all parts are told.
    const order = {
      since: this.#since,
      get until() {
        return deadline.due;
      },
      ended: () => this.#ended(),
    };
    this.#drained.tell(order);
  }

  /** Lets one end lead to another's begin within a turn: a call to the next of its turn, a run to its next backend. */
  #ended(): void {
    if (this.#looking || this.#over) return;
    this.#looking = true;
    this.#drained.clock.nextTurn(() => {
      this.#looking = false;
      if (!this.#drained.isBusy()) this.#finish();
    });
  }
}
