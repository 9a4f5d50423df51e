import { describe, expect, it } from 'vitest';
import { startIntegration } from '../../support/startIntegration.ts';

describe('refusals', () => {
  it('[R-8] of a call whose signal was aborted before say that nothing was started, and keep its reason', async () => {
    const { integration, seen } = startIntegration();
    const reason = new Error('not needed any more');
    const outcome = await integration.call('ask', { signal: AbortSignal.abort(reason) });
    expect(outcome).toMatchObject({ ok: false, failure: { kind: 'cancelled', outcome: 'not_started', cause: reason } });
    expect(seen).toEqual([]);
  });

  it('[I-4] after the end are counted each and told once', async () => {
    const { integration, path, facts } = startIntegration();
    path.stop();
    for (let index = 0; index < 5; index++) await integration.call('too late');
    expect([facts.of('call.refused').length, facts.of('call.failed').length]).toEqual([1, 0]);
    expect(integration.stats.refused).toBe(5);
  });
});
