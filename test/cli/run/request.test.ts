import { describe, expect, it } from 'vitest';
import type { RunArgs } from '../../../cli/run/command.ts';
import { planRun } from '../../../cli/run/request.ts';
import type { PoliciesOptions } from '../../../src/policy/policies.ts';
import { type PresetName, presets } from '../../../src/policy/presets.ts';

const plan = (given: Partial<RunArgs>) =>
  planRun({ attempts: 1, json: false, stream: false, ...given } as RunArgs, ['make'], { stdin: false, stdout: false });

describe('what unwedge run refuses', () => {
  it('[L-1] is output as it comes beside one report at the end', () => {
    expect(() => plan({ json: true, stream: true })).toThrow('Expected `--json` or `--stream`, not both');
  });

  it('[L-1] is a limit on each attempt that the limit on all never lets pass', () => {
    expect(() => plan({ timeout: 1000, 'attempt-timeout': 1001 })).toThrow(
      'Expected `--attempt-timeout` to be at most `--timeout`',
    );
    expect(plan({ timeout: 1000, 'attempt-timeout': 1000 }).policy.limits).toMatchObject({ attemptMs: 1000 });
  });
});

describe('the limits of unwedge run', () => {
  it('[L-1] [L-4] are those that were asked for, whatever the policy has for the others', () => {
    const { limits } = plan({ timeout: 100 }).policy;
    expect(limits.overallMs).toBe(100);
    expect(limits.idleMs).toBeGreaterThan(100);
    expect(plan({ 'attempt-timeout': 100 }).policy.limits).toMatchObject({ attemptMs: 100 });
    expect(plan({ 'no-output-timeout': 36e5 }).policy.limits).toMatchObject({ idleMs: 36e5 });
    for (const policy of ['toolCall', 'mcp', 'sdk', 'subprocess', 'workflow', 'claudeCli', 'codex', 'hook'])
      expect(plan({ policy, attempts: 3 }).policy.limits).toEqual(presets[policy as PresetName].limits);
  });

  it('[L-4] [E-7] let an attempt take the time it was given where nobody limits the whole', () => {
    expect(plan({ 'attempt-timeout': 36e5 }).policy.limits).toMatchObject({ attemptMs: 36e5, overallMs: 36e5 });
    expect(plan({ 'attempt-timeout': 1000 }).policy.limits.overallMs).toBe(presets.subprocess.limits.overallMs);
  });
});

describe('what a run may spend', () => {
  const given = (spend: string, words: readonly string[], policies: PoliciesOptions = {}) =>
    planRun(
      { attempts: 1, json: false, stream: false, spend } as RunArgs,
      words,
      { stdin: false, stdout: false },
      { policies },
    );
  const codex = ['codex', 'exec', '--json', 'do it'];

  it('[G-16] [L-4] is of the run unless it says of what, and over what is configured of its name', () => {
    const budget = { day: { tokens: '1M' }, session: { rounds: 5 }, zone: 'Europe/Berlin' };
    const { policy } = given('rounds=30,toolCalls=40', codex, { integrations: { codex: { budget } } });
    expect(policy.budget).toMatchObject({ ...budget, session: { rounds: '30', toolCalls: '40' } });
    expect(given('tokens=2k/day', codex).policy.budget).toMatchObject({ day: { tokens: '2k' } });
  });

  it('[G-16] [L-4] is refused where it is no limit, where nothing tells of it, and in money without prices', () => {
    for (const wrong of ['', 'rounds', 'rounds=-1', 'rounds=3,', 'steps=3', 'rounds=3/week'])
      expect(() => given(wrong, codex)).toThrow('Expected `--spend` to be limits as tokens=200k,rounds=300/day, got ');
    expect(() => given('money=3', codex)).toThrow('policies.integrations.NAME.budget.prices');
    const prices = { '*': { input: 3 } };
    const priced = given('money=3', codex, { integrations: { codex: { budget: { prices } } } });
    expect(priced.policy.budget).toMatchObject({ session: { money: '3' }, prices });
    expect(() => given('requests=3,rounds=30', ['make'])).toThrow('to be of requests alone: this output tells nothing');
    expect(() => given('tokens=30', ['claude', '-p', 'x'])).toThrow('to be of requests alone');
    expect(given('requests=30/day', ['make']).policy.budget?.day).toEqual({ requests: '30' });
  });
});
