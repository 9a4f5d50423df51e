import type { Random } from '../policy/clock.ts';
import { boolean, duration, type Given, type Made, number } from '../policy/options/optionKeys.ts';

const usual = {
  baseMs: 100,
  factor: 2,
  maxMs: 30_000,
  jitter: 0.2,
  resetAfterMs: 60_000,
  firstImmediate: false,
};

/** The options of the waits between restarts. */
export const restartBackoffKeys = {
  /** Wait before the first restart of a series, in ms; at least 0. @defaultValue 100 */
  baseMs: duration({ zero: true, default: usual.baseMs }),
  /** Factor by which each next wait is longer; at least 1. @defaultValue 2 */
  factor: number({ min: 1, default: usual.factor }),
  /** Longest wait, in ms, jitter included; at least 0. @defaultValue 30000 */
  maxMs: duration({ zero: true, default: usual.maxMs }),
  /** Share of the wait by which chance moves it either way, from 0 to 1. @defaultValue 0.2 */
  jitter: number({ max: 1, default: usual.jitter }),
  /** A child that ran this long, in ms, begins a new series; at least 0. @defaultValue 60000 */
  resetAfterMs: duration({ zero: true, default: usual.resetAfterMs }),
  /** Lets the first restart of a series come on the next turn of the event loop; `baseMs` is the second then. @defaultValue false */
  firstImmediate: boolean({ default: usual.firstImmediate }),
};

/** Waits of a child before each restart of a series. */
export interface RestartBackoff extends Made<typeof restartBackoffKeys> {}

/** The waits between restarts where a child spec names none. */
export const defaultRestartBackoff: RestartBackoff = usual;

/** Fields of {@link RestartBackoff} that are given; the others take their defaults. */
export interface RestartBackoffOptions extends Given<typeof restartBackoffKeys> {}

/**
 * The wait before a restart, in ms; 0 means the next turn of the event loop.
 * @param earlier - restarts of this series so far.
 * @param leastMs - what it is to be at least, jitter aside; it stays within the longest wait.
 */
export function restartDelay(backoff: RestartBackoff, earlier: number, random: Random, leastMs = 0): number {
  const plain = Math.max(ofSeries(backoff, earlier), Math.min(backoff.maxMs, leastMs));
  return Math.min(backoff.maxMs, plain * (1 + backoff.jitter * (2 * random() - 1)));
}

function ofSeries({ firstImmediate, baseMs, factor, maxMs }: RestartBackoff, earlier: number): number {
  if (baseMs === 0 || (firstImmediate && earlier === 0)) return 0;
  return Math.min(maxMs, baseMs * factor ** (firstImmediate ? earlier - 1 : earlier));
}
