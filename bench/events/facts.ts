import type { Fact, FactOf } from '../../src/policy/facts/facts.ts';

/** A frequent fact: short names and figures. */
export const succeeded: Fact = {
  type: 'call.succeeded',
  integration: 'search',
  call: 'search-4711',
  label: undefined,
  session: 'agent:main',
  attempts: 1,
  elapsedMs: 12.5,
};

const { stack } = new Error('connect ECONNREFUSED 127.0.0.1:4711');

/** A final failure, as it is stored. */
export function failed(number: number): FactOf<'call.failed'> {
  return {
    type: 'call.failed',
    integration: 'search',
    call: `search-${number}`,
    label: undefined,
    session: 'agent:main',
    failure: {
      kind: 'transient',
      message: 'connect ECONNREFUSED 127.0.0.1:4711',
      outcome: 'not_started',
      code: 'ECONNREFUSED',
      integration: 'search',
      attempts: 4,
      retryable: true,
    },
    retryCount: 3,
    elapsedMs: 7012,
    stack,
  };
}
