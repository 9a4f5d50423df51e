import { describe, expect, it } from 'vitest';
import { unwrap } from '../../src/policy/failure.ts';
import { fault, startIntegration } from '../support/startIntegration.ts';

const failing = (kind: 'transient' | 'permanent', outcome: 'unknown' | 'failed') => () => {
  throw fault(kind, { outcome });
};

describe('a fallback', () => {
  it('[R-11] can be a value', async () => {
    const { integration } = startIntegration({}, failing('permanent', 'failed'));
    expect(unwrap(await integration.call('ask', { fallback: { value: 'the usual' } }))).toBe('the usual');
  });

  it('[R-11] can be another integration, asked the same', async () => {
    const { integration } = startIntegration({}, failing('permanent', 'failed'));
    const other = startIntegration({}, (input) => `other: ${input}`).integration;
    expect(unwrap(await integration.call('ask', { fallback: { integration: other } }))).toBe('other: ask');
  });

  it('[R-11] asks the other integration what its function makes of the input and the failure', async () => {
    const { integration } = startIntegration({}, failing('permanent', 'failed'));
    const other = startIntegration({}, (input) => `other: ${input}`).integration;
    const input = (asked: string, { kind }: { kind: string }) => `${asked} after ${kind}`;
    const outcome = await integration.call('ask', { fallback: { integration: other, input } });
    expect(unwrap(outcome)).toBe('other: ask after permanent');
  });

  it('[R-11] leaves the failure as it is when the other integration fails too', async () => {
    const { integration } = startIntegration({}, failing('permanent', 'failed'));
    const other = startIntegration({ retry: { maxAttempts: 1 } }, failing('transient', 'failed')).integration;
    const outcome = await integration.call('ask', { fallback: { integration: other } });
    expect(outcome).toMatchObject({ ok: false, failure: { kind: 'permanent', integration: 'kb' } });
  });

  it('[R-11] [I-1] ends the call of the other integration at its own deadline', async () => {
    const { integration, clock } = startIntegration({}, failing('permanent', 'failed'));
    const other = startIntegration();
    const outcome = integration.call('ask', { overallMs: 500, fallback: { integration: other.integration } });
    await clock.advance(501);
    expect(await outcome).toMatchObject({ ok: false, failure: { kind: 'permanent' } });
    expect(other.attempt(0).context.signal.aborted).toBe(true);
  });

  it.each([
    ['mutating', 'unknown', false],
    ['mutating', 'failed', true],
    ['idempotent', 'unknown', true],
    [undefined, 'unknown', true],
  ] as const)('[R-12] of a call that is %s and whose outcome is %s is asked: %s', async (effect, result, isAsked) => {
    const { integration } = startIntegration({ retry: { maxAttempts: 1 } }, failing('transient', result));
    const other = startIntegration({}, () => 'other').integration;
    const outcome = await integration.call('ask', { effect, fallback: { integration: other } });
    expect(outcome.ok).toBe(isAsked);
  });

  it('[R-12] is not asked for what is unspecified where the policy does not repeat that', async () => {
    const retry = { maxAttempts: 1, retryUnspecified: false };
    const { integration } = startIntegration({ retry }, failing('transient', 'unknown'));
    const other = startIntegration({}, () => 'other').integration;
    expect((await integration.call('ask', { fallback: { integration: other } })).ok).toBe(false);
  });

  it('[R-12] passes the effect on', async () => {
    const { integration } = startIntegration({}, failing('permanent', 'failed'));
    const other = startIntegration();
    void integration.call('ask', { effect: 'mutating', fallback: { integration: other.integration } });
    await Promise.resolve();
    await Promise.resolve();
    expect(other.attempt(0).context.effect).toBe('mutating');
  });

  it.each([
    [7, /Expected `options.fallback` to be a function, \{ value \} or \{ integration \}, got 7/],
    [null, /got null/],
    [{}, /Expected `options.fallback.integration.call` to be a function, got undefined/],
    [{ integration: null }, /options.fallback.integration.call/],
    [{ valu: 1 }, /Unknown option `options.fallback.valu`/],
    [{ value: 1, integration: {} }, /Unknown option `options.fallback.integration`/],
  ])('refuses %j', (fallback, text) => {
    const { integration } = startIntegration();
    expect(() => integration.call('ask', { fallback: fallback as { value: string } })).toThrow(text);
  });
});
