import { describe, expect, it, onTestFinished } from 'vitest';
import { createGateway, type ReconcileOptions, type ToolResult } from '../../../src/index.ts';
import type { PolicyInput } from '../../../src/policy/policyInput.ts';
import { AttemptError } from '../../../src/policy/failures/failure.ts';
import { SimulatedClock } from '../../../testing/simulatedClock.ts';

interface Payment {
  readonly id: string;
  readonly reference: string;
  readonly amount: number;
  readonly at: number;
}

const lost = new AttemptError({ kind: 'crash', message: 'The connection broke', outcome: 'unknown' });

/** A bank that makes a payment and then loses the answer, or loses it before. */
async function startBank(reconcile: ReconcileOptions | undefined, losesAfter: boolean, policy: PolicyInput = {}) {
  const clock = new SimulatedClock();
  const payments: Payment[] = [];
  const inputs: unknown[] = [];
  let losses = 1;
  const gateway = createGateway({ clock, control: false });
  onTestFinished(() => gateway.stop());
  gateway.integration(
    'bank',
    { policy, tools: { charge: { effect: 'mutating', reconcile }, list_payments: { effect: 'readOnly' } } },
    ({ tool, input }: { tool: string; input: { reference: string; amount: number; key?: string } }) => {
      if (tool === 'list_payments') return { payments };
      inputs.push(input);
      const isLost = losses-- > 0;
      if (isLost && !losesAfter) throw lost;
      const known = payments.find(({ reference }) => input.key !== undefined && reference === input.key);
      const payment = known ?? {
        id: `ch_${payments.length + 1}`,
        reference: input.key ?? input.reference,
        amount: input.amount,
        at: clock.wallNow(),
      };
      if (known === undefined) payments.push(payment);
      if (isLost) throw lost;
      return payment;
    },
  );
  const results: ToolResult[] = [];
  const session = gateway.session('main', {
    async onMessage(_, turn) {
      results.push(await turn.tool('bank', 'charge', { reference: 'o-7', amount: 100 }));
    },
  });
  await gateway.start();
  const facts: unknown[] = [];
  gateway.on('call.reconciled', (fact) => facts.push(fact));
  const charge = async (advanceMs = 1000): Promise<ToolResult | undefined> => {
    const sent = session.send({ kind: 'user', text: 'pay' });
    await clock.advance(advanceMs);
    await sent;
    await clock.settle();
    return results.at(-1);
  };
  return { gateway, clock, payments, charge, facts, inputs, session };
}

const byList = {
  tool: 'list_payments',
  items: 'payments',
  match: { reference: 'input.reference', amount: 'input.amount' },
  since: 'at',
} as const;

describe('a tool with a reconcile rule', () => {
  it('[R-16] [G-16] is asked about also once the budget is spent, and its questions cost nothing', async () => {
    const policy = { budget: { day: { requests: 1 } } };
    const { charge, payments, facts } = await startBank({ ...byList, result: 'item' }, true, policy);
    expect(await charge()).toMatchObject({ status: 'ok', value: { id: 'ch_1' } });
    expect(payments).toHaveLength(1);
    expect(facts).toMatchObject([{ verdict: 'done' }]);
    expect(await charge()).toMatchObject({ status: 'error', kind: 'spinning' });
  });

  it('[R-16] [O-10] does not count what its rule asks with the calls, but as a tool of its own', async () => {
    const { gateway, clock, charge } = await startBank({ ...byList, result: 'item' }, true);
    expect(await charge()).toMatchObject({ status: 'ok' });
    const reported = gateway.report();
    await clock.settle();
    const [bank] = await reported;
    expect(bank).toMatchObject({ integration: 'bank', calls: 1, successRate: 1 });
    expect(bank?.tools.map(({ tool, calls }) => [tool, calls])).toEqual([
      ['charge', 1],
      ['list_payments (reconcile)', 1],
    ]);
  });

  it('[R-16] answers the agent with what another tool lists', async () => {
    const { charge, payments, facts } = await startBank({ ...byList, result: 'item' }, true);
    expect(await charge()).toMatchObject({
      status: 'ok',
      value: { id: 'ch_1', reference: 'o-7' },
      reconciled: 'list_payments lists it as ch_1',
    });
    expect(payments).toHaveLength(1);
    expect(facts).toMatchObject([{ integration: 'bank', tool: 'charge', verdict: 'done', session: 'main' }]);
  });

  it('[R-16] [G-13] says in one plain sentence that it was done', async () => {
    const { charge, payments } = await startBank(byList, true);
    expect(await charge()).toMatchObject({
      status: 'error',
      synthetic: true,
      outcome: 'done',
      how: 'list_payments lists it as ch_1',
      retryable: false,
      error: 'The connection broke: it was done (list_payments lists it as ch_1); do not repeat it.',
    });
    expect(payments).toHaveLength(1);
  });

  it('[R-16] is made again once it is sure that it did not happen', async () => {
    const { charge, payments } = await startBank({ ...byList, notBefore: '10s' }, false);
    expect(await charge(15_000)).toMatchObject({ status: 'ok', value: { id: 'ch_1' }, retries: 1 });
    expect(payments).toHaveLength(1);
  });

  it('[R-16] ends as unknown where nobody vouches for that', async () => {
    const { charge, payments } = await startBank(byList, false);
    const error =
      'The connection broke: outcome unknown; it may have taken effect; it is declared mutating and was not repeated: find out whether it happened before you call it again.';
    expect(await charge(10_000)).toMatchObject({ outcome: 'unknown', error });
    expect(payments).toHaveLength(0);
  });

  it('[R-16] may ask by a function, which may call other tools', async () => {
    const { charge } = await startBank(
      {
        probe: async ({ input, tool, call }, { call: ask, attempt }) => {
          const listed = await ask('bank', 'list_payments', {});
          const { payments } = (listed.ok ? listed.value : {}) as { payments: Payment[] };
          const { reference } = input as { reference: string };
          const found = payments.find((payment) => payment.reference === reference);
          return found === undefined ? 'unknown' : { done: { found, tool, call, attempt } };
        },
      },
      true,
    );
    const value = { found: { id: 'ch_1' }, tool: 'charge', call: 'main-1-1', attempt: 1 };
    expect(await charge()).toMatchObject({ status: 'ok', value });
  });

  it('[R-16] [R-12] with an idempotency key is made again with the same key', async () => {
    const { charge, payments, inputs } = await startBank({ idempotencyKey: { in: 'input.key' } }, true);
    expect(await charge()).toMatchObject({ status: 'ok', value: { id: 'ch_1' }, retries: 1 });
    const [first, second] = inputs as { key: string }[];
    expect(first?.key).toMatch(/^[0-9a-f-]{36}$/);
    expect(second).toEqual(first);
    expect(payments).toHaveLength(1);
  });

  it('[R-16] [O-8] says why it waits', async () => {
    const { clock, gateway, session } = await startBank({ probe: () => new Promise(() => undefined) }, true);
    void session.send({ kind: 'user', text: 'pay' });
    await clock.advance(1000);
    const [call] = gateway.why('main')?.calls ?? [];
    expect(call?.progress).toMatchObject({
      phase: 'reconciling',
      reconciling: { asks: 'its probe', about: 'charge', held: false, state: 'asking', probes: 1 },
      next: { rule: 'reconcile', inMs: 4000 },
    });
  });

  it('[R-16] is asked before the watchdog ends it as unknown; a late verdict answers the next equal call', async () => {
    let answer: (verdict: 'unknown' | { done: string }) => void = () => undefined;
    const { charge, facts, clock, payments } = await startBank(
      {
        timeoutMs: '10m',
        probe: () =>
          new Promise((resolve) => {
            answer = resolve;
          }),
      },
      true,
    );
    expect(await charge(310_000)).toMatchObject({ status: 'error', kind: 'watchdog', outcome: 'unknown' });
    answer({ done: 'ch_1' });
    await clock.settle();
    expect(facts).toMatchObject([{ verdict: 'done', late: true }]);
    expect(await charge()).toMatchObject({ status: 'ok', value: 'ch_1', reconciled: 'its probe finds it' });
    expect(payments).toHaveLength(1);
  });

  it('[R-16] holds an equal call until its own watchdog ends it as unknown, and does not make it', async () => {
    const { charge, inputs } = await startBank({ timeoutMs: '20m', probe: () => new Promise(() => undefined) }, true);
    expect(await charge(300_000)).toMatchObject({ kind: 'watchdog', outcome: 'unknown' });
    expect(await charge(299_999)).toMatchObject({ kind: 'watchdog' });
    expect(await charge(1)).toMatchObject({ kind: 'watchdog', outcome: 'unknown' });
    expect(inputs).toHaveLength(1);
  });

  it('[R-16] [O-13] is asked again as soon as an operator fires the rule', async () => {
    let asked = 0;
    const { clock, gateway, session, charge } = await startBank(
      { timeoutMs: '1m', probe: () => (++asked === 1 ? new Promise(() => undefined) : { done: 'ch_1' }) },
      true,
    );
    const charged = charge(1000);
    await clock.settle();
    const rule = (): string => gateway.why('main').rules.find(({ rule: name }) => name === 'reconcile')?.id ?? '';
    const first = rule();
    // The probe that hangs is given up, and the next one is not waited for.
    expect(session.fire(first)).toMatchObject({ ok: true });
    expect(session.fire(rule())).toMatchObject({ ok: true });
    expect(await charged).toMatchObject({ status: 'ok', value: 'ch_1' });
    expect(asked).toBe(2);
  });
});

describe('the rules of integrations', () => {
  it('[R-16] refuse a tool that is known to change something', () => {
    const gateway = createGateway({ control: false });
    const tools = { charge: { reconcile: { ...byList, tool: 'pay' } }, pay: { effect: 'mutating' } } as const;
    expect(() => gateway.integration('bank', { tools }, () => undefined)).toThrow(
      'Expected `bank.tools.charge.reconcile.tool` to be a tool that is readOnly, got pay, which is mutating',
    );
  });

  it('[R-16] refuse a key where it cannot go', () => {
    const gateway = createGateway({ control: false });
    const reconcile = { idempotencyKey: { in: 'header' } } as const;
    expect(() => gateway.integration('bank', { reconcile }, () => undefined)).toThrow(
      'Expected `bank.reconcile.idempotencyKey.in` to be input.NAME, got header',
    );
  });

  it('[R-16] of an HTTP API send the same key with every attempt, and another with the next call', async () => {
    const keys: (string | null)[] = [];
    const gateway = createGateway({ control: false, random: Math.random });
    onTestFinished(() => gateway.stop());
    const bank = gateway.http('bank', {
      baseUrl: 'http://bank.test',
      reconcile: { idempotencyKey: { in: 'header' } },
      policy: { retry: { maxAttempts: 2, backoff: { kind: 'constant', delayMs: 1 } } },
      fetch: (_url, init) => {
        keys.push(new Headers(init?.headers).get('idempotency-key'));
        return Promise.resolve(keys.length === 1 ? new Response('', { status: 502 }) : Response.json({ ok: true }));
      },
    });
    await gateway.start();
    expect(await bank.call({ method: 'POST', path: '/charges', body: {} })).toMatchObject({ ok: true });
    expect(await bank.call({ method: 'POST', path: '/charges', body: {} })).toMatchObject({ ok: true });
    expect(keys[0]).toMatch(/^[0-9a-f-]{36}$/);
    expect(keys[1]).toBe(keys[0]);
    expect(keys[2]).not.toBe(keys[0]);
  });

  it('[R-16] are configured, and win over those in code', async () => {
    const asked: string[] = [];
    const clock = new SimulatedClock();
    const gateway = createGateway({
      clock,
      control: false,
      policies: { integrations: { bank: { reconcile: { tool: 'ledger', match: { reference: 'input.reference' } } } } },
    });
    onTestFinished(() => gateway.stop());
    const bank = gateway.integration('bank', { reconcile: { probe: () => 'unknown' } }, (request: { tool: string }) => {
      asked.push(request.tool);
      if (request.tool === 'ledger') return [{ reference: 'o-7' }];
      throw lost;
    });
    await gateway.start();
    const outcome = bank.call({ tool: 'charge', input: { reference: 'o-7' } } as never, { effect: 'mutating' });
    await clock.advance(1000);
    expect(await outcome).toMatchObject({ ok: false, failure: { outcome: 'done', how: 'ledger lists it' } });
    expect(asked).toEqual(['charge', 'ledger']);
  });
});
