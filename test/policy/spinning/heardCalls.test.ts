import { BudgetAccount } from '../../../src/calls/rates/budgetAccount.ts';
import { type BudgetInput, budgetKeys } from '../../../src/policy/budget.ts';
import type { Fact } from '../../../src/policy/facts/facts.ts';
import { readOptions } from '../../../src/policy/options/readOptions.ts';
import { StoredRates } from '../../../src/runtime/rateKeeper.ts';
import { describe, expect, it } from 'vitest';
import { HeardCalls } from '../../../src/policy/spinning/heardCalls.ts';
import { chosenLimits, limitsOf, ownLimits } from '../../../src/policy/spinning/spinningRule.ts';
import { hearing } from '../../support/hearing.ts';
import { SimulatedClock } from '../../../testing/simulatedClock.ts';

/** Calls that are counted against the budgets of a run and of a day. */
function count(limits: BudgetInput) {
  const clock = new SimulatedClock();
  const { caller, ends } = hearing(clock);
  const facts: Fact[] = [];
  const parts = {
    keeper: new StoredRates(clock, () => undefined),
    facts: { tell: (fact: Fact) => void facts.push(fact) },
  };
  const budget = readOptions('budget', limits, budgetKeys);
  const account = new BudgetAccount('run:coder', budget, { ...parts, accounts: new Map() }, ['day']);
  const listener = (): HeardCalls => new HeardCalls(undefined, { ...caller, budgets: [account.ofRun(), account] });
  return { account, ends, listener, facts, clock };
}

const done = { ok: true, value: 'same' } as const;
const call = { tool: 'edit', input: { path: 'a' } };

function listen(limits = ownLimits) {
  const clock = new SimulatedClock();
  const { caller, told, ends } = hearing(clock);
  const calls = new HeardCalls(limits, caller);
  let last = 0;
  const fail = (times: number, by?: unknown, message = 'no such file'): void => {
    for (let nth = 0; nth < times; nth++) {
      calls.called(++last, { tool: 'edit', input: { path: 'a' } }, by);
      calls.answered(last, { ok: false, kind: 'tool', message });
    }
  };
  return { clock, calls, told, ends, fail };
}

describe('the calls of an agent that are heard', () => {
  it('[G-15] come to a notice, a word and the end by equal failures', () => {
    const { told, ends, fail } = listen();
    fail(19);
    expect(ends).toEqual([]);
    fail(1);
    expect(told.map(({ step, count }) => [step, count])).toEqual([
      ['notice', 4],
      ['tell', 6],
      ['end', 20],
    ]);
    expect(ends).toEqual([
      { kind: 'spinning', outcome: 'unknown', message: expect.stringContaining('20 times') as unknown },
    ]);
    expect(ends[0]?.message).toContain('"no such file"');
  });

  it('[G-15] of sub-agents count apart', () => {
    const { told, ends, fail } = listen();
    for (let nth = 0; nth < 15; nth++) for (const by of [null, 'a', 'b']) fail(1, by);
    expect(ends).toEqual([]);
    expect(told.filter(({ step }) => step === 'notice')).toHaveLength(3);
  });

  it('[G-15] are of no account before they are answered, and an answer to none is passed over', () => {
    const { calls, told } = listen();
    for (let nth = 0; nth < 3000; nth++) calls.called(nth, { tool: 'edit', input: {} });
    for (let nth = 0; nth < 100; nth++) calls.answered(-1, { ok: false, kind: 'tool', message: 'x' });
    expect(told).toEqual([]);
  });

  it('[G-15] are forgotten of the agent that was heard longest ago, and of calls the oldest without an answer', () => {
    const { calls, told, fail } = listen();
    fail(3, 'first');
    fail(2, 'second');
    for (let nth = 0; nth < 30; nth++) fail(1, nth);
    fail(1, 'first');
    expect(told).toHaveLength(1);
    fail(1, 'another');
    fail(2, 'second');
    expect(told).toHaveLength(1);
    for (let nth = 0; nth < 1004; nth++) calls.called(`open-${nth}`, { tool: 'write', input: {} });
    for (let nth = 0; nth < 4; nth++) calls.answered(`open-${nth}`, { ok: false, kind: 'tool', message: 'no' });
    expect(told).toHaveLength(1);
  });

  it('[G-15] are not ended where each took long', async () => {
    const { clock, calls, ends, told } = listen();
    for (let nth = 0; nth < 40; nth++) {
      calls.called(nth, { tool: 'test', input: {} });
      await clock.advance(11_000);
      calls.called(nth, { tool: 'test', input: {} });
      calls.answered(nth, { ok: false, kind: 'tool', message: '3 failed' });
    }
    expect(ends).toEqual([]);
    expect(told.map(({ step }) => step)).toEqual(['notice', 'tell']);
  });

  it('[G-15] end nothing by what was before the message that is worked on', () => {
    const { calls, ends, fail } = listen();
    fail(19);
    calls.mark();
    fail(19);
    expect(ends).toEqual([]);
    fail(1);
    expect(ends).toHaveLength(1);
  });

  it('[G-15] end as far as was chosen', () => {
    const held = listen(chosenLimits('hold'));
    const told = listen(chosenLimits('tell'));
    for (const { fail } of [held, told]) fail(60);
    expect(held.ends.length).toBeGreaterThan(0);
    expect(told.ends).toEqual([]);
    expect(limitsOf('off', ownLimits)).toBeUndefined();
    expect(limitsOf(undefined, ownLimits)).toBe(ownLimits);
  });
});

describe('the calls of an agent against a budget', () => {
  it('[G-16] end by a budget of rounds between two calls, whose equal successes end nothing, and begin each run anew', () => {
    const { ends, listener, facts } = count({ session: { rounds: 10 } });
    for (const _ of [1, 2]) {
      const calls = listener();
      for (let nth = 0; nth < 9; nth++) {
        calls.called(nth, call);
        calls.called(nth, call);
        calls.answered(nth, done);
      }
      expect(ends).toEqual([]);
    }
    const calls = listener();
    for (let nth = 0; nth < 10; nth++) {
      calls.called(nth, call);
      calls.answered(nth, done);
    }
    expect(ends).toEqual([
      {
        ...{ kind: 'spinning', reason: 'budget', outcome: 'unknown', retryAfterMs: undefined },
        message:
          'coder has spent 10; its budget is 10 rounds of the run; more by: --spend rounds=15, or budget.session.rounds of its policy',
      },
    ]);
    expect(facts.map(({ type }) => type)).toEqual([
      'budget.warning',
      'budget.warning',
      'budget.warning',
      'budget.spent',
    ]);
  });

  it('[G-16] never end while one is open, and those that are made at once are one round', () => {
    const { ends, listener } = count({ session: { rounds: 1, toolCalls: 3 } });
    const calls = listener();
    for (const id of ['a', 'b', 'c', 'd']) calls.called(id, call);
    for (const id of ['a', 'b', 'c']) calls.answered(id, done);
    expect(ends).toEqual([]);
    calls.answered('d', done);
    expect(ends.map(({ message }) => message)).toEqual([
      expect.stringContaining('has spent 4; its budget is 3 tool calls'),
    ]);
  });

  it('[G-16] end by what the model tells of its usage, once the call after it is answered; an answer without calls passes', () => {
    const { ends, listener, account } = count({
      session: { tokens: 1000 },
      day: { money: 5 },
      prices: { 'big-*': { input: 5e6 } },
    });
    const calls = listener();
    calls.used({ model: 'big-1', inputTokens: 1, outputTokens: 999 });
    expect(ends).toEqual([]);
    calls.called(1, call);
    calls.answered(1, done);
    expect(ends.map(({ message }) => message)).toEqual([expect.stringContaining('1000 tokens of the run')]);
    expect(account.refusal({ requests: 1 })).toMatchObject({ reason: 'budget', outcome: 'not_started' });
  });

  it('[G-16] of a sub-agent end while only the call is open that it is the work of, and each of its rounds counts', () => {
    const { ends, listener } = count({ session: { rounds: 5 } });
    const calls = listener();
    calls.called('task', { tool: 'Task', input: {} });
    for (let nth = 0; nth < 5; nth++) {
      calls.called(nth, call, 'task');
      if (nth === 4) calls.called('other', call, null);
      calls.answered(nth, done);
    }
    expect(ends).toEqual([]);
    calls.answered('other', done);
    expect(ends).toHaveLength(1);
  });

  it('[G-16] of each turn are counted apart', () => {
    const { ends, listener } = count({ turn: { toolCalls: 3 } });
    const calls = listener();
    for (let nth = 0; nth < 8; nth++) {
      if (nth % 2 === 0) calls.mark();
      calls.called(nth, call);
      calls.answered(nth, done);
    }
    expect(ends).toEqual([]);
    calls.called(9, call);
    calls.answered(9, done);
    expect(ends).toHaveLength(1);
  });

  it('[G-16] of one day are those of all runs, until a new one begins', async () => {
    const { ends, listener, account, clock } = count({ day: { toolCalls: 4 } });
    for (let nth = 0; nth < 4; nth++) {
      const calls = listener();
      calls.called(1, call);
      calls.answered(1, done);
    }
    expect(ends).toHaveLength(1);
    expect(ends[0]?.message).toMatch(
      /4 tool calls of the day; more at 00:00 UTC, or: --spend toolCalls=6\/day, or budget\.day/,
    );
    expect(account.refusal({ requests: 1 })?.retryAfterMs).toBeGreaterThan(0);
    await clock.advance(24 * 3_600_000);
    expect(account.refusal({ requests: 1 })).toBeUndefined();
  });

  it('[G-16] begin the limits of a turn anew with its message, before any call of it', () => {
    const { caller } = hearing(new SimulatedClock());
    const spent: unknown[] = [];
    const budget = {
      spend: (costs: object, turn: number) => spent.push([costs, turn]),
      used: () => {},
      refusal: () => undefined,
    };
    const ear = new HeardCalls(undefined, { ...caller, budgets: [budget] });
    ear.mark();
    expect(spent).toEqual([[{}, 1]]);
  });
});
