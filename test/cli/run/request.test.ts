import { describe, expect, it } from 'vitest';
import type { RunArgs } from '../../../cli/run/command.ts';
import { planRun } from '../../../cli/run/request.ts';
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
