import { expect, it } from 'vitest';
import { report } from '../report.ts';
import { simulatePayments } from './simulatePayments.ts';

it('[R-16] nothing is done twice, and nothing is said to be done that is not, over 500 seeds', {
  timeout: 600_000,
}, async () => {
  const failed: string[] = [];
  for (let seed = 1; seed <= 500 && failed.length < 3; seed++) {
    const result = await simulatePayments({ seed });
    if (result.violation !== undefined) failed.push(report(result, '--payments '));
  }
  expect(failed.join('\n\n')).toBe('');
});
