import { type IntegrationPolicy, type PolicyInput, resolvePolicy } from '../../src/policy/face.ts';
import { show } from '../../src/policy/text/face.ts';
import type { IntegrationPlan, PlannedCall } from './plan.ts';

/**
 * The plans with other policies: `retry.maxAttempts=5`, for every integration, and for calls that have limits or retries of their own: what is
 * asked for wins over both. Options mean what they mean in a configuration that extends the policy on record.
 * @throws TypeError or RangeError that names the option and its value.
 */
export function overriddenPlans(
  plans: readonly IntegrationPlan[],
  overrides: readonly string[],
): readonly IntegrationPlan[] {
  if (overrides.length === 0) return plans;
  // A mistyped option is still one where nothing can be played.
  if (plans.length === 0) resolvePolicy('replay', inputOf(overrides, resolvePolicy('replay', {})));
  const hasOwnRate = overrides.some((override) => override.startsWith('rate.'));
  return plans.map((plan) => {
    const of = (own: Partial<IntegrationPolicy>): IntegrationPolicy => {
      const recorded = { ...plan.policy, ...own };
      return resolvePolicy(plan.name, inputOf(overrides, recorded), recorded);
    };
    const calls = plan.calls.map((call): PlannedCall => {
      const { limits, retry } = of({ limits: call.limits, retry: call.retry });
      return { ...call, limits, retry, ownLimits: of({ limits: call.ownLimits }).limits };
    });
    return { ...plan, policy: of({}), hasOwnRate, calls };
  });
}

/** Reads what is asked for, as a configuration has it: only what is to be otherwise, by its short or its long name. */
function inputOf(overrides: readonly string[], { retry }: IntegrationPolicy): PolicyInput {
  const input: Record<string, unknown> = {};
  for (const override of overrides) {
    const at = override.indexOf('=');
    const path = override.slice(0, at).split('.');
    const name = path.pop();
    if (at <= 0 || name === undefined || name === '') {
      throw new TypeError(`Expected a policy such as retry.maxAttempts=5, got ${show(override)}`);
    }
    let place = input;
    for (const [depth, part] of path.entries()) {
      // A backoff is given as a whole: what is not asked for of it stays as it was.
      const isBackoff = depth === 1 && part === 'backoff' && path[0] === 'retry';
      place = sectionOf(place, part, isBackoff ? structuredClone(retry.backoff) : {});
    }
    define(place, name, valueOf(override.slice(at + 1)));
  }
  return input as PolicyInput;
}

function sectionOf(place: Record<string, unknown>, name: string, usual: object): Record<string, unknown> {
  const known = Object.hasOwn(place, name) ? place[name] : undefined;
  if (typeof known === 'object' && known !== null) return known as Record<string, unknown>;
  return define(place, name, usual) as Record<string, unknown>;
}

/** Also under a name such as `__proto__`, which is then refused as no option. */
function define(place: Record<string, unknown>, name: string, value: unknown): unknown {
  Object.defineProperty(place, name, { value, enumerable: true, configurable: true, writable: true });
  return value;
}

/** A number or a boolean is that; anything else, as `30s`, is a text. */
function valueOf(text: string): unknown {
  if (text === 'true' || text === 'false') return text === 'true';
  if (text === 'Infinity') return Number.POSITIVE_INFINITY;
  return text.trim() !== '' && Number.isFinite(Number(text)) ? Number(text) : text;
}
