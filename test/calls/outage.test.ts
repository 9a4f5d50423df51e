import { describe, expect, it } from 'vitest';
import { ReactingFacts } from '../support/reactingFacts.ts';
import { fault, type Started, startIntegration } from '../support/startIntegration.ts';

/** More work goes on than may be replaced: one attempt that ignores its abort, of none that may be written off. */
async function startOverwhelmed(): Promise<Started> {
  const started = startIntegration({ maxAbandoned: 0, abortGraceMs: 10, limits: { attemptMs: 10 } });
  void started.integration.call('hang', { maxAttempts: 1 });
  await started.clock.advance(20);
  expect(started.integration.state).toBe('crashed');
  return started;
}

describe('an integration with more work than may be replaced', () => {
  it('[M-9] is back in service when the work ends', async () => {
    const { integration, attempt, clock } = await startOverwhelmed();
    attempt(0).resolve('late');
    await clock.settle();
    expect(integration.state).toBe('idle');
  });

  it('[M-6] [M-9] stays crashed when the work ends after what is behind it has crashed too', async () => {
    const { integration, path, attempt, clock } = await startOverwhelmed();
    path.crashed(fault('crash').facts);
    attempt(0).resolve('late');
    await clock.settle();
    expect(integration.state).toBe('crashed');
    path.restarted();
    expect(integration.state).toBe('idle');
  });
});

describe('a restart', () => {
  it('[M-6] [I-1] lets those go on who waited for it, though a listener makes a call at the news', async () => {
    const facts = new ReactingFacts();
    const { integration, path, seen, clock } = startIntegration({}, undefined, { facts });
    path.crashed(fault('crash').facts);
    void integration.call('waits');
    facts.once('integration.changed', () => void integration.call('news'));
    path.restarted();
    await clock.settle();
    expect(seen.map(({ input }) => input).toSorted()).toEqual(['news', 'waits']);
  });
});
