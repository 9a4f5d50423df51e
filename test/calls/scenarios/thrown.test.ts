import { describe, expect, it } from 'vitest';
import { AttemptError } from '../../../src/policy/failures/failure.ts';
import type { PolicyInput } from '../../../src/policy/policyInput.ts';
import { isSettled } from '../../support/deferred.ts';
import { startIntegration } from '../../support/startIntegration.ts';

const once: PolicyInput = { retry: { maxAttempts: 1 } };

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
