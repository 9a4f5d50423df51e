import { describe, expect, it } from 'vitest';
import type { CallPathOptions } from '../../../src/calls/callPathOptions.ts';
import type { PolicyInput } from '../../../src/policy/policyInput.ts';
import { isSettled } from '../../support/deferred.ts';
import { openCircuit } from '../../support/openCircuit.ts';
import { fault, startIntegration } from '../../support/startIntegration.ts';

const lost = fault('crash', { reason: 'connection_lost' }).facts;
const never = (): Promise<never> => new Promise(() => undefined);

describe('a probe', () => {
  async function halfOpen(policy: PolicyInput = {}, extra: Partial<CallPathOptions<string, string>> = {}) {
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

  it('[M-2] that freed its permit lets the next one be made at once, and says so', async () => {
    const { integration, seen } = await halfOpen();
    const outcome = integration.call('probe', { maxAttempts: 2 });
    seen.at(-1)?.reject(fault('rate_limit', { outcome: 'failed' }));
    expect(await outcome).toMatchObject({ failure: { kind: 'circuit_open', retryAfterMs: 0 } });
  });
});
