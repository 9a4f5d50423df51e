import { formatDuration } from './text/duration.ts';
import {
  boolean,
  byName,
  duration,
  type GivenValues,
  integer,
  type Given,
  section,
  text,
} from './options/optionKeys.ts';
import { type RateCapacity, usualWindowMs } from './rateLimit.ts';

/** Rate limits of an integration, as data. */
export interface RatePolicy {
  readonly requests?: number | undefined;
  readonly tokens?: number | undefined;
  readonly costs?: Readonly<Record<string, number>> | undefined;
  readonly perMs: number;
  readonly key?: string | undefined;
  readonly learn: boolean;
}

/** The options of rate limits. */
export const rateKeys = {
  /** Attempts in a window, at least 1. @defaultValue what answers tell */
  requests: integer({ usually: 'what answers tell', help: 'Attempts in a window.' }),
  /** Tokens in a window, at least 1; what a call costs says `cost`. @defaultValue what answers tell */
  tokens: integer({
    usually: 'what answers tell',
    help: 'Tokens in a window; `rate.cost` in code says what a call costs.',
  }),
  /** Other costs, so many in a window each, by name. @defaultValue none */
  costs: byName(integer({ help: 'So much of it in a window.' }), {
    help: 'The limits on other costs, by their names.',
  }),
  /** The window, in ms above 0. @defaultValue 60000 */
  perMs: duration({ inherited: usualWindowMs, help: 'The window; what was used comes back little by little.' }),
  /**
   * Key to one bucket for all who have the same: integrations and agents with one credential. It is a name, never the credential itself.
   * @defaultValue the name of the integration
   */
  key: text({
    usually: 'the name of the integration',
    help: 'Who has the same key shares the limits; a name, never a credential.',
  }),
  /** Keeps to limits that answers tell in their headers too. @defaultValue true */
  learn: boolean({ inherited: true, help: 'Whether limits that answers tell in their headers hold too.' }),
};

/** Rate limits as they may be given. What comes back comes little by little, all of it in one window. */
export interface RateInput extends Given<typeof rateKeys> {}

/** The option of rate limits in a policy. */
export const ratePolicyKey = section(rateKeys, {
  given: {} as RateInput,
  id: 'rate',
  help: 'Rate limits: what does not fit waits within its deadline, or is refused.',
});

/** Policy that holds where nothing is said but that there are limits. */
export const usualRate: RatePolicy = Object.freeze({ perMs: usualWindowMs, learn: true });

/** Completes rate limits from those they differ from; undefined where there are none. */
export function completeRate(
  given: GivenValues<typeof rateKeys> | undefined,
  base: RatePolicy | undefined,
): RatePolicy | undefined {
  if (given === undefined) return base;
  const costs = given.costs === undefined ? base?.costs : Object.freeze({ ...base?.costs, ...given.costs });
  return Object.freeze({ ...usualRate, ...base, ...given, ...(costs !== undefined && { costs }) });
}

/** Tells whether there is anything to hold calls to, or to learn. */
export function isRated(rate: RatePolicy | undefined): rate is RatePolicy {
  return rate !== undefined && (rate.learn || Object.keys(capacitiesOf(rate)).length > 0);
}

/** The limits by the names of what is counted. */
export function capacitiesOf({ requests, tokens, costs, perMs }: RatePolicy): Readonly<Record<string, RateCapacity>> {
  const limits = Object.entries({ ...costs, requests, tokens });
  return Object.fromEntries(limits.flatMap(([name, limit]) => (limit === undefined ? [] : [[name, { limit, perMs }]])));
}

/** A limit for people: `requests 50/min`. */
export function rateText({ of, limit, perMs }: RateCapacity & { readonly of: string }): string {
  const window = windows.find(([ms]) => Math.abs(perMs - ms) < 1)?.[1] ?? formatDuration(perMs);
  return `${of} ${Math.round(limit)}/${window}`;
}

/** Says what a call waits for, for people: `waits for its rate limit: 12s left (requests 50/min)`. */
export function rateWaitText(wait: RateCapacity & { readonly of: string; readonly waitMs: number }): string {
  return `waits for its rate limit: ${formatDuration(wait.waitMs)} left (${rateText(wait)})`;
}

const windows: readonly (readonly [number, string])[] = [
  [1000, 's'],
  [60_000, 'min'],
  [3_600_000, 'h'],
  [86_400_000, 'day'],
];
