import { createActor } from 'xstate';
import { describe, expect, it } from 'vitest';
import { createGateway } from '../../../src/gateway/gateway.ts';
import { integrationMachine } from '../../../src/machines/integration.ts';
import { SimulatedClock } from '../../../testing/simulatedClock.ts';
import { fault, startIntegration } from '../../support/startIntegration.ts';

/** An integration whose server has yet to start for the first time. */
function startWaiting() {
  const started = startIntegration({}, () => 'found');
  const { path, integration, facts } = started;
  path.link.retire();
  facts.all.length = 0;
  path.attach(createActor(integrationMachine, { input: { name: 'kb', breaker: path.policy.breaker } }), { down: true });
  const changes = () => facts.of('integration.changed').map(({ from, to }) => `${from} → ${to}`);
  return { ...started, integration, changes };
}

describe('an integration before its first start', () => {
  it('[M-14] is idle and not started, and says nothing of a crash or a restart when it starts', async () => {
    const { path, integration, clock, facts, changes } = startWaiting();
    expect([integration.state, integration.started, integration.breaker.state]).toEqual(['idle', false, 'closed']);
    const outcome = integration.call('ask');
    await clock.advance(3000);
    expect(integration.stats).toMatchObject({ attempts: 0, waiting: 1 });
    path.restarted();
    expect(await outcome).toEqual({ ok: true, value: 'found' });
    await clock.advance(100);
    expect([integration.state, integration.started]).toEqual(['idle', true]);
    expect(changes().filter((change) => change.includes('crashed'))).toEqual([]);
    expect(facts.of('integration.restarted')).toEqual([]);
  });

  it('[M-14] has crashed when its first start failed, and says so', () => {
    const { path, integration, facts, changes } = startWaiting();
    path.crashed(fault('spawn').facts);
    expect([integration.state, integration.started]).toEqual(['crashed', true]);
    expect(changes()).toEqual(['idle → crashed']);
    expect(facts.of('integration.crashed')).toHaveLength(1);
    path.restarted();
    expect(integration.state).toBe('idle');
    expect(facts.of('integration.restarted')).toHaveLength(1);
  });

  it('[M-14] is idle before the start of its gateway and after its stop', async () => {
    const gateway = createGateway({ clock: new SimulatedClock() });
    const told: string[] = [];
    gateway.on('*', ({ type }) => told.push(type));
    const search = gateway.integration('search', {}, () => 'found');
    const shown = () => [search.state, search.started, search.breaker.state];
    expect(shown()).toEqual(['idle', false, 'closed']);
    await gateway.start();
    expect(shown()).toEqual(['idle', true, 'closed']);
    await gateway.stop();
    expect(shown()).toEqual(['idle', false, 'closed']);
    expect(told.filter((type) => type.startsWith('integration.'))).toEqual([]);
  });
});
