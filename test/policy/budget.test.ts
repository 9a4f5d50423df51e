import { describe, expect, it } from 'vitest';
import { type BudgetInput, endOfDay, limitIn, readAmount, budgetKeys, spendingOf } from '../../src/policy/budget.ts';
import { readOptions } from '../../src/policy/options/readOptions.ts';
import { amountText, budgetRefusalText, budgetSpentText, budgetWaitText } from '../../src/policy/text/budgetText.ts';

const read = (given: object) => readOptions('budget', given, budgetKeys);

describe('a budget', () => {
  it('[G-16] takes amounts as numbers and as texts', () => {
    expect(['20', '200k', '2M', '1.5G', 0.5, 7, 200_000].map((given) => readAmount(given))).toEqual([
      20, 200_000, 2e6, 1.5e9, 0.5, 7, 200_000,
    ]);
    expect(
      ['', '0', '-1', 'M', '2m', '2 M', '60G', 'Infinity', 0, -1, Number.NaN].map((given) => readAmount(given)),
    ).toEqual(Array.from({ length: 11 }));
    expect([20, 0.25, 9999, 12_500, 2e6, 1_250_000].map((amount) => amountText(amount))).toEqual([
      '20',
      '0.25',
      '9999',
      '12.5k',
      '2M',
      '1.25M',
    ]);
  });

  it('[G-16] is read by stretch, and says what is wrong by name', () => {
    expect(read({ turn: { toolCalls: 5 }, day: { tokens: '2M', money: 20 } })).toMatchObject({
      turn: { toolCalls: 5 },
      day: { tokens: '2M', money: 20 },
      zone: 'UTC',
    });
    expect(['tokens=2M/day', 'rounds=30', 'toolCalls=1k/turn'].map((given) => limitIn(given))).toEqual([
      { metric: 'tokens', most: 2e6, per: 'day' },
      { metric: 'rounds', most: 30, per: undefined },
      { metric: 'toolCalls', most: 1000, per: 'turn' },
    ]);
    expect(['2M', 'token=2', 'tokens=', 'tokens=2M/week', 'tokens=0'].map((given) => limitIn(given))).toEqual(
      Array.from({ length: 5 }),
    );
    expect(() => read({ day: { tokens: '2 m' } })).toThrow('`budget.day.tokens` to be an amount above 0');
    expect(() => read({ day: { tokens: true } })).toThrow('`budget.day.tokens` to be an amount above 0');
    expect(() => read({ zone: 'Mars/Base' })).toThrow('`budget.zone` to be a time zone');
    expect(() => read({ week: {} })).toThrow('week');
    expect(() => read({ day: { token: 5 } })).toThrow('`budget.day.token`; did you mean tokens?');
    expect(() => read({ day: { steps: 5 } })).toThrow('known: requests, tokens, money, toolCalls, rounds');
  });

  it('[G-16] takes prices of some kinds of tokens alone', () => {
    const budget: BudgetInput = { day: { money: 5 }, prices: { 'claude-*': { input: 3 } } };
    const { prices } = read(budget);
    expect(spendingOf({ model: 'claude-x', inputTokens: 1e6, outputTokens: 1e6 }, prices).money).toBe(3);
  });

  it('[G-16] has days of UTC, or of its zone, also where the clocks change', () => {
    const at = (text: string): number => Date.parse(text);
    expect(endOfDay(at('2026-03-29T12:00:00Z'), 'UTC')).toBe(at('2026-03-30T00:00:00Z'));
    expect(endOfDay(at('2026-03-30T00:00:00Z'), 'UTC')).toBe(at('2026-03-31T00:00:00Z'));
    expect(endOfDay(at('2026-03-28T23:00:00Z'), 'Europe/Berlin')).toBe(at('2026-03-29T22:00:00Z'));
    expect(endOfDay(at('2026-10-24T22:00:00Z'), 'Europe/Berlin')).toBe(at('2026-10-25T23:00:00Z'));
    expect(endOfDay(at('2026-10-25T22:59:59Z'), 'Europe/Berlin')).toBe(at('2026-10-25T23:00:00Z'));
    expect(endOfDay(at('2026-06-01T11:59:59Z'), 'Pacific/Auckland')).toBe(at('2026-06-01T12:00:00Z'));
  });

  it('[G-16] counts all tokens, and money by the first price that fits the model', () => {
    const { prices } = read({
      prices: { 'claude-*': { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75 }, '*': { input: 100 } },
    });
    const usage = {
      inputTokens: 1_000_000,
      cacheReadTokens: 600_000,
      cacheWriteTokens: 200_000,
      outputTokens: 100_000,
    };
    expect(spendingOf({ model: 'claude-x', ...usage }, prices)).toEqual({
      tokens: 1_100_000,
      money: 3.03,
    });
    expect(spendingOf({ model: 'other', inputTokens: 10_000 }, prices).money).toBe(1);
    expect(
      spendingOf({ model: 'xclaude-x', inputTokens: 10_000 }, { 'claude-*': { ...prices['*']!, input: 3 } }).money,
    ).toBe(0);
    expect(spendingOf({ model: 'a.b', inputTokens: 1e6 }, { 'a?b': { ...prices['*']!, input: 3 } }).money).toBe(0);
    for (const name of ['a.b', 'a(b', 'a+b', '[ab]'])
      expect(spendingOf({ model: 'aab', inputTokens: 1e6 }, { [name]: { ...prices['*']!, input: 3 } }).money).toBe(0);
    expect(spendingOf({}, prices)).toEqual({ tokens: 0, money: 0 });
    // Tokens of a cache that a provider does not count among those that were read.
    const apart = { inputTokens: 1000, cacheReadTokens: 1_000_000 };
    expect(spendingOf({ model: 'claude-x', ...apart }, prices).money).toBeCloseTo(0.3);
  });

  it('[G-16] says what waits for it, and what lets that go on', () => {
    const spent = {
      scope: 'session:agent:main',
      per: 'day',
      metric: 'tokens',
      most: 2e6,
      used: 2_010_000,
      zone: 'UTC',
    } as const;
    const againAt = Date.parse('2026-12-01T00:00:00Z');
    expect(budgetWaitText({ ...spent, againAt })).toBe(
      'waits for its budget of 2M tokens of the day; goes on at 00:00 UTC, or: unwedge budget agent:main --tokens 3M',
    );
    expect(budgetSpentText({ ...spent, per: 'session', metric: 'toolCalls', most: 10, used: 10 })).toBe(
      'agent:main has spent 10 and waits for its budget of 10 tool calls of the session; goes on by: unwedge budget agent:main --tool-calls 15',
    );
    expect(budgetSpentText({ ...spent, scope: 'integration:llm', againAt })).toBe(
      'llm has spent 2.01M of its budget of 2M tokens of the day and is refused; goes on at 00:00 UTC, or: unwedge budget llm --tokens 3M',
    );
    expect(budgetRefusalText({ ...spent, scope: 'api:proxy', againAt })).toBe(
      'proxy is refused, until 00:00 UTC: its budget of 2M tokens of the day is spent',
    );
    expect(budgetRefusalText({ ...spent, scope: 'integration:fix', per: 'session' })).toBe(
      'fix is refused: its budget of 2M tokens of the session is spent',
    );
  });
});
