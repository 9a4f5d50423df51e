import { describe, expect, it } from 'vitest';
import { RateWindow } from '../../src/alerts/rateWindow.ts';
import { defaultAlertRule } from '../../src/policy/alerts.ts';
import { noFigures } from '../../src/policy/records/callFigures.ts';

function messageOf(succeeded: number, timeout: number, successBelow: number): string | undefined {
  const rule = { ...defaultAlertRule, successBelow };
  const window = new RateWindow();
  window.add({ ...noFigures, succeeded, failed: { timeout } }, 0, rule);
  return window.lowAt(1, rule, rule.minCalls)?.message;
}

describe('the text of a success rate that is too low', () => {
  it.each([
    [9994, 6, 0.9999, '99.94 % of 10000 calls within 10m, below 99.99 %'],
    [9998, 2, 0.9999, '99.98 % of 10000 calls within 10m, below 99.99 %'],
    [9999, 1, 1, '99.9 % of 10000 calls within 10m, below 100 %'],
    [99, 2, 0.99, '98.0 % of 101 calls within 10m, below 99 %'],
    [0, 20, 0.5, '0.0 % of 20 calls within 10m, below 50 %'],
  ])('[O-10] shows that it is below: %d of them and %d, %d', (succeeded, failed, below, text) => {
    expect(messageOf(succeeded, failed, below)).toBe(`Success rate ${text}; most failed by timeout`);
  });

  it('[O-10] is none where it is what is asked for, or there are too few calls', () => {
    expect(messageOf(99, 1, 0.99)).toBeUndefined();
    expect(messageOf(0, 19, 0.99)).toBeUndefined();
  });
});
