import { createActor } from 'xstate';
import { describe, expect, it } from 'vitest';
import type { Operation } from '../../src/calls/call.ts';
import type { CallPathParts } from '../../src/calls/callPathParts.ts';
import { integrationMachine } from '../../src/machines/integration.ts';
import { AttemptError } from '../../src/policy/failure.ts';
import type { PolicyInput } from '../../src/policy/presets.ts';
import { isSettled } from '../support/deferred.ts';
import { ReactingFacts } from '../support/reactingFacts.ts';
import { fault, type Started, startIntegration } from '../support/startIntegration.ts';

const once: PolicyInput = { retry: { maxAttempts: 1 } };
const lost = fault('crash', { reason: 'connection_lost' }).facts;
const never = (): Promise<never> => new Promise(() => undefined);

/** An integration whose facts have listeners that act at once. */
function startReacting(
  policy: PolicyInput = {},
  operation?: Operation<string, string>,
  extra: Partial<CallPathParts<string, string>> = {},
): Omit<Started, 'facts'> & { facts: ReactingFacts } {
  const facts = new ReactingFacts();
  return { ...startIntegration(policy, operation, { ...extra, facts }), facts };
}

async function openCircuit({
  integration,
  clock,
  seen,
}: Pick<Started, 'integration' | 'clock' | 'seen'>): Promise<void> {
  for (let index = 0; index < 5; index++) {
    const outcome = integration.call('fails', { maxAttempts: 1 });
    seen.at(-1)?.reject(fault('transient'));
    await outcome;
  }
  await clock.settle();
}

describe('a listener that acts on a call path in the middle of its work', () => {
  it('[I-1] [I-4] ends a call once, though it aborts the call while its probe closes the circuit', async () => {
    const started = startReacting();
    const { integration, clock, facts, seen } = started;
    await openCircuit(started);
    await clock.advance(60_000);
    const controller = new AbortController();
    facts.once('breaker.closed', () => controller.abort());
    const outcome = integration.call('probe', { signal: controller.signal });
    const told = facts.of('call.failed').length + facts.of('call.succeeded').length;
    seen.at(-1)?.resolve('answer');
    await outcome;
    expect(facts.of('call.failed').length + facts.of('call.succeeded').length).toBe(told + 1);
    expect(integration.stats.succeeded + integration.stats.failed).toBe(6);
  });

  it('[I-1] [I-4] ends a call once, though it aborts the call whose failure opens the circuit', async () => {
    const started = startReacting({ breaker: { consecutiveFailures: 1 } });
    const { integration, clock, facts, attempt, deadlines } = started;
    const controller = new AbortController();
    facts.once('breaker.opened', () => controller.abort());
    const outcome = integration.call('ask', { signal: controller.signal });
    attempt(0).reject(fault('transient'));
    await outcome;
    await clock.advance(3_600_000);
    expect(facts.of('call.failed')).toHaveLength(1);
    expect([integration.stats.attempts, integration.stats.waiting, deadlines.size]).toEqual([0, 0, 0]);
  });

  it('[I-1] leaves no call waiting that crashes while its failure is being counted', async () => {
    const { integration, clock, facts, attempt, path, seen } = startReacting({ breaker: { consecutiveFailures: 1 } });
    facts.once('breaker.opened', () => path.crashed(lost));
    const outcome = integration.call('ask', { effect: 'readOnly' });
    attempt(0).reject(fault('transient'));
    await clock.settle();
    path.restarted();
    seen.at(-1)?.resolve('answer');
    await clock.advance(1_800_000);
    expect(await isSettled(outcome)).toBe(true);
    expect(integration.stats).toMatchObject({ attempts: 0, waiting: 0 });
    expect(seen.length).toBeLessThanOrEqual(2);
  });

  it('[I-1] [I-3] may stop the call path when the circuit opens', async () => {
    const { integration, clock, facts, attempt, path, deadlines } = startReacting({
      breaker: { consecutiveFailures: 1 },
    });
    facts.once('breaker.opened', () => path.stop());
    const outcomes = [integration.call('fails'), integration.call('in flight')];
    attempt(0).reject(fault('transient'));
    await clock.settle();
    expect(await Promise.all(outcomes.map(isSettled))).toEqual([true, true]);
    expect([deadlines.size, clock.pending]).toEqual([0, 0]);
  });

  it('[I-1] [I-3] may stop the call path when an attempt is told to end', async () => {
    const { integration, clock, path, deadlines } = startIntegration({}, (_input, { signal }) => {
      signal.addEventListener('abort', () => path.stop());
      return never();
    });
    const outcome = integration.call('hangs', { idleMs: 100, effect: 'readOnly' });
    await clock.advance(100);
    expect(await isSettled(outcome)).toBe(true);
    expect([deadlines.size, clock.pending]).toEqual([0, 0]);
  });

  it('[I-1] [I-3] never starts the operation of a call that it ended before', async () => {
    const { integration, clock, facts, path, seen, deadlines } = startReacting();
    facts.once('integration.changed', () => path.stop());
    const outcome = integration.call('ask');
    await clock.settle();
    expect(await isSettled(outcome)).toBe(true);
    expect(seen).toHaveLength(0);
    expect([deadlines.size, clock.pending]).toEqual([0, 0]);
  });

  it('[I-1] [M-3] never makes a probe of a call that it ends when it hears of the probe', async () => {
    const started = startReacting();
    const { integration, clock, facts, seen } = started;
    await openCircuit(started);
    await clock.advance(60_000);
    const controller = new AbortController();
    facts.once('breaker.half_opened', () => controller.abort());
    expect(await integration.call('ended', { signal: controller.signal })).toMatchObject({ failure: { attempts: 0 } });
    void integration.call('next');
    expect(seen.map(({ input }) => input).slice(5)).toEqual(['next']);
  });

  it('[I-1] [I-4] ends a call once, though it aborts it when its place is given to the next', async () => {
    const { integration, clock, facts } = startReacting({ maxInFlight: 1, queueLength: 1 }, (input) =>
      input === 'first' ? new Promise((resolve) => setImmediate(resolve, 'answer')) : 'at once',
    );
    const controller = new AbortController();
    const outcome = integration.call('first', { signal: controller.signal });
    facts.once('call.succeeded', () => controller.abort());
    void integration.call('second');
    expect(await outcome).toEqual({ ok: true, value: 'answer' });
    await clock.settle();
    expect([facts.of('call.succeeded').length, facts.of('call.failed').length]).toEqual([2, 0]);
  });

  it('[M-2] is refused when it calls an integration whose circuit it hears has opened', async () => {
    const { integration, facts, attempt, seen } = startReacting({ breaker: { consecutiveFailures: 1 } });
    facts.once('breaker.opened', () => void integration.call('at once'));
    void integration.call('fails', { maxAttempts: 1 });
    attempt(0).reject(fault('transient'));
    await isSettled(Promise.resolve());
    expect(seen).toHaveLength(1);
  });

  it('[M-3] takes no place of a probe from those who call it later', async () => {
    const started = startReacting({ breaker: { probes: 2 } });
    const { integration, clock, facts, seen } = started;
    await openCircuit(started);
    await clock.advance(60_000);
    facts.once('breaker.half_opened', () => void integration.call('from the listener'));
    void integration.call('probe');
    void integration.call('refused');
    await clock.settle();
    expect(
      seen
        .slice(5)
        .map(({ input }) => input)
        .sort(),
    ).toEqual(['from the listener', 'probe']);
  });

  it('[I-1] [M-5] may close the circuit when it hears of the first call that was refused for it', async () => {
    const { integration, facts, seen, path } = startReacting({ breaker: { consecutiveFailures: 1 } });
    path.crashed(lost);
    const outcomes = [integration.call('first'), integration.call('second')];
    facts.once('call.refused', () => integration.breaker.reset());
    integration.breaker.isolate();
    path.restarted();
    expect(await outcomes[0]).toMatchObject({ failure: { kind: 'circuit_open' } });
    seen.at(-1)?.resolve('answer');
    expect(await outcomes[1]).toEqual({ ok: true, value: 'answer' });
  });

  it('[R-8] may have calls go on that wait: of those that are aborted with the one it heard of none starts', async () => {
    const { integration, path, clock, facts, seen } = startReacting(once);
    path.link.send({ type: 'integration.paused', until: 1000 });
    const controller = new AbortController();
    const calls = ['first', 'second'].map((input) => integration.call(input, { signal: controller.signal }));
    facts.once('call.failed', () => integration.breaker.reset());
    controller.abort();
    await clock.advance(1000);
    expect(seen).toHaveLength(0);
    for (const outcome of await Promise.all(calls)) expect(outcome).toMatchObject({ failure: { kind: 'cancelled' } });
    expect(integration.stats.failed).toBe(2);
  });

  it('[W-4] may end the call that it hears is tried again: who made it hears of no retry after the end', async () => {
    const { path, facts, clock, attempt } = startReacting();
    const heard: string[] = [];
    const { limits, retry } = path.policy;
    const nothing = { effect: undefined, label: undefined, session: undefined, signal: undefined, fallback: undefined };
    const settings = { ...limits, retry, ...nothing, retried: () => heard.push('retried') };
    const call = path.start('ask', settings, () => heard.push('settled'));
    facts.once('call.retried', () => path.end(call, { kind: 'cancelled', message: 'enough', outcome: 'cancelled' }));
    attempt(0).reject(fault('transient'));
    await clock.settle();
    expect(heard).toEqual(['settled']);
  });

  it('[M-6] may bring everything back while its calls are being ended: what runs again is left alone', () => {
    const { integration, facts, path, seen } = startReacting();
    for (const input of ['first', 'second']) void integration.call(input, { effect: 'readOnly' });
    facts.once('call.retried', () => {
      path.crashed(lost);
      path.restarted();
    });
    path.crashed(lost);
    expect(seen.slice(2).map(({ context }) => context.signal.aborted)).toEqual([false, false]);
  });

  it('[M-5] may close the circuit again: calls that wait then go on', async () => {
    const { integration, clock, facts, attempt, seen } = startReacting({ breaker: { consecutiveFailures: 2 } });
    const waiting = integration.call('waits');
    attempt(0).reject(fault('transient'));
    await clock.settle();
    facts.on('integration.changed', ({ to }) => {
      if (to === 'open') integration.breaker.reset();
    });
    void integration.call('fails', { maxAttempts: 1 });
    attempt(1).reject(fault('transient'));
    await clock.settle();
    expect(await isSettled(waiting)).toBe(false);
    await clock.advance(1000);
    expect(seen).toHaveLength(3);
  });
});

describe('a call that has been told to end', () => {
  it('[I-3] [I-1] in its fallback ends when the call path stops', async () => {
    const { integration, clock, path, deadlines } = startIntegration(once, () => Promise.reject(fault('transient')));
    let signal: AbortSignal | undefined;
    const outcome = integration.call('ask', {
      fallback: (_input, _failure, context) => {
        signal = context.signal;
        return never();
      },
    });
    await clock.settle();
    path.stop();
    await clock.settle();
    expect(await isSettled(outcome)).toBe(true);
    expect(signal?.aborted).toBe(true);
    expect([deadlines.size, clock.pending]).toEqual([0, 0]);
  });

  it('[I-4] is not late when it ends for the reason it was told', async () => {
    const { integration, clock, facts } = startIntegration(
      {},
      (_input, { signal }) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => reject(signal.reason as Error));
        }),
    );
    await Promise.all([integration.call('ask', { overallMs: 100 }), clock.advance(100)]);
    await clock.settle();
    expect(facts.of('call.late')).toEqual([]);
  });

  it('[G-13] while it waits keeps what is known of its effect', async () => {
    const { integration, clock } = startIntegration();
    const controller = new AbortController();
    const outcome = integration.call('ask', { idleMs: 100, effect: 'idempotent', signal: controller.signal });
    await clock.advance(100);
    controller.abort();
    expect(await outcome).toMatchObject({ failure: { kind: 'cancelled', attempts: 1, outcome: 'unknown' } });
  });

  it('[G-13] before its first attempt was not started', async () => {
    const { integration, path } = startIntegration({ maxInFlight: 1, queueLength: 1 });
    void integration.call('runs');
    const waits = integration.call('waits');
    path.stop();
    expect(await waits).toMatchObject({ failure: { kind: 'cancelled', attempts: 0, outcome: 'not_started' } });
    expect(await integration.call('too late')).toMatchObject({ failure: { attempts: 0, outcome: 'not_started' } });
  });

  it('[G-13] whose last attempt never reached the other side may have taken effect by an earlier one', async () => {
    const { integration, clock, seen } = startIntegration();
    const outcome = integration.call('ask', { idleMs: 100, effect: 'idempotent', maxAttempts: 2 });
    await clock.advance(1100);
    seen.at(-1)?.reject(fault('transient', { outcome: 'not_started' }));
    expect(await outcome).toMatchObject({ failure: { kind: 'transient', attempts: 2, outcome: 'unknown' } });
  });
});

describe('an integration that is paused', () => {
  it('[M-13] keeps the last failure of a call that cannot wait for the end of its pause', async () => {
    const { integration, clock, attempt, seen } = startIntegration();
    const waiting = integration.call('ask', { idleMs: 100, effect: 'idempotent', overallMs: 5000 });
    void integration.call('throttled', { maxAttempts: 1 });
    await clock.advance(100);
    attempt(1).reject(fault('rate_limit', { outcome: 'failed', retryAfterMs: 20_000 }));
    await clock.advance(1000);
    expect(await waiting).toMatchObject({
      failure: { kind: 'rate_limit', attempts: 1, outcome: 'unknown', cause: { kind: 'timeout' } },
    });
    expect(seen).toHaveLength(2);
  });

  it('[M-9] refuses nobody after the pause whom it had wait for its end', async () => {
    const { integration, clock, attempt, seen } = startIntegration({ maxInFlight: 1 });
    void integration.call('throttled', { maxAttempts: 1 });
    attempt(0).reject(fault('rate_limit', { outcome: 'failed', retryAfterMs: 20_000 }));
    await clock.settle();
    const waits = [integration.call('first'), integration.call('second')];
    await clock.advance(20_000);
    expect(await Promise.all(waits.map(isSettled))).toEqual([false, false]);
    seen.at(-1)?.resolve('answer');
    await clock.settle();
    expect(seen.map(({ input }) => input)).toEqual(['throttled', 'first', 'second']);
  });

  it('[M-13] by the answer to a probe is not probed again before its hint', async () => {
    const started = startIntegration();
    const { integration, clock, seen } = started;
    await openCircuit(started);
    await clock.advance(60_000);
    const probe = integration.call('probe', { maxAttempts: 1 });
    seen.at(-1)?.reject(fault('rate_limit', { outcome: 'failed', retryAfterMs: 20_000 }));
    await probe;
    expect(await integration.call('too early')).toMatchObject({
      failure: { kind: 'circuit_open', retryAfterMs: 20_000 },
    });
    await clock.advance(20_000);
    void integration.call('next probe');
    expect(seen).toHaveLength(7);
  });

  it('[M-13] says so once for a hint that adds nothing', async () => {
    const { integration, clock, facts, seen } = startIntegration(once);
    for (let index = 0; index < 10; index++) void integration.call('ask');
    for (const attempt of seen) attempt.reject(fault('rate_limit', { outcome: 'failed', retryAfterMs: 20_000 }));
    await clock.settle();
    expect(facts.of('integration.paused')).toHaveLength(1);
  });

  it('[M-13] takes a hint above its cap for a quota, also from an error that names its own kind', async () => {
    const { integration } = startIntegration(once, () =>
      Promise.reject(fault('rate_limit', { outcome: 'failed', retryAfterMs: 3_600_000 })),
    );
    expect(await integration.call('ask')).toMatchObject({ failure: { kind: 'quota' } });
    expect(await integration.call('refused')).toMatchObject({
      failure: { kind: 'circuit_open', retryAfterMs: 3_600_000 },
    });
  });

  it.each([Number.NaN, Number.POSITIVE_INFINITY, -1])('[M-13] takes a hint of %d for none', async (retryAfterMs) => {
    const { integration, clock } = startIntegration(once, () =>
      Promise.reject(fault('quota', { outcome: 'failed', retryAfterMs })),
    );
    await integration.call('ask');
    await clock.advance(60_000);
    expect(await integration.call('ask')).toMatchObject({ failure: { kind: 'quota' } });
  });
});

describe('the state of an integration', () => {
  it.each(['release', 'reset'] as const)('[M-1] follows the calls in flight after a %s', async (way) => {
    const { integration, clock, ref } = startIntegration();
    void integration.call('slow');
    await clock.settle();
    const release = integration.breaker.isolate();
    if (way === 'release') release();
    else integration.breaker.reset();
    await clock.settle();
    expect(ref.getSnapshot().value).toBe('calling');
  });

  it('[M-8] [I-4] is told as closed again after an opening that ended with a restart', async () => {
    const started = startIntegration();
    await openCircuit(started);
    started.path.crashed(lost);
    started.path.restarted();
    expect(started.facts.of('breaker.closed')).toHaveLength(1);
  });

  it('[I-4] tells an isolation once, however many hold it', () => {
    const { integration, facts } = startIntegration();
    integration.breaker.isolate();
    integration.breaker.isolate();
    expect(facts.of('breaker.opened')).toHaveLength(1);
  });

  it('[I-4] tells a crash once, until it has restarted', async () => {
    const { path, facts, clock } = startIntegration();
    path.crashed(lost);
    await clock.advance(1000);
    path.crashed(lost);
    path.restarted();
    expect(facts.of('integration.crashed')).toHaveLength(1);
    expect(facts.of('integration.restarted')).toMatchObject([{ downMs: 1000 }]);
  });

  it('[M-8] stays isolated over an incarnation of its machine', async () => {
    const { integration, path } = startIntegration();
    const release = integration.breaker.isolate();
    path.attach(createActor(integrationMachine, { input: { name: 'kb', breaker: path.policy.breaker } }));
    expect(integration.breaker.state).toBe('isolated');
    release();
    expect(integration.breaker.state).toBe('closed');
  });

  it('[M-8] is not left by the release of an isolation that a reset of its owner ended', () => {
    const { integration, path } = startIntegration();
    const release = integration.breaker.isolate();
    path.reset();
    integration.breaker.isolate();
    release();
    expect(integration.breaker.state).toBe('isolated');
  });

  it('[I-4] says nothing of a crash when the call path is stopped', () => {
    const { path, facts } = startIntegration();
    const told = facts.all.length;
    path.stop();
    path.crashed(lost);
    path.restarted();
    expect(facts.all).toHaveLength(told);
  });
});

describe('a probe', () => {
  async function halfOpen(policy: PolicyInput = {}, extra: Partial<CallPathParts<string, string>> = {}) {
    const started = startIntegration(policy, undefined, extra);
    await openCircuit(started);
    await started.clock.advance(60_000);
    return started;
  }

  it('[M-3] [R-9] ends no attempt of before by its lease', async () => {
    const started = startIntegration({ limits: { attemptMs: 20_000, idleMs: 10_000 } });
    const { integration, clock, attempt } = started;
    const long = integration.call('long', { attemptMs: 600_000 });
    await openCircuit(started);
    for (let index = 0; index < 10; index++) {
      await clock.advance(5000);
      attempt(0).context.touch();
    }
    expect(await isSettled(long)).toBe(false);
  });

  it('[M-6] has those who wait for it wait for the restart, when what is behind it crashes', async () => {
    const { integration, path, seen } = await halfOpen({}, { probe: never });
    const paying = integration.call('pay');
    path.crashed(lost);
    expect(await isSettled(paying)).toBe(false);
    path.restarted();
    expect(seen).toHaveLength(6);
  });

  it('[M-2] of an earlier half-open circuit keeps nobody waiting', async () => {
    let pings = 0;
    const { integration } = await halfOpen({}, { probe: () => (pings++, never()) });
    void integration.call('pay');
    integration.breaker.isolate()();
    void integration.call('pay');
    expect([pings, integration.state]).toEqual([2, 'half-open']);
    integration.breaker.isolate();
    expect(await integration.call('refused')).toMatchObject({ failure: { kind: 'circuit_open', reason: 'isolated' } });
  });

  it('[I-4] is no reason to call those circuit_open who wait for it when the call path stops', async () => {
    const { integration, path } = await halfOpen({}, { probe: never });
    const paying = integration.call('pay');
    path.stop();
    expect(await paying).toMatchObject({ failure: { kind: 'cancelled', reason: 'stopped' } });
  });

  it('[M-2] that freed its place lets the next one be made at once, and says so', async () => {
    const { integration, seen } = await halfOpen();
    const outcome = integration.call('probe', { maxAttempts: 2 });
    seen.at(-1)?.reject(fault('rate_limit', { outcome: 'failed' }));
    expect(await outcome).toMatchObject({ failure: { kind: 'circuit_open', retryAfterMs: 0 } });
  });
});

describe('the places of an integration', () => {
  it('[M-9] serves a long queue of answers that come at once', async () => {
    let first: (value: string) => void = () => undefined;
    let calls = 0;
    const { integration } = startIntegration({ maxInFlight: 1, queueLength: 20_000 }, () =>
      ++calls > 1
        ? 'at once'
        : new Promise((resolve) => {
            first = resolve;
          }),
    );
    const outcomes = Array.from({ length: 20_000 }, () => integration.call('ask'));
    first('slow');
    expect((await Promise.all(outcomes)).every(({ ok }) => ok)).toBe(true);
  });

  it('[M-9] replaces no more work than its bound, however often it comes back', async () => {
    const { integration, clock, attempt, seen } = startIntegration({
      maxInFlight: 1,
      maxAbandoned: 1,
      abortGraceMs: 10,
      retry: { maxAttempts: 1 },
    });
    const hang = async (): Promise<void> => {
      void integration.call('hangs', { overallMs: 100 });
      await clock.advance(200);
    };
    await hang();
    await hang();
    expect(integration.state).toBe('crashed');
    attempt(0).resolve('after all');
    await clock.settle();
    await hang();
    expect(seen).toHaveLength(3);
    expect(integration.state).toBe('crashed');
  });
});

describe('a call whose wait ended too late', () => {
  it.each(['backoff', 'place', 'restart'] as const)('[I-1] in %s is not made after its deadline', async (waiting) => {
    const { integration, clock, path, attempt, seen } = startIntegration(
      waiting === 'place' ? { maxInFlight: 1, queueLength: 1 } : {},
    );
    if (waiting === 'place') void integration.call('runs');
    const outcome = integration.call('ask', { overallMs: 5000, effect: 'readOnly' });
    if (waiting === 'backoff') {
      attempt(0).reject(fault('transient'));
      await clock.settle();
    }
    if (waiting === 'restart') path.crashed(lost);
    clock.stall(6000);
    if (waiting === 'place') attempt(0).resolve('answer');
    if (waiting === 'restart') path.restarted();
    await clock.advance(1);
    expect(seen).toHaveLength(1);
    expect(await outcome).toMatchObject({ ok: false });
  });

  it('[I-1] names its deadline, not a place, when it waited for something else', async () => {
    const { integration, clock, path } = startIntegration();
    path.crashed(lost);
    const outcome = integration.call('ask', { overallMs: 1000 });
    await clock.advance(1000);
    expect(await outcome).toMatchObject({
      failure: { reason: 'overall_timeout', message: 'Not started within 1000 ms' },
    });
  });
});

describe('what an operation throws', () => {
  const revoked = Proxy.revocable({}, {});
  revoked.revoke();
  const hostile = (property: string): Error =>
    Object.defineProperty(new Error('x'), property, {
      get() {
        throw new Error(`no ${property}`);
      },
    });
  it.each([
    ['a revoked proxy', () => revoked.proxy],
    ['an error whose message throws', () => hostile('message')],
    ['an error whose stack throws', () => hostile('stack')],
    [
      'facts of a kind that does not exist',
      () => new AttemptError({ kind: 'bogus' as never, message: 'x', outcome: 'unknown' }),
    ],
  ])('[I-1] may be %s', async (_what, make) => {
    const { integration, clock } = startIntegration(once, () => Promise.reject(make() as Error));
    const outcome = integration.call('ask');
    await clock.settle();
    expect(await isSettled(outcome)).toBe(true);
    expect(await outcome).toMatchObject({ ok: false, failure: { kind: 'unknown' } });
  });

  it('[I-1] may be a promise whose then answers and throws', async () => {
    class Rude<T> extends Promise<T> {
      override then<A = T, B = never>(
        onFulfilled?: ((value: T) => A | PromiseLike<A>) | null,
        onRejected?: ((reason: unknown) => B | PromiseLike<B>) | null,
      ): Promise<A | B> {
        onFulfilled?.('twice' as T);
        onRejected?.(new Error('twice'));
        throw new Error('and thrown');
      }
    }
    const { integration } = startIntegration(once, () => new Rude<string>(() => undefined));
    expect(await integration.call('ask')).toEqual({ ok: true, value: 'twice' });
    expect(integration.stats).toMatchObject({ attempts: 0, succeeded: 1, failed: 0, late: 0 });
  });
});

describe('the retry budget', () => {
  it('[R-4] never blocks a lone call that is retried, whoever waits for a first attempt', async () => {
    const { integration, clock, seen } = startIntegration({
      maxInFlight: 25,
      queueLength: 5,
      breaker: { consecutiveFailures: 1000, minimumAttempts: 1000, windowSize: 1000 },
    });
    for (let index = 0; index < 25; index++) void integration.call('uses it up', { maxAttempts: 2 });
    for (const attempt of [...seen]) attempt.reject(fault('transient'));
    await clock.settle();
    await clock.advance(1000);
    for (const attempt of seen.slice(25)) attempt.reject(fault('transient'));
    await clock.settle();
    expect(integration.stats.retryTokens).toBe(0);
    const before = seen.length;
    const lone = integration.call('lone');
    for (let index = 0; index < 24; index++) void integration.call('runs');
    for (let index = 0; index < 5; index++) void integration.call('waits for a place');
    seen[before]?.reject(fault('transient'));
    await clock.settle();
    expect(await isSettled(lone)).toBe(false);
  });
});

describe('refusals', () => {
  it('[I-4] after the end are counted each and told once', async () => {
    const { integration, path, facts } = startIntegration();
    path.stop();
    for (let index = 0; index < 5; index++) await integration.call('too late');
    expect([facts.of('call.refused').length, facts.of('call.failed').length]).toEqual([1, 0]);
    expect(integration.stats.refused).toBe(5);
  });
});
