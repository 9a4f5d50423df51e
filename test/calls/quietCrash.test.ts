import { describe, expect, it } from 'vitest';
import { fault, startIntegration } from '../support/startIntegration.ts';

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
