import { describe, expect, it } from 'vitest';
import { type AlertRules, checkAlertRules, defaultAlertRule, raises, withOneMore } from '../../src/policy/alerts.ts';

const minute = 60_000;

describe.each(['failures', 'crashes'] as const)('%s that raise an alert', (cause) => {
  const after = (...times: readonly number[]) =>
    times.reduce<readonly number[]>((kept, at) => withOneMore(cause, kept, at, defaultAlertRule), []);
  const raisedAfter = (...times: readonly number[]): boolean =>
    raises(cause, after(...times), times.at(-1) ?? 0, defaultAlertRule);

  it('[O-3] are five, not four', () => {
    expect(raisedAfter(0, 1, 2, 3)).toBe(false);
    expect(raisedAfter(0, 1, 2, 3, 4)).toBe(true);
  });

  it('[O-3] come within 10 min', () => {
    expect(raisedAfter(0, 1, 2, 3, 10 * minute - 1)).toBe(true);
    expect(raisedAfter(0, 1, 2, 3, 10 * minute)).toBe(false);
  });

  it('[O-3] raise none when they are looked at later', () => {
    expect(raises(cause, after(0, 1, 2, 3, 4), 10 * minute - 1, defaultAlertRule)).toBe(true);
    expect(raises(cause, after(0, 1, 2, 3, 4), 10 * minute, defaultAlertRule)).toBe(false);
  });

  it('are kept no longer than they count', () => {
    expect(after(...Array.from({ length: 100 }, (_, index) => index))).toEqual([95, 96, 97, 98, 99]);
  });
});

describe('the rules of alerts', () => {
  it('[O-3] are those of all integrations, unless one has its own', () => {
    const ruleOf = checkAlertRules('alerts', {
      failures: 3,
      integrations: { kb: { windowMs: 5, crashes: 2 }, search: false },
    });
    expect(ruleOf('other')).toEqual({ ...defaultAlertRule, failures: 3 });
    expect(ruleOf('kb')).toEqual({ ...defaultAlertRule, failures: 3, windowMs: 5, crashes: 2 });
    expect(ruleOf('search')).toBeUndefined();
  });

  it.each([
    [{ failures: 0 }, 'Expected `alerts.failures` to be a positive integer, got 0'],
    [{ crashes: 1.5 }, 'Expected `alerts.crashes` to be a positive integer, got 1.5'],
    [{ quietMs: -1 }, 'Expected `alerts.quietMs` to be a duration above 0 (ms, or text such as 30s), got -1'],
    [{ integrations: { kb: { windowMs: 0 } } }, 'Expected `alerts.integrations.kb.windowMs` to be a duration'],
    [{ integrations: { kb: { window: 5 } } }, 'did you mean windowMs?'],
    [{ integrations: [] }, 'Expected `alerts.integrations` to be an object, got an array of 0'],
  ])('[O-3] have bounds that make sense: %o', (rules, message) => {
    expect(() => checkAlertRules('alerts', rules as AlertRules)).toThrow(message);
  });
});
