import { describe, expect, it, onTestFinished } from 'vitest';
import { createGateway, type ReconcileOptions, unwrap } from '../../../src/index.ts';
import { AttemptError } from '../../../src/policy/failures/failure.ts';
import { SimulatedClock } from '../../../testing/simulatedClock.ts';

const lost = new AttemptError({ kind: 'crash', message: 'The connection broke', outcome: 'unknown' });

/** A bank that makes each payment and loses the answer; its books are another integration, which fails as often as is said. */
async function startBooks(reconcile: ReconcileOptions, failure: AttemptError, failures: number) {
  const clock = new SimulatedClock();
  const asked: number[] = [];
  const gateway = createGateway({ clock, control: false });
  onTestFinished(() => gateway.stop());
  const policy = { breaker: { consecutiveFailures: 1, resetTimeoutMs: 20_000 }, retry: { maxAttempts: 1 } };
  const books = gateway.integration('books', { policy, tools: { list_payments: { effect: 'readOnly' } } }, () => {
    asked.push(clock.now());
    if (asked.length <= failures) throw failure;
    return [{ id: 'ch_1', reference: 'o-7' }];
  });
  const bank = gateway.integration('bank', { reconcile, policy: { retry: { maxAttempts: 1 } } }, () => {
    throw lost;
  });
  await gateway.start();
  const charge = () => bank.call({ reference: 'o-7' } as never, { effect: 'mutating', overallMs: 120_000 });
  return { clock, asked, books, charge };
}

const byList = { integration: 'books', tool: 'list_payments', match: { reference: 'input.reference' } } as const;
const down = new AttemptError({ kind: 'transient', message: 'down', outcome: 'failed' });
const busy = new AttemptError({ kind: 'rate_limit', message: '429', outcome: 'failed', retryAfterMs: 30_000 });

const rules: [string, ReconcileOptions][] = [
  ['another tool', { ...byList, attempts: 2, result: 'item' }],
  [
    'a function that throws what failed',
    {
      attempts: 2,
      probe: async (_, { call }) => ({ done: unwrap(await call('books', 'list_payments')) }),
    },
  ],
  [
    'a function that does not know',
    {
      attempts: 2,
      probe: async (_, { call }) => {
        const outcome = await call('books', 'list_payments');
        return outcome.ok ? { done: outcome.value } : 'unknown';
      },
    },
  ],
];

describe.each(rules)('a reconcile rule that asks by %s', (_, rule) => {
  it('[R-16] waits for the probe of an open circuit, and uses up no attempt on it', async () => {
    const { clock, asked, books, charge } = await startBooks(rule, down, 1);
    await books.call({ tool: 'list_payments' } as never);
    expect(books.breaker.state).toBe('open');
    const outcome = charge();
    await clock.advance(15_000);
    expect(asked).toEqual([0]);
    await clock.advance(10_000);
    expect(asked).toEqual([0, 20_000]);
    expect(await outcome).toMatchObject({ ok: true });
  });

  it('[R-16] waits for the end of a pause that the server it asks has asked for', async () => {
    const { clock, asked, charge } = await startBooks(rule, busy, 1);
    const outcome = charge();
    await clock.advance(29_000);
    expect(asked).toEqual([0]);
    await clock.advance(2000);
    expect(asked).toHaveLength(2);
    expect(await outcome).toMatchObject({ ok: true });
  });

  it('[R-16] is not kept waiting by a pause that was asked for before', async () => {
    const { clock, asked, books, charge } = await startBooks({ ...rule, attempts: 1 }, busy, 1);
    void books.call({ tool: 'list_payments' } as never);
    await clock.settle();
    const outcome = charge();
    await clock.advance(29_000);
    expect(asked).toEqual([0]);
    await clock.advance(2000);
    expect(await outcome).toMatchObject({ ok: true });
  });

  it('[R-16] goes on asking at its own times where the circuit stays open for longer than its call has', async () => {
    const { clock, asked, books, charge } = await startBooks(rule, down, 1);
    books.breaker.isolate();
    const outcome = charge();
    await clock.advance(60_000);
    expect(asked).toEqual([]);
    expect(await outcome).toMatchObject({ ok: false, failure: { outcome: 'unknown' } });
  });
});
