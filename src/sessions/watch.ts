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

/** A limit of the watchdog. Time in which the event loop stood still is left out. */
abstract class SessionWatch implements Deadline {
  due: number;
  heapIndex = -1;
  /** From when on its time counts, in monotonic ms. */
  protected since: number;
  protected readonly limitMs: number;
  protected readonly clock: Clock;
  readonly #queue: DeadlineQueue;
  readonly #fired: () => void;

  constructor(limitMs: number, clock: Clock, queue: DeadlineQueue, fired: () => void) {
    this.limitMs = limitMs;
    this.clock = clock;
    this.#queue = queue;
    this.#fired = fired;
    this.since = clock.now();
    this.due = this.since + limitMs;
    queue.set(this);
  }

  /** When it fires if nothing moves it until then, in ms. */
  inMs(now: number): number {
    const stalledMs = this.clock.stalls?.since(this.since) ?? 0;
    return this.since + this.limitMs + stalledMs - now;
  }

  stop(): void {
    this.#queue.remove(this);
  }

  /** Fires before its time. */
  fire(): void {
    this.#fired();
  }

  expire(now: number): void {
    const leftMs = this.leftMs(now);
    if (leftMs <= 0) {
      this.#fired();
      return;
    }
    this.due = now + leftMs;
    this.#queue.set(this);
  }

  protected leftMs(now: number): number {
    return this.inMs(now);
  }
}

/** The watchdog of one tool call: its limit is never reset, whatever moves. */
export class CallWatch extends SessionWatch {}

/**
 * The watchdog of a turn: fires when nothing has progressed for its limit outside any tool call. Progress only notes the time;
 * the place in the queue is moved when it is looked at.
 */
export class TurnWatch extends SessionWatch {
  /** Tool calls of the turn that are pending: they have limits of their own. */
  pendingCalls = 0;

  progressed(): void {
    this.since = this.clock.now();
  }

  protected override leftMs(now: number): number {
    return this.pendingCalls > 0 ? this.limitMs : this.inMs(now);
  }
}
