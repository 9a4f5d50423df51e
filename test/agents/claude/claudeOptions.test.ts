import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { checkClaudeCall, checkClaudeOptions, type ClaudeRetry } from '../../../agents/claude/claudeOptions.ts';
import { createGateway } from '../../../src/index.ts';
import { createClaude } from '../../../agents/claude/index.ts';
import { presets } from '../../../src/policy/presets.ts';

const fail = fileURLToPath(new URL('../../fixtures/fail.mjs', import.meta.url));
const inEnvironment = (environment: Readonly<Record<string, string>>) => checkClaudeOptions({}, environment);
const figures = (environment: Readonly<Record<string, string>>, retry?: ClaudeRetry, ofCall?: ClaudeRetry) => {
  const { maxAttempts, backoff } = checkClaudeCall({ retry: ofCall }, checkClaudeOptions({ retry }, environment));
  return { maxAttempts, ...backoff };
};

const usual = {
  maxAttempts: 5,
  kind: 'exponential',
  initialMs: 2000,
  factor: 2,
  maxMs: 120_000,
  jitter: { kind: 'factor', factor: 0.2 },
};

describe('the figures of Claude’s retries', () => {
  it('[C-3] are those of the preset where nobody says anything', () => {
    expect(figures({})).toEqual(usual);
    expect(inEnvironment({})).toMatchObject({ timeoutMs: 300_000, maxTokens: 4096, logDir: '.logs' });
  });

  it.each<[string, string, object]>([
    ['CLAUDE_MAX_RETRIES', '1', { maxAttempts: 1 }],
    ['CLAUDE_MAX_RETRIES', ' 12 ', { maxAttempts: 12 }],
    ['CLAUDE_BASE_DELAY', '0.001', { initialMs: 1 }],
    ['CLAUDE_BASE_DELAY', '2.5', { initialMs: 2500 }],
    ['CLAUDE_MAX_DELAY', '0.5', { maxMs: 500 }],
    ['CLAUDE_MAX_DELAY', '3600', { maxMs: 3_600_000 }],
    ['CLAUDE_JITTER_FACTOR', '0', { jitter: { kind: 'factor', factor: 0 } }],
    ['CLAUDE_JITTER_FACTOR', '1', { jitter: { kind: 'factor', factor: 1 } }],
    ['CLAUDE_JITTER_FACTOR', '0.35', { jitter: { kind: 'factor', factor: 0.35 } }],
  ])('[C-3] take %s=%s and leave the others', (name, value, changed) => {
    expect(figures({ [name]: value })).toEqual({ ...usual, ...changed });
  });

  it.each([
    ['CLAUDE_MAX_RETRIES', '0'],
    ['CLAUDE_MAX_RETRIES', '0.5'],
    ['CLAUDE_MAX_RETRIES', '-1'],
    ['CLAUDE_MAX_RETRIES', '1e3'],
    ['CLAUDE_BASE_DELAY', '0'],
    ['CLAUDE_BASE_DELAY', '0.0'],
    ['CLAUDE_BASE_DELAY', '2s'],
    ['CLAUDE_BASE_DELAY', '-0.5'],
    ['CLAUDE_MAX_DELAY', '0'],
    ['CLAUDE_MAX_DELAY', 'Infinity'],
    ['CLAUDE_MAX_DELAY', '-1'],
    ['CLAUDE_JITTER_FACTOR', '1.01'],
    ['CLAUDE_JITTER_FACTOR', '-0.1'],
    ['CLAUDE_JITTER_FACTOR', '.5'],
  ])('[C-3] refuse %s=%s by name', (name, value) => {
    expect(() => inEnvironment({ [name]: value })).toThrow(RangeError);
    expect(() => inEnvironment({ [name]: value })).toThrow(`\`${name}\``);
  });

  const environment = {
    CLAUDE_MAX_RETRIES: '2',
    CLAUDE_BASE_DELAY: '2',
    CLAUDE_MAX_DELAY: '20',
    CLAUDE_JITTER_FACTOR: '0.2',
  };
  const options = { maxRetries: 3, baseDelay: 3, maxDelay: 30, jitterFactor: 0.3 };
  const ofCall = { maxRetries: 4, baseDelay: 4, maxDelay: 40, jitterFactor: 0.4 };

  it.each(['maxRetries', 'baseDelay', 'maxDelay', 'jitterFactor'] as const)(
    '[C-3] take %s from the call, then the options, then the environment',
    (name) => {
      const key = { maxRetries: 'maxAttempts', baseDelay: 'initialMs', maxDelay: 'maxMs', jitterFactor: 'jitter' }[
        name
      ] as keyof ReturnType<typeof figures>;
      const both = figures(environment, options);
      expect(figures(environment, { [name]: options[name] })).toEqual({ ...figures(environment), [key]: both[key] });
      expect(figures(environment, options, { [name]: ofCall[name] })).toEqual({
        ...both,
        [key]: figures({}, undefined, ofCall)[key],
      });
      expect(
        new Set(
          [figures(environment), both, figures(environment, options, ofCall)].map((each) => JSON.stringify(each[key])),
        ).size,
      ).toBe(3);
    },
  );

  it('[C-3] are those of the integration’s policy before they are ours', () => {
    const waits = { kind: 'constant', delayMs: 5, jitter: { kind: 'none' } } as const;
    const policy = {
      retry: { ...presets.claudeCli.retry, maxAttempts: 9, backoff: waits },
      limits: { ...presets.claudeCli.limits, attemptMs: 7 },
    };
    expect(checkClaudeOptions({}, {}, policy)).toMatchObject({ maxAttempts: 9, timeoutMs: 7, backoff: waits });
    expect(
      checkClaudeOptions({ timeout: 1, retry: { maxDelay: 3 } }, { CLAUDE_MAX_RETRIES: '4' }, policy),
    ).toMatchObject({
      maxAttempts: 4,
      timeoutMs: 1000,
      backoff: { kind: 'exponential', initialMs: 2000, maxMs: 3000, jitter: { kind: 'none' } },
    });
  });

  it('[C-3] follow the preset of the gateway, limits that are off included', async () => {
    const claudeCli = { maxAttempts: 1, attemptMs: Number.POSITIVE_INFINITY };
    const gateway = createGateway({ policies: { presets: { claudeCli } } });
    onTestFinished(() => gateway.stop());
    const claude = createClaude({ gateway, command: process.execPath, args: [fail], log: false });
    await gateway.start();
    expect(await claude.invokeClaude('say hi')).toMatchObject({
      success: false,
      attempts: 1,
      error: expect.not.stringContaining('Expected') as string,
    });
    await claude.stop();
  });

  it('[C-1] leave nothing in the gateway when an option is wrong', () => {
    const gateway = createGateway();
    expect(() => createClaude({ gateway, timeout: 0 })).toThrow('`options.timeout`');
    expect(() => createClaude({ gateway, log: false })).not.toThrow();
  });
});
