import type { Random } from './clock.ts';
import type { Duration, Timed } from './duration.ts';
import { duration, type Key, list, number, section } from './optionKeys.ts';
import { readValue } from './readOptions.ts';

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
  readonly initialMs: Duration;
  /** The longest wait, jitter included, in ms above 0. */
  readonly maxMs: Duration;
  /** How many times longer each further wait is, at least 1. @defaultValue 2 */
  readonly factor?: number | undefined;
  /** @defaultValue full */
  readonly jitter?: Jitter | undefined;
}

/** {@link BackoffPolicy} as it may be given. */
export interface LongBackoff {
  readonly backoff: Timed<Backoff>;
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

const growthFactor = number({ min: 1 });
const wait = duration({ required: true });
const waitOrNone = duration({ zero: true, required: true });

const growth: Key<Backoff> = {
  kind: 'variants',
  by: 'kind',
  required: true,
  of: {
    exponential: { baseMs: wait, factor: growthFactor, capMs: wait },
    list: {
      delaysMs: list(waitOrNone, { least: 1, required: true, expected: 'a list of at least one delay' }),
      capMs: duration(),
    },
    constant: { delayMs: waitOrNone },
  },
};

const jitter: Key<Jitter | undefined> = {
  kind: 'variants',
  by: 'kind',
  of: { none: {}, factor: { factor: number({ max: 1, required: true }) }, full: {} },
};

/** {@link BackoffInput}, checked; times in ms. */
export type ReadBackoff =
  | (Omit<ShortBackoff, 'initialMs' | 'maxMs'> & { readonly initialMs: number; readonly maxMs: number })
  | (Omit<LongBackoff, 'backoff'> & { readonly backoff: Backoff });

const forms = [
  section({ initialMs: wait, maxMs: wait, factor: growthFactor, jitter }),
  section({ backoff: growth, jitter }),
];

/** The waits between attempts, in either form. */
export const backoffKey: Key<ReadBackoff | undefined> = {
  kind: 'either',
  of: forms,
  pick: (value) => (typeof value === 'object' && value !== null && ('initialMs' in value || 'maxMs' in value) ? 0 : 1),
  expected: 'an object with initialMs and maxMs, or with backoff',
  whole: true,
  help: 'The waits between attempts: `{initialMs, maxMs}`, each `factor` (2) times longer than the one before; or `backoff` says how they grow (`{kind: "exponential", baseMs, factor, capMs}`, `{kind: "list", delaysMs, capMs}` or `{kind: "constant", delayMs}`). `jitter` says how they are spread (`{kind: "none"}`, `{kind: "factor", factor}` or `{kind: "full"}`): without it, fully where they grow, else not.',
};

/**
 * The waits as one form says them; what it returns is frozen.
 * @throws TypeError or RangeError that names the option and its value.
 */
export function checkBackoff(name: string, value: unknown): BackoffPolicy {
  return backoffFrom(readValue(name, value, { ...backoffKey, required: true } as Key<ReadBackoff>));
}

/** The waits that were read in either form. */
export function backoffFrom(read: ReadBackoff): BackoffPolicy {
  const backoff = 'backoff' in read ? copyOf(read.backoff) : growing(read);
  const usual: Jitter = { kind: backoff.kind === 'exponential' ? 'full' : 'none' };
  return Object.freeze({ backoff: Object.freeze(backoff), jitter: Object.freeze({ ...(read.jitter ?? usual) }) });
}

function growing({ initialMs, maxMs, factor = 2 }: Exclude<ReadBackoff, { backoff: unknown }>): Backoff {
  return { kind: 'exponential', baseMs: initialMs, factor, capMs: maxMs };
}

function copyOf(backoff: Backoff): Backoff {
  if (backoff.kind === 'exponential') return { ...backoff, factor: backoff.factor ?? 2 };
  return backoff.kind === 'list' ? { ...backoff, delaysMs: Object.freeze([...backoff.delaysMs]) } : { ...backoff };
}
