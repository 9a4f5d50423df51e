import { describe, expect, it } from 'vitest';
import { deferred, isSettled } from '../support/deferred.ts';
import { fault, startIntegration } from '../support/startIntegration.ts';

describe('a call', () => {
  it('[R-7] ends with the value of its operation', async () => {
    const { integration, attempt } = startIntegration();
    const outcome = integration.call('ask');
    attempt(0).resolve('answer');
    expect(await outcome).toEqual({ ok: true, value: 'answer' });
  });

  it('[R-7] ends with a failure as a value that keeps what was thrown as its cause', async () => {
    const thrown = new Error('nobody home');
    const { integration } = startIntegration({}, () => {
      throw thrown;
    });
    const outcome = await integration.call('ask');
    expect(outcome).toMatchObject({
      ok: false,
      failure: { kind: 'unknown', integration: 'kb', attempts: 1, cause: thrown },
    });
  });

  it.each([
    ['a synchronous value', () => 'now'],
    ['undefined', () => undefined as unknown as string],
    [
      'a thenable that is no Promise',
      () => ({ then: (done: (value: string) => void) => done('then') }) as PromiseLike<string>,
    ],
  ])('accepts %s', async (_what, operation) => {
    const { integration } = startIntegration({}, operation);
    expect(await integration.call('ask')).toMatchObject({ ok: true });
  });

  it('takes anything that is thrown, also undefined', async () => {
    const { integration } = startIntegration({}, () => Promise.reject(undefined));
    expect(await integration.call('ask')).toMatchObject({ ok: false, failure: { kind: 'unknown' } });
  });

  it('[R-1] makes four attempts in all, after waits of 1, 2 and 4 s', async () => {
    const { integration, clock, seen, facts } = startIntegration({}, undefined);
    const outcome = integration.call('ask');
    for (const waitMs of [1000, 2000, 4000]) {
      seen.at(-1)?.reject(fault('transient'));
      await clock.advance(waitMs - 1);
      const before = seen.length;
      await clock.advance(1);
      expect(seen).toHaveLength(before + 1);
    }
    seen.at(-1)?.reject(fault('transient'));
    expect(await outcome).toMatchObject({ ok: false, failure: { kind: 'transient', attempts: 4 } });
    expect(facts.of('call.retried').map(({ delayMs }) => delayMs)).toEqual([1000, 2000, 4000]);
  });

  it('[R-10] [I-4] tells its final failure once, with context, message, retry count and stack', async () => {
    const { integration, clock, facts } = startIntegration({}, () => Promise.reject(fault('transient')));
    const outcome = integration.call('ask', { label: 'docs' });
    await clock.advance(7000);
    await outcome;
    const [failed, ...more] = facts.of('call.failed');
    expect(more).toEqual([]);
    expect(failed).toMatchObject({
      integration: 'kb',
      label: 'docs',
      retryCount: 3,
      failure: { message: 'transient fault' },
    });
  });

  it('[R-2] ends at once with its last failure when the wait does not fit its deadline', async () => {
    const { integration, clock } = startIntegration({}, () => Promise.reject(fault('transient')));
    const outcome = integration.call('ask', { overallMs: 2999 });
    await clock.advance(1000);
    expect(await outcome).toMatchObject({ ok: false, failure: { kind: 'transient', attempts: 2 } });
    expect(clock.now()).toBe(1000);
  });

  it('[R-2] waits when the wait just fits', async () => {
    const { integration, clock, seen } = startIntegration();
    void integration.call('ask', { overallMs: 1001 });
    seen[0]?.reject(fault('transient'));
    await clock.advance(1000);
    expect(seen).toHaveLength(2);
  });

  it('[R-3] takes a hint as a floor to its backoff', async () => {
    const { integration, clock, seen } = startIntegration();
    void integration.call('ask');
    seen[0]?.reject(fault('overloaded', { outcome: 'failed', retryAfterMs: 9000 }));
    await clock.advance(8999);
    expect(seen).toHaveLength(1);
    await clock.advance(1);
    expect(seen).toHaveLength(2);
  });

  it('[R-4] stops retrying when the budget of its integration is used up, and says so', async () => {
    const { integration, clock, seen } = startIntegration({
      breaker: { consecutiveFailures: 1000, minimumAttempts: 1000, windowSize: 1000 },
    });
    const outcomes = Array.from({ length: 30 }, () => integration.call('ask'));
    for (const attempt of [...seen]) attempt.reject(fault('transient'));
    await clock.settle();
    const settled = await Promise.all(outcomes.map(isSettled));
    expect(settled.filter(Boolean)).toHaveLength(10);
    expect(await outcomes.at(-1)).toMatchObject({
      failure: { kind: 'transient', reason: 'retry_budget', attempts: 1 },
    });
    void clock;
  });

  it('[R-12] does not repeat a mutating call whose answer was lost', async () => {
    const { integration } = startIntegration({}, () => Promise.reject(fault('crash')));
    const outcome = await integration.call('ask', { effect: 'mutating' });
    expect(outcome).toMatchObject({ failure: { kind: 'crash', attempts: 1 } });
  });

  it.each([
    ['overloaded', 'unknown'],
    ['spawn', 'not_started'],
  ] as const)(
    '[R-12] [G-13] is not retryable once an attempt may have acted that its next one goes on with, whatever ends it: %s',
    async (kind, outcome) => {
      const { integration, clock, attempt } = startIntegration({ retry: { maxAttempts: 2, repeatAfter: 'lost' } });
      const ended = integration.call('ask');
      attempt(0).reject(fault('overloaded', { outcome: 'unknown', resumable: true }));
      await clock.advance(60_000);
      attempt(1).reject(fault(kind, { outcome, retryAfterMs: 1000 }));
      expect(await ended).toMatchObject({ failure: { kind, outcome: 'unknown', attempts: 2, retryable: false } });
    },
  );

  it('[R-12] repeats a mutating call that never reached the other side', async () => {
    const { integration, clock, seen } = startIntegration();
    void integration.call('ask', { effect: 'mutating' });
    seen[0]?.reject(fault('transient', { outcome: 'not_started' }));
    await clock.advance(1000);
    expect(seen).toHaveLength(2);
  });

  it('[R-11] takes the answer of its fallback when the integration cannot answer', async () => {
    const { integration, facts } = startIntegration({}, () => Promise.reject(fault('permanent')));
    const outcome = await integration.call('ask', { fallback: (input, failure) => `${input}: ${failure.kind}` });
    expect(outcome).toEqual({ ok: true, value: 'ask: permanent' });
    expect(facts.of('call.fell_back')).toHaveLength(1);
  });

  it('[R-11] [I-1] ends at its deadline when its fallback hangs', async () => {
    const { integration, clock } = startIntegration({}, () => Promise.reject(fault('permanent')));
    const outcome = integration.call('ask', { overallMs: 500, fallback: () => new Promise<string>(() => undefined) });
    await clock.advance(500);
    expect(await outcome).toMatchObject({ ok: false, failure: { kind: 'permanent' } });
  });

  it.each([
    [{ maxAttempts: 0 }, 'Expected `options.maxAttempts` to be a positive integer, got 0'],
    [{ overallMs: -1 }, 'Expected `options.overallMs` to be a duration above 0 (ms, or text such as 30s), got -1'],
    [{ timeout: 5 }, 'Unknown option `options.timeout`'],
    [{ effect: 'writes' }, 'Expected `options.effect` to be one of readOnly, idempotent, mutating, got "writes"'],
  ])('refuses wrong options %j with an error that names them', (options, message) => {
    const { integration, seen } = startIntegration();
    expect(() => integration.call('ask', options as object)).toThrow(message);
    expect(seen).toHaveLength(0);
  });
});

describe('the limits of a call', () => {
  it('[R-9] [I-1] ends an attempt without a sign of life at its idle limit, not before', async () => {
    const { integration, clock, attempt } = startIntegration();
    const outcome = integration.call('ask', { idleMs: 1000, maxAttempts: 1 });
    await clock.advance(999);
    expect(await isSettled(outcome)).toBe(false);
    await clock.advance(1);
    expect(await outcome).toMatchObject({ failure: { kind: 'timeout', reason: 'idle_timeout', outcome: 'unknown' } });
    expect(attempt(0).context.signal.aborted).toBe(true);
  });

  it('[G-7] [R-9] restarts the idle limit at a sign of life, never the attempt limit', async () => {
    const { integration, clock, attempt } = startIntegration();
    const outcome = integration.call('ask', { idleMs: 1000, attemptMs: 2500, maxAttempts: 1 });
    for (let index = 0; index < 3; index++) {
      await clock.advance(800);
      attempt(0).context.touch();
    }
    expect(await isSettled(outcome)).toBe(false);
    await clock.advance(100);
    expect(await outcome).toMatchObject({ failure: { reason: 'attempt_timeout' } });
  });

  it('[R-9] [I-1] ends the whole call at its overall limit, waits included', async () => {
    const { integration, clock } = startIntegration();
    const outcome = integration.call('ask', { overallMs: 700 });
    await clock.advance(700);
    expect(await outcome).toMatchObject({ failure: { kind: 'timeout', reason: 'overall_timeout', attempts: 1 } });
  });

  it('[R-9] lets the inner of two limits that tie name the reason', async () => {
    const { integration, clock } = startIntegration();
    const outcome = integration.call('ask', { idleMs: 500, attemptMs: 500, overallMs: 500 });
    await clock.advance(500);
    expect(await outcome).toMatchObject({ failure: { reason: 'idle_timeout' } });
  });

  it('[R-9] fires mixed limits on one integration in time', async () => {
    const { integration, clock } = startIntegration();
    const slow = integration.call('slow', { overallMs: 9000 });
    const fast = integration.call('fast', { overallMs: 90 });
    await clock.advance(90);
    expect(await fast).toMatchObject({ failure: { reason: 'overall_timeout' } });
    expect(await isSettled(slow)).toBe(false);
  });

  it('[I-1] stores a late result as late and never delivers it', async () => {
    const { integration, clock, attempt, facts } = startIntegration();
    const outcome = integration.call('ask', { overallMs: 100 });
    await clock.advance(100);
    attempt(0).resolve('too late');
    await clock.advance(50);
    expect((await outcome).ok).toBe(false);
    expect(facts.of('call.late')).toMatchObject([{ attempt: 1, ok: true, lateByMs: 0 }]);
    expect(integration.stats.late).toBe(1);
  });

  it('[I-1] [I-3] observes a late rejection', async () => {
    const { integration, clock, attempt, facts } = startIntegration();
    void integration.call('ask', { overallMs: 100 });
    await clock.advance(100);
    attempt(0).reject(new Error('after the end'));
    await clock.settle();
    expect(facts.of('call.late')).toMatchObject([{ ok: false, error: 'after the end' }]);
  });

  it('[R-8] gives each attempt a signal of its own', async () => {
    const { integration, clock, attempt } = startIntegration();
    void integration.call('ask', { idleMs: 100, effect: 'readOnly' });
    await clock.advance(100);
    await clock.advance(1000);
    expect(attempt(0).context.signal.aborted).toBe(true);
    expect(attempt(1).context.signal.aborted).toBe(false);
  });

  it('never aborts the signal of an attempt that succeeded', async () => {
    const { integration, clock, attempt } = startIntegration();
    const outcome = integration.call('ask');
    const { signal } = attempt(0).context;
    attempt(0).resolve('answer');
    await outcome;
    await clock.advance(600_000);
    expect(signal.aborted).toBe(false);
  });
});

describe("the caller's signal", () => {
  it('[R-8] keeps an operation from starting when it is aborted already, and its reason', async () => {
    const { integration, seen } = startIntegration();
    const outcome = await integration.call('ask', { signal: AbortSignal.abort('no more') });
    expect(outcome).toMatchObject({ failure: { kind: 'cancelled', cause: 'no more', attempts: 0 } });
    expect(seen).toHaveLength(0);
  });

  it('[R-8] ends an attempt at once, and tells the operation why', async () => {
    const controller = new AbortController();
    const { integration, attempt } = startIntegration();
    const outcome = integration.call('ask', { signal: controller.signal });
    const { signal } = attempt(0).context;
    controller.abort('enough');
    expect(await outcome).toMatchObject({ failure: { kind: 'cancelled', outcome: 'cancelled', cause: 'enough' } });
    expect(signal.reason).toBe('enough');
  });

  it('[R-8] ends a wait at once and makes no further attempt', async () => {
    const controller = new AbortController();
    const { integration, clock, attempt, seen } = startIntegration();
    const outcome = integration.call('ask', { signal: controller.signal });
    attempt(0).reject(fault('transient'));
    await clock.advance(500);
    controller.abort();
    expect(await outcome).toMatchObject({ failure: { kind: 'cancelled', attempts: 1 } });
    await clock.advance(60_000);
    expect(seen).toHaveLength(1);
  });
});

describe('the permits of an integration', () => {
  it('[M-9] refuses the 101st call at once', async () => {
    const { integration, seen } = startIntegration();
    for (let index = 0; index < 100; index++) void integration.call('ask');
    expect(await integration.call('one too many')).toMatchObject({
      failure: { kind: 'too_many_requests', attempts: 0 },
    });
    expect(seen).toHaveLength(100);
  });

  it('[M-9] lets N calls wait with a queue of N, and refuses the next', async () => {
    const { integration, clock, attempt, seen } = startIntegration({ maxInFlight: 1, queueLength: 2 });
    void integration.call('runs');
    const waits = [integration.call('waits'), integration.call('waits too')];
    expect(await integration.call('one too many')).toMatchObject({ failure: { kind: 'too_many_requests' } });
    attempt(0).resolve('done');
    await clock.settle();
    expect(seen.map(({ input }) => input)).toEqual(['runs', 'waits']);
    expect(await Promise.all(waits.map(isSettled))).toEqual([false, false]);
  });

  it('[M-9] keeps the permit of work that goes on after its abort until its grace is over, then abandons it', async () => {
    const { integration, clock, facts, seen } = startIntegration({ maxInFlight: 1, abortGraceMs: 5000 });
    void integration.call('hangs', { overallMs: 100 });
    await clock.advance(100);
    expect(await integration.call('refused')).toMatchObject({ failure: { kind: 'too_many_requests' } });
    await clock.advance(5000);
    expect(facts.of('call.abandoned')).toHaveLength(1);
    void integration.call('replaces it');
    expect(seen).toHaveLength(2);
    expect(integration.stats.abandoned).toBe(1);
  });

  it('[M-9] is crashed when more work goes on than may be replaced, and comes back when it ends', async () => {
    const { integration, clock, attempt } = startIntegration({ maxInFlight: 2, maxAbandoned: 1, abortGraceMs: 10 });
    void integration.call('hangs', { overallMs: 100 });
    void integration.call('hangs too', { overallMs: 100 });
    await clock.advance(110);
    expect(integration.state).toBe('crashed');
    attempt(0).resolve('after all');
    await clock.settle();
    expect(integration.state).toBe('idle');
  });

  it('[I-3] leaves nothing in the queue of deadlines once stopped', async () => {
    const { integration, path, clock, deadlines } = startIntegration();
    const outcomes = [integration.call('ask'), integration.call('ask')];
    path.stop();
    expect(await Promise.all(outcomes)).toMatchObject([
      { failure: { kind: 'cancelled', reason: 'stopped' } },
      { failure: { kind: 'cancelled', reason: 'stopped' } },
    ]);
    await clock.settle();
    expect([deadlines.size, clock.pending]).toEqual([0, 0]);
    expect(await integration.call('too late')).toMatchObject({ failure: { reason: 'stopped' } });
  });
});

describe('refusals', () => {
  it('[I-4] are counted each and told once an episode', async () => {
    const { integration, facts } = startIntegration({ maxInFlight: 1 });
    void integration.call('runs');
    for (let index = 0; index < 5; index++) await integration.call('refused');
    expect(facts.of('call.refused')).toHaveLength(1);
    expect(integration.stats.refused).toBe(5);
    expect(facts.of('call.failed')).toHaveLength(0);
  });
});

describe('a rate limit', () => {
  it('[M-13] pauses the integration: a waiting call whose deadline the hint fits is made after it', async () => {
    const { integration, clock, attempt, seen } = startIntegration();
    void integration.call('throttled');
    attempt(0).reject(fault('rate_limit', { outcome: 'failed', retryAfterMs: 20_000 }));
    await clock.settle();
    void integration.call('waits');
    expect(integration.state).toBe('backoff');
    await clock.advance(19_999);
    expect(seen).toHaveLength(1);
    await clock.advance(1);
    expect(seen.map(({ input }) => input).sort()).toEqual(['throttled', 'throttled', 'waits']);
  });

  it('[M-13] is over for all that waited for its end at once, first come first', async () => {
    const { integration, clock, attempt, seen } = startIntegration({ maxInFlight: 100 });
    void integration.call('throttled');
    attempt(0).reject(fault('rate_limit', { outcome: 'failed', retryAfterMs: 20_000 }));
    await clock.settle();
    const waiting = Array.from({ length: 40 }, (_, index) => `waits ${index}`);
    for (const input of waiting) void integration.call(input);
    await clock.advance(20_000);
    expect(seen.map(({ input }) => input)).toEqual(['throttled', 'throttled', ...waiting]);
  });

  it('[M-13] ends a call at once when the hint does not fit its deadline, and says when to come back', async () => {
    const { integration, clock, attempt } = startIntegration();
    void integration.call('throttled');
    attempt(0).reject(fault('rate_limit', { outcome: 'failed', retryAfterMs: 20_000 }));
    await clock.settle();
    const outcome = await integration.call('cannot wait', { overallMs: 5000 });
    expect(outcome).toMatchObject({ failure: { kind: 'rate_limit', retryAfterMs: 20_000, attempts: 0 } });
  });

  it('[M-13] is not counted by the breaker', async () => {
    const { integration, clock } = startIntegration({}, () =>
      Promise.reject(fault('rate_limit', { outcome: 'failed' })),
    );
    for (let index = 0; index < 10; index++) await integration.call('ask', { maxAttempts: 1 });
    await clock.settle();
    expect(integration.breaker.state).toBe('closed');
  });
});

describe('a crash behind an integration', () => {
  const lost = fault('crash', { reason: 'connection_lost' }).facts;

  it('[M-6] ends attempts in flight, and makes those that may be repeated again after the restart', async () => {
    const { integration, path, clock, seen, attempt } = startIntegration();
    const mutating = integration.call('pay', { effect: 'mutating' });
    const reading = integration.call('read', { effect: 'readOnly' });
    path.crashed(lost);
    expect(await mutating).toMatchObject({ failure: { kind: 'crash', reason: 'connection_lost', attempts: 1 } });
    expect(integration.state).toBe('crashed');
    await clock.advance(19_999);
    path.restarted();
    expect(seen).toHaveLength(3);
    attempt(2).resolve('read at last');
    expect(await reading).toEqual({ ok: true, value: 'read at last' });
  });

  it('[M-6] lets a new call wait 5 s for the restart, then answers unavailable with the time of it', async () => {
    const { integration, path, clock } = startIntegration({}, undefined, { restartInMs: () => 1234 });
    path.crashed(lost);
    const outcome = integration.call('ask');
    await clock.advance(4999);
    expect(await isSettled(outcome)).toBe(false);
    await clock.advance(1);
    expect(await outcome).toMatchObject({ failure: { kind: 'unavailable', attempts: 0, retryAfterMs: 1234 } });
  });

  it('[M-6] leads to idle after a successful restart', async () => {
    const { integration, path } = startIntegration();
    path.crashed(lost);
    path.restarted();
    expect(integration.state).toBe('idle');
  });

  it('[M-6] counts one incident once, however many calls it ends', async () => {
    const { integration, path, facts } = startIntegration();
    for (let index = 0; index < 20; index++) void integration.call('ask');
    path.crashed(lost);
    path.restarted();
    expect(facts.of('breaker.opened')).toHaveLength(0);
    expect(integration.breaker.state).toBe('closed');
  });
});

describe('a call under an operation that misbehaves', () => {
  it('[I-1] ends once though the operation answers late, twice and by every way', async () => {
    const answer = deferred<string>();
    let settlings = 0;
    const { path, integration, clock } = startIntegration({}, () => answer.promise);
    void integration;
    path.start(
      'ask',
      {
        ...path.policy.limits,
        overallMs: 100,
        retry: path.policy.retry,
        effect: undefined,
        label: undefined,
        session: undefined,
        signal: undefined,
        fallback: undefined,
      },
      () => {
        settlings++;
      },
    );
    await clock.advance(100);
    answer.resolve('late');
    await clock.advance(100_000);
    path.stop();
    expect(settlings).toBe(1);
  });
});
