import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { createGateway, createSupervisor, systemClock } from '../../../src/index.ts';
import type { Fact } from '../../../src/policy/facts/facts.ts';
import { SimulatedClock } from '../../../testing/simulatedClock.ts';
import { deferred } from '../../support/deferred.ts';
import { polite, stubborn, worker } from '../actors.ts';
import { startRoot } from '../startRoot.ts';

const day = 86_400_000;
const jumps = [
  ['forward', 30 * day],
  ['back', -30 * day],
] as const;

/** A gateway with this many calls in flight, which the test answers. */
const startCalls = async (count: number) => {
  const clock = new SimulatedClock();
  const gateway = createGateway({ clock, random: () => 0.5 });
  onTestFinished(() => gateway.stop());
  const failed: Fact[] = [];
  gateway.on('call.failed', (fact) => void failed.push(fact));
  const answers: ReturnType<typeof deferred<string>>[] = [];
  const policy = { maxInFlight: count, retry: { maxAttempts: 1 }, limits: { attemptMs: 30_000 } };
  const kb = gateway.integration('kb', { policy }, () => {
    const answer = deferred<string>();
    answers.push(answer);
    return answer.promise;
  });
  await gateway.start();
  const calls = Array.from({ length: count }, () => kb.call('ask'));
  await clock.settle();
  return { clock, gateway, calls, answers, failed };
};

describe.each(jumps)('a wall clock that jumps %s', (_name, jumpMs) => {
  it('[V-4] scenario 40: neither shortens nor lengthens the wait before a restart', async () => {
    const { root, clock, crash, node } = startRoot([{ id: 'a', logic: worker }]);
    crash('a');
    await clock.advance(50);
    clock.stepWall(jumpMs);
    expect(node('a')?.nextRestartInMs).toBe(50);
    await clock.advance(49);
    expect(root.ref('a')).toBeUndefined();
    await clock.advance(1);
    expect(root.ref('a')).toBeDefined();
  });

  it('[V-4] scenario 40: does not make a child stable, nor keep it from being so', async () => {
    const { clock, crash, node } = startRoot([{ id: 'a', logic: worker }]);
    crash('a');
    await clock.advance(100);
    clock.stepWall(jumpMs);
    crash('a');
    expect(node('a')?.nextRestartInMs).toBe(200);
    await clock.advance(200);
    await clock.advance(60_000);
    clock.stepWall(jumpMs);
    crash('a');
    expect(node('a')?.nextRestartInMs).toBe(100);
  });

  it('[V-3] scenario 40: neither empties nor fills the restart window, nor ends a quarantine', async () => {
    const { clock, crash, node } = startRoot([{ id: 'a', logic: worker, intensity: 1, quarantineMs: 60_000 }]);
    crash('a');
    await clock.advance(100);
    clock.stepWall(jumpMs);
    crash('a');
    expect(node('a')?.state).toBe('quarantined');
    clock.stepWall(jumpMs);
    await clock.advance(59_999);
    expect(node('a')?.state).toBe('quarantined');
    await clock.advance(1);
    expect(node('a')?.state).toBe('running');
  });

  it('[V-5] scenario 40: gives a stubborn child exactly its limit', async () => {
    const { root, clock } = startRoot([{ id: 'a', logic: stubborn, shutdown: 1000 }]);
    clock.stepWall(jumpMs);
    void root.stop();
    clock.stepWall(jumpMs);
    await clock.advance(999);
    expect(root.ref('a')).toBeDefined();
    await clock.advance(1);
    expect(root.ref('a')).toBeUndefined();
  });

  it('[I-1] scenario 40: times out none of 1,000 calls, and each at its own time', async () => {
    const { clock, failed } = await startCalls(1000);
    clock.stepWall(jumpMs);
    await clock.advance(29_999);
    expect(failed).toEqual([]);
    await clock.advance(1);
    expect(failed).toHaveLength(1000);
  });
});

describe('a machine that sleeps, or a loop that is blocked', () => {
  it('[I-1] scenario 40: ends no call whose answer came meanwhile', async () => {
    const { clock, calls, answers, failed } = await startCalls(1000);
    clock.stall(day);
    // The loop runs overdue timers first, then reads what has arrived, then begins the next turn.
    const nextTurn = clock.nextTurn.bind(clock);
    vi.spyOn(clock, 'nextTurn').mockImplementation((callback) => {
      for (const { resolve } of answers) resolve('found');
      nextTurn(callback);
    });
    await clock.advance(0);
    expect(failed).toEqual([]);
    expect(await Promise.all(calls)).toEqual(Array(1000).fill({ ok: true, value: 'found' }));
  });

  it('[V-4] [V-3] scenario 40: restarts what was due once, in order, and counts no crash for it', async () => {
    const { root, clock, crash, journal } = startRoot(['a', 'b', 'c'].map((id) => ({ id, logic: worker })));
    for (const id of ['c', 'a', 'b']) crash(id);
    journal.length = 0;
    clock.stall(day);
    await clock.advance(0);
    expect(journal).toEqual(['+c', '+a', '+b']);
    expect([root.tree().restarts, clock.pending]).toEqual([3, 0]);
  });
});

describe('on the clock of this machine', () => {
  it('[V-4] [V-5] a child comes back after its wait, and a stubborn one is killed after its limit', async () => {
    const root = createSupervisor({
      clock: systemClock,
      random: () => 0.5,
      children: [
        { id: 'a', logic: polite, backoff: { baseMs: 20 } },
        { id: 'b', logic: stubborn, shutdown: 20 },
      ],
    });
    root.start();
    const startedAt = systemClock.now();
    const back = new Promise<number>((resolve) => {
      root.startChild({
        id: 'c',
        logic: worker,
        backoff: { baseMs: 20 },
        onStart: (_ref, n) => n === 2 && resolve(systemClock.now() - startedAt),
      });
    });
    root.send('c', { type: 'crash' });
    expect(await back).toBeGreaterThanOrEqual(19);
    const stoppedAt = systemClock.now();
    await root.stop();
    expect(systemClock.now() - stoppedAt).toBeGreaterThanOrEqual(19);
    expect(root.count().active).toBe(0);
  });
});
