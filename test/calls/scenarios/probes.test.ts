import { describe, expect, it } from 'vitest';
import { ReactingFacts } from '../../support/reactingFacts.ts';
import { fault, type Started, startIntegration } from '../../support/startIntegration.ts';

const breaker = { consecutiveFailures: 1, resetTimeoutMs: 1000, probes: 3 };

/** Opens the circuit and waits until it may be probed. */
async function openCircuit({ integration, seen, clock }: Started): Promise<void> {
  void integration.call('fails', { maxAttempts: 1 });
  seen.at(-1)?.reject(fault('transient'));
  await clock.advance(1000);
  expect(integration.state).toBe('open');
}

describe('a probe', () => {
  it('[M-9] [M-3] needs a permit like any attempt', async () => {
    const started = startIntegration({ breaker, maxInFlight: 2 });
    await openCircuit(started);
    const { integration, seen } = started;
    const calls = ['a', 'b', 'c'].map((input) => integration.call(input));
    expect(seen.map(({ input }) => input)).toEqual(['fails', 'a', 'b']);
    expect(await calls[2]).toMatchObject({ ok: false, failure: { kind: 'too_many_requests' } });
  });

  it('[M-9] keeps the last permit when a listener that hears of it calls as well', async () => {
    const facts = new ReactingFacts();
    const started = startIntegration({ breaker, maxInFlight: 1 }, undefined, { facts });
    await openCircuit(started);
    const { integration, seen } = started;
    let heard: Promise<unknown> | undefined;
    facts.once('breaker.half_opened', () => {
      heard = integration.call('listener');
    });
    const outcome = integration.call('probe');
    expect(seen.map(({ input }) => input)).toEqual(['fails', 'probe']);
    expect(await heard).toMatchObject({ ok: false, failure: { kind: 'too_many_requests' } });
    seen.at(-1)?.resolve('answer');
    expect(await outcome).toMatchObject({ ok: true });
    expect(integration.breaker.state).toBe('closed');
  });

  it('[I-1] [I-3] that stops the call path leaves nobody waiting for it', async () => {
    let stop = (): void => undefined;
    const started = startIntegration({ breaker }, undefined, { probe: () => stop() });
    await openCircuit(started);
    stop = () => started.path.stop();
    const outcome = await started.integration.call('waits for the probe');
    expect(outcome).toMatchObject({ ok: false, failure: { kind: 'cancelled', reason: 'stopped' } });
    expect(started.deadlines.size).toBe(0);
  });
});
