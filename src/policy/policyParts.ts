import { type BackoffInput, checkBackoff } from './backoff.ts';
import { repeatChoices } from './effects.ts';
import { checkBoolean, checkDuration, checkInteger, checkKeys, checkNumber, checkOneOf } from './options.ts';
import type { Limits, RetryPolicy } from './policy.ts';

/** What may be left out, or given as `undefined`. */
export type Given<T> = { readonly [K in keyof T]?: T[K] | undefined };

/** How often and when a call is tried again, as it may be given. */
export type RetryInput = Given<Omit<RetryPolicy, 'backoff'> & { readonly backoff: BackoffInput }>;

/** Only `undefined` stands for what is not given: `null` is a mistake that a check is to name. */
export function given<T>(value: T | undefined, otherwise: T): T {
  return value === undefined ? otherwise : value;
}

/** The retries of a policy at `option`. @throws TypeError or RangeError that names the option and its value. */
export function retryIn(
  option: string,
  { retry, maxAttempts }: { readonly retry?: RetryInput | undefined; readonly maxAttempts?: number | undefined },
  base: RetryPolicy,
): RetryPolicy {
  const long = checkRetry(`${option}.retry`, given(retry, {}), base);
  if (maxAttempts === undefined) return long;
  refuseTwice(option, 'maxAttempts', 'retry.maxAttempts', retry?.maxAttempts);
  const short = Object.freeze({ ...long, maxAttempts: checkInteger(`${option}.maxAttempts`, maxAttempts) });
  withOwnAttempts.add(short);
  return short;
}

const withOwnAttempts = new WeakSet<RetryPolicy>();

/** Whether somebody chose how many attempts these are, rather than a preset that is built in. */
export function hasOwnAttempts(retry: RetryPolicy): boolean {
  return withOwnAttempts.has(retry);
}

/** Limits as they may be written short. */
interface ShortLimits {
  readonly limits?: Given<Limits> | undefined;
  readonly timeoutMs?: number | undefined;
  readonly idleMs?: number | undefined;
  readonly overallMs?: number | undefined;
}

/** The limits of a policy at `option`. @throws TypeError or RangeError that names the option and its value. */
export function limitsIn(option: string, input: ShortLimits, base: Limits): Limits {
  const long = checkLimits(`${option}.limits`, given(input.limits, {}), base);
  const short = (key: 'timeoutMs' | 'idleMs' | 'overallMs', longKey: keyof Limits): number | undefined => {
    const value = input[key];
    if (value === undefined) return undefined;
    refuseTwice(option, key, `limits.${longKey}`, input.limits?.[longKey]);
    return checkLimit(`${option}.${key}`, value);
  };
  const timeoutMs = short('timeoutMs', 'attemptMs');
  const idleMs = short('idleMs', 'idleMs');
  const overallMs = short('overallMs', 'overallMs');
  const attemptMs = timeoutMs ?? long.attemptMs;
  const room = timeoutMs === undefined ? base : roomFor(timeoutMs, base);
  return Object.freeze({
    idleMs: idleMs ?? given(input.limits?.idleMs, room.idleMs),
    attemptMs,
    overallMs: overallMs ?? given(input.limits?.overallMs, room.overallMs),
  });
}

/** What was inherited, as far as it lets an attempt take its time. */
function roomFor(timeoutMs: number, { idleMs, attemptMs, overallMs }: Limits): Pick<Limits, 'idleMs' | 'overallMs'> {
  return {
    idleMs: idleMs < attemptMs ? idleMs : Math.max(idleMs, timeoutMs),
    overallMs: Math.max(overallMs, timeoutMs),
  };
}

function refuseTwice(option: string, short: string, long: string, value: unknown): void {
  if (value === undefined) return;
  throw new RangeError(
    `Expected one of \`${option}.${short}\` and \`${option}.${long}\`, which are the same, got both`,
  );
}

function checkRetry(name: string, input: RetryInput, base: RetryPolicy): RetryPolicy {
  checkKeys(name, input, Object.keys(base));
  const maxTotalWaitMs = given(input.maxTotalWaitMs, base.maxTotalWaitMs);
  const checked = Object.freeze({
    maxAttempts: checkInteger(`${name}.maxAttempts`, given(input.maxAttempts, base.maxAttempts)),
    backoff: checkBackoff(`${name}.backoff`, given(input.backoff, base.backoff)),
    maxTotalWaitMs: unlessInfinite(maxTotalWaitMs, () => checkNumber(`${name}.maxTotalWaitMs`, maxTotalWaitMs)),
    repeatAfter: checkOneOf(`${name}.repeatAfter`, given(input.repeatAfter, base.repeatAfter), repeatChoices),
    retryUnknown: checkBoolean(`${name}.retryUnknown`, given(input.retryUnknown, base.retryUnknown)),
    overloadedFactor: checkNumber(`${name}.overloadedFactor`, given(input.overloadedFactor, base.overloadedFactor), 1),
  });
  if (input.maxAttempts !== undefined || hasOwnAttempts(base)) withOwnAttempts.add(checked);
  return checked;
}

function checkLimits(name: string, input: Given<Limits>, base: Limits): Limits {
  checkKeys(name, input, Object.keys(base));
  const limit = (key: keyof Limits): number => checkLimit(`${name}.${key}`, given(input[key], base[key]));
  return { idleMs: limit('idleMs'), attemptMs: limit('attemptMs'), overallMs: limit('overallMs') };
}

function checkLimit(name: string, value: number): number {
  return unlessInfinite(value, () => checkDuration(name, value));
}

function unlessInfinite(value: number, check: () => number): number {
  return value === Number.POSITIVE_INFINITY ? value : check();
}
