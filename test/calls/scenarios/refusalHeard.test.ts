import { describe, expect, it } from 'vitest';
import { ReactingFacts } from '../../support/reactingFacts.ts';
import { startIntegration } from '../../support/startIntegration.ts';

describe('a call that is refused', () => {
  it('[I-4] has a record of its own when who hears of the refusal cancels it', async () => {
    const controller = new AbortController();
    const facts = new ReactingFacts();
    const { integration } = startIntegration({}, undefined, { facts });
    integration.breaker.isolate();
    facts.once('call.refused', () => controller.abort());
    const outcome = await integration.call('ask', { signal: controller.signal });
    expect(outcome).toMatchObject({ ok: false, failure: { kind: 'cancelled' } });
    expect(facts.of('call.failed')).toHaveLength(1);
  });

  it('[I-1] [I-3] does not fall back any more when who hears of the refusal stops the call path', async () => {
    const facts = new ReactingFacts();
    const { integration, path, deadlines } = startIntegration({}, undefined, { facts });
    integration.breaker.isolate();
    facts.once('call.refused', () => path.stop());
    const outcome = await integration.call('ask', { fallback: () => new Promise(() => undefined) });
    expect(outcome).toMatchObject({ ok: false });
    expect(deadlines.size).toBe(0);
  });
});
