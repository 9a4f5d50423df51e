import { describe, expect, it } from 'vitest';
import type { PolicyInput } from '../../../src/policy/policyInput.ts';
import { isSettled } from '../../support/deferred.ts';
import { fault, startIntegration } from '../../support/startIntegration.ts';

const once: PolicyInput = { retry: { maxAttempts: 1 } };
const never = (): Promise<never> => new Promise(() => undefined);

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
