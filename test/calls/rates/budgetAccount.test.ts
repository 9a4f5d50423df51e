import { describe, expect, it } from 'vitest';
import { BudgetAccount } from '../../../src/calls/rates/budgetAccount.ts';
import { budgetKeys, type BudgetInput } from '../../../src/policy/budget.ts';
import type { Fact } from '../../../src/policy/facts/facts.ts';
import { readOptions } from '../../../src/policy/options/readOptions.ts';
import { StoredRates } from '../../../src/runtime/rateKeeper.ts';
import type { Store } from '../../../src/store/store.ts';
import { SimulatedClock } from '../../../testing/simulatedClock.ts';
import { hasSqlite, startStore } from '../../store/startStore.ts';

type Stored = Store | (() => Store | undefined) | undefined;

function openAccount(clock: SimulatedClock, budget: BudgetInput, store?: Stored, facts: Fact[] = []) {
  const keeper = new StoredRates(clock, () => (typeof store === 'function' ? store() : store));
  const parts = { keeper, facts: { tell: (fact: Fact) => void facts.push(fact) }, accounts: new Map() };
  const account = new BudgetAccount('session:main', readOptions('budget', budget, budgetKeys), parts);
  return { account, facts, types: () => facts.map(({ type }) => type) };
}

const call = { toolCalls: 1 };
const dayMs = 24 * 3_600_000;

describe('an account of a budget', () => {
  it('[G-16] takes until a limit is spent, tells of 80 % and of the end once, and counts nothing that it refuses', () => {
    const { account, types, facts } = openAccount(new SimulatedClock(), { session: { toolCalls: 10 } });
    const taken = Array.from({ length: 14 }, () => account.take(call) === undefined);
    expect(taken.filter(Boolean)).toHaveLength(10);
    expect(types()).toEqual(['budget.warning', 'budget.spent']);
    expect(facts[0]).toMatchObject({ session: 'main', per: 'session', metric: 'toolCalls', used: 8, most: 10 });
    expect(account.take(call)).toMatchObject({ used: 10, most: 10 });
    expect(account.standings()).toMatchObject([{ used: 10 }]);
  });

  it('[G-16] refuses what is counted afterwards once that is spent, and lets what is under way exceed it', () => {
    const { account, types } = openAccount(new SimulatedClock(), { session: { tokens: 1000, toolCalls: 100 } });
    expect(account.take(call)).toBe(undefined);
    account.spend({ tokens: 999 });
    // A figure that nobody could tell is none.
    account.spend({ tokens: Number.NaN });
    expect(account.take(call)).toBe(undefined);
    account.spend({ tokens: 500 });
    expect(account.take(call)).toMatchObject({ metric: 'tokens', used: 1499 });
    expect(types()).toEqual(['budget.warning', 'budget.spent']);
    expect(account.standings().find(({ metric }) => metric === 'toolCalls')).toMatchObject({ used: 2 });
  });

  it('[G-16] begins each turn and each day anew, and all of a session never', async () => {
    const clock = new SimulatedClock();
    const { account } = openAccount(clock, {
      turn: { toolCalls: 2 },
      session: { toolCalls: 5 },
      day: { toolCalls: 4 },
    });
    const tries = (turn: number, times: number) =>
      Array.from({ length: times }, () => account.take(call, turn)?.per ?? 'taken');
    expect(tries(1, 3)).toEqual(['taken', 'taken', 'turn']);
    expect(tries(2, 3)).toEqual(['taken', 'taken', 'turn']);
    expect(tries(3, 1)).toEqual(['day']);
    await clock.advance(dayMs - (clock.wallNow() % dayMs));
    expect(tries(3, 2)).toEqual(['taken', 'session']);
    await clock.advance(3 * dayMs);
    expect(tries(4, 1)).toEqual(['session']);
    expect(account.standings().map(({ per, used }) => [per, used])).toEqual([
      ['turn', 0],
      ['session', 5],
      ['day', 0],
    ]);
  });

  it('[G-16] has all of a day again with its first millisecond, however much was spent last', async () => {
    const clock = new SimulatedClock();
    const { account } = openAccount(clock, { day: { tokens: '10M' }, zone: 'Europe/Berlin' });
    const end = account.standings()[0]?.againAt ?? 0;
    expect(new Date(end).toISOString()).toMatch(/T2[23]:00:00.000Z$/);
    await clock.advance(end - clock.wallNow() - 2);
    account.spend({ tokens: 9e6 });
    await clock.advance(2);
    expect(account.standings()).toMatchObject([{ used: 0, againAt: end + 24 * 3_600_000 }]);
  });

  it('[G-16] goes on when it is raised, until the window ends', async () => {
    const clock = new SimulatedClock();
    const { account, facts } = openAccount(clock, { day: { toolCalls: 2 }, session: { tokens: 50 } });
    account.take({ toolCalls: 2 });
    expect(account.take(call)?.againAt).toBe(clock.wallNow() - (clock.wallNow() % dayMs) + dayMs);
    expect(account.raise('toolCalls=4', { by: 'anna' })).toMatchObject({
      ok: true,
      limits: [
        { scope: 'session:main', per: 'session' },
        { per: 'day', metric: 'toolCalls', most: 4, used: 2 },
      ],
      text: 'The budget of main of 2 tool calls of the day was raised to 4.',
    });
    expect(facts.at(-1)).toMatchObject({ type: 'budget.raised', by: 'anna', most: 4, used: 2 });
    expect([account.take(call), account.take(call), account.take(call)?.most]).toEqual([undefined, undefined, 4]);
    expect(account.raise('money=4', {})).toEqual({
      ok: false,
      text: 'main has no limit such as money=4; its limits: 50 tokens of the session, 4 tool calls of the day.',
    });
    expect(account.raise('tokens=4/turn', {}).ok).toBe(false);
    await clock.advance(dayMs);
    expect([account.take({ toolCalls: 2 }), account.take(call)?.most]).toEqual([undefined, 2]);
  });

  it('[G-16] raises the limit that is spent, not the wider one', () => {
    const { account } = openAccount(new SimulatedClock(), { turn: { toolCalls: 1 }, session: { toolCalls: 9 } });
    account.take(call, 1);
    account.raise('toolCalls=3', {});
    expect(account.standings().map(({ per, most }) => [per, most])).toEqual([
      ['turn', 3],
      ['session', 9],
    ]);
    account.take({}, 2);
    expect(account.standings().map(({ most }) => most)).toEqual([1, 9]);
  });

  it('[G-16] refuses a limit that is no higher, and says where more than that is spent already', () => {
    const { account, types } = openAccount(new SimulatedClock(), { session: { toolCalls: 5, tokens: 10 } });
    account.spend({ toolCalls: 5, tokens: 40 });
    for (const most of [3, 5])
      expect(account.raise(`toolCalls=${most}`, {})).toEqual({
        ok: false,
        text: `main has 5 tool calls of the session, which ${most} does not raise: more is needed.`,
      });
    expect(types()).not.toContain('budget.raised');
    expect(account.raise('tokens=20', {}).text).toBe(
      'The budget of main of 10 tokens of the session was raised to 20, of which 40 are spent already.',
    );
  });

  it('[G-16] tells money to a millionth, and each mark of it once', () => {
    const { account, facts, types } = openAccount(new SimulatedClock(), { session: { money: 3.4 } });
    account.spend({ money: 1.7 });
    account.spend({ money: 1.7 });
    expect(facts).toMatchObject([{ type: 'budget.spent', used: 3.4 }]);
    expect(account.take(call)).toMatchObject({ used: 3.4 });
    const { account: little } = openAccount(new SimulatedClock(), { session: { money: 0.005 } });
    little.spend({ money: 0.001_234_567 });
    expect(little.text).toBe('main has spent 0.001235 of 0.005 in money of the session.');
    expect(types()).toEqual(['budget.spent']);
  });

  it('[G-16] counts money however little each request costs', () => {
    const { account } = openAccount(new SimulatedClock(), { session: { money: 1000 } });
    for (let i = 0; i < 10_000; i++) account.spend({ money: 0.000_003_17 });
    expect(account.standings()[0]?.used).toBeCloseTo(0.0317, 9);
  });

  it.skipIf(!hasSqlite)(
    '[G-16] is of all processes on one file: exactly what there is is taken, told by one',
    async () => {
      const { store, clock, path } = await startStore();
      const { store: other } = await startStore({ path, clock });
      const facts: Fact[] = [];
      const [one, two] = [store, other].map(
        (each) => openAccount(clock, { day: { requests: 10 } }, each, facts).account,
      );
      const taken = Array.from(
        { length: 20 },
        (_, i) => (i % 3 === 0 ? one : two)?.take({ requests: 1 }) === undefined,
      );
      expect(taken.filter(Boolean)).toHaveLength(10);
      expect(facts.map(({ type }) => type)).toEqual(['budget.warning', 'budget.spent']);
      two?.raise('requests=12', {});
      expect([one?.take({ requests: 2 }), one?.take({ requests: 1 })?.most]).toEqual([undefined, 12]);
    },
  );

  it.skipIf(!hasSqlite)(
    '[G-16] tells the store what was spent while that was not there, of the day that is',
    async () => {
      const { store, clock } = await startStore();
      let current: Store | undefined;
      const budget = { day: { requests: 8 }, session: { tokens: 100 } };
      const { account, types } = openAccount(clock, budget, () => current);
      const { account: other } = openAccount(clock, budget, store);
      const taken = (times: number) =>
        Array.from({ length: times }, () => account.take({ requests: 1 })).filter((spent) => spent === undefined)
          .length;
      account.spend({ tokens: 30 });
      expect(taken(5)).toBe(5);
      current = store;
      expect(taken(60)).toBe(3);
      expect(types()).toEqual(['budget.warning', 'budget.spent']);
      expect(other.take({ requests: 1 })).toMatchObject({ used: 8 });
      // Out of order for a while, and over midnight.
      current = undefined;
      account.spend({ tokens: 30, requests: 4 });
      await clock.advance(dayMs);
      expect(taken(2)).toBe(2);
      current = store;
      expect(account.standings().map(({ used }) => used)).toEqual([60, 2]);
      expect(other.standings().map(({ used }) => used)).toEqual([60, 2]);
      account.standings();
      expect(other.standings().map(({ used }) => used)).toEqual([60, 2]);
    },
  );

  it.skipIf(!hasSqlite)('[G-16] is kept: a new process goes on with what was spent and raised', async () => {
    const { store, clock, path } = await startStore();
    const before = openAccount(clock, { session: { tokens: '1k' } }, store).account;
    before.spend({ tokens: 1200 });
    before.raise('tokens=2000', {});
    await store.close();
    const { store: next } = await startStore({ path, clock });
    const after = openAccount(clock, { session: { tokens: '1k' } }, next).account;
    expect(after.standings()).toMatchObject([{ used: 1200, most: 2000 }]);
    expect(after.take({ toolCalls: 1 })).toBe(undefined);
  });
});
