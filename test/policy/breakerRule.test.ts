import { describe, expect, it } from 'vitest';
import { readBreakerCause } from '../../src/policy/records/breakerCause.ts';
import {
  type BreakerRule,
  breakerRuleNote,
  breakerRuleText,
  readBreakerRule,
  reopeningRule,
} from '../../src/policy/breakerRule.ts';

const ratio: BreakerRule = { name: 'failure_ratio', failures: 10, attempts: 20, limit: 0.5 };

describe('the rule that opened a circuit', () => {
  it.each<[BreakerRule, string]>([
    [{ name: 'consecutive_failures', failures: 5, limit: 5 }, '5 attempts in a row failed, consecutiveFailures 5'],
    [{ name: 'consecutive_failures', failures: 1, limit: 1 }, '1 attempt failed, consecutiveFailures 1'],
    [ratio, '10 of the last 20 attempts failed, failureRatio 0.5'],
    [{ name: 'failed_probe' }, 'its probe failed'],
    [
      { name: 'failed_probe', first: ratio },
      'its probe failed; before, 10 of the last 20 attempts failed, failureRatio 0.5',
    ],
    [{ name: 'quota' }, 'a quota opens it at once'],
    [{ name: 'isolated' }, 'held open until its release'],
  ])('[O-9] says what was counted and the option: %o', (rule, text) => {
    expect([breakerRuleText(rule), breakerRuleNote(rule)]).toEqual([text, ` (${text})`]);
    expect(readBreakerRule(JSON.parse(JSON.stringify(rule)))).toEqual(rule);
  });

  it('[O-9] of the first opening is not lost, however many probes fail', () => {
    const once = reopeningRule(ratio);
    expect([once, reopeningRule(once)]).toEqual([
      { name: 'failed_probe', first: ratio },
      { name: 'failed_probe', first: ratio },
    ]);
    expect(reopeningRule(undefined)).toEqual({ name: 'failed_probe' });
    expect(readBreakerRule({ name: 'failed_probe', first: once })).toEqual({ name: 'failed_probe' });
  });

  it.each([
    undefined,
    null,
    'next_attempt',
    {},
    { name: 'of a later version' },
    { name: 'failure_ratio', failures: 10 },
    { name: 'consecutive_failures', failures: 'x', limit: 5 },
  ])('is unknown, and no word of it is said, where another version kept %o', (kept) => {
    expect([readBreakerRule(kept), breakerRuleNote(kept)]).toEqual([undefined, '']);
  });

  it('[O-9] [M-8] is read with the cause that was kept, which older versions keep without one', () => {
    const cause = { kind: 'transient', message: 'HTTP 503', failures: [] };
    expect(readBreakerCause(cause)).toEqual(cause);
    expect(readBreakerCause({ ...cause, rule: ratio })).toEqual({ ...cause, rule: ratio });
    expect(readBreakerCause({ ...cause, rule: { name: 'of a later version' } })).toEqual(cause);
  });
});
