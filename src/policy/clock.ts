import { having } from './options/optionKeys.ts';

/**
 * Time as an argument: the one clock a runtime runs on, given to its root and used everywhere.
 * The real one is `systemClock`; tests and the simulator give a simulated one.
 */
export interface Clock {
  /** Monotonic time in ms; wall-clock steps do not move it. */
  now(): number;
  /** Wall time in ms since the Unix epoch; for records and hints only, never for deadlines. */
  wallNow(): number;
  /**
   * Calls `callback` once, `delayMs` or later from now. Never throws for a large delay: one of 2^31 ms or more waits that long too.
   * Timers do not keep the process alive unless `ref` is true.
   */
  setTimeout(callback: () => void, delayMs: number, options?: TimerOptions): Timer;
  clearTimeout(timer: Timer | undefined): void;
  /** Calls `callback` once in the next turn of the event loop, after pending I/O was read (`setImmediate`). */
  nextTurn(callback: () => void): void;
  /** Time does not move before this has settled, on a clock that moves by itself alone: code that is loaded takes real time. @defaultValue the clock does not wait */
  loading?(work: Promise<unknown>): void;
  /** Times when nothing of this process could run. A clock without it is taken for one whose event loop never stands still. */
  readonly stalls?: Stalls | undefined;
}

/**
 * The times in which the event loop stood still: it was blocked, or the process was stopped. A timer that waits for a sign of life does not count
 * them: nobody could hear one.
 */
export interface Stalls {
  /** Returns how much of the time since `at` (monotonic, in ms) nothing ran, in ms. */
  since(at: number): number;
  /**
   * Monotonic time in ms, {@link wakeMs} after the last stall of {@link longStallMs} or more: until then connections may be found broken that
   * the other side gave up meanwhile. `-Infinity` when there was none.
   */
  readonly wakeUntil: number;
  /**
   * Has stalls noticed until the returned release is called: a clock may look for them only then. `heard` is told of each of
   * {@link longStallMs} or more once it is over, and must not throw.
   */
  watch(heard?: (stalledMs: number) => void): () => void;
}

/** From how long on a stall is told, and what ends in its wake is nobody's failure, in ms. */
export const longStallMs = 1000;

/** Time after it that connections may still be found broken, in ms. */
export const wakeMs = 1000;

/** Kind of a timer. */
export interface TimerOptions {
  /** Lets the timer keep the process alive. @defaultValue false */
  readonly ref?: boolean | undefined;
  /**
   * Counts only time in which the event loop ran: for a timer that waits for a sign of life. A clock without stalls need not know it.
   * @defaultValue false
   */
  readonly running?: boolean | undefined;
}

/** A handle that only the clock that made it understands. */
export type Timer = object | number;

/** A source of chance in [0, 1), given to the root and used everywhere. */
export type Random = () => number;

/** The option of a clock. */
export const clockKey = having<Clock>('a clock', ['now', 'wallNow', 'setTimeout', 'clearTimeout', 'nextTurn']);
