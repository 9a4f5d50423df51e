import { describe, expect, it } from 'vitest';
import type { RunArgs } from '../../../src/cli/run/options.ts';
import { planRun } from '../../../src/cli/run/request.ts';

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
