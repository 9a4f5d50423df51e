import { describe, expect, it } from 'vitest';
import { CallableIntegration } from '../../../src/calls/integration.ts';
import type { Effect, RepeatAfter } from '../../../src/policy/effects.ts';
import { AttemptError } from '../../../src/policy/failures/failure.ts';
import { startIntegration } from '../../support/startIntegration.ts';

/** A call whose answer is lost, of a tool of which the other side says one thing as it goes out, and another by then. */
async function attemptsWhen(
  atFirst: Effect | undefined,
  later: Effect | undefined,
  repeatAfter: RepeatAfter,
): Promise<number> {
  const { path, clock, seen } = startIntegration({ retry: { repeatAfter } });
  let said = atFirst;
  const integration = new CallableIntegration(path, undefined, () => ({ learnedEffect: () => said }));
  void integration.call('write');
  said = later;
  seen[0]?.reject(new AttemptError({ kind: 'timeout', message: 'lost', outcome: 'unknown' }));
  await clock.advance(60_000);
  return seen.length;
}

describe('what the other side says of the effect of a call', () => {
  it.each([
    ['mutating', undefined, 'lost', 1],
    ['mutating', 'readOnly', 'lost', 1],
    ['readOnly', 'mutating', 'lost', 1],
    [undefined, 'mutating', 'lost', 1],
    [undefined, undefined, 'lost', 2],
    ['readOnly', undefined, 'broken', 2],
    [undefined, 'readOnly', 'broken', 2],
    [undefined, undefined, 'broken', 1],
  ] as const)('[R-12] counts as of then and as of now: %s, then %s (else %s): %i attempts', async (...said) => {
    const [first, later, unspecified, attempts] = said;
    expect(await attemptsWhen(first, later, unspecified)).toBe(attempts);
  });
});
