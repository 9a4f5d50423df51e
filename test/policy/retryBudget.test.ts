import { describe, expect, it } from 'vitest';
import { RetryBudget } from '../../src/policy/retryBudget.ts';

function spent(retries: number): RetryBudget {
  const budget = new RetryBudget();
  for (let index = 0; index < retries; index++) budget.tryRetry(1);
  return budget;
}

describe('the retry budget', () => {
  it('[R-4] pays 5 of its 100 tokens for a retry', () => {
    expect(spent(1).tokens).toBe(95);
  });

  it('[R-4] allows 20 retries among others and refuses the next', () => {
    expect(spent(19).tryRetry(1)).toBe(true);
    expect(spent(20).tryRetry(1)).toBe(false);
  });

  it('[R-4] refuses when there are tokens, but too few', () => {
    const budget = spent(20);
    for (let index = 0; index < 4; index++) budget.succeededAtFirst();
    expect(budget.tryRetry(1)).toBe(false);
    budget.succeededAtFirst();
    expect(budget.tryRetry(1)).toBe(true);
  });

  it('[R-4] never blocks a lone call, which pays what there is', () => {
    const budget = spent(20);
    budget.succeededAtFirst();
    expect(budget.tryRetry(0)).toBe(true);
    expect(budget.tokens).toBe(0);
  });

  it('[R-4] takes nothing for a refusal', () => {
    const budget = new RetryBudget({ capacity: 4 });
    budget.tryRetry(1);
    expect(budget.tokens).toBe(4);
  });

  it('[R-4] gets 1 token for a success at first try', () => {
    const budget = spent(2);
    budget.succeededAtFirst();
    expect(budget.tokens).toBe(91);
  });

  it('[R-4] gets the cost of its retries back for a later success', () => {
    const budget = spent(3);
    budget.succeededAfter(2);
    expect(budget.tokens).toBe(95);
  });

  it('[R-4] never holds more than its capacity', () => {
    const budget = spent(1);
    budget.succeededAfter(50);
    expect(budget.tokens).toBe(100);
  });

  it.each([
    [{ capacity: 0 }, '`retryBudget.capacity`'],
    [{ cost: -1 }, '`retryBudget.cost`'],
    [{ refund: Number.NaN }, '`retryBudget.refund`'],
  ])('[R-4] refuses %j by name', (policy, message) => {
    expect(() => new RetryBudget(policy)).toThrow(message);
  });

  it('[R-4] takes its defaults where an option is undefined', () => {
    expect(new RetryBudget({ capacity: undefined }).tokens).toBe(100);
  });
});
