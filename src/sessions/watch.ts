import type { Clock } from '../policy/clock.ts';
import type { Deadline, DeadlineQueue } from '../calls/deadlineQueue.ts';

/**
 * The watchdog of a turn: fires when nothing has progressed for its limit outside any tool call. Progress only notes the time;
 * the place in the queue is moved when it is looked at.
 */
export class TurnWatch implements Deadline {
  due: number;
  heapIndex = -1;
  /** Tool calls of the turn that are pending: they have limits of their own. */
  pendingCalls = 0;
  #progressAt: number;
  readonly #limitMs: number;
  readonly #clock: Clock;
  readonly #queue: DeadlineQueue;
  readonly #fired: () => void;

  constructor(limitMs: number, clock: Clock, queue: DeadlineQueue, fired: () => void) {
    this.#limitMs = limitMs;
    this.#clock = clock;
    this.#queue = queue;
    this.#fired = fired;
    this.#progressAt = clock.now();
    this.due = this.#progressAt + limitMs;
    queue.set(this);
  }

  progressed(now: number): void {
    this.#progressAt = now;
  }

  /** Gives the time until it fires if nothing progresses and no call is pending, in ms. */
  inMs(now: number): number {
    const stalledMs = this.#clock.stalls?.since(this.#progressAt) ?? 0;
    return this.#progressAt + this.#limitMs + stalledMs - now;
  }

  stop(): void {
    this.#queue.remove(this);
  }

  expire(now: number): void {
    const due = now + (this.pendingCalls > 0 ? this.#limitMs : this.inMs(now));
    if (due <= now) {
      this.#fired();
      return;
    }
    this.due = due;
    this.#queue.set(this);
  }
}
