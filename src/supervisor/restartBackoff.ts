import type { Random } from '../policy/clock.ts';
import { checkBoolean, checkKeys, checkNumber } from '../policy/options.ts';

/** How long a child waits before each restart of a series. */
export interface RestartBackoff {
  /** Wait before the first restart of a series, in ms; at least 0. @defaultValue 100 */
  readonly baseMs: number;
  /** How many times longer each next wait is; at least 1. @defaultValue 2 */
  readonly factor: number;
  /** Longest wait, in ms, jitter included; at least 0. @defaultValue 30000 */
  readonly maxMs: number;
  /** Share of the wait by which chance moves it either way, from 0 to 1. @defaultValue 0.2 */
  readonly jitter: number;
  /** A child that ran this long, in ms, begins a new series; at least 0. @defaultValue 60000 */
  readonly resetAfterMs: number;
  /** Whether the first restart of a series comes on the next turn of the event loop; `baseMs` is the second then. @defaultValue false */
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
export type RestartBackoffOptions = { readonly [K in keyof RestartBackoff]?: RestartBackoff[K] | undefined };

/** Fills in defaults. @throws TypeError or RangeError that names the field and its value. */
export function checkRestartBackoff(name: string, given: RestartBackoffOptions | undefined): RestartBackoff {
  if (given === undefined) return defaultRestartBackoff;
  checkKeys(name, given, Object.keys(defaultRestartBackoff));
  const { baseMs, factor, maxMs, jitter, resetAfterMs, firstImmediate } = defaultRestartBackoff;
  return {
    baseMs: checkNumber(`${name}.baseMs`, given.baseMs ?? baseMs),
    factor: checkNumber(`${name}.factor`, given.factor ?? factor, 1),
    maxMs: checkNumber(`${name}.maxMs`, given.maxMs ?? maxMs),
    jitter: checkNumber(`${name}.jitter`, given.jitter ?? jitter, 0, 1),
    resetAfterMs: checkNumber(`${name}.resetAfterMs`, given.resetAfterMs ?? resetAfterMs),
    firstImmediate: checkBoolean(`${name}.firstImmediate`, given.firstImmediate ?? firstImmediate),
  };
}

/**
 * The wait before a restart, in ms; 0 means the next turn of the event loop.
 * @param earlier - restarts of this series so far.
 */
export function restartDelay(backoff: RestartBackoff, earlier: number, random: Random): number {
  if (backoff.firstImmediate && earlier === 0) return 0;
  const doublings = backoff.firstImmediate ? earlier - 1 : earlier;
  const plain = backoff.baseMs === 0 ? 0 : Math.min(backoff.maxMs, backoff.baseMs * backoff.factor ** doublings);
  return Math.min(backoff.maxMs, plain * (1 + backoff.jitter * (2 * random() - 1)));
}
