import type { Random } from './clock.ts';
import { checkDuration, checkKeys, checkNumber, checkOneOf, show } from './options.ts';

/** How the waits between attempts grow; all times in ms. */
export type Backoff =
  | {
      readonly kind: 'exponential';
      readonly baseMs: number;
      readonly factor?: number | undefined;
      readonly capMs: number;
    }
  | { readonly kind: 'list'; readonly delaysMs: readonly number[]; readonly capMs?: number | undefined }
  | { readonly kind: 'constant'; readonly delayMs: number };

/** How waits are spread: not at all, by ± a factor of 0 to 1, or over the whole range from 0. */
export type Jitter =
  | { readonly kind: 'none' }
  | { readonly kind: 'factor'; readonly factor: number }
  | { readonly kind: 'full' };

export interface BackoffPolicy {
  readonly backoff: Backoff;
  readonly jitter: Jitter;
}

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

/** @throws TypeError or RangeError that names the option and its value. */
export function checkBackoff(name: string, value: unknown): BackoffPolicy {
  checkKeys(name, value, ['backoff', 'jitter']);
  const { backoff, jitter } = value as BackoffPolicy;
  return { backoff: checkGrowth(`${name}.backoff`, backoff), jitter: checkJitter(`${name}.jitter`, jitter) };
}

function checkGrowth(name: string, backoff: Backoff): Backoff {
  checkKeys(name, backoff, ['kind', 'baseMs', 'factor', 'capMs', 'delaysMs', 'delayMs']);
  switch (checkOneOf(`${name}.kind`, backoff.kind, ['exponential', 'list', 'constant'])) {
    case 'exponential': {
      const { baseMs, factor, capMs } = backoff as Extract<Backoff, { kind: 'exponential' }>;
      checkDuration(`${name}.baseMs`, baseMs);
      checkDuration(`${name}.capMs`, capMs);
      if (factor !== undefined) checkNumber(`${name}.factor`, factor, 1);
      break;
    }
    case 'list': {
      const { delaysMs, capMs } = backoff as Extract<Backoff, { kind: 'list' }>;
      if (!Array.isArray(delaysMs) || delaysMs.length === 0) {
        throw new RangeError(`Expected \`${name}.delaysMs\` to be a list of at least one delay, got ${show(delaysMs)}`);
      }
      for (const [index, delayMs] of delaysMs.entries()) checkNumber(`${name}.delaysMs[${index}]`, delayMs);
      if (capMs !== undefined) checkDuration(`${name}.capMs`, capMs);
      break;
    }
    case 'constant':
      checkNumber(`${name}.delayMs`, (backoff as Extract<Backoff, { kind: 'constant' }>).delayMs);
      break;
  }
  return backoff;
}

function checkJitter(name: string, jitter: Jitter): Jitter {
  checkKeys(name, jitter, ['kind', 'factor']);
  const kind = checkOneOf(`${name}.kind`, jitter.kind, ['none', 'factor', 'full']);
  if (kind === 'factor') checkNumber(`${name}.factor`, (jitter as { factor?: unknown }).factor, 0, 1);
  return jitter;
}
