import type { Effect, RepeatAfter } from '../policy/effects.ts';
import { mayRepeat } from '../policy/failures/repetition.ts';
import {
  AttemptError,
  type Failure,
  type FailureFacts,
  IntegrationError,
  type Outcome,
  unwrap,
} from '../policy/failures/failure.ts';
import { anything, callback, having, type KeysOf } from '../policy/options/optionKeys.ts';
import { readGiven } from '../policy/options/readOptions.ts';
import { show } from '../policy/text/showValue.ts';
import type { Fallback } from './operation.ts';

/** Integration that is asked in place of one that cannot answer. */
export interface FallbackIntegration<I, O> {
  /** Its call has its own policy, within the deadline of the call it answers for. */
  readonly integration: {
    call(input: I, options: { readonly signal: AbortSignal; readonly effect: Effect | undefined }): Promise<Outcome<O>>;
  };
  /** Makes its input. @defaultValue the same input */
  readonly input?: ((input: I, failure: Failure) => I) | undefined;
}

/** Substitute that answers for an integration: a function, a value, or another integration. */
export type FallbackOption<I, O> = Fallback<I, O> | FallbackValue<O> | FallbackIntegration<I, O>;

const valueKeys = { value: anything };

/** Value that an integration gives in place of an answer it cannot get. */
export interface FallbackValue<O> {
  readonly value: O;
}

type AnyFallback = FallbackIntegration<never, unknown>;

const integrationKeys = {
  integration: having<AnyFallback['integration']>('an integration', ['call'], { required: true }),
  input: callback<NonNullable<AnyFallback['input']>>(),
} satisfies KeysOf<AnyFallback>;

/** Facts about a call that falls back. */
interface FallbackCall {
  readonly effect: () => Effect | undefined;
  /** After what a call of unspecified effect may be repeated. */
  readonly repeatAfter: RepeatAfter;
}

/**
 * The function a fallback stands for. Another integration is not asked for what may have taken effect and must not twice: the call
 * fails as it would without.
 * @throws TypeError or RangeError that names the option and its value.
 */
export function fallbackOf<I, O>(name: string, option: FallbackOption<I, O>, call: FallbackCall): Fallback<I, O> {
  if (typeof option === 'function') return option;
  if (typeof option !== 'object' || option === null) {
    throw new TypeError(`Expected \`${name}\` to be a function, { value } or { integration }, got ${show(option)}`);
  }
  if ('value' in option) {
    readGiven(name, option, valueKeys);
    return () => option.value;
  }
  readGiven(name, option, integrationKeys);
  const { integration, input: inputOf = (input: I) => input } = option;
  return async (input, failure, { signal }) => {
    const effect = call.effect();
    // Thrown: the call ends with the failure it has.
    if (!mayRepeat(failure, effect, call.repeatAfter)) throw new IntegrationError(failure);
    return unwrap(await integration.call(inputOf(input, failure), { signal, effect }));
  };
}

/** The failure with that of its fallback, unless the fallback only passed on what it was told. */
export function bothFailed(failure: Failure, fallbackError: unknown): Failure {
  if (fallbackError === undefined || fallbackError === failure.cause) return failure;
  const known = factsIn(fallbackError);
  if (known === failure) return failure;
  // Effects that the fallback may have had count as well.
  return { ...failure, outcome: known?.outcome === 'unknown' ? 'unknown' : failure.outcome, fallbackError };
}

function factsIn(error: unknown): FailureFacts | undefined {
  try {
    if (error instanceof IntegrationError) return error.failure;
    return error instanceof AttemptError ? error.facts : undefined;
  } catch {
    // A revoked proxy throws whatever is asked of it.
    return undefined;
  }
}
