import type { Clock } from '../policy/clock.ts';
import type { Deadline, DeadlineQueue } from '../calls/deadlineQueue.ts';

/** The limit of a question: a person's time goes on while our process stands still. */
export class QuestionWatch implements Deadline {
  due: number;
  heapIndex = -1;
  readonly #fired: () => void;

  constructor(due: number, fired: () => void) {
    this.due = due;
    this.#fired = fired;
  }

  expire(): void {
    this.#fired();
  }
}

/** The watchdog of one tool call: its limit is never reset, whatever moves. Time in which the event loop stood still is left out. */
export class CallWatch implements Deadline {
  due: number;
  heapIndex = -1;
  readonly #startedAt: number;
  readonly #limitMs: number;
  readonly #clock: Clock;
  readonly #queue: DeadlineQueue;
  readonly #fired: () => void;

  constructor(limitMs: number, clock: Clock, queue: DeadlineQueue, fired: () => void) {
    this.#limitMs = limitMs;
    this.#clock = clock;
    this.#queue = queue;
    this.#fired = fired;
    this.#startedAt = clock.now();
    this.due = this.#startedAt + limitMs;
    queue.set(this);
  }

  /** When it fires, in ms. */
  inMs(now: number): number {
    const stalledMs = this.#clock.stalls?.since(this.#startedAt) ?? 0;
    return this.#startedAt + this.#limitMs + stalledMs - now;
  }

  stop(): void {
    this.#queue.remove(this);
  }

  /** Fires before its time. */
  fire(): void {
    this.#fired();
  }

  expire(now: number): void {
    const leftMs = this.inMs(now);
    if (leftMs <= 0) {
      this.#fired();
      return;
    }
    this.due = now + leftMs;
    this.#queue.set(this);
  }
}

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

  progressed(): void {
    this.#progressAt = this.#clock.now();
  }

  /** When it fires if nothing progresses and no call is pending, in ms. */
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
