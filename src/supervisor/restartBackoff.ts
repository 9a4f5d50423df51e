import type { Random } from '../policy/clock.ts';
import type { Timed } from '../policy/duration.ts';
import { boolean, duration, type KeysOf, number } from '../policy/optionKeys.ts';

/** Waits of a child before each restart of a series. */
export interface RestartBackoff {
  /** Wait before the first restart of a series, in ms; at least 0. @defaultValue 100 */
  readonly baseMs: number;
  /** Factor by which each next wait is longer; at least 1. @defaultValue 2 */
  readonly factor: number;
  /** Longest wait, in ms, jitter included; at least 0. @defaultValue 30000 */
  readonly maxMs: number;
  /** Share of the wait by which chance moves it either way, from 0 to 1. @defaultValue 0.2 */
  readonly jitter: number;
  /** A child that ran this long, in ms, begins a new series; at least 0. @defaultValue 60000 */
  readonly resetAfterMs: number;
  /** Lets the first restart of a series come on the next turn of the event loop; `baseMs` is the second then. @defaultValue false */
  readonly firstImmediate: boolean;
}

/** The waits between restarts where a child spec names none. */
export const defaultRestartBackoff: RestartBackoff = {
  baseMs: 100,
  factor: 2,
  maxMs: 30_000,
  jitter: 0.2,
  resetAfterMs: 60_000,
  firstImmediate: false,
};

/** Fields of {@link RestartBackoff} that are given; the others take their defaults. */
export type RestartBackoffOptions = { readonly [K in keyof RestartBackoff]?: Timed<RestartBackoff>[K] | undefined };

const usual = defaultRestartBackoff;

/** The options of the waits between restarts. */
export const restartBackoffKeys = {
  baseMs: duration({ zero: true, default: usual.baseMs }),
  factor: number({ min: 1, default: usual.factor }),
  maxMs: duration({ zero: true, default: usual.maxMs }),
  jitter: number({ max: 1, default: usual.jitter }),
  resetAfterMs: duration({ zero: true, default: usual.resetAfterMs }),
  firstImmediate: boolean({ default: usual.firstImmediate }),
} satisfies KeysOf<RestartBackoffOptions>;

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
