import { describe, expect, it } from 'vitest';
import { createGateway } from '../../../src/index.ts';
import { ourNames, placesOf } from '../../../src/policy/options/optionPlace.ts';
import { policyKeys } from '../../../src/policy/policyInput.ts';

/** What the gateway says of options of a function. */
function saidOf(options: object): string {
  try {
    createGateway().integration('kb', options, () => undefined);
  } catch (error) {
    return (error as Error).message;
  }
  return 'nothing';
}

describe('an unknown option', () => {
  it.each([
    [{ maxConcurrent: 10 }, 'Unknown option `kb.maxConcurrent`; it is `kb.policy.maxInFlight`'],
    [{ retry: { maxAttempts: 3 } }, 'Unknown option `kb.retry`; it is `kb.policy.retry`'],
    [{ timeoutMs: 5000 }, 'Unknown option `kb.timeoutMs`; it is `kb.policy.attemptMs`'],
    [{ retries: 2 }, 'Unknown option `kb.retries`; it is `kb.policy.maxAttempts`'],
    [{ CONCURRENCY: 2 }, 'it is `kb.policy.maxInFlight`'],
    [{ maxInFligth: 2 }, 'it is `kb.policy.maxInFlight`'],
    [{ repeatAfter: 'lost' }, 'it is `kb.policy.retry.repeatAfter`'],
    [{ polcy: {} }, 'did you mean policy?'],
    [{ colour: 'red' }, 'known: policy, effect, tools'],
  ])('[R-17] of a function is answered with where it is: %j', (options, said) => {
    expect(saidOf(options)).toContain(said);
  });

  it.each([
    [{ maxConcurrent: 10 }, 'did you mean maxInFlight?'],
    [{ timeout: 10 }, 'did you mean attemptMs?'],
    [{ minTimeout: 10 }, 'it is `kb.policy.retry.backoff.initialMs`'],
    [{ errorThresholdPercentage: 50 }, 'it is `kb.policy.breaker.failureRatio`'],
    [{ halfOpenAfter: 50 }, 'it is `kb.policy.breaker.resetTimeoutMs`'],
    [{ breaker: { resetTimeout: 5 } }, 'did you mean resetTimeoutMs?'],
    [{ retry: { backoff: { baseMs: 1, capMs: 2 } } }, '`kb.policy.retry.backoff.baseMs`; did you mean initialMs?'],
    [{ retry: { backoff: { delaysMs: [1] } } }, '`kb.policy.retry.backoff.delaysMs`; it goes with kind list'],
    [
      { retry: { backoff: { backoff: { kind: 'constant', delayMs: 1 } } } },
      '`kb.policy.retry.backoff.backoff`; what it holds belongs beside it, without another backoff',
    ],
  ])('[R-17] of a policy is answered with where it is: %j', (policy, said) => {
    expect(saidOf({ policy })).toContain(said);
  });

  it('[R-17] is answered with every place of the same depth', () => {
    expect(placesOf('kind', { a: { kind: 'object', keys: policyKeys }, b: { kind: 'boolean' } })).toEqual([]);
    const inner = { kind: 'object', keys: { depth: { kind: 'boolean' } } } as const;
    expect(placesOf('depth', { a: inner, b: inner })).toEqual([
      ['a', 'depth'],
      ['b', 'depth'],
    ]);
  });

  it('[R-17] has our names for those of other libraries', () => {
    expect(ourNames('threshold')).toEqual(['consecutiveFailures', 'failureRatio']);
    expect(ourNames('toString')).toEqual([]);
  });
});
