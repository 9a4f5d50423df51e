import { describe, expect, it } from 'vitest';
import { restarted } from '../../../src/calls/refusal.ts';
import { fault, startIntegration } from '../../support/startIntegration.ts';

const { facts: ended } = fault('crash');

describe('an integration whose server ended as it was to', () => {
  it('[M-6] [P-3] is crashed and back again without a word', () => {
    const { path, integration, facts } = startIntegration();
    path.crashed(ended, true);
    expect(integration.state).toBe('crashed');
    path.restarted();
    expect(integration.state).toBe('idle');
    expect([facts.of('integration.crashed'), facts.of('integration.restarted')]).toEqual([[], []]);
  });

  it('[M-6] [P-3] and then crashes on its way back has both told', () => {
    const { path, facts } = startIntegration();
    path.crashed(ended, true);
    path.crashed(ended);
    path.restarted();
    expect([facts.of('integration.crashed').length, facts.of('integration.restarted').length]).toEqual([1, 1]);
  });

  it('[M-6] [P-3] after a crash that was told has its coming back told', () => {
    const { path, facts } = startIntegration();
    path.crashed(ended);
    path.crashed(ended, true);
    path.restarted();
    expect([facts.of('integration.crashed').length, facts.of('integration.restarted').length]).toEqual([1, 1]);
  });
});

describe('an integration whose server does not come back', () => {
  it('[M-6] [O-1] has each restart that fails told, and one crash', () => {
    const { path, facts } = startIntegration();
    path.crashed(ended);
    path.crashed({ ...ended, message: 'no luck' });
    path.crashed(ended, true);
    path.restarted();
    path.crashed(ended);
    expect(facts.of('integration.crashed')).toHaveLength(2);
    expect(facts.of('integration.restart_failed')).toMatchObject([{ integration: 'kb', message: 'no luck' }]);
  });
});

describe('an integration whose server an operator had restarted', () => {
  const order = restarted('kb');

  it('[M-6] [O-1] is crashed and back again, and only the latter is told', () => {
    const { path, integration, facts } = startIntegration();
    path.crashed(order);
    expect(integration.state).toBe('crashed');
    path.restarted();
    expect(integration.state).toBe('idle');
    expect([facts.of('integration.crashed').length, facts.of('integration.restarted').length]).toEqual([0, 1]);
  });

  it('[M-6] [O-1] and which crashes on its way back has that told as a crash', () => {
    const { path, facts } = startIntegration();
    path.crashed(order);
    path.crashed(ended);
    path.crashed(order);
    path.crashed(ended);
    expect([facts.of('integration.crashed').length, facts.of('integration.restart_failed').length]).toEqual([1, 1]);
  });

  it('[M-4] [M-6] has no failure counted for what was in flight', async () => {
    const { path, integration, facts, clock } = startIntegration({ breaker: { consecutiveFailures: 1 } });
    const lost = integration.call('it', { effect: 'mutating' });
    path.crashed(order);
    expect(await lost).toMatchObject({ failure: { kind: 'cancelled', reason: 'restarted' } });
    path.restarted();
    await clock.settle();
    expect([integration.state, facts.of('breaker.opened')]).toEqual(['idle', []]);
  });
});

describe('an attempt that is given up', () => {
  it('[R-8] [P-3] is told to who would rather not have a signal, once and before the call ends', async () => {
    const given: string[] = [];
    const { path, clock, seen } = startIntegration({ limits: { attemptMs: 1000 } });
    const settings = {
      ...path.policy.limits,
      retry: { ...path.policy.retry, maxAttempts: 1 },
      effect: undefined,
      label: undefined,
      session: undefined,
      signal: undefined,
      fallback: undefined,
      givenUp: (input: string, { reason }: { readonly reason?: string | undefined }) =>
        given.push(`${input}: ${reason}`),
    };
    path.start('it', settings, () => given.push('ended'));
    await clock.advance(1000);
    seen[0]?.reject(new Error('late'));
    await clock.settle();
    expect(given).toEqual(['it: attempt_timeout', 'ended']);
  });
});
