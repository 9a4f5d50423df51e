import { type Logger, say } from '../../policy/text/logger.ts';
import { show } from '../../policy/text/showValue.ts';
import type { Costs, RateCapacity } from '../../policy/rateLimit.ts';
import { capacitiesOf, type RateInput, rateKeys, type RatePolicy } from '../../policy/ratePolicy.ts';
import type { DeadlineQueue } from '../deadlineQueue.ts';
import type { RateBuckets } from './rateBuckets.ts';
import { type RatedCall, RatePlace, TypicalCosts } from './ratePlace.ts';
import { callback } from '../../policy/options/optionKeys.ts';
import type { PolicyInput } from '../../policy/policyInput.ts';

/** Functions for the costs of calls, and the bucket they draw from, as the code says it. */
export interface RateFunctions<I> {
  readonly cost?: ((input: I) => number | Costs) | undefined;
  readonly keyOf?: ((input: I) => string) | undefined;
  /** False: nobody says afterwards what an attempt has cost. */
  readonly settles?: boolean | undefined;
}

/** Parts of its runtime that an integration needs for its rate limits. */
interface RateParts {
  readonly rates: RateBuckets;
  readonly deadlines: DeadlineQueue;
  readonly logger?: Logger | undefined;
}

const oneRequest: Costs = Object.freeze({ requests: 1 });

/** The share of a limit that a call counts for while nothing is known of what calls cost. */
const unknownShare = 1 / 10;

/** So many calls may go before one of them has to have said what it cost. */
const patientCalls = 10;

/** Time in ms between complaints to the log. */
const complainEachMs = 60_000;

/** The rate limits of one integration: from which bucket each of its calls draws, and how much. */
export class IntegrationRates<I> {
  readonly #name: string;
  readonly #key: string;
  readonly #learns: boolean;
  readonly #capacities: Readonly<Record<string, RateCapacity>>;
  readonly #functions: RateFunctions<I>;
  readonly #parts: RateParts;
  readonly #typical = new TypicalCosts();
  /** Costs of a call while nothing is known. */
  readonly #unknown: Costs;
  readonly #hasUnknown: boolean;
  /** Costs that `cost` last gave that made sense. */
  #lastSaid: Costs | undefined = undefined;
  #calls = 0;
  #complainedAt = Number.NEGATIVE_INFINITY;

  /** @throws RangeError when a limit is on something of which nothing can say what a call costs. */
  constructor(name: string, policy: RatePolicy, functions: RateFunctions<I>, parts: RateParts) {
    this.#name = name;
    this.#key = policy.key ?? name;
    this.#learns = policy.learn;
    this.#capacities = capacitiesOf(policy);
    this.#functions = functions;
    this.#parts = parts;
    const limits = Object.entries(this.#capacities).filter(([of]) => of !== 'requests');
    this.#unknown = Object.fromEntries(limits.map(([of, { limit }]) => [of, limit * unknownShare]));
    this.#hasUnknown = limits.length > 0;
    const [first] = limits;
    if (first === undefined || functions.cost !== undefined || functions.settles !== false) return;
    const option = first[0] === 'tokens' ? 'rate.tokens' : `rate.costs.${first[0]}`;
    throw new RangeError(
      `\`${option}\` of \`${name}\` (${first[1].limit}) needs \`rate.cost\`, \`rate.spent\` or \`events.spent\`: nothing else says what a call costs`,
    );
  }

  /** The place of a call. Runs the functions of the caller's, and never throws. */
  placeOf(input: I, call: RatedCall): RatePlace {
    const { rates, deadlines } = this.#parts;
    const bucket = rates.of(this.#keyOf(input, call), this.#capacities);
    const costs = this.#costsOf(input, call);
    return new RatePlace({ bucket, costs, typical: this.#typical, learns: this.#learns }, call, deadlines);
  }

  #keyOf(input: I, call: RatedCall): string {
    const { keyOf } = this.#functions;
    if (keyOf === undefined) return this.#key;
    const otherwise = 'the call draws from the limits of all';
    try {
      const key: unknown = keyOf(input);
      if (typeof key === 'string' && key !== '') return key;
      this.#complain(call, `\`rate.keyOf\` returned no text; ${otherwise}`);
    } catch {
      this.#complain(call, `\`rate.keyOf\` threw; ${otherwise}`);
    }
    return this.#key;
  }

  #costsOf(input: I, call: RatedCall): Costs {
    const { cost } = this.#functions;
    if (cost === undefined) return this.#hasUnknown ? this.#unsaidCosts(call) : oneRequest;
    try {
      const answer: unknown = cost(input);
      const said = costsIn(answer);
      if (said !== undefined) {
        this.#lastSaid = said;
        // A number says nothing but tokens, other costs by name say all.
        return typeof answer === 'number' ? { ...this.#estimate(), ...said } : { ...oneRequest, ...said };
      }
      this.#complain(call, `\`rate.cost\` returned no number of at least 0; ${estimated}`);
    } catch {
      this.#complain(call, `\`rate.cost\` threw; ${estimated}`);
    }
    return this.#estimate();
  }

  /** Nobody says it in advance; attempts are expected to tell it. */
  #unsaidCosts(call: RatedCall): Costs {
    const costs = this.#estimate();
    const isUntold = Object.keys(this.#unknown).some((name) => this.#typical.all[name] === undefined);
    if (isUntold && ++this.#calls > patientCalls) {
      this.#complain(call, `neither \`rate.cost\` nor \`spent\` says what a call costs; ${estimated}`);
    }
    return costs;
  }

  /** A limit must neither be off nor stop everything because nobody says what a call costs. */
  #estimate(): Costs {
    return { ...oneRequest, ...this.#unknown, ...this.#lastSaid, ...this.#typical.all };
  }

  /** At most once a minute: every call may be wrong in the same way. What it was called with is never said. */
  #complain(call: RatedCall, what: string): void {
    const now = call.now();
    if (now - this.#complainedAt < complainEachMs) return;
    this.#complainedAt = now;
    say(this.#parts.logger, 'error', `${this.#name}: ${what}`);
  }
}

const estimated = 'the call counts as much as calls have cost of late, or as a tenth of a limit';

/** Reads the real costs from a function of the caller's; nothing where it does not know, or throws. */
export function costsSaidBy(say: () => unknown): Costs {
  try {
    return costsIn(say()) ?? {};
  } catch {
    return {};
  }
}

/** Reads the costs that a function of the caller's gives: tokens as a number, or any by name; undefined where that is no number of at least 0. */
function costsIn(said: unknown): Costs | undefined {
  if (isCost(said)) return { tokens: said };
  if (typeof said !== 'object' || said === null) return undefined;
  const costs = Object.entries(said) as readonly (readonly [string, unknown])[];
  return costs.every(([, cost]) => isCost(cost)) ? (said as Costs) : undefined;
}

function isCost(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0;
}

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
    throw new RangeError(`Expected either \`rate.key\` (${show(limits.key)}) or \`rate.keyOf\`, got both`);
  }
  const given = options === undefined ? undefined : limits;
  if (given === undefined && usual === undefined) return { policy, functions: {} };
  return { policy: { ...policy, rate: { ...usual, ...policy?.rate, ...given } }, functions: { cost, keyOf } };
}
