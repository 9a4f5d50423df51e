import { describe, expect, it } from 'vitest';
import { checkRetention, type RetentionOptions } from '../../src/policy/retention.ts';

describe('retention', () => {
  it('[O-7] is 30 days and 1 GB where nothing else is said, and nothing where it is switched off', () => {
    const usual = { maxAgeMs: 2_592_000_000, maxBytes: 1_000_000_000 };
    expect([checkRetention('retention'), checkRetention('retention', { maxAgeMs: 5 })]).toEqual([
      usual,
      { ...usual, maxAgeMs: 5 },
    ]);
    expect(checkRetention('retention', false)).toBeUndefined();
  });

  it.each([
    [{ maxAgeMs: 0 }, 'Expected `retention.maxAgeMs` to be a duration above 0 (ms, or text such as 30s), got 0'],
    [{ maxBytes: 999_999 }, 'Expected `retention.maxBytes` to be an integer of at least 1000000, got 999999'],
    [{ maxAge: 5 }, 'did you mean maxAgeMs?'],
  ])('[O-7] has bounds that make sense: %o', (options, message) => {
    expect(() => checkRetention('retention', options as RetentionOptions)).toThrow(message);
  });
});
