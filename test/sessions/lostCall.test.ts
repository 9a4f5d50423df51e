import { describe, expect, it } from 'vitest';
import { lostCallResult } from '../../src/sessions/lostCall.ts';

const call = { session: 's', call: 's-1-1', turn: 1, integration: 'kb', tool: 'find', input: {}, startedAt: 1000 };

describe('the answer to a call whose gateway died', () => {
  it.each([
    ['readOnly', 'it changes nothing, so it may be tried again', true],
    ['idempotent', 'which repeating does not do twice; it may be tried again', true],
    ['mutating', 'find out whether it happened before you call it again', false],
    [undefined, 'check before repeating', false],
  ] as const)('[G-11] [G-13] says of a %s one what can have happened', (effect, said, retryable) => {
    expect(lostCallResult({ ...call, effect }, 1500)).toMatchObject({
      outcome: 'unknown',
      elapsedMs: 500,
      retryable,
      error: expect.stringContaining(said) as string,
    });
  });
});
