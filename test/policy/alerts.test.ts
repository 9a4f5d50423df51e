import { describe, expect, it } from 'vitest';
import { type AlertRules, checkAlertRules, defaultAlertRule, raises, withFailure } from '../../src/policy/alerts.ts';

const minute = 60_000;

describe('failures that raise an alert', () => {
  const after = (...times: readonly number[]) =>
    times.reduce<readonly number[]>((kept, at) => withFailure(kept, at, defaultAlertRule), []);

  it('[O-3] are five, not four', () => {
    expect(raises(after(0, 1, 2, 3), defaultAlertRule)).toBe(false);
    expect(raises(after(0, 1, 2, 3, 4), defaultAlertRule)).toBe(true);
  });

  it('[O-3] come within 10 min', () => {
    expect(raises(after(0, 1, 2, 3, 10 * minute - 1), defaultAlertRule)).toBe(true);
    expect(raises(after(0, 1, 2, 3, 10 * minute), defaultAlertRule)).toBe(false);
  });

  it('are kept no longer than they count', () => {
    expect(after(...Array.from({ length: 100 }, (_, index) => index))).toEqual([95, 96, 97, 98, 99]);
  });
});

describe('the rules of alerts', () => {
  it('[O-3] are those of all integrations, unless one has its own', () => {
    const ruleOf = checkAlertRules('alerts', { failures: 3, integrations: { kb: { windowMs: 5 }, search: false } });
    expect(ruleOf('other')).toEqual({ ...defaultAlertRule, failures: 3 });
    expect(ruleOf('kb')).toEqual({ ...defaultAlertRule, failures: 3, windowMs: 5 });
    expect(ruleOf('search')).toBeUndefined();
  });

  it.each([
    [{ failures: 0 }, 'Expected `alerts.failures` to be a positive integer, got 0'],
    [{ quietMs: -1 }, 'Expected `alerts.quietMs` to be a duration in ms above 0, got -1'],
    [{ integrations: { kb: { windowMs: 0 } } }, 'Expected `alerts.integrations.kb.windowMs` to be a duration'],
    [{ integrations: { kb: { window: 5 } } }, 'did you mean windowMs?'],
    [{ integrations: [] }, 'Expected `alerts.integrations` to be an object, got an array of 0'],
  ])('[O-3] have bounds that make sense: %o', (rules, message) => {
    expect(() => checkAlertRules('alerts', rules as AlertRules)).toThrow(message);
  });
});
