import { createActor } from 'xstate';
import { describe, expect, it } from 'vitest';
import { integrationMachine } from '../../../src/machines/integration.ts';
import { openCircuit } from '../../support/openCircuit.ts';
import { fault, startIntegration } from '../../support/startIntegration.ts';

const lost = fault('crash', { reason: 'connection_lost' }).facts;

describe('the state of an integration', () => {
  it.each(['release', 'reset'] as const)('[M-1] follows the calls in flight after a %s', async (way) => {
    const { integration, clock, ref } = startIntegration();
    void integration.call('slow');
    await clock.settle();
    const release = integration.breaker.isolate();
    if (way === 'release') release();
    else integration.breaker.reset();
    await clock.settle();
    expect(ref.getSnapshot().value).toBe('calling');
  });

  it('[M-8] [I-4] is told as closed again after an opening that ended with a restart', async () => {
    const started = startIntegration();
    await openCircuit(started);
    started.path.crashed(lost);
    started.path.restarted();
    expect(started.facts.of('breaker.closed')).toHaveLength(1);
  });

  it('[I-4] tells an isolation once, however many hold it', () => {
    const { integration, facts } = startIntegration();
    integration.breaker.isolate();
    integration.breaker.isolate();
    expect(facts.of('breaker.opened')).toHaveLength(1);
  });

  it('[I-4] tells a crash once, until it has restarted', async () => {
    const { path, facts, clock } = startIntegration();
    path.crashed(lost);
    await clock.advance(1000);
    path.crashed(lost);
    path.restarted();
    expect(facts.of('integration.crashed')).toHaveLength(1);
    expect(facts.of('integration.restarted')).toMatchObject([{ downMs: 1000 }]);
  });

  it('[M-8] stays isolated over an incarnation of its machine', async () => {
    const { integration, path } = startIntegration();
    const release = integration.breaker.isolate();
    path.attach(createActor(integrationMachine, { input: { name: 'kb', breaker: path.policy.breaker } }));
    expect(integration.breaker.state).toBe('isolated');
    release();
    expect(integration.breaker.state).toBe('closed');
  });

  it('[M-8] is not left by the release of an isolation that a reset of its owner ended', () => {
    const { integration, path } = startIntegration();
    const release = integration.breaker.isolate();
    path.reset();
    integration.breaker.isolate();
    release();
    expect(integration.breaker.state).toBe('isolated');
  });

  it('[I-4] says nothing of a crash when the call path is stopped', () => {
    const { path, facts } = startIntegration();
    const told = facts.all.length;
    path.stop();
    path.crashed(lost);
    path.restarted();
    expect(facts.all).toHaveLength(told);
  });
});
