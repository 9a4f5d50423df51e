import type { Random } from './clock.ts';
import { checkDuration, checkKeys, checkNumber, checkOneOf, show } from './options.ts';

/** How the waits between attempts grow: by a factor, along a list whose last delay repeats, or not at all; all times in ms. */
export type Backoff =
  | {
      readonly kind: 'exponential';
      /** The first wait, above 0. */
      readonly baseMs: number;
      /** How many times longer each further wait is, at least 1. @defaultValue 2 */
      readonly factor?: number | undefined;
      /** The longest wait, jitter included, above 0. */
      readonly capMs: number;
    }
  | { readonly kind: 'list'; readonly delaysMs: readonly number[]; readonly capMs?: number | undefined }
  | { readonly kind: 'constant'; readonly delayMs: number };

/** How waits are spread: not at all, by ± a factor of 0 to 1, or over the whole range from 0. */
export type Jitter =
  | { readonly kind: 'none' }
  | { readonly kind: 'factor'; readonly factor: number }
  | { readonly kind: 'full' };

/** The waits between the attempts of a call. */
export interface BackoffPolicy {
  readonly backoff: Backoff;
  readonly jitter: Jitter;
}

/** The same in short: waits that grow exponentially. */
export interface ShortBackoff {
  /** The first wait, in ms above 0. */
  readonly initialMs: number;
  /** The longest wait, jitter included, in ms above 0. */
  readonly maxMs: number;
  /** How many times longer each further wait is, at least 1. @defaultValue 2 */
  readonly factor?: number | undefined;
  /** @defaultValue full */
  readonly jitter?: Jitter | undefined;
}

/** {@link BackoffPolicy} as it may be given. */
export interface LongBackoff {
  readonly backoff: Backoff;
  /** @defaultValue full where the waits grow exponentially, none where they are said one by one */
  readonly jitter?: Jitter | undefined;
}

/** The waits between the attempts of a call as they may be given. */
export type BackoffInput = ShortBackoff | LongBackoff;

/**
 * The wait before an attempt, in ms: clamped to the cap after jitter, finite for any attempt.
 * @param attempt - the attempt that comes next, from 2.
 */
export function backoffDelayMs(policy: BackoffPolicy, attempt: number, random: Random): number {
  const { backoff, jitter } = policy;
  const capMs = backoff.kind === 'constant' ? Number.POSITIVE_INFINITY : (backoff.capMs ?? Number.POSITIVE_INFINITY);
  const plainMs = Math.min(plainDelayMs(backoff, Math.max(0, attempt - 2)), capMs, Number.MAX_SAFE_INTEGER);
  return Math.min(jittered(plainMs, jitter, random), capMs);
}

function plainDelayMs(backoff: Backoff, step: number): number {
  switch (backoff.kind) {
    case 'exponential':
      return backoff.baseMs * (backoff.factor ?? 2) ** step;
    case 'list':
      return backoff.delaysMs[Math.min(step, backoff.delaysMs.length - 1)] ?? 0;
    case 'constant':
      return backoff.delayMs;
  }
}

function jittered(delayMs: number, jitter: Jitter, random: Random): number {
  switch (jitter.kind) {
    case 'none':
      return delayMs;
    case 'factor':
      return delayMs * (1 + jitter.factor * (2 * random() - 1));
    case 'full':
      return delayMs * random();
  }
}

/**
 * Checks a backoff policy; the copy it returns is frozen.
 * @throws TypeError or RangeError that names the option and its value.
 */
export function checkBackoff(name: string, value: unknown): BackoffPolicy {
  checkKeys(name, value, [...shortKeys, 'backoff']);
  const given = value as BackoffInput;
  const isShort = 'initialMs' in given || 'maxMs' in given;
  const backoff = isShort ? checkShort(name, given as ShortBackoff) : checkLong(name, given as LongBackoff);
  const usual: Jitter = { kind: backoff.kind === 'exponential' ? 'full' : 'none' };
  return Object.freeze({
    backoff: Object.freeze(backoff),
    jitter: Object.freeze(given.jitter === undefined ? usual : checkJitter(`${name}.jitter`, given.jitter)),
  });
}

const shortKeys = ['initialMs', 'maxMs', 'factor', 'jitter'];

function checkShort(name: string, given: ShortBackoff): Backoff {
  checkKeys(name, given, shortKeys);
  const { initialMs, maxMs, factor = 2 } = given;
  const baseMs = checkDuration(`${name}.initialMs`, initialMs);
  const capMs = checkDuration(`${name}.maxMs`, maxMs);
  return { kind: 'exponential', baseMs, factor: checkNumber(`${name}.factor`, factor, 1), capMs };
}

function checkLong(name: string, given: LongBackoff): Backoff {
  checkKeys(name, given, ['backoff', 'jitter']);
  return checkGrowth(`${name}.backoff`, given.backoff);
}

const growthKeys = {
  exponential: ['kind', 'baseMs', 'factor', 'capMs'],
  list: ['kind', 'delaysMs', 'capMs'],
  constant: ['kind', 'delayMs'],
} as const;

function checkGrowth(name: string, backoff: Backoff): Backoff {
  checkKeys(name, backoff, Object.values(growthKeys).flat());
  const kind = checkOneOf(`${name}.kind`, backoff.kind, ['exponential', 'list', 'constant']);
  checkKeys(name, backoff, growthKeys[kind]);
  switch (backoff.kind) {
    case 'exponential': {
      const { baseMs, factor = 2, capMs } = backoff;
      checkDuration(`${name}.baseMs`, baseMs);
      checkNumber(`${name}.factor`, factor, 1);
      return { kind: 'exponential', baseMs, factor, capMs: checkDuration(`${name}.capMs`, capMs) };
    }
    case 'list': {
      const { delaysMs, capMs } = backoff;
      const delays = Array.isArray(delaysMs) ? (delaysMs as readonly number[]) : [];
      if (delays.length === 0) {
        throw new RangeError(`Expected \`${name}.delaysMs\` to be a list of at least one delay, got ${show(delaysMs)}`);
      }
      for (const [index, delayMs] of delays.entries()) checkNumber(`${name}.delaysMs[${index}]`, delayMs);
      if (capMs !== undefined) checkDuration(`${name}.capMs`, capMs);
      return { kind: 'list', delaysMs: Object.freeze([...delays]), capMs };
    }
    case 'constant':
      return { kind: 'constant', delayMs: checkNumber(`${name}.delayMs`, backoff.delayMs) };
  }
}

function checkJitter(name: string, jitter: Jitter): Jitter {
  checkKeys(name, jitter, ['kind', 'factor']);
  const kind = checkOneOf(`${name}.kind`, jitter.kind, ['none', 'factor', 'full']);
  if (jitter.kind === 'factor') {
    return { kind: 'factor', factor: checkNumber(`${name}.factor`, jitter.factor, 0, 1) };
  }
  checkKeys(name, jitter, ['kind']);
  return { kind } as Jitter;
}
