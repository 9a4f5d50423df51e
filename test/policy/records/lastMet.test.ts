import { describe, expect, it } from 'vitest';
import type { Failure, FailureFacts } from '../../../src/policy/failures/failure.ts';
import { lastMet } from '../../../src/policy/records/lastMet.ts';

const down: FailureFacts = { kind: 'transient', message: 'down', outcome: 'not_started' };
const open: Failure = {
  ...{ kind: 'circuit_open', message: 'The circuit of kb is open', outcome: 'not_started' },
  ...{ integration: 'kb', attempts: 1, retryable: true, cause: down },
};

describe('what a call failed of', () => {
  it('[O-3] is what its last attempt met where its circuit ended it', () => {
    expect(lastMet(open)).toBe(down);
  });

  it.each([
    ['a refusal without an attempt', { ...open, attempts: 0 }],
    ['a circuit whose cause nobody knows', { ...open, cause: undefined }],
    ['a cause that is no failure', { ...open, cause: new Error('no') }],
    ['a cause of a kind that there is not', { ...open, cause: { kind: 'toString' } }],
    ['any other failure', { ...open, kind: 'timeout' as const }],
  ])('[O-3] is the failure itself of %s', (_, failure) => {
    expect(lastMet(failure)).toBe(failure);
  });
});
