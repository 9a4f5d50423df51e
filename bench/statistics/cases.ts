import { createActor } from 'xstate';
import { CallCounter } from '../../src/calls/recorder/callCounter.ts';
import { CallPath } from '../../src/calls/callPath.ts';
import { FlightRecorder } from '../../src/calls/recorder/flightRecorder.ts';
import { DeadlineQueue } from '../../src/calls/deadlineQueue.ts';
import { CallableIntegration, type Integration } from '../../src/calls/integration.ts';
import { SignalFanout } from '../../src/calls/signalFanout.ts';
import { integrationMachine } from '../../src/machines/integration.ts';
import { resolvePolicy } from '../../src/policy/presetChain.ts';
import { systemClock } from '../../src/runtime/systemClock.ts';
import { createBus } from '../../src/telemetry/bus.ts';
import { roomForAll } from '../harness/probe.ts';
import type { Case } from '../harness/suite.ts';

/** Whether the calls are counted, and the last of them held: not at all, or of an integration, or of a tool as well. */
export type Counted = 'not' | 'whole' | 'tool';

/** Parts of a case, so that what disturbs the machine disturbs both sides. */
const parts = 40;
const callsOfPart = 5_000;

/** Calls in turn that succeed at once, in turn with such that are not counted. */
export function inTurn(counted: Counted): Case {
  return {
    async measure(probe) {
      const [own, bare] = [start(counted), start('not')];
      const spent = { own: 0, bare: 0 };
      for (let part = -parts; part < parts; part++) {
        const [bareCpu, ownCpu] = [await cpuOf(bare), await cpuOf(own)];
        // The first half is until all is compiled.
        if (part < 0) continue;
        spent.bare += bareCpu;
        spent.own += ownCpu;
      }
      const calls = parts * callsOfPart;
      probe.record('call cpu', spent.own / calls, 'µs');
      if (counted !== 'not') probe.record('cpu over uncounted', (spent.own - spent.bare) / calls, 'µs');
      own.path.stop();
      bare.path.stop();
    },
  };
}

/** Bytes that a call allocates until it is answered. */
export function allocates(counted: Counted): Case {
  return {
    isolated: true,
    flags: roomForAll,
    async measure(probe) {
      const { integration, path } = start(counted);
      for (let round = 0; round < 20; round++) await callInTurn(integration, 10_000);
      await probe.allocated('allocated', 10_000, () => callInTurn(integration, 10_000));
      path.stop();
    },
  };
}

interface Started {
  readonly path: CallPath<number, number>;
  readonly integration: Integration<number, number>;
}

function start(counted: Counted): Started {
  const policy = resolvePolicy('work', {});
  const path = new CallPath<number, number>({
    name: 'work',
    policy,
    operation: async (input) => input,
    clock: systemClock,
    random: Math.random,
    facts: createBus({ clock: systemClock }),
    deadlines: new DeadlineQueue(systemClock),
    signals: new SignalFanout(),
    ...(counted === 'tool' && { toolOf: () => 'read' }),
    ...(counted !== 'not' && {
      statistics: new CallCounter({ counted: () => undefined }),
      recorder: new FlightRecorder(policy),
    }),
  });
  const ref = createActor(integrationMachine, { input: { name: 'work', breaker: path.policy.breaker } });
  path.attach(ref);
  ref.start();
  return { path, integration: new CallableIntegration(path) };
}

async function cpuOf({ integration }: Started): Promise<number> {
  const before = process.cpuUsage();
  await callInTurn(integration, callsOfPart);
  const { user, system } = process.cpuUsage(before);
  return user + system;
}

async function callInTurn(integration: Integration<number, number>, count: number): Promise<void> {
  for (let input = 0; input < count; input++) await integration.call(input);
}
