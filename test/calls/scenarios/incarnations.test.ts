import { describe, expect, it } from 'vitest';
import { CallPath } from '../../../src/calls/callPath.ts';
import { DeadlineQueue } from '../../../src/calls/deadlineQueue.ts';
import { CallableIntegration } from '../../../src/calls/integration.ts';
import { SignalFanout } from '../../../src/calls/signalFanout.ts';
import { type IntegrationRef, integrationMachine } from '../../../src/machines/integration.ts';
import type { IntegrationEvent } from '../../../src/machines/integrationEvents.ts';
import type { PolicyInput } from '../../../src/policy/policyInput.ts';
import { resolvePolicy } from '../../../src/policy/presetChain.ts';
import { createRootSupervisor } from '../../../src/supervisor/supervisor.ts';
import { SimulatedClock } from '../../../testing/simulatedClock.ts';
import { deferred } from '../../support/deferred.ts';
import { RecordedFacts } from '../../support/facts.ts';

/** An event that makes any guard that looks at it throw: a bug in the machine, as seen from outside. */
const poison: IntegrationEvent = Object.defineProperty({ type: 'calls.changed', attempts: 0, waiting: 0 }, 'attempts', {
  get() {
    throw new Error('machine bug');
  },
});

function startSupervised(operation: () => unknown, input: PolicyInput = {}) {
  const clock = new SimulatedClock();
  const facts = new RecordedFacts();
  const refs: IntegrationRef[] = [];
  const policy = resolvePolicy('kb', input);
  const path = new CallPath<string, unknown>({
    name: 'kb',
    policy,
    operation,
    clock,
    random: () => 0.5,
    facts,
    deadlines: new DeadlineQueue(clock),
    signals: new SignalFanout(),
  });
  const root = createRootSupervisor({ clock, random: () => 0.5, facts });
  root.start();
  root.startChild({
    id: 'integration:kb',
    logic: integrationMachine,
    input: { name: 'kb', breaker: policy.breaker },
    onStart: (ref) => {
      refs.push(ref as IntegrationRef);
      path.attach(ref as IntegrationRef);
    },
  });
  return { clock, facts, refs, path, root, integration: new CallableIntegration(path) };
}

describe('an integration whose machine throws', () => {
  it('[M-6] [V-7] is shown as crashed, and its calls in flight end', async () => {
    const { clock, refs, integration } = startSupervised(() => new Promise(() => undefined));
    const outcome = integration.call('ask', { effect: 'mutating' });
    await clock.settle();
    refs[0]?.send(poison);
    expect(integration.state).toBe('crashed');
    await clock.advance(1000);
    expect(await outcome).toMatchObject({ ok: false, failure: { kind: 'crash' } });
  });

  it('[M-6] [V-7] serves again with its next incarnation', async () => {
    const { clock, refs, integration } = startSupervised(() => 'fine');
    refs[0]?.send(poison);
    const outcome = integration.call('ask');
    await clock.advance(1000);
    expect(refs).toHaveLength(2);
    expect(await outcome).toEqual({ ok: true, value: 'fine' });
  });

  it('[M-11] is not changed by an attempt that its last incarnation admitted', async () => {
    const answer = deferred<string>();
    const { clock, refs, integration } = startSupervised(() => answer.promise, { breaker: { consecutiveFailures: 1 } });
    void integration.call('ask', { effect: 'mutating' });
    refs[0]?.send(poison);
    await clock.advance(1000);
    answer.reject(new Error('late'));
    await clock.settle();
    expect(refs).toHaveLength(2);
    expect(integration.state).toBe('idle');
  });
});
