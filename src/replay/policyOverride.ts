import type { IntegrationPolicy } from '../policy/policy.ts';
import type { PolicyInput } from '../policy/policyInput.ts';
import { resolvePolicy } from '../policy/presetChain.ts';
import type { IntegrationPlan, PlannedCall } from './plan.ts';

/**
 * The plans with other policies: `retry.maxAttempts=5`, for every integration, and for calls that have limits or retries of their own: what is
 * asked for wins over both.
 * @throws TypeError or RangeError that names the option and its value.
 */
export function overriddenPlans(
  plans: readonly IntegrationPlan[],
  overrides: readonly string[],
): readonly IntegrationPlan[] {
  if (overrides.length === 0) return plans;
  const hasOwnRate = overrides.some((override) => override.startsWith('rate.'));
  return plans.map((plan) => {
    const policy = resolvePolicy(plan.name, withOverrides(plan.policy, overrides) as PolicyInput);
    const of = <P extends Pick<IntegrationPolicy, 'limits'> & Partial<Pick<IntegrationPolicy, 'retry'>>>(own: P) =>
      resolvePolicy(plan.name, withOverrides({ ...plan.policy, ...own }, overrides) as PolicyInput);
    const calls = plan.calls.map((call): PlannedCall => {
      const { limits, retry } = of({ limits: call.limits, retry: call.retry });
      return { ...call, limits, retry, ownLimits: of({ limits: call.ownLimits }).limits };
    });
    return { ...plan, policy, hasOwnRate, calls };
  });
}

function withOverrides(policy: object, overrides: readonly string[]): object {
  const copy = structuredClone(policy) as Record<string, unknown>;
  for (const override of overrides) {
    const at = override.indexOf('=');
    const path = override.slice(0, at).split('.');
    const name = path.pop();
    if (at <= 0 || name === undefined || name === '') {
      throw new TypeError(`Expected a policy such as retry.maxAttempts=5, got ${JSON.stringify(override)}`);
    }
    let place = copy;
    for (const part of path) {
      const next = Object.hasOwn(place, part) ? place[part] : undefined;
      if (typeof next !== 'object' || next === null) {
        throw new RangeError(`There is no \`${part}\` in a policy, as in ${JSON.stringify(override)}`);
      }
      place = next as Record<string, unknown>;
    }
    Object.defineProperty(place, name, {
      value: valueOf(override.slice(at + 1)),
      enumerable: true,
      configurable: true,
      writable: true,
    });
  }
  return copy;
}

/** A number or a boolean is that; anything else, as `30s`, is a text. */
function valueOf(text: string): unknown {
  if (text === 'true' || text === 'false') return text === 'true';
  if (text === 'Infinity') return Number.POSITIVE_INFINITY;
  return text.trim() !== '' && Number.isFinite(Number(text)) ? Number(text) : text;
}
