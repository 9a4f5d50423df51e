import { describe, expect, it, onTestFinished } from 'vitest';
import { BudgetAccount } from '../../../src/calls/rates/budgetAccount.ts';
import { createGateway } from '../../../src/gateway/gateway.ts';
import type { Fact } from '../../../src/policy/facts/facts.ts';
import { budgetKeys } from '../../../src/policy/budget.ts';
import { readOptions } from '../../../src/policy/options/readOptions.ts';
import type { PolicyInput } from '../../../src/policy/policyInput.ts';
import { Registry } from '../../../src/runtime/registry.ts';
import { checkGatewayOptions } from '../../../src/runtime/runtimeOptions.ts';
import { SimulatedClock } from '../../../testing/simulatedClock.ts';

const dayMs = 24 * 3_600_000;

async function start(policy: PolicyInput, operation: (input: number) => unknown = (input) => input) {
  const clock = new SimulatedClock();
  const gateway = createGateway({ store: ':memory:', clock, random: () => 0.5, control: false, logger: false });
  const facts: Fact[] = [];
  gateway.on('*', (fact) => void facts.push(fact));
  let made = 0;
  const llm = gateway.integration('llm', { policy }, (input: number, { spent }) => {
    made++;
    spent({ tokens: 100 });
    spent({ tokens: 250, money: 0.01 });
    spent({ money: 0.02 });
    return operation(input);
  });
  await gateway.start();
  onTestFinished(() => gateway.stop());
  return { llm, clock, made: () => made, told: (type: string) => facts.filter((fact) => fact.type === type) };
}

describe('the budget of an integration', () => {
  it('[G-16] has no limit that nobody counts, nor has that of a session', () => {
    const gateway = createGateway({ store: ':memory:', control: false, logger: false });
    for (const [per, metric] of [
      ['turn', 'requests'],
      ['session', 'toolCalls'],
      ['session', 'requests'],
      ['day', 'rounds'],
    ] as const) {
      const policy = { budget: { [per]: { [metric]: 3 } } };
      expect(() => gateway.integration(`kb-${per}`, { policy }, () => 1)).toThrow(
        `Expected \`budget.${per}.${metric}\` of kb-${per} to be left out, got 3: it counts requests, tokens, money, of a day`,
      );
    }
    const session = { budget: { day: { requests: 3 } }, onMessage: () => undefined };
    expect(() => gateway.session('main', session)).toThrow(
      '`budget.day.requests` to be left out, got 3: a session counts tokens, money, toolCalls, rounds',
    );
  });

  it('[G-16] refuses calls once it is spent, until the next day, and counts that against nobody', async () => {
    const { llm, clock, made, told } = await start({ budget: { day: { requests: 3 } } });
    const outcomes = [];
    for (let i = 0; i < 5; i++) outcomes.push(await llm.call(i));
    expect(outcomes.map(({ ok }) => ok)).toEqual([true, true, true, false, false]);
    expect(outcomes[4]).toMatchObject({
      failure: { kind: 'spinning', reason: 'budget', outcome: 'not_started', retryable: true, attempts: 0 },
    });
    const { failure } = outcomes[4] as { failure: { retryAfterMs: number; message: string } };
    expect(failure.retryAfterMs).toBe(dayMs - (clock.wallNow() % dayMs));
    expect(failure.message).toBe('llm is refused, until 00:00 UTC: its budget of 3 requests of the day is spent');
    expect([llm.state, llm.breaker.state, made()]).toEqual(['idle', 'closed', 3]);
    expect(told('budget.spent')).toMatchObject([{ integration: 'llm', scope: 'integration:llm' }]);
    await clock.advance(failure.retryAfterMs);
    expect(await llm.call(6)).toMatchObject({ ok: true });
  });

  it('[G-16] counts the last word on tokens of each attempt, and retries as requests; what is under way ends', async () => {
    let fails = 2;
    const { llm, clock, made, told } = await start(
      { budget: { day: { requests: 10, tokens: '0.6k', money: 0.045 } } },
      (input) => {
        if (fails-- > 0) throw Object.assign(new Error('busy'), { status: 503 });
        return input;
      },
    );
    const first = llm.call(1);
    await clock.advance(10_000);
    expect(await first).toMatchObject({ ok: true });
    expect(made()).toBe(3);
    expect(told('budget.spent')).toMatchObject([{ metric: 'tokens', used: 600 }, { metric: 'money' }]);
    expect(await llm.call(2)).toMatchObject({ failure: { kind: 'spinning' } });
  });

  it('[G-16] ends the retries of a call that it no longer has room for, with what is known of its effect', async () => {
    const { llm, clock, made } = await start({ budget: { day: { requests: 2 } } }, () => {
      throw Object.assign(new Error('busy'), { status: 503 });
    });
    const call = llm.call(1);
    await clock.advance(60_000);
    expect(await call).toMatchObject({ failure: { kind: 'spinning', reason: 'budget', attempts: 2 } });
    expect(made()).toBe(2);
  });

  it('[G-16] is raised where it is spent, of a session and an integration of one name; a scope names one of them', async () => {
    const registry = new Registry(checkGatewayOptions({ clock: new SimulatedClock(), store: ':memory:' }));
    await registry.start();
    onTestFinished(() => registry.stop());
    const { budgets } = registry.runtime;
    const limits = (day: object) => readOptions('', { day }, budgetKeys);
    const kept = new BudgetAccount('integration:main', limits({ tokens: 100 }), budgets);
    const session = new BudgetAccount('session:main', limits({ tokens: 10, toolCalls: 5 }), budgets);
    session.spend({ tokens: 10 });
    expect(registry.budget('main').text).toContain('0 of 100 tokens of the day. main has spent 10 of 10 tokens');
    expect(registry.budget('main', 'tokens=200')).toMatchObject({
      ok: true,
      text: expect.stringContaining('of 10 tokens') as string,
    });
    expect(session.isSpent).toBe(false);
    expect(registry.budget('main', 'toolCalls=9').ok).toBe(true);
    expect(registry.budget('session:main', 'tokens=300').ok).toBe(true);
    expect(registry.budget('integration:main', 'tokens=400').ok).toBe(true);
    expect(kept.standings()).toMatchObject([{ most: 400 }]);
    expect(registry.budget('main', 'rounds=3')).toMatchObject({ ok: false });
    expect(registry.budget('other')).toEqual({ ok: false, text: 'other has no budget.' });
  });
});
