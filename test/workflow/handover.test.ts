import { describe, expect, it } from 'vitest';
import type { Failure } from '../../src/policy/failures/failure.ts';
import { createHandover } from '../../workflow/handover.ts';
import { item } from './startWorkflow.ts';

const lost: Failure = {
  kind: 'timeout',
  message: 'No answer',
  outcome: 'unknown',
  integration: 'x',
  attempts: 1,
  retryable: true,
};
/** An item as its backend has it. */
const work = (...given: Parameters<typeof item>) => ({ ...item(...given) });
const mutating = work('a', [], { effect: 'mutating' });

describe('what one backend leaves to the next', () => {
  it.each([
    ['unknown', true],
    ['cancelled', true],
    ['failed', false],
    ['not_started', false],
  ] as const)('[R-12] an item whose outcome is %s is refused: %s', (outcome, isRefused) => {
    const handover = createHandover();
    handover.failed(mutating, { ...lost, outcome }, 'one', 0);
    expect(handover.refusal(mutating, 'y', 'lost') !== undefined).toBe(isRefused);
  });

  it('[R-12] an item that was done after all is not in doubt', () => {
    const handover = createHandover<string>();
    handover.failed(mutating, lost, 'one', 0);
    handover.add({ id: 'a', action: 'do a', status: 'done', value: 'late', attempts: 1, backend: 'one' });
    expect(handover.refusal(mutating, 'y', 'lost')).toBeUndefined();
    expect(handover.values.get('a')).toBe('late');
  });

  it('[R-12] an item stays in doubt however it fails later', () => {
    const handover = createHandover();
    handover.failed(mutating, lost, 'one', 0);
    handover.failed(work('a'), { ...lost, outcome: 'failed' }, 'one', 0);
    expect(handover.refusal(item('a'), 'y', 'lost')).toMatchObject({
      integration: 'y',
      outcome: 'unknown',
      attempts: 0,
    });
  });

  it.each([
    ['done', 'one had begun it, and it was done (listed)'],
    ['not_done', 'one had begun it, and it did not happen (listed)'],
    ['unknown', 'one had begun it, and what became of it is not known (listed)'],
  ] as const)('[R-16] [W-1] of an item that is found to be %s it is said so', (verdict, words) => {
    const handover = createHandover();
    handover.failed(mutating, lost, 'one', 0);
    expect(handover.doubtful).toEqual([{ item: mutating, failure: lost, backend: 'one', startedAt: 0 }]);
    handover.found('a', { verdict, how: 'listed' });
    expect(handover.words.get('a')).toBe(words);
    expect(handover.results.has('a')).toBe(verdict === 'done');
    expect(handover.refusal(mutating, 'y', 'lost') !== undefined).toBe(verdict === 'unknown');
    // What nobody knows is asked again before the next backend.
    expect(handover.doubtful).toHaveLength(verdict === 'unknown' ? 1 : 0);
  });

  it('[R-16] an item that changes nothing, or may be done twice, is not asked about', () => {
    const handover = createHandover();
    handover.failed(work('a', [], { effect: 'readOnly' }), lost, 'one', 0);
    handover.failed(work('b', [], { effect: 'idempotent' }), lost, 'one', 0);
    expect(handover.doubtful).toEqual([]);
  });
});
