import { createGateway } from '../../src/gateway/gateway.ts';
import type { Turn } from '../../src/sessions/turn.ts';
import { quantile } from '../harness/statistics.ts';
import type { Case } from '../harness/suite.ts';

/** Calls that never answer, pending at once; the limit of each comes at another time within `spreadMs`. */
export function lateness(count: number, spreadMs: number): Case {
  return {
    once: true,
    async measure(probe) {
      const lateMs: number[] = [];
      await withPending(
        count,
        (index) => 1000 + (index * spreadMs) / count,
        (dueAt) => lateMs.push(performance.now() - dueAt),
      );
      probe.record('late p50', quantile(lateMs, 0.5), 'ms');
      probe.record('late p99', quantile(lateMs, 0.99), 'ms');
      probe.record('late max', Math.max(...lateMs), 'ms');
    },
  };
}

/** What a pending call of a session holds: its watch, its place in the history, its row in the call path. */
export function pendingHeap(count: number): Case {
  return {
    isolated: true,
    async measure(probe) {
      const { gateway, call } = await startGateway();
      for (let index = 0; index < 100; index++) void call(600_000);
      await nextTurn();
      await probe.heap('heap', count, async () => {
        for (let index = 0; index < count; index++) void call(600_000);
        await nextTurn();
      });
      await gateway.stop();
    },
  };
}

async function withPending(
  count: number,
  limitMs: (index: number) => number,
  ended: (dueAt: number) => void,
): Promise<void> {
  const { gateway, call } = await startGateway();
  await Promise.all(
    Array.from({ length: count }, async (_, index) => {
      const limit = limitMs(index);
      const dueAt = performance.now() + limit;
      await call(limit);
      ended(dueAt);
    }),
  );
  await gateway.stop();
}

/** A gateway with one turn under way, whose calls are never answered. */
async function startGateway() {
  const gateway = createGateway();
  const limits = { idleMs: 3_600_000, attemptMs: 3_600_000, overallMs: 3_600_000 };
  gateway.integration('never', { policy: { maxInFlight: 100_000, limits } }, () => new Promise(() => undefined));
  const begun = new Promise<Turn>((resolve) => {
    gateway.session('agent:main', { onMessage: (_message, turn) => new Promise(() => resolve(turn)) });
  });
  await gateway.start();
  void gateway.session('agent:main').send({ kind: 'user' });
  const turn = await begun;
  return { gateway, call: (longRunningMs: number) => turn.tool('never', 'wait', undefined, { longRunningMs }) };
}

const nextTurn = (): Promise<void> =>
  new Promise((resolve) => {
    setImmediate(resolve);
  });
