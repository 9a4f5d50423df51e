import type { BreakerCause } from './breakerCause.ts';

/** State of a circuit breaker that is kept between processes: one row an integration (M-8). Times are wall time in ms since the epoch. */
export interface PersistedBreaker {
  readonly state: 'closed' | 'open';
  /** Time when it opened last; 0 when it never has. */
  readonly openedAt: number;
  /** Time when the next probe may go out. A hint: clamp what is left of it to [0, `lastOpenMs`], the wall clock may have stepped. */
  readonly openUntil: number;
  /** Time that it was told to stay open, in ms. */
  readonly lastOpenMs: number;
  /** Number of times it has opened in a row, which doubling open times go by. */
  readonly openings: number;
  /** Failures in a row since it closed last. */
  readonly failures: number;
  /** Why it opened; absent while it is closed. */
  readonly cause?: BreakerCause | undefined;
  /** Until when the other side asked not to be called, and when it did; absent where it has not since the circuit closed last. */
  readonly pausedUntil?: number | undefined;
  readonly pausedAt?: number | undefined;
  /** Grows with every change of state; a row is never replaced by one of a lower generation. */
  readonly generation: number;
}

/** A breaker of which nothing is kept yet. */
export const neverOpened: PersistedBreaker = Object.freeze({
  state: 'closed',
  openedAt: 0,
  openUntil: 0,
  lastOpenMs: 0,
  openings: 0,
  failures: 0,
  generation: 0,
});
