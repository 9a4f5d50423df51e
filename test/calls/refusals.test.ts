import { describe, expect, it } from 'vitest';
import { startIntegration } from '../support/startIntegration.ts';

describe('refusals', () => {
  it('[I-4] after the end are counted each and told once', async () => {
    const { integration, path, facts } = startIntegration();
    path.stop();
    for (let index = 0; index < 5; index++) await integration.call('too late');
    expect([facts.of('call.refused').length, facts.of('call.failed').length]).toEqual([1, 0]);
    expect(integration.stats.refused).toBe(5);
  });
});
