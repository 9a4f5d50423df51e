import { describe, expect, it } from 'vitest';
import { fault, startIntegration } from '../support/startIntegration.ts';

const lost = fault('crash', { reason: 'connection_lost' }).facts;

describe('a call whose wait ended too late', () => {
  it.each(['backoff', 'permit', 'restart'] as const)('[I-1] in %s is not made after its deadline', async (waiting) => {
    const { integration, clock, path, attempt, seen } = startIntegration(
      waiting === 'permit' ? { maxInFlight: 1, queueLength: 1 } : {},
    );
    if (waiting === 'permit') void integration.call('runs');
    const outcome = integration.call('ask', { overallMs: 5000, effect: 'readOnly' });
    if (waiting === 'backoff') {
      attempt(0).reject(fault('transient'));
      await clock.settle();
    }
    if (waiting === 'restart') path.crashed(lost);
    clock.stall(6000);
    if (waiting === 'permit') attempt(0).resolve('answer');
    if (waiting === 'restart') path.restarted();
    await clock.advance(1);
    expect(seen).toHaveLength(1);
    expect(await outcome).toMatchObject({ ok: false });
  });

  it('[I-1] names its deadline, not a permit, when it waited for something else', async () => {
    const { integration, clock, path } = startIntegration();
    path.crashed(lost);
    const outcome = integration.call('ask', { overallMs: 1000 });
    await clock.advance(1000);
    expect(await outcome).toMatchObject({
      failure: { reason: 'overall_timeout', message: 'Not started within 1s' },
    });
  });
});
