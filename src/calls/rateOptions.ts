import { callback } from '../policy/optionKeys.ts';
import type { PolicyInput } from '../policy/policyInput.ts';
import type { Costs } from '../policy/rateLimit.ts';
import { type RateInput, rateKeys } from '../policy/ratePolicy.ts';
import type { RateFunctions } from './integrationRates.ts';

/** Rate limits of an integration, with what only code can say; `{}`: those that answers tell. The limits themselves may be configured too (`policy.rate`). */
export interface RateOptions<I> extends RateInput {
  /**
   * Returns the cost of an attempt, before it is made: tokens as a number, or any costs by name; numbers of at least 0. `context.spent` corrects it. A call
   * of which nobody says it, also because this throws, counts as much as attempts have cost of late, and as a tenth of the limit before that is known; the
   * log is told once a minute. @defaultValue one request, and that estimate of what else is limited
   */
  readonly cost?: ((input: I) => number | Costs) | undefined;
  /** The key of a call, in place of `key`: calls with different credentials or models have limits of their own. Never the credential itself. Not beside `key`. @defaultValue `key` */
  readonly keyOf?: ((input: I) => string) | undefined;
}

/** The options of rate limits in code. */
export function rateOptionKeys<I>() {
  return {
    ...rateKeys,
    cost: callback<(input: I) => number | Costs>({ codeOnly: true }),
    keyOf: callback<(input: I) => string>({ codeOnly: true }),
  };
}

/**
 * Separates the part for the policy from what only code can say. The option wins over the policy beside it; `{}` is what answers tell.
 * @throws RangeError when two options say whose limits hold.
 */
export function ratePartsOf<I>(
  policy: PolicyInput | undefined,
  options: RateOptions<I> | undefined,
  usual?: RateInput,
): { readonly policy: PolicyInput | undefined; readonly functions: RateFunctions<I> } {
  const { cost, keyOf, ...limits } = options ?? {};
  if (limits.key !== undefined && keyOf !== undefined) {
    throw new RangeError(`Expected either \`rate.key\` (${JSON.stringify(limits.key)}) or \`rate.keyOf\`, got both`);
  }
  const given = options === undefined ? undefined : limits;
  if (given === undefined && usual === undefined) return { policy, functions: {} };
  return { policy: { ...policy, rate: { ...usual, ...policy?.rate, ...given } }, functions: { cost, keyOf } };
}
