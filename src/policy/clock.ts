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
}

export interface TimerOptions {
  /** Whether the timer keeps the process alive. @defaultValue false */
  readonly ref?: boolean | undefined;
}

/** A handle that only the clock that made it understands. */
export type Timer = object | number;

/** A source of chance in [0, 1), given to the root and used everywhere. */
export type Random = () => number;
