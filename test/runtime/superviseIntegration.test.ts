import { describe, expect, it } from 'vitest';
import { DeadlineQueue } from '../../src/calls/deadlineQueue.ts';
import { CallableIntegration } from '../../src/calls/integration.ts';
import { SignalFanout } from '../../src/calls/signalFanout.ts';
import type { IntegrationRef } from '../../src/machines/integration.ts';
import { resolvePolicy } from '../../src/policy/presetChain.ts';
import { createRootSupervisor } from '../../src/supervisor/supervisor.ts';
import type { Store } from '../../src/store/store.ts';
import { Flights } from '../../src/runtime/flights.ts';
import { CallStatistics } from '../../src/runtime/callStatistics.ts';
import { SharedBreakers } from '../../src/runtime/sharedBreakers.ts';
import { superviseIntegration } from '../../src/runtime/superviseIntegration.ts';
import { createBus } from '../../src/telemetry/bus.ts';
import { SimulatedClock } from '../../testing/simulatedClock.ts';
import { type Deferred, deferred, isSettled } from '../support/deferred.ts';
import { hasSqlite, startStore } from '../store/startStore.ts';
import { ownBudgets, ownRates } from '../support/rates.ts';
import { fault } from '../support/startIntegration.ts';

/** An integration under a root supervisor, whose actor can be made to crash; it is back after 100 ms. */
function start({ store, consecutiveFailures = 1 }: { store?: Store; consecutiveFailures?: number } = {}) {
  const clock = new SimulatedClock();
  const bus = createBus({ clock });
  const random = (): number => 0.5;
  const root = createRootSupervisor({ clock, random, facts: bus });
  const attempts: Deferred<string>[] = [];
  root.start();
  const path = superviseIntegration<string, string>(
    {
      clock,
      random,
      redactAnswer: (data) => data,
      bus,
      deadlines: new DeadlineQueue(clock),
      signals: new SignalFanout(),
      tracing: { tracer: undefined },
      rates: ownRates(clock),
      budgets: ownBudgets(clock),
      statistics: new CallStatistics(clock, () => undefined),
      flights: new Flights({ clock, bus, store: () => undefined, redact: (fact) => fact }),
      sharedBreakers: new SharedBreakers(clock, () => store),
      store: () => store,
      supervise: (spec) => void root.startChild(spec),
      enter: () => undefined,
    },
    {
      name: 'kb',
      about: { type: 'function' },
      policy: resolvePolicy('kb', { breaker: { consecutiveFailures }, limits: { attemptMs: 600_000 } }),
      operation: () => {
        const attempt = deferred<string>();
        attempts.push(attempt);
        return attempt.promise;
      },
    },
  );
  const integration = new CallableIntegration(path);
  return {
    bus,
    clock,
    path,
    integration,
    attempts,
    crashActor() {
      const poison = Object.defineProperty({ type: 'integration.paused', until: 0 } as const, 'until', {
        get() {
          throw new Error('machine bug');
        },
      });
      (root.ref('integration:kb') as IntegrationRef).send(poison);
    },
    async openCircuit() {
      void integration.call('fails', { maxAttempts: 1 });
      attempts.at(-1)?.reject(fault('transient'));
      await clock.settle();
      expect(integration.state).toBe('open');
    },
  };
}

describe.skipIf(!hasSqlite)('failures of an earlier run', () => {
  it('[M-8] count towards the opening of the circuit', async () => {
    const { store } = await startStore();
    store.breakers.saveFailures('kb', 0, 1);
    await store.flush();
    const { clock, integration, attempts } = start({ store, consecutiveFailures: 2 });
    void integration.call('fails', { maxAttempts: 1 });
    attempts[0]?.reject(fault('transient'));
    await clock.settle();
    expect(integration.state).toBe('open');
  });
});

describe('the actor of an integration that crashed', () => {
  it('[M-8] has its next incarnation find the circuit open, until the time it was to be', async () => {
    const { clock, integration, attempts, crashActor, openCircuit } = start();
    await openCircuit();
    crashActor();
    await clock.advance(100);
    expect(integration.state).toBe('open');
    await clock.advance(59_900);
    void integration.call('probe');
    expect(attempts).toHaveLength(2);
  });

  it('[M-12] opens the circuit neither longer nor shorter for a step of the wall clock', async () => {
    for (const stepMs of [-3_600_000, 3_600_000]) {
      const { clock, integration, crashActor, openCircuit } = start();
      await openCircuit();
      await clock.advance(30_000);
      clock.stepWall(stepMs);
      crashActor();
      await clock.advance(100);
      const outcome = await integration.call('ask');
      expect(outcome).toMatchObject({ failure: { kind: 'circuit_open', retryAfterMs: 29_900 } });
    }
  });

  it('[M-8] has its next incarnation find the circuit as a listener of its closing left it', async () => {
    const { bus, clock, path, integration, crashActor, openCircuit } = start();
    await openCircuit();
    const { link } = path;
    bus.once('breaker.closed', () => link.recordFailure(link.fence, 'transient', undefined));
    integration.breaker.reset();
    expect(integration.state).toBe('open');
    crashActor();
    await clock.advance(100);
    expect(integration.state).toBe('open');
  });

  it('[M-8] hears of a reset that came before its next incarnation', async () => {
    const { clock, integration, crashActor, openCircuit } = start();
    await openCircuit();
    crashActor();
    integration.breaker.reset();
    await clock.advance(100);
    expect(integration.state).toBe('idle');
  });

  it('[M-2] [M-6] is probed by the call that waited for its next incarnation, once its time has come', async () => {
    const { clock, integration, attempts, crashActor, openCircuit } = start();
    await openCircuit();
    await clock.advance(60_000);
    crashActor();
    void integration.call('waits');
    await clock.advance(100);
    expect(attempts).toHaveLength(2);
    expect(integration.state).toBe('half-open');
  });

  it('[M-2] [M-6] answers who waited for its next incarnation, though a listener makes the probe', async () => {
    const { bus, clock, integration, crashActor, openCircuit } = start();
    await openCircuit();
    await clock.advance(60_000);
    crashActor();
    const outcome = integration.call('waits');
    bus.once('integration.changed', () => void integration.call('probe'));
    await clock.advance(100);
    expect(integration.state).toBe('half-open');
    expect(await isSettled(outcome)).toBe(true);
  });

  it('[M-6] hears of a restart that came before its next incarnation', async () => {
    const { clock, path, integration, crashActor, openCircuit } = start();
    await openCircuit();
    path.crashed(fault('crash').facts);
    crashActor();
    path.restarted();
    await clock.advance(100);
    expect(integration.state).toBe('idle');
  });

  it('[M-8] does not open again what a restart closed while it was isolated', async () => {
    const { clock, path, integration, crashActor, openCircuit } = start();
    await openCircuit();
    const release = integration.breaker.isolate();
    path.crashed(fault('crash').facts);
    path.restarted();
    crashActor();
    await clock.advance(100);
    expect(integration.breaker.state).toBe('isolated');
    release();
    expect(integration.state).toBe('idle');
  });

  it('[R-3] has a call wait for the hint of an answer that came meanwhile', async () => {
    const { clock, integration, attempts, crashActor } = start();
    void integration.call('ask');
    crashActor();
    attempts[0]?.reject(fault('rate_limit', { outcome: 'failed', retryAfterMs: 5000 }));
    await clock.advance(4999);
    expect(attempts).toHaveLength(1);
    await clock.advance(1);
    expect(attempts).toHaveLength(2);
  });
});
