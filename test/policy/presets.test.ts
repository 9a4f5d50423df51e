import { describe, expect, it } from 'vitest';
import { backoffDelayMs } from '../../src/policy/backoff.ts';
import type { IntegrationPolicy } from '../../src/policy/policy.ts';
import type { PolicyInput } from '../../src/policy/policyInput.ts';
import { resolvePolicy } from '../../src/policy/presetChain.ts';
import { defaultPolicy, type PresetName, presets } from '../../src/policy/presets.ts';

const seconds = (policy: IntegrationPolicy) => Object.values<number>({ ...policy.limits }).map((ms) => ms / 1000);
const waits = ({ retry }: IntegrationPolicy) =>
  Array.from({ length: retry.maxAttempts - 1 }, (_, index) => backoffDelayMs(retry.backoff, index + 2, () => 0.5));
const resolve = (input: unknown) => () => resolvePolicy('kb', input as PolicyInput);

describe('the default policy', () => {
  it('[R-1] makes 4 attempts in all and waits 1, 2 and 4 s between them', () => {
    expect(defaultPolicy.retry.maxAttempts).toBe(4);
    expect(waits(defaultPolicy)).toEqual([1000, 2000, 4000]);
    expect(resolvePolicy('kb', undefined)).toEqual(defaultPolicy);
  });
});

describe('the presets', () => {
  it.each<[PresetName, number[], number[]]>([
    ['mcp', [1000, 2000, 4000], [30, 300, 360]],
    ['sdk', [1000, 2000, 4000], [120, 600, 1800]],
    ['subprocess', [1000, 2000, 4000], [180, 600, 1800]],
    ['toolCall', [100, 500], [120, 600, 300]],
    ['workflow', [1000, 2000], [300, 300, 1800]],
    ['claudeCli', [2000, 4000, 8000, 16_000], [180, 300, 1800]],
    ['codex', [], [300, 1800, 1800]],
    ['hook', [], [10, 10, 10]],
  ])('[R-9] %s waits %j ms, and has idle, attempt and overall limits of %j s', (name, waited, limits) => {
    expect(waits(presets[name])).toEqual(waited);
    expect(seconds(presets[name])).toEqual(limits);
  });

  it('[R-9] have finite limits only', () => {
    for (const policy of Object.values(presets)) {
      for (const limitMs of seconds(policy)) expect(limitMs).toBeLessThan(Number.POSITIVE_INFINITY);
    }
  });

  it('[G-3] wait 2000 ms before a fourth attempt of a tool call', () => {
    expect(backoffDelayMs(presets.toolCall.retry.backoff, 4, () => 0.5)).toBe(2000);
  });

  it('[C-2] [W-4] retry unknown failures of the Claude CLI and of items alone; the Claude CLI waits 300 s in all at most', () => {
    const retrying = Object.entries(presets).filter(([, { retry }]) => retry.retryUnknown);
    expect(retrying.map(([name]) => name)).toEqual(['workflow', 'claudeCli']);
    expect(presets.claudeCli.retry.maxTotalWaitMs).toBe(300_000);
  });

  it('[W-2] open the circuit of a workflow at 3 failures, of others at 5', () => {
    expect(presets.workflow.breaker.consecutiveFailures).toBe(3);
    expect(presets.mcp.breaker.consecutiveFailures).toBe(5);
  });

  it('[R-12] repeat undeclared calls after a broken connection, and after a lost answer only runs and items that can be gone on with', () => {
    const bold = Object.entries(presets).filter(([, { retry }]) => retry.repeatAfter === 'lost');
    expect(bold.map(([name]) => name)).toEqual(['workflow', 'claudeCli']);
    const others = Object.values(presets).filter(({ retry }) => retry.repeatAfter === 'broken');
    expect(others).toHaveLength(Object.keys(presets).length - 2);
  });

  it('[R-6] are what they are: nobody changes them for others', () => {
    expect(Object.isFrozen(presets.mcp.retry.backoff.jitter)).toBe(true);
    expect(Object.isFrozen(presets)).toBe(true);
  });

  it.each(Object.keys(presets) as PresetName[])('[R-9] pass their own checks (%s)', (preset) => {
    expect(resolvePolicy('kb', { extends: preset })).toEqual(presets[preset]);
  });
});

describe('resolving a policy', () => {
  it('[R-12] names the successor of an option that is no more', () => {
    const retry = { retryUnspecified: false } as PolicyInput['retry'];
    expect(() => resolvePolicy('kb', { retry })).toThrow(
      /^Unknown option `kb\.policy\.retry\.retryUnspecified`; .*did you mean repeatAfter\?$/,
    );
    const wrong = { repeatAfter: 'never' } as unknown as PolicyInput['retry'];
    expect(() => resolvePolicy('kb', { retry: wrong })).toThrow(
      'Expected `kb.policy.retry.repeatAfter` to be one of refused, broken, lost, got "never"',
    );
  });

  it('[R-9] changes what is given and keeps the rest of its preset', () => {
    const policy = resolvePolicy('kb', { extends: 'mcp', retry: { maxAttempts: 2 }, limits: { idleMs: undefined } });
    expect(policy).toEqual({ ...presets.mcp, retry: { ...presets.mcp.retry, maxAttempts: 2 } });
  });

  it('[R-9] starts from its base where no preset is named', () => {
    expect(resolvePolicy('kb', {}, presets.hook)).toEqual(presets.hook);
    expect(resolvePolicy('kb', { extends: 'mcp' }, presets.hook)).toEqual(presets.mcp);
  });

  it('[R-9] starts from what it extends', () => {
    expect(resolvePolicy('kb', { extends: 'mcp', queueLength: 5 })).toEqual({ ...presets.mcp, queueLength: 5 });
    expect(resolvePolicy('kb', { extends: 'own' }, presets.hook, { own: presets.codex })).toEqual(presets.codex);
  });

  it('[R-9] takes the short forms for the figures they stand for', () => {
    const short = { extends: 'mcp', maxAttempts: 2, attemptMs: 50_000, idleMs: 20_000, overallMs: 90_000 };
    const long = { retry: { maxAttempts: 2 }, limits: { attemptMs: 50_000, idleMs: 20_000, overallMs: 90_000 } };
    expect(resolvePolicy('kb', short)).toEqual(resolvePolicy('kb', { extends: 'mcp', ...long }));
    expect(resolvePolicy('kb', { idleMs: Number.POSITIVE_INFINITY }).limits.idleMs).toBe(Number.POSITIVE_INFINITY);
  });

  it.each<[PolicyInput, IntegrationPolicy['limits']]>([
    // Raised as far as it has to be, and no further.
    [
      { extends: 'mcp', attemptMs: 360_001 },
      { idleMs: 30_000, attemptMs: 360_001, overallMs: 360_001 },
    ],
    [
      { extends: 'mcp', attemptMs: 360_000 },
      { idleMs: 30_000, attemptMs: 360_000, overallMs: 360_000 },
    ],
    [
      { extends: 'mcp', attemptMs: 10_000 },
      { idleMs: 30_000, attemptMs: 10_000, overallMs: 360_000 },
    ],
    [
      { extends: 'workflow', attemptMs: 600_000 },
      { idleMs: 600_000, attemptMs: 600_000, overallMs: 1_800_000 },
    ],
    [
      { extends: 'hook', attemptMs: 60_000 },
      { idleMs: 60_000, attemptMs: 60_000, overallMs: 60_000 },
    ],
    [
      { extends: 'hook', attemptMs: 60_000, idleMs: 5 },
      { idleMs: 5, attemptMs: 60_000, overallMs: 60_000 },
    ],
    [
      { extends: 'hook', attemptMs: 60_000, limits: { idleMs: 5, overallMs: 70_000 } },
      { idleMs: 5, attemptMs: 60_000, overallMs: 70_000 },
    ],
    [
      { extends: 'hook', limits: { attemptMs: 60_000 } },
      { idleMs: 10_000, attemptMs: 60_000, overallMs: 10_000 },
    ],
  ])('[R-9] lets a limit on attempts that is given short take effect: %j', (input, limits) => {
    expect(resolvePolicy('kb', input).limits).toEqual(limits);
  });

  it('[R-17] takes a duration as ms or as a text', () => {
    const short = resolvePolicy('kb', { attemptMs: '50s', idleMs: '0.5m', overallMs: 'infinity' });
    expect(short.limits).toEqual({ attemptMs: 50_000, idleMs: 30_000, overallMs: Number.POSITIVE_INFINITY });
    const backoff = { kind: 'list', delaysMs: ['1s', 5, '0s'] } as const;
    const long = resolvePolicy('kb', { restartWaitMs: '1h', breaker: { windowMs: '1500ms' }, retry: { backoff } });
    expect([long.restartWaitMs, long.breaker.windowMs]).toEqual([3_600_000, 1500]);
    expect(long.retry.backoff).toMatchObject({ kind: 'list', delaysMs: [1000, 5, 0] });
  });

  it('[R-9] freezes all it returns', () => {
    const policy = resolvePolicy('kb', { breaker: { probes: 2 }, attemptMs: 5, maxAttempts: 2 });
    expect([policy, policy.retry, policy.limits, policy.breaker].every((each) => Object.isFrozen(each))).toBe(true);
  });

  it.each([
    [{ retry: { maxAttempts: 0 } }, '`kb.policy.retry.maxAttempts` to be a positive integer, got 0'],
    [{ retry: { overloadedFactor: 0.5 } }, '`kb.policy.retry.overloadedFactor`'],
    [{ retry: { maxTotalWaitMs: -1 } }, '`kb.policy.retry.maxTotalWaitMs`'],
    [
      { retry: { backoff: { kind: 'constant', delayMs: -1, jitter: { kind: 'none' } } } },
      '`kb.policy.retry.backoff.delayMs`',
    ],
    [{ limits: { attemptMs: 0 } }, '`kb.policy.limits.attemptMs`'],
    [{ limits: { idleMs: Number.NaN } }, '`kb.policy.limits.idleMs`'],
    [{ breaker: { probes: 0 } }, '`kb.policy.breaker.probes`'],
    [{ maxInFlight: 0 }, '`kb.policy.maxInFlight`'],
    [{ queueLength: -1 }, '`kb.policy.queueLength`'],
    [{ maxAbandoned: -1 }, '`kb.policy.maxAbandoned`'],
    [{ abortGraceMs: 0 }, '`kb.policy.abortGraceMs`'],
    [{ maxPauseMs: 0 }, '`kb.policy.maxPauseMs`'],
    [{ restartWaitMs: 0 }, '`kb.policy.restartWaitMs`'],
    [{ preset: 'mcp' }, 'Unknown option `kb.policy.preset`; did you mean extends?'],
    [{ timeoutMs: 5 }, 'Unknown option `kb.policy.timeoutMs`; did you mean attemptMs?'],
    [{ extends: 'toString' }, 'known: mcp, sdk'],
    [{ extends: 'mpc' }, 'Expected `kb.policy.extends` to be the name of a preset, got "mpc"; did you mean mcp?'],
    [{ limits: { idleMs: '5 s' } }, 'got "5 s"'],
    [
      { attemptMs: 5, limits: { attemptMs: 5 } },
      '`kb.policy.attemptMs` to be left out beside `limits.attemptMs`, which is the same',
    ],
    [
      { idleMs: 5, limits: { idleMs: 5 } },
      '`kb.policy.idleMs` to be left out beside `limits.idleMs`, which is the same',
    ],
    [
      { overallMs: 5, limits: { overallMs: 5 } },
      '`kb.policy.overallMs` to be left out beside `limits.overallMs`, which is the same',
    ],
    [
      { maxAttempts: 5, retry: { maxAttempts: 5 } },
      '`kb.policy.maxAttempts` to be left out beside `retry.maxAttempts`, which is the same',
    ],
    [
      { attemptMs: 0 },
      '`kb.policy.attemptMs` to be a duration above 0 (ms, or text such as 30s), or "infinity", got 0',
    ],
    [{ idleMs: -1 }, '`kb.policy.idleMs`'],
    [{ overallMs: Number.NaN }, '`kb.policy.overallMs`'],
    [{ maxAttempts: 0 }, '`kb.policy.maxAttempts` to be a positive integer, got 0'],
    [{ rety: {} }, 'did you mean retry?'],
    [{ limits: { idleMS: 5 } }, 'did you mean idleMs?'],
  ])('[R-9] refuses %j by name', (input, message) => {
    expect(resolve(input)).toThrow(message);
    expect(resolve(input)).toThrow(RangeError);
  });

  it.each([
    null,
    5,
    { maxInFlight: null },
    { retry: null },
    { limits: { idleMs: [] } },
    { retry: { retryUnknown: 1 } },
    { extends: 5 },
    { extends: null },
    { attemptMs: true },
    { idleMs: null },
  ])('[R-9] refuses %j for its type', (input) => {
    expect(resolve(input)).toThrow(TypeError);
  });
});
