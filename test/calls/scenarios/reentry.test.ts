import { describe, expect, it } from 'vitest';
import type { Operation } from '../../../src/calls/operation.ts';
import type { CallPathOptions } from '../../../src/calls/callPathOptions.ts';
import type { PolicyInput } from '../../../src/policy/policyInput.ts';
import { deferred, isSettled } from '../../support/deferred.ts';
import { openCircuit } from '../../support/openCircuit.ts';
import { ReactingFacts } from '../../support/reactingFacts.ts';
import { fault, type Started, startIntegration } from '../../support/startIntegration.ts';

const once: PolicyInput = { retry: { maxAttempts: 1 } };
const lost = fault('crash', { reason: 'connection_lost' }).facts;
const never = (): Promise<never> => new Promise(() => undefined);

/** An integration whose facts have listeners that act at once. */
function startReacting(
  policy: PolicyInput = {},
  operation?: Operation<string, string>,
  extra: Partial<CallPathOptions<string, string>> = {},
): Omit<Started, 'facts'> & { facts: ReactingFacts } {
  const facts = new ReactingFacts();
  return { ...startIntegration(policy, operation, { ...extra, facts }), facts };
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

  it('[I-1] [I-4] ends a call once, though it aborts it when its permit is given to the next', async () => {
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

  it('[M-2] [P-1] is refused so after a server that was silent was asked whether it lives, too', async () => {
    const { integration, facts, attempt, clock, seen } = startReacting(
      { breaker: { consecutiveFailures: 1 }, limits: { idleMs: 100, attemptMs: 1000, overallMs: 60_000 } },
      undefined,
      { onSilence: () => Promise.resolve(true), whenAlive: 'wait' },
    );
    const slow = integration.call('slow');
    await clock.advance(150);
    attempt(0).resolve('answer');
    await slow;
    facts.once('breaker.opened', () => void integration.call('at once'));
    void integration.call('fails', { maxAttempts: 1 });
    attempt(1).reject(fault('transient'));
    await isSettled(Promise.resolve());
    expect(seen).toHaveLength(2);
    // What a listener of a step hears first is what the step did last: the state is complete.
    const states: string[] = [];
    facts.once('breaker.closed', () => states.push(integration.state, String(integration.stats.waiting)));
    integration.breaker.reset();
    expect(states).toEqual(['idle', '0']);
  });

  it('[M-2] goes on when it hears that another one was refused that waited for the same probe, and closes the circuit', async () => {
    const ping = deferred<undefined>();
    const started = startReacting({}, undefined, { probe: () => ping.promise });
    const { integration, facts, clock, seen } = started;
    await openCircuit(started);
    await clock.advance(60_000);
    const outcomes = [integration.call('first'), integration.call('second')];
    facts.once('call.refused', () => integration.breaker.reset());
    ping.reject(fault('rate_limit', { outcome: 'failed' }));
    expect(await outcomes[0]).toMatchObject({ failure: { kind: 'circuit_open' } });
    seen.at(-1)?.resolve('answer');
    expect(await outcomes[1]).toEqual({ ok: true, value: 'answer' });
  });

  it('[M-3] takes no turn of a probe from those who call it later', async () => {
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

  it('[I-4] hears of what it caused after what was decided before', async () => {
    const { integration, facts, attempt, clock } = startReacting({ breaker: { consecutiveFailures: 1 } });
    facts.once('breaker.opened', () => integration.breaker.reset());
    void integration.call('fails', { maxAttempts: 1 });
    attempt(0).reject(fault('transient'));
    await clock.settle();
    const told = facts.all.map(({ type }) => type).filter((type) => type !== 'integration.changed');
    expect(told).toEqual(['breaker.opened', 'call.failed', 'breaker.closed']);
  });

  it('[M-8] finds what is kept of the circuit as the machine had it, whatever it changes', async () => {
    const kept: unknown[] = [];
    const started = startReacting({ breaker: { consecutiveFailures: 1 } }, undefined, {
      onBreaker: ({ type }) => kept.push([type, started.path.link.openings]),
    });
    const { integration, facts, attempt, clock } = started;
    facts.on('integration.changed', ({ to }) => {
      if (to === 'open') integration.breaker.reset();
    });
    void integration.call('fails', { maxAttempts: 1 });
    attempt(0).reject(fault('transient'));
    await clock.settle();
    expect(kept).toEqual([
      ['breaker.opened', 1],
      ['breaker.closed', 0],
    ]);
  });
});
