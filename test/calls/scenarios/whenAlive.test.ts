import { describe, expect, it } from 'vitest';
import { type Deferred, deferred } from '../../support/deferred.ts';
import { fault, type Started, startIntegration } from '../../support/startIntegration.ts';

interface Waiting extends Started {
  /** Every inquiry that was made, answered by the test. */
  readonly inquiries: Deferred<boolean>[];
}

/** An integration whose silent calls go on while the other side answers. */
function startWaiting(alive?: boolean, limits = { idleMs: 100, attemptMs: 350, overallMs: 60_000 }): Waiting {
  const inquiries: Deferred<boolean>[] = [];
  const onSilence = (): Promise<boolean> => {
    const inquiry = deferred<boolean>();
    inquiries.push(inquiry);
    if (alive !== undefined) inquiry.resolve(alive);
    return inquiry.promise;
  };
  const policy = { limits, retry: { maxAttempts: 1 } };
  return { ...startIntegration(policy, undefined, { onSilence, whenAlive: 'wait' }), inquiries };
}

describe('a silent call that may wait', () => {
  it('[P-1] goes on when the other side answers, and may still be answered', async () => {
    const started = startWaiting(true);
    const call = started.integration.call('slow');
    await started.clock.advance(340);
    started.attempt(0).resolve('answer');
    expect(await call).toEqual({ ok: true, value: 'answer' });
    expect(started.facts.of('call.failed')).toEqual([]);
  });

  it('[P-1] has the other side asked again at each further idle limit', async () => {
    const started = startWaiting(true);
    void started.integration.call('slow');
    await started.clock.advance(99);
    expect(started.inquiries).toHaveLength(0);
    await started.clock.advance(1);
    expect(started.inquiries).toHaveLength(1);
    await started.clock.advance(100);
    expect(started.inquiries).toHaveLength(2);
    await started.clock.advance(100);
    expect(started.inquiries).toHaveLength(3);
  });

  it('[P-1] ends at its attempt limit', async () => {
    const started = startWaiting(true);
    const call = started.integration.call('slow');
    await started.clock.advance(349);
    expect(started.integration.stats.attempts).toBe(1);
    await started.clock.advance(1);
    expect(await call).toMatchObject({ ok: false, failure: { kind: 'timeout', reason: 'attempt_timeout' } });
  });

  it('[P-1] ends by the crash when the other side does not answer and is killed', async () => {
    const started = startWaiting();
    const call = started.integration.call('slow');
    await started.clock.advance(100);
    expect(started.integration.stats.attempts).toBe(1);
    started.path.crashed(fault('crash', { reason: 'hang' }).facts);
    started.inquiries[0]?.resolve(false);
    expect(await call).toMatchObject({ ok: false, failure: { kind: 'crash', reason: 'hang' } });
  });

  it('[P-1] holds back what comes while the other side is asked', async () => {
    const started = startWaiting();
    void started.integration.call('slow');
    await started.clock.advance(100);
    void started.integration.call('next');
    await started.clock.advance(10);
    expect(started.seen).toHaveLength(1);
    started.inquiries[0]?.resolve(true);
    await started.clock.settle();
    expect(started.seen).toHaveLength(2);
  });

  it('[P-1] ends at the idle limit that its caller made shorter', async () => {
    const started = startWaiting(true);
    const call = started.integration.call('slow', { idleMs: 50 });
    await started.clock.advance(50);
    expect(await call).toMatchObject({ ok: false, failure: { reason: 'idle_timeout' } });
  });

  it('[P-1] [G-7] is told as silent for all the time it was', async () => {
    const started = startWaiting(true);
    const call = started.path.start('slow', settings(started), () => undefined);
    await started.clock.advance(150);
    expect(started.path.why(call)?.silentMs).toBe(150);
  });

  it('[P-1] [G-7] [L-5] is pinged next, and ended by the limit of its attempt', async () => {
    const started = startWaiting(true);
    const call = started.path.start('slow', settings(started), () => undefined);
    await started.clock.advance(99);
    expect(started.path.why(call)).toMatchObject({
      next: { id: '1:ping', rule: 'ping', inMs: 1 },
      also: [
        { rule: 'attempt_timeout', inMs: 251 },
        { rule: 'overall_timeout', inMs: 59_901 },
      ],
    });
    await started.clock.advance(1);
    expect(started.path.why(call)).toMatchObject({ next: { rule: 'ping', inMs: 100 } });
    await started.clock.advance(200);
    expect(started.path.why(call)).toMatchObject({ next: { rule: 'attempt_timeout', inMs: 50 } });
  });

  it('[O-15] is told as one that the limit of its attempt ends, with when its server is pinged', async () => {
    const started = startWaiting(true, { idleMs: 30_000, attemptMs: 300_000, overallMs: 360_000 });
    void started.integration.call('slow');
    await started.clock.advance(15_000);
    const ends = { rule: 'attempt_timeout', limitMs: 300_000, nextInMs: 285_000, pingInMs: 15_000 };
    expect(started.facts.of('call.pending')).toMatchObject([ends]);
  });

  it('[P-1] [O-15] of which the caller made the idle limit shorter is told as one that this ends', async () => {
    const started = startWaiting(true, { idleMs: 30_000, attemptMs: 300_000, overallMs: 360_000 });
    void started.integration.call('slow', { idleMs: 20_000 });
    await started.clock.advance(10_000);
    const [told] = started.facts.of('call.pending');
    expect(told).toMatchObject({ rule: 'idle_timeout', nextInMs: 10_000 });
    expect(told).not.toHaveProperty('pingInMs');
  });

  it('[O-13] [P-1] has its server asked where an operator fires the ping', async () => {
    const started = startWaiting(true);
    const call = started.path.start('slow', settings(started), () => undefined);
    await started.clock.advance(20);
    expect(started.path.fire(call, '1:ping', () => undefined)).toMatchObject({ ok: true });
    await started.clock.settle();
    expect(started.inquiries).toHaveLength(1);
    expect(started.path.why(call)).toMatchObject({ phase: 'in_flight', next: { rule: 'ping', inMs: 100 } });
  });
});

describe('a silent call that may not wait', () => {
  it('[P-1] ends at its idle limit though the other side answers', async () => {
    const onSilence = async () => true;
    const policy = { limits: { idleMs: 100, attemptMs: 350, overallMs: 60_000 }, retry: { maxAttempts: 1 } };
    const started = startIntegration(policy, undefined, { onSilence });
    const call = started.integration.call('slow');
    await started.clock.advance(100);
    expect(await call).toMatchObject({ ok: false, failure: { reason: 'idle_timeout' } });
  });
});

function settings({ path }: Started) {
  const nothing = { effect: undefined, label: undefined, session: undefined, signal: undefined, fallback: undefined };
  return { ...path.policy.limits, retry: path.policy.retry, ...nothing };
}
