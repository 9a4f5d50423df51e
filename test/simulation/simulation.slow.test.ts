import { expect, it } from 'vitest';
import { report } from './report.ts';
import { simulate } from './simulate.ts';

it('[I-1] [I-2] [I-3] [I-4] [M-1] the simulation finds every promise kept over 500 seeds', {
  timeout: 600_000,
}, async () => {
  const failed: string[] = [];
  for (let seed = 1; seed <= 500 && failed.length < 3; seed++) {
    const result = await simulate({ seed });
    if (result.violation !== undefined) failed.push(report(result));
  }
  expect(failed.join('\n\n')).toBe('');
});
