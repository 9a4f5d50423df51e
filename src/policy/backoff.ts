import type { Random } from './clock.ts';
import type { Duration } from './text/duration.ts';
import { duration, type Key, list, number } from './options/optionKeys.ts';
import { readValue } from './options/readOptions.ts';

/** Growth of the waits between attempts: by a factor, along a list whose last delay repeats, or not at all; all times in ms. */
export type Growth =
  | {
      readonly kind: 'exponential';
      /** The first wait, above 0. */
      readonly initialMs: number;
      /** Factor by which each further wait is longer, at least 1. */
      readonly factor: number;
      /** The longest wait, jitter included, above 0. */
      readonly maxMs: number;
    }
  | { readonly kind: 'list'; readonly delaysMs: readonly number[]; readonly maxMs?: number | undefined }
  | { readonly kind: 'constant'; readonly delayMs: number };

/** Spread of waits: not at all, by ± a factor of 0 to 1, or over the whole range from 0. */
export type Jitter =
  | { readonly kind: 'none' }
  | { readonly kind: 'factor'; readonly factor: number }
  | { readonly kind: 'full' };

/** The waits between the attempts of a call. */
export type BackoffPolicy = Growth & { readonly jitter: Jitter };

/** The waits between the attempts of a call as they may be given; they grow exponentially where no `kind` is given. */
export type BackoffInput = (
  | {
      readonly kind?: 'exponential' | undefined;
      /** The first wait, in ms above 0. */
      readonly initialMs: Duration;
      /** Factor by which each further wait is longer, at least 1. @defaultValue 2 */
      readonly factor?: number | undefined;
      /** The longest wait, jitter included, in ms above 0. */
      readonly maxMs: Duration;
    }
  | { readonly kind: 'list'; readonly delaysMs: readonly Duration[]; readonly maxMs?: Duration | undefined }
  | { readonly kind: 'constant'; readonly delayMs: Duration }
) & {
  /** @defaultValue full where the waits grow exponentially, none where they are said one by one */
  readonly jitter?: Jitter | undefined;
};

/** Waits that double up to a longest one, in ms, each spread by a fifth. */
export const exponential = (initialMs: number, maxMs: number): BackoffPolicy => ({
  kind: 'exponential',
  initialMs,
  factor: 2,
  maxMs,
  jitter: { kind: 'factor', factor: 0.2 },
});

/**
 * The wait before an attempt, in ms: clamped to the cap after jitter, finite for any attempt.
 * @param attempt - the attempt that comes next, from 2.
 */
export function backoffDelayMs(policy: BackoffPolicy, attempt: number, random: Random): number {
  const longestMs = policy.kind === 'constant' ? Number.POSITIVE_INFINITY : (policy.maxMs ?? Number.POSITIVE_INFINITY);
  const plainMs = Math.min(plainDelayMs(policy, Math.max(0, attempt - 2)), longestMs, Number.MAX_SAFE_INTEGER);
  return Math.min(jittered(plainMs, policy.jitter, random), longestMs);
}

function plainDelayMs(growth: Growth, step: number): number {
  switch (growth.kind) {
    case 'exponential':
      return growth.initialMs * growth.factor ** step;
    case 'list':
      return growth.delaysMs[Math.min(step, growth.delaysMs.length - 1)] ?? 0;
    case 'constant':
      return growth.delayMs;
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

const jitter: Key<Jitter | undefined> = {
  kind: 'variants',
  by: 'kind',
  of: { none: {}, factor: { factor: number({ max: 1, required: true }) }, full: {} },
};

const wait = duration({ required: true });
const waitOrNone = duration({ zero: true, required: true });

/** {@link BackoffInput}, checked; times in ms. */
type ReadBackoff = (
  | { readonly kind?: 'exponential'; readonly initialMs: number; readonly factor?: number; readonly maxMs: number }
  | Exclude<Growth, { kind: 'exponential' }>
) & { readonly jitter?: Jitter };

/** The waits between attempts. */
export const backoffKey: Key<ReadBackoff | undefined, BackoffInput | undefined> = {
  kind: 'variants',
  by: 'kind',
  usual: 'exponential',
  of: {
    exponential: { initialMs: wait, factor: number({ min: 1 }), maxMs: wait, jitter },
    list: {
      delaysMs: list(waitOrNone, { least: 1, required: true, expected: 'a list of at least one delay' }),
      maxMs: duration(),
      jitter,
    },
    constant: { delayMs: waitOrNone, jitter },
  },
  whole: true,
  help: 'The waits between attempts: `{initialMs, maxMs}`, each `factor` (2) times longer than the one before, `{kind: "list", delaysMs, maxMs}` or `{kind: "constant", delayMs}`. `jitter` says how they are spread (`{kind: "none"}`, `{kind: "factor", factor}` or `{kind: "full"}`): without it, fully where they grow, else not.',
};

/**
 * The waits as they were given; what it returns is frozen.
 * @throws TypeError or RangeError that names the option and its value.
 */
export function checkBackoff(name: string, value: unknown): BackoffPolicy {
  return backoffFrom(readValue(name, value, { ...backoffKey, required: true } as Key<ReadBackoff>));
}

/** The waits that were read, complete. */
export function backoffFrom(read: ReadBackoff): BackoffPolicy {
  const growth = growthOf(read);
  const usual: Jitter = { kind: growth.kind === 'exponential' ? 'full' : 'none' };
  return Object.freeze({ ...growth, jitter: Object.freeze({ ...(read.jitter ?? usual) }) });
}

function growthOf(read: ReadBackoff): Growth {
  if (read.kind === 'list') return { ...read, delaysMs: Object.freeze([...read.delaysMs]) };
  if (read.kind === 'constant') return read;
  return { ...read, kind: 'exponential', factor: read.factor ?? 2 };
}
