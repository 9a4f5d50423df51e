import { describe, expect, it } from 'vitest';
import { type Deferred, deferred } from '../support/deferred.ts';
import { fault, type Started, startIntegration } from '../support/startIntegration.ts';

interface Suspect extends Started {
  /** Every inquiry that was made, answered by the test. */
  readonly inquiries: Deferred<boolean>[];
}

/** An integration whose attempts may be silent for 100 ms, and whose inquiries wait for the test. */
function startSuspect(attempts = 1): Suspect {
  const inquiries: Deferred<boolean>[] = [];
  const onSilence = () => {
    const inquiry = deferred<boolean>();
    inquiries.push(inquiry);
    return inquiry.promise;
  };
  const policy = {
    limits: { idleMs: 100, attemptMs: 1000, overallMs: 60_000 },
    retry: { maxAttempts: attempts, repeatAfter: 'lost' as const },
    breaker: { consecutiveFailures: 3 },
  };
  return { ...startIntegration(policy, undefined, { onSilence }), inquiries };
}

const silent = (started: Started, count: number) =>
  Promise.all(Array.from({ length: count }, (_, index) => started.integration.call(`call ${index}`)));

describe('calls that fall silent together', () => {
  it('[P-1] [I-1] end at their limit, whatever is found out about the other side later', async () => {
    const started = startSuspect();
    const outcomes = silent(started, 5);
    await started.clock.advance(100);
    expect(await outcomes).toMatchObject(Array.from({ length: 5 }, () => ({ failure: { reason: 'idle_timeout' } })));
    expect(started.inquiries).toHaveLength(1);
  });

  it('[P-1] [M-4] count as no failure of their own when the other side has hung: that is one crash', async () => {
    const started = startSuspect();
    void silent(started, 5);
    await started.clock.advance(100);
    expect(started.integration.breaker.state).toBe('closed');
    started.path.crashed(fault('crash').facts);
    started.inquiries[0]?.resolve(false);
    await started.clock.settle();
    started.path.restarted();
    expect(started.integration.state).toBe('idle');
    expect(started.facts.of('breaker.opened')).toEqual([]);
  });

  it('[P-1] [M-4] count as nothing when the other side is found gone before anybody told of a crash', async () => {
    const started = startSuspect();
    void silent(started, 5);
    await started.clock.advance(100);
    started.inquiries[0]?.resolve(false);
    await started.clock.settle();
    expect(started.integration.state).toBe('idle');
  });

  it('[M-4] count one by one when the other side lives', async () => {
    const started = startSuspect();
    void silent(started, 5);
    await started.clock.advance(100);
    started.inquiries[0]?.resolve(true);
    await started.clock.settle();
    expect(started.integration.state).toBe('open');
  });

  it('[M-4] open the circuit also when nothing has been in flight since', async () => {
    const started = startSuspect();
    for (let round = 0; round < 3; round++) {
      expect(started.integration.breaker.state).toBe('closed');
      void silent(started, 1);
      await started.clock.advance(100);
      started.inquiries[round]?.resolve(true);
      await started.clock.settle();
    }
    expect(started.integration.state).toBe('open');
  });
});

describe('a call whose caller gives it up in silence', () => {
  const giveUp = async (started: Suspect, afterMs: number): Promise<void> => {
    const caller = new AbortController();
    void started.integration.call('hangs', { signal: caller.signal, idleMs: 60_000, attemptMs: 60_000 });
    await started.clock.advance(afterMs);
    caller.abort('no time');
    await started.clock.settle();
  };

  it('[P-1] [P-3] makes the other side suspect, once at a time', async () => {
    const started = startSuspect();
    await giveUp(started, 1000);
    expect(started.inquiries).toHaveLength(1);
    const late = started.integration.call('late');
    for (let index = 0; index < 5; index++) await giveUp(started, 1000);
    expect(started.inquiries).toHaveLength(1);
    started.inquiries[0]?.resolve(true);
    await started.clock.settle();
    expect(started.seen.map(({ input }) => input)).toEqual(['hangs', 'late']);
    started.attempt(1).resolve('answer');
    expect(await late).toEqual({ ok: true, value: 'answer' });
    expect(started.integration.breaker.state).toBe('closed');
  });

  it('[P-1] says nothing within the first second, unless those before were not answered either', async () => {
    const started = startSuspect();
    await giveUp(started, 999);
    expect(started.inquiries).toHaveLength(0);
    await giveUp(started, 1);
    expect(started.inquiries).toHaveLength(1);
  });

  it('[P-1] says nothing when it had shown a sign of life within the last second', async () => {
    const started = startSuspect();
    const caller = new AbortController();
    void started.integration.call('works', { signal: caller.signal, idleMs: 60_000, attemptMs: 60_000 });
    await started.clock.advance(5000);
    started.attempt(0).context.touch();
    await started.clock.advance(999);
    caller.abort('no time');
    await started.clock.settle();
    expect(started.inquiries).toHaveLength(0);
  });

  it('[P-1] says nothing when it was never sent, or a stop of ours has ended it', async () => {
    const started = startSuspect();
    await started.clock.advance(5000);
    const caller = new AbortController();
    caller.abort('no time');
    void started.integration.call('not sent', { signal: caller.signal });
    void started.integration.call('hangs', { idleMs: 60_000, attemptMs: 60_000 });
    await started.clock.advance(5000);
    started.path.stop();
    await started.clock.settle();
    expect(started.inquiries).toHaveLength(0);
  });
});

describe('a call that comes while the server is suspect', () => {
  it('[P-1] is not written until that is known, and then at once', async () => {
    const started = startSuspect();
    void silent(started, 1);
    await started.clock.advance(100);
    const late = started.integration.call('late');
    await started.clock.advance(50);
    expect(started.seen.map(({ input }) => input)).toEqual(['call 0']);
    expect(started.integration.state).toBe('backoff');
    started.inquiries[0]?.resolve(true);
    await started.clock.settle();
    started.attempt(1).resolve('answer');
    expect(await late).toEqual({ ok: true, value: 'answer' });
  });

  it('[P-1] [M-6] waits for the restart when the other side has hung', async () => {
    const started = startSuspect();
    void silent(started, 1);
    await started.clock.advance(100);
    void started.integration.call('late');
    started.path.crashed(fault('crash').facts);
    await started.clock.settle();
    expect(started.seen).toHaveLength(1);
    started.path.restarted();
    await started.clock.settle();
    expect(started.seen.map(({ input }) => input)).toEqual(['call 0', 'late']);
  });

  it('[M-6] waits no longer for the restart than a call that comes after the crash', async () => {
    const started = startSuspect();
    void silent(started, 1);
    await started.clock.advance(100);
    const late = started.integration.call('late');
    started.path.crashed(fault('crash').facts);
    await started.clock.advance(5000);
    expect(await late).toMatchObject({ ok: false, failure: { kind: 'unavailable' } });
  });

  it('[I-1] ends at its own limit when that is never known', async () => {
    const started = startSuspect();
    void silent(started, 1);
    await started.clock.advance(100);
    const late = started.integration.call('late', { overallMs: 500 });
    await started.clock.advance(500);
    expect(await late).toMatchObject({ ok: false, failure: { kind: 'timeout', outcome: 'not_started' } });
  });

  it('[I-1] goes on when the inquiry itself fails', async () => {
    const started = startSuspect();
    void silent(started, 1);
    await started.clock.advance(100);
    void started.integration.call('late');
    started.inquiries[0]?.reject(new Error('no'));
    await started.clock.settle();
    expect(started.seen).toHaveLength(2);
  });

  it('[M-8] goes on when the circuit is reset', async () => {
    const started = startSuspect();
    void silent(started, 1);
    await started.clock.advance(100);
    void started.integration.call('late');
    started.integration.breaker.reset();
    await started.clock.settle();
    expect(started.seen).toHaveLength(2);
  });
});

describe('a retry', () => {
  it('[P-1] [R-12] waits for what is found out, and is written to the other side that comes back', async () => {
    const started = startSuspect(2);
    const outcome = started.integration.call('call 0');
    await started.clock.advance(100);
    await started.clock.advance(2000);
    expect(started.seen).toHaveLength(1);
    started.path.crashed(fault('crash').facts);
    started.path.restarted();
    await started.clock.settle();
    started.attempt(1).resolve('answer');
    expect(await outcome).toEqual({ ok: true, value: 'answer' });
  });
});
