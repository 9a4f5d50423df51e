import { limitRule } from './limitRule.ts';
import { backoffFrom } from './backoff.ts';
import { completeBreaker } from './breaker.ts';
import type { Complaint } from './optionKeys.ts';
import type { Path } from './optionProblem.ts';
import type { IntegrationPolicy, Limits, RetryPolicy } from './policy.ts';
import type { ReadPolicy } from './policyInput.ts';
import { completeRate } from './ratePolicy.ts';

/** Hears what is wrong at a path below a policy. */
export type TellPolicy = (path: Path, complaint: Complaint) => void;

/** Completes a policy from what it starts from; what it returns is frozen throughout. */
export function completePolicy(read: ReadPolicy, base: IntegrationPolicy, tell: TellPolicy): IntegrationPolicy {
  const given = <K extends keyof ReadPolicy & keyof IntegrationPolicy>(key: K) => read[key] ?? base[key];
  const rate = completeRate(read.rate, base.rate);
  return Object.freeze({
    retry: retryFrom(read, base.retry, tell),
    limits: limitsFrom(read, base.limits, tell),
    breaker: completeBreaker(read.breaker ?? {}, base.breaker, (key, complaint) =>
      tell(['breaker', ...[key].flat()], complaint),
    ),
    maxInFlight: given('maxInFlight'),
    queueLength: given('queueLength'),
    abortGraceMs: given('abortGraceMs'),
    maxAbandoned: given('maxAbandoned'),
    maxPauseMs: given('maxPauseMs'),
    restartWaitMs: given('restartWaitMs'),
    repeatWaitMs: given('repeatWaitMs'),
    ...(rate !== undefined && { rate }),
  } as IntegrationPolicy);
}

function retryFrom({ retry = {}, maxAttempts: short }: ReadPolicy, base: RetryPolicy, tell: TellPolicy): RetryPolicy {
  refuseTwice('maxAttempts', short, ['retry', 'maxAttempts'], retry.maxAttempts, tell);
  const { backoff, ...others } = retry;
  const own = short ?? retry.maxAttempts;
  const completed = Object.freeze({
    ...base,
    ...others,
    backoff: backoff === undefined ? base.backoff : backoffFrom(backoff),
    maxAttempts: own ?? base.maxAttempts,
  } as RetryPolicy);
  if (own !== undefined || hasOwnAttempts(base)) withOwnAttempts.add(completed);
  return completed;
}

const withOwnAttempts = new WeakSet<RetryPolicy>();

/** Tells whether somebody chose how many attempts these are, rather than a preset that is built in. */
export function hasOwnAttempts(retry: RetryPolicy): boolean {
  return withOwnAttempts.has(retry);
}

function limitsFrom(read: ReadPolicy, base: Limits, tell: TellPolicy): Limits {
  const { attemptMs, limits: long = {} } = read;
  for (const key of ['attemptMs', 'idleMs', 'overallMs'] as const) {
    refuseTwice(key, read[key], ['limits', key], long[key], tell);
  }
  const room = attemptMs === undefined ? base : roomFor(attemptMs, base);
  // All three together are those of a policy that was completed before: what it inherited stands, also where it is longer.
  const isWhole = long.idleMs !== undefined && long.attemptMs !== undefined && long.overallMs !== undefined;
  if (!isWhole) refuseUnreached(read, tell);
  return Object.freeze({
    idleMs: read.idleMs ?? long.idleMs ?? room.idleMs,
    attemptMs: attemptMs ?? long.attemptMs ?? base.attemptMs,
    overallMs: read.overallMs ?? long.overallMs ?? room.overallMs,
  });
}

function refuseUnreached({ limits: long = {}, ...short }: ReadPolicy, tell: TellPolicy): void {
  const given = { attemptMs: short.attemptMs ?? long.attemptMs, overallMs: short.overallMs ?? long.overallMs };
  limitRule(given, (place, complaint) => {
    const key = String(place);
    tell(Reflect.get(long, key) === undefined ? [key] : ['limits', key], complaint);
  });
}

/** Returns what was inherited, as far as it lets an attempt take its time. */
function roomFor(limitMs: number, { idleMs, attemptMs, overallMs }: Limits): Pick<Limits, 'idleMs' | 'overallMs'> {
  return {
    idleMs: idleMs < attemptMs ? idleMs : Math.max(idleMs, limitMs),
    overallMs: Math.max(overallMs, limitMs),
  };
}

function refuseTwice(short: string, one: unknown, long: Path, other: unknown, tell: TellPolicy): void {
  if (one === undefined || other === undefined) return;
  tell([short], { says: `to be left out beside \`${long.join('.')}\`, which is the same` });
}
