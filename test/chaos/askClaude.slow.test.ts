import { describe, expect, it } from 'vitest';
import { askClaude } from './askClaude.mjs';

describe('a claude that fails now and then', () => {
  it('[C-7] [S-5] [I-3] is asked with prompts of 1 B to 1 MB, and nearly every call succeeds', async () => {
    const report = await askClaude({ times: 40, seed: 7, faultRate: 0.2 });
    expect(report).toMatchObject({ calls: 40, violations: [] });
    expect(report.attempts).toBeGreaterThan(40);
    expect(report.largestCommandLine).toBeLessThan(20_000);
  }, 120_000);

  it('[C-7] is judged to have failed when too many calls do', async () => {
    const report = await askClaude({ times: 3, seed: 7, faultRate: 1 });
    expect(report.succeeded).toBe(0);
    expect(report.violations).toContain('0 of 3 calls succeeded, less than 99 %');
  }, 120_000);

  it('[C-7] is judged to have failed when a prompt does not arrive whole', async () => {
    const report = await askClaude({ times: 3, seed: 7, faultRate: 0, loses: 1 });
    expect(report.violations).toHaveLength(3);
    expect(report.violations[0]).toContain('a prompt arrived as');
  }, 120_000);
});
