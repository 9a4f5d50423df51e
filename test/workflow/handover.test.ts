import { describe, expect, it } from 'vitest';
import type { Failure } from '../../src/policy/failure.ts';
import { createHandover } from '../../src/workflow/handover.ts';
import { item } from './startWorkflow.ts';

const lost: Failure = {
  kind: 'timeout',
  message: 'No answer',
  outcome: 'unknown',
  integration: 'x',
  attempts: 1,
  retryable: true,
};
const mutating = item('a', [], { effect: 'mutating' });

describe('what one backend leaves to the next', () => {
  it.each([
    ['unknown', true],
    ['cancelled', true],
    ['failed', false],
    ['not_started', false],
  ] as const)('[R-12] an item whose outcome is %s is refused: %s', (outcome, isRefused) => {
    const handover = createHandover();
    handover.failed(mutating, { ...lost, outcome });
    expect(handover.refusal(mutating, 'y', 'lost') !== undefined).toBe(isRefused);
  });

  it('[R-12] an item that was done after all is not in doubt', () => {
    const handover = createHandover<string>();
    handover.failed(mutating, lost);
    handover.add({ id: 'a', action: 'do a', status: 'done', value: 'late', attempts: 1, backend: 'one' });
    expect(handover.refusal(mutating, 'y', 'lost')).toBeUndefined();
    expect(handover.values.get('a')).toBe('late');
  });

  it('[R-12] an item stays in doubt however it fails later', () => {
    const handover = createHandover();
    handover.failed(mutating, lost);
    handover.failed(item('a'), { ...lost, outcome: 'failed' });
    expect(handover.refusal(item('a'), 'y', 'lost')).toMatchObject({
      integration: 'y',
      outcome: 'unknown',
      attempts: 0,
    });
  });
});
