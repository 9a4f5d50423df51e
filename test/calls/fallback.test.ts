import { describe, expect, it } from 'vitest';
import { type Failure, IntegrationError, unwrap } from '../../src/policy/failures/failure.ts';
import { storedEvent } from '../../src/store/record.ts';
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

  it('[R-11] is counted beside the failure or refusal that it hides, and is no success', async () => {
    const policy = { retry: { maxAttempts: 1 }, breaker: { consecutiveFailures: 2 } };
    const { integration } = startIntegration(policy, failing('transient', 'failed'));
    for (let call = 1; call <= 5; call++) await integration.call('ask', { fallback: { value: 'the usual' } });
    expect(integration.stats).toMatchObject({ succeeded: 0, failed: 2, refused: 3, fellBack: 5 });
  });

  it('[R-11] asks the other integration what its function makes of the input and the failure', async () => {
    const { integration } = startIntegration({}, failing('permanent', 'failed'));
    const other = startIntegration({}, (input) => `other: ${input}`).integration;
    const input = (asked: string, { kind }: { kind: string }) => `${asked} after ${kind}`;
    const outcome = await integration.call('ask', { fallback: { integration: other, input } });
    expect(unwrap(outcome)).toBe('other: ask after permanent');
  });

  it('[R-11] [I-4] fails as itself when the other integration fails too, with what that one failed of', async () => {
    const { integration, facts } = startIntegration({}, failing('permanent', 'failed'));
    const other = startIntegration({ retry: { maxAttempts: 1 } }, failing('transient', 'failed')).integration;
    const outcome = await integration.call('ask', { fallback: { integration: other } });
    const both = { kind: 'permanent', outcome: 'failed', fallbackError: { failure: { kind: 'transient' } } };
    expect(outcome).toMatchObject({ ok: false, failure: both });
    expect(facts.of('call.failed')).toMatchObject([{ failure: both }]);
  });

  it('[R-11] [I-4] fails with what its function throws, and says so in the record', async () => {
    const { integration, facts } = startIntegration({}, failing('permanent', 'failed'));
    const broken = new Error('the cache is empty');
    const fallback = () => Promise.reject(broken);
    expect(await integration.call('ask', { fallback })).toMatchObject({ failure: { fallbackError: broken } });
    const stored = facts.of('call.failed').map((fact) => storedEvent({ ...fact, at: 0 })?.metadata['fallback_error']);
    expect(stored).toEqual(['the cache is empty']);
  });

  it.each<[string, (failure: Failure) => unknown]>([
    ['its failure', (failure) => new IntegrationError(failure)],
    ['the error behind it', ({ cause }) => cause],
    ['nothing', () => undefined],
  ])('[R-11] adds nothing when its function throws %s', async (_, thrown) => {
    const { integration } = startIntegration({}, failing('permanent', 'failed'));
    const fallback = (_input: string, failure: Failure) => Promise.reject(thrown(failure) as Error);
    const outcome = await integration.call('ask', { fallback });
    expect(outcome).not.toHaveProperty('failure.fallbackError');
  });

  it('[I-1] [R-11] ends whatever its function throws', async () => {
    const { proxy, revoke } = Proxy.revocable({}, {});
    revoke();
    const { integration } = startIntegration({}, failing('permanent', 'failed'));
    const outcome = await integration.call('ask', { fallback: () => Promise.reject(proxy as Error) });
    expect(outcome).toMatchObject({ ok: false, failure: { kind: 'permanent' } });
  });

  it('[R-11] [R-12] knows no effect any more when that of the other integration is unknown', async () => {
    const { integration } = startIntegration({}, failing('permanent', 'failed'));
    const other = startIntegration({ retry: { maxAttempts: 1 } }, failing('transient', 'unknown')).integration;
    const outcome = await integration.call('ask', { fallback: { integration: other } });
    expect(outcome).toMatchObject({ failure: { kind: 'permanent', outcome: 'unknown' } });
  });

  it('[R-7] [R-11] does not pass for the failure of a call around it', async () => {
    const { integration } = startIntegration({}, failing('permanent', 'failed'));
    const fallback = () => Promise.reject(new Error('the cache is empty'));
    const around = startIntegration({}, async (input) => unwrap(await integration.call(input, { fallback })));
    expect(await around.integration.call('ask')).not.toHaveProperty('failure.fallbackError');
  });

  it('[R-11] [I-1] ends the call of the other integration at its own deadline', async () => {
    const { integration, clock } = startIntegration({}, failing('permanent', 'failed'));
    const other = startIntegration();
    const outcome = integration.call('ask', { overallMs: 500, fallback: { integration: other.integration } });
    await clock.advance(501);
    const fallbackError = { facts: { kind: 'timeout', reason: 'overall_timeout' } };
    expect(await outcome).toMatchObject({ ok: false, failure: { kind: 'permanent', fallbackError } });
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
    const retry = { maxAttempts: 1, repeatAfter: 'refused' } as const;
    const { integration } = startIntegration({ retry }, failing('transient', 'unknown'));
    const other = startIntegration({}, () => 'other').integration;
    const outcome = await integration.call('ask', { fallback: { integration: other } });
    expect(outcome.ok).toBe(false);
    expect(outcome).not.toHaveProperty('failure.fallbackError');
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
    [{}, /Expected `options.fallback.integration` to be an integration, got undefined/],
    [{ integration: {} }, /Expected `options.fallback.integration.call` to be a function, got undefined/],
    [{ valu: 1 }, /Unknown option `options.fallback.valu`/],
    [{ value: 1, integration: {} }, /Unknown option `options.fallback.integration`/],
  ])('refuses %j', (fallback, text) => {
    const { integration } = startIntegration();
    expect(() => integration.call('ask', { fallback: fallback as { value: string } })).toThrow(text);
  });
});
