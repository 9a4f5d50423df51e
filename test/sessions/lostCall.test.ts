import { describe, expect, it } from 'vitest';
import { lostCallResult } from '../../src/sessions/lostCall.ts';

const call = { session: 's', call: 's-1-1', turn: 1, integration: 'kb', tool: 'find', input: {}, startedAt: 1000 };

describe('the answer to a call whose gateway died', () => {
  it.each([
    ['readOnly', 'it changes nothing'],
    ['idempotent', 'which repeating does not do twice'],
    ['mutating', 'find out whether it happened before you call it again'],
    [undefined, 'check before repeating'],
  ] as const)('[G-11] [G-13] says of a %s one what can have happened', (effect, said) => {
    expect(lostCallResult({ ...call, effect }, 1500)).toMatchObject({
      outcome: 'unknown',
      elapsedMs: 500,
      error: expect.stringContaining(said) as string,
    });
  });
});
