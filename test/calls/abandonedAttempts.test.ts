import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { type Started, startIntegration } from '../support/startIntegration.ts';

/** A call whose attempt was given up, while its work goes on. */
async function giveUp(): Promise<Started> {
  const started = startIntegration({ maxInFlight: 1, maxAbandoned: 0, abortGraceMs: 10, maxAttempts: 1 });
  const outcome = started.integration.call('slow', { attemptMs: 5 });
  await started.clock.advance(5);
  await outcome;
  return started;
}

/** What is left of calls that were given up: their rows and signals. Apart, so that nothing here holds them. */
async function leftOf(how: 'ends' | 'never ends'): Promise<readonly WeakRef<object>[]> {
  const left: WeakRef<object>[] = [];
  const { integration, clock } = startIntegration({ abortGraceMs: 10, maxAttempts: 1 }, (_, { call, signal }) => {
    left.push(new WeakRef(call), new WeakRef(signal));
    return new Promise<string>((resolve) => {
      if (how === 'ends') signal.addEventListener('abort', () => resolve('late'), { once: true });
    });
  });
  for (let call = 0; call < 20; call++) void integration.call('slow', { attemptMs: 5 });
  await clock.advance(100);
  expect(integration.stats.abandoned).toBe(how === 'ends' ? 0 : 20);
  kept.push(integration);
  return left;
}

/** Integrations live on, as those of a gateway do. */
const kept: unknown[] = [];

describe('work that goes on after its attempt was given up', () => {
  it('[M-9] [I-3] is not written off when it ends within its grace, and leaves no deadline', async () => {
    const { integration, clock, facts, deadlines, attempt } = await giveUp();
    attempt(0).resolve('late');
    await clock.settle();
    expect(deadlines.size).toBe(0);
    await clock.advance(20);
    expect([facts.of('call.abandoned'), integration.stats.abandoned, integration.state]).toEqual([[], 0, 'idle']);
  });

  it('[M-9] is abandoned at the end of its grace, and not before', async () => {
    const { integration, clock } = await giveUp();
    await clock.advance(9);
    expect([integration.stats.abandoned, integration.state]).toEqual([0, 'idle']);
    await clock.advance(1);
    expect([integration.stats.abandoned, integration.state]).toEqual([1, 'crashed']);
  });

  it('[M-9] is abandoned each at the end of its own grace, by one deadline for all', async () => {
    const { integration, clock, deadlines, attempt } = startIntegration({
      maxInFlight: 9,
      maxAbandoned: 9,
      abortGraceMs: 10,
      maxAttempts: 1,
    });
    for (const attemptMs of [5, 8, 8, 12]) void integration.call('slow', { attemptMs });
    await clock.advance(12);
    expect(deadlines.size).toBe(1);
    attempt(1).resolve('late');
    await clock.settle();
    const abandoned: [at: number, count: number][] = [];
    for (const step of [2, 1, 2, 1, 3, 1]) {
      await clock.advance(step);
      abandoned.push([clock.now(), integration.stats.abandoned]);
    }
    expect(abandoned.map(([, count]) => count)).toEqual([0, 1, 1, 2, 2, 3]);
    expect(deadlines.size).toBe(0);
  });

  it('[M-9] takes the integration back into service when what was abandoned ends, unless it is stopped', async () => {
    for (const stopped of [false, true]) {
      const { path, clock, facts, attempt } = await giveUp();
      await clock.advance(10);
      if (stopped) path.stop();
      attempt(0).resolve('late');
      await clock.settle();
      expect([path.stats.abandoned, facts.of('integration.restarted')]).toMatchObject([0, stopped ? [] : [{}]]);
    }
  });

  it.each(['ends', 'is abandoned'])('[M-9] gives its permit to the call that waits for one when it %s', async (how) => {
    const { integration, clock, seen, attempt } = startIntegration({
      maxInFlight: 1,
      queueLength: 1,
      abortGraceMs: 10,
    });
    void integration.call('slow', { attemptMs: 5, maxAttempts: 1 });
    void integration.call('waits');
    await clock.advance(14);
    expect(seen).toHaveLength(1);
    if (how === 'ends') attempt(0).resolve('late');
    else await clock.advance(1);
    await clock.settle();
    expect(seen.map(({ input }) => input)).toEqual(['slow', 'waits']);
  });

  it.each(['ends', 'never ends'] as const)(
    '[M-9] [I-3] leaves nothing of its call in memory when it %s',
    async (how) => {
      const left = await leftOf(how);
      await new Promise((resolve) => {
        setImmediate(resolve);
      });
      setFlagsFromString('--expose-gc');
      (runInNewContext('gc') as () => void)();
      // What was used last may still be on a stack, or in a field of the engine's own.
      expect(left.filter((each) => each.deref() !== undefined).length).toBeLessThan(10);
    },
  );
});
