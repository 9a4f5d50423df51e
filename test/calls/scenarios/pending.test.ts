import { describe, expect, it } from 'vitest';
import { isSettled } from '../../support/deferred.ts';
import { startIntegration } from '../../support/startIntegration.ts';

const limits = { idleMs: 60_000, attemptMs: 600_000, overallMs: 1_800_000 };
const policy = { limits, retry: { maxAttempts: 1 } };

describe('a call that hangs', () => {
  it('[O-15] is told once, when half of its limit on silence has passed, with what ends it', async () => {
    const { integration, facts, clock } = startIntegration(policy);
    const call = integration.call('a', { label: 'look up' });
    await clock.advance(29_999);
    expect(facts.of('call.pending')).toEqual([]);
    await clock.advance(1);
    expect(facts.of('call.pending')).toEqual([
      {
        type: 'call.pending',
        integration: 'kb',
        call: 'kb-1',
        label: 'look up',
        session: undefined,
        tool: undefined,
        attempt: 1,
        waitsFor: 'in_flight',
        elapsedMs: 30_000,
        silentMs: 30_000,
        rule: 'idle_timeout',
        limitMs: 60_000,
        nextInMs: 30_000,
      },
    ]);
    expect(await isSettled(call)).toBe(false);
    await clock.advance(30_000);
    expect(await call).toMatchObject({ failure: { kind: 'timeout', reason: 'idle_timeout' } });
    expect(facts.of('call.pending')).toHaveLength(1);
  });

  it('[O-15] is told at half of the limit of its attempt, when it shows signs of life', async () => {
    const { integration, facts, clock, attempt } = startIntegration(policy);
    void integration.call('a');
    for (let second = 0; second < 299; second += 23) {
      await clock.advance(23_000);
      attempt(0).context.touch();
    }
    await clock.advance(1000);
    const [told] = facts.of('call.pending');
    expect(told).toMatchObject({ elapsedMs: 300_000, silentMs: 1_000, rule: 'idle_timeout' });
  });

  it('[O-15] is told while it waits, with what for, and keeps its place and its end', async () => {
    const { integration, facts, clock, attempt } = startIntegration({ ...policy, maxInFlight: 1, queueLength: 9 });
    const first = integration.call('a', { idleMs: '30m', attemptMs: '30m' });
    const second = integration.call('b', { overallMs: '10m' });
    const third = integration.call('c');
    await clock.advance(300_000);
    expect(facts.of('call.pending')).toMatchObject([
      {
        call: 'kb-2',
        attempt: 0,
        waitsFor: 'permit',
        elapsedMs: 300_000,
        rule: 'overall_timeout',
        limitMs: 600_000,
        nextInMs: 300_000,
      },
    ]);
    attempt(0).resolve('A');
    await clock.settle();
    expect(await first).toMatchObject({ value: 'A' });
    attempt(1).resolve('B');
    expect(await second).toMatchObject({ value: 'B' });
    await clock.settle();
    attempt(2).resolve('C');
    expect(await third).toMatchObject({ value: 'C' });
  });

  it('[O-15] ends at its limit when it waits until then', async () => {
    const { integration, clock } = startIntegration({ ...policy, maxInFlight: 1, queueLength: 9 });
    void integration.call('a', { idleMs: '30m', attemptMs: '30m' });
    const second = integration.call('b', { overallMs: '10m' });
    await clock.advance(599_999);
    expect(await isSettled(second)).toBe(false);
    await clock.advance(1);
    expect(await second).toMatchObject({ failure: { kind: 'timeout' } });
  });

  it('[O-15] is not told of limits below two seconds, of endless ones, and when it is quick', async () => {
    const { integration, facts, clock, attempt } = startIntegration({
      ...policy,
      limits: { ...limits, overallMs: Infinity },
    });
    const short = integration.call('a', { idleMs: 1999 });
    await clock.advance(1999);
    expect(await short).toMatchObject({ failure: { reason: 'idle_timeout' } });
    void integration.call('b');
    await clock.advance(29_000);
    attempt(1).resolve('B');
    await clock.advance(1_800_000);
    expect(facts.of('call.pending')).toEqual([]);
  });

  it('[O-15] is told once, however often it is tried', async () => {
    const { integration, facts, clock } = startIntegration({
      limits,
      retry: { maxAttempts: 3, backoff: { initialMs: 1000, maxMs: 1000 } },
    });
    const call = integration.call('a', { effect: 'idempotent' });
    await clock.advance(300_000);
    expect(await call).toMatchObject({ failure: { attempts: 3 } });
    expect(facts.of('call.pending')).toHaveLength(1);
  });
});
