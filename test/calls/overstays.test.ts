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

describe('work that goes on after its attempt was given up', () => {
  it('[M-9] [I-3] is not written off when it ends within its grace, and leaves no deadline', async () => {
    const { integration, clock, facts, deadlines, attempt } = await giveUp();
    attempt(0).resolve('late');
    await clock.settle();
    expect(deadlines.size).toBe(0);
    await clock.advance(20);
    expect([facts.of('call.abandoned'), integration.stats.abandoned, integration.state]).toEqual([[], 0, 'idle']);
  });

  it('[M-9] is written off at the end of its grace, and not before', async () => {
    const { integration, clock } = await giveUp();
    await clock.advance(9);
    expect([integration.stats.abandoned, integration.state]).toEqual([0, 'idle']);
    await clock.advance(1);
    expect([integration.stats.abandoned, integration.state]).toEqual([1, 'crashed']);
  });

  it('[M-9] takes the integration back into service when what was written off ends, unless it is stopped', async () => {
    for (const stopped of [false, true]) {
      const { path, clock, facts, attempt } = await giveUp();
      await clock.advance(10);
      if (stopped) path.stop();
      attempt(0).resolve('late');
      await clock.settle();
      expect([path.stats.abandoned, facts.of('integration.restarted')]).toMatchObject([0, stopped ? [] : [{}]]);
    }
  });

  it.each(['ends', 'is written off'])('[M-9] gives its place to who waits for one when it %s', async (how) => {
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
});
