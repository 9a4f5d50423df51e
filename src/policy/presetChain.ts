import { completeRate } from './ratePolicy.ts';
import { completeBreaker } from './breaker.ts';
import { backoffFrom } from './backoff.ts';
import { limitRule } from './toolOptions.ts';
import type { Complaint } from './options/optionKeys.ts';
import { complaintAt, optionError, type Path } from './options/optionProblem.ts';
import type { IntegrationPolicy, Limits, RetryPolicy } from './policy.ts';
import { type PolicyInput, policyKeys, type ReadPolicy, steeringKeys } from './policyInput.ts';
import { defaultPolicy, type PresetName, presets } from './presets.ts';
import { readGiven } from './options/readOptions.ts';

/** Presets by name: the built-in ones, as they were changed, and those of one's own. */
export type KnownPresets = Readonly<Record<PresetName, IntegrationPolicy>> &
  Readonly<Record<string, IntegrationPolicy>>;

/** Throws the first thing it is told. @param name - of the object the paths begin at. */
export function thrower(name: string): TellPolicy {
  return (path, complaint) => {
    throw optionError(name, complaintAt(path, complaint));
  };
}

/**
 * Checks a policy and completes it from its preset. The result is frozen throughout.
 * @param name - of the integration, for errors.
 * @param base - what holds where neither input nor preset says otherwise.
 * @param known - the presets that the policy may extend.
 * @throws TypeError or RangeError that names the option and its value, and the nearest known preset.
 */
export function resolvePolicy(
  name: string,
  input: PolicyInput = {},
  base: IntegrationPolicy = defaultPolicy,
  known: Readonly<Record<string, IntegrationPolicy>> = presets,
): IntegrationPolicy {
  const option = `${name}.policy`;
  return startFrom(readGiven(option, input, policyKeys), base, known, thrower(option));
}

/** Completes a policy that was read from the preset it extends, else from `base`. */
export function startFrom(
  read: ReadPolicy,
  base: IntegrationPolicy,
  known: Readonly<Record<string, IntegrationPolicy>>,
  tell: TellPolicy,
): IntegrationPolicy {
  const { extends: name } = read;
  const found = name !== undefined && Object.hasOwn(known, name) ? known[name] : undefined;
  if (name !== undefined && found === undefined) tell(['extends'], unknownPreset(name, Object.keys(known)));
  return completePolicy(read, found ?? base, tell);
}

/**
 * Every preset, and those that have something wrong in them, or in what they extend.
 * Completes presets of one's own along the ones they extend. One that extends its own name starts from the built-in preset of that name.
 * @param tell - told of a preset that nobody knows, of the chain that leads back to its start, and of what does not go together.
 */
export function resolvePresets(inputs: Readonly<Record<string, ReadPolicy>>, tell: TellPolicy) {
  const given = new Map(Object.entries(inputs));
  const resolved = new Map<string, IntegrationPolicy>(Object.entries(presets));
  const done = new Set<string>();
  const unsound = new Set<string>();
  /** Presets whose base is wrong. */
  const baseless = new Set<string>();
  for (const name of given.keys()) complete(name, []);
  return { presets: Object.freeze(Object.fromEntries(resolved)) as KnownPresets, unsound };

  function complete(name: string, path: Path): IntegrationPolicy {
    const usual = Object.hasOwn(presets, name) ? presets[name as PresetName] : defaultPolicy;
    const read = given.get(name);
    if (read === undefined || done.has(name)) return resolved.get(name) ?? usual;
    const { extends: extended } = read;
    const chain = [...path, name];
    const isOwn = extended === undefined || (extended === name && Object.hasOwn(presets, name));
    const base = isOwn ? usual : (follow(extended, name, chain) ?? usual);
    const policy = completePolicy(read, base, tellOf(name));
    resolved.set(name, policy);
    done.add(name);
    return policy;
  }

  /** The preset that another one extends; undefined for one that cannot be extended. */
  function follow(name: string, by: string, chain: Path): IntegrationPolicy | undefined {
    const again = chain.indexOf(name);
    const isKnown = given.has(name) || resolved.has(name);
    if (again < 0 && isKnown) {
      const base = complete(name, chain);
      if (unsound.has(name)) for (const set of [unsound, baseless]) set.add(by);
      return base;
    }
    const circle = [...chain.slice(again), name].join(' → ');
    const known = [...new Set([...resolved.keys(), ...given.keys()])];
    const complaint = isKnown ? { says: `not to lead back to itself, got ${circle}` } : unknownPreset(name, known);
    tellOf(by)(['extends'], complaint);
    return undefined;
  }

  function tellOf(name: string): TellPolicy {
    return (path, complaint) => {
      const isBase = path[0] === 'extends';
      if (isBase || isCertain(complaint) || !baseless.has(name)) tell([name, ...path], complaint);
      unsound.add(name);
      if (isBase) baseless.add(name);
    };
  }
}

/** Tells whether it is true whatever a policy starts from: figures that stand on what is wrong are not as they are meant. */
export function isCertain(complaint: Complaint): boolean {
  return 'says' in complaint;
}

/** Says which preset may have been meant. */
function unknownPreset(name: string, known: readonly string[]): Complaint {
  return { expected: 'the name of a preset', value: name, known };
}

/** Hears what is wrong at a path below a policy. */
export type TellPolicy = (path: Path, complaint: Complaint) => void;

/** Completes a policy from what it starts from; what it returns is frozen throughout. */
function completePolicy(read: ReadPolicy, base: IntegrationPolicy, tell: TellPolicy): IntegrationPolicy {
  const figures = Object.keys(steeringKeys) as (keyof typeof steeringKeys)[];
  const rate = completeRate(read.rate, base.rate);
  const budget = read.budget && { ...{ zone: 'UTC', prices: {} }, ...base.budget, ...read.budget };
  return Object.freeze({
    retry: retryFrom(read, base.retry, tell),
    limits: limitsFrom(read, base.limits, tell),
    breaker: completeBreaker(read.breaker ?? {}, base.breaker, (key, complaint) =>
      tell(['breaker', ...[key].flat()], complaint),
    ),
    ...Object.fromEntries(figures.map((key) => [key, read[key] ?? base[key]])),
    ...(rate !== undefined && { rate }),
    ...((budget ?? base.budget) && { budget: Object.freeze(budget ?? base.budget) }),
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
