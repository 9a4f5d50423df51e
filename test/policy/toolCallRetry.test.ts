import { describe, expect, it } from 'vitest';
import { checkToolCallRetry, type ToolCallRetryOptions } from '../../src/policy/toolCallRetry.ts';

describe('the retries of tool calls', () => {
  it('[G-10] are those of the preset where nothing is said', () => {
    const { retry, patterns } = checkToolCallRetry();
    expect(retry).toMatchObject({ maxAttempts: 3, backoff: { backoff: { delaysMs: [100, 500, 2000] } } });
    expect(patterns).toEqual([]);
  });

  it('[G-10] take attempts, waits and patterns from the options', () => {
    const { retry, patterns } = checkToolCallRetry({
      maxAttempts: 5,
      backoffMs: [10],
      transientPatterns: ['warming up'],
    });
    expect(retry).toMatchObject({ maxAttempts: 5, backoff: { backoff: { kind: 'list', delaysMs: [10] } } });
    expect(patterns).toEqual([{ pattern: 'warming up', kind: 'transient' }]);
  });

  it('[G-10] are off when not enabled, whatever the attempts', () => {
    expect(checkToolCallRetry({ enabled: false, maxAttempts: 5 }).retry.maxAttempts).toBe(1);
  });

  it.each([
    [{ enabled: 1 }, 'toolCallRetry.enabled'],
    [{ maxAttempts: 0 }, 'toolCallRetry.maxAttempts'],
    [{ backoffMs: [] }, 'toolCallRetry.backoffMs'],
    [{ backoffMs: 100 }, 'toolCallRetry.backoffMs'],
    [{ backoffMs: [100, -1] }, 'toolCallRetry.backoffMs[1]'],
    [{ transientPatterns: ['a', 1] }, 'toolCallRetry.transientPatterns[1]'],
    [{ attempts: 3 }, 'attempts'],
  ])('name the option that is wrong: %j', (options, name) => {
    expect(() => checkToolCallRetry(options as ToolCallRetryOptions)).toThrow(name);
  });
});
