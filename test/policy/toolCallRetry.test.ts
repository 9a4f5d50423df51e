import { describe, expect, it } from 'vitest';
import { presets } from '../../src/policy/presets.ts';
import { checkToolCallRetry, type ToolCallRetryOptions } from '../../src/policy/toolCallRetry.ts';

describe('the retries of tool calls', () => {
  it('[G-10] are those of the preset where nothing is said', () => {
    const { retry, patterns } = checkToolCallRetry();
    expect(retry).toMatchObject({ maxAttempts: 3, backoff: { delaysMs: [100, 500, 2000] } });
    expect(patterns).toEqual([]);
  });

  it('[G-10] take attempts, waits and patterns from the options', () => {
    const { retry, patterns } = checkToolCallRetry({
      maxAttempts: 5,
      backoffMs: [10],
      transientPatterns: ['warming up'],
    });
    expect(retry).toMatchObject({ maxAttempts: 5, backoff: { kind: 'list', delaysMs: [10] } });
    expect(patterns).toEqual([{ pattern: 'warming up', kind: 'transient' }]);
  });

  it('[G-10] are off when not enabled, whatever the attempts', () => {
    expect(checkToolCallRetry({ enabled: false, maxAttempts: 5 }).retry.maxAttempts).toBe(1);
  });

  it('[G-10] start from the preset they are given', () => {
    const { retry } = checkToolCallRetry({ backoffMs: [5] }, { ...presets.toolCall.retry, maxAttempts: 7 });
    expect(retry).toMatchObject({ maxAttempts: 7, backoff: { delaysMs: [5] } });
  });

  it('[G-10] take regular expressions, and what answers like one', () => {
    const own = { test: (text: string) => text.length > 5 };
    const { patterns } = checkToolCallRetry({ transientPatterns: [/warming/i, own] });
    expect(patterns.map(({ pattern }) => pattern)).toEqual([/warming/i, own]);
  });

  it.each(['/(a+)+$/', '/warming/i', '/usr/bin', '/a\nb/'])(
    '[G-10] neither run %j in code as an expression nor take it for a text',
    (pattern) => {
      const check = (): unknown => checkToolCallRetry({ transientPatterns: ['a', pattern] });
      expect(check).toThrow(TypeError);
      expect(check).toThrow('`toolCallRetry.transientPatterns[1]` not to be a regular expression in a string');
    },
  );

  it.each(['/', '//', '/path', 'a/b/', '/v1/messages failed', '/a/1'])('[G-10] take %j for a text', (pattern) => {
    expect(checkToolCallRetry({ transientPatterns: [pattern] }).patterns).toEqual([{ pattern, kind: 'transient' }]);
  });

  it.each([
    [{ enabled: 1 }, 'toolCallRetry.enabled'],
    [{ maxAttempts: 0 }, 'toolCallRetry.maxAttempts'],
    [{ backoffMs: [] }, 'toolCallRetry.backoffMs'],
    [{ backoffMs: 100 }, 'toolCallRetry.backoffMs'],
    [{ backoffMs: [100, -1] }, 'toolCallRetry.backoffMs[1]'],
    [{ transientPatterns: ['a', 1] }, 'toolCallRetry.transientPatterns[1]'],
    [{ transientPatterns: [{}] }, 'toolCallRetry.transientPatterns[0]'],
    [{ transientPatterns: 'a' }, 'toolCallRetry.transientPatterns'],
    [{ attempts: 3 }, 'attempts'],
  ])('name the option that is wrong: %j', (options, name) => {
    expect(() => checkToolCallRetry(options as ToolCallRetryOptions)).toThrow(name);
  });
});
