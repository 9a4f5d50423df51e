import { createRequire } from 'node:module';
import { createActor } from 'xstate';
import { CallPath } from '../../src/calls/callPath.ts';
import { DeadlineQueue } from '../../src/calls/deadlineQueue.ts';
import { CallableIntegration } from '../../src/calls/integration.ts';
import { SignalFanout } from '../../src/calls/signalFanout.ts';
import { createGateway } from '../../src/gateway/gateway.ts';
import { integrationMachine } from '../../src/machines/integration.ts';
import { resolvePolicy } from '../../src/policy/presetChain.ts';
import { systemClock } from '../../src/runtime/systemClock.ts';
import { createBus } from '../../src/telemetry/bus.ts';
import type { Case } from '../harness/suite.ts';

/** Makes one call, and waits for its answer. */
type MakeCall = (input: number) => PromiseLike<unknown>;

/** Parts of a case, so that what disturbs the machine disturbs both sides. */
const parts = 40;

/** CPU time of calls in turn, in turn with those of the other side. @param callsOfPart - of each side. */
function inTurnWith(own: MakeCall, other: MakeCall, callsOfPart: number): Promise<{ own: number; other: number }> {
  return measure();

  async function measure() {
    const spent = { own: [] as number[], other: [] as number[] };
    for (let part = -parts; part < parts; part++) {
      const [otherCpu, ownCpu] = [await cpuOf(other), await cpuOf(own)];
      // The first half is until all is compiled.
      if (part < 0) continue;
      spent.other.push(otherCpu);
      spent.own.push(ownCpu);
    }
    return { own: middle(spent.own) / callsOfPart, other: middle(spent.other) / callsOfPart };
  }

  async function cpuOf(call: MakeCall): Promise<number> {
    const before = process.cpuUsage();
    for (let input = 0; input < callsOfPart; input++) await call(input);
    const { user, system } = process.cpuUsage(before);
    return user + system;
  }
}

/** What a place for a tracer costs where nobody asks for one. */
export const withoutTracer: Case = {
  async measure(probe) {
    const { own, other } = await inTurnWith(callOf({ tracer: undefined }), callOf(undefined), 5000);
    probe.record('call cpu', own, 'µs');
    probe.record('over a call without the place', own / other, '');
  },
};

/** What a call costs with telemetry, against the same call with a span and a histogram of the host's own. */
export const withSdk: Case = {
  isolated: true,
  async measure(probe) {
    const { spanByHand, telemetryOn } = await import('./spans.ts');
    const [told, bare] = [createGateway(), createGateway()];
    const off = telemetryOn(told);
    const [own, plain] = [told, bare].map((gateway) => gateway.integration('work', {}, async (input: number) => input));
    await Promise.all([told.start(), bare.start()]);
    const byHand = spanByHand((input) => plain?.call(input) ?? Promise.resolve());
    const spent = await inTurnWith((input) => own?.call(input) ?? Promise.resolve(), byHand, 1000);
    probe.record('call cpu', spent.own, 'µs');
    probe.record('by hand cpu', spent.other, 'µs');
    probe.record('over by hand', spent.own / spent.other, '');
    probe.record('modules of OpenTelemetry', modulesLoaded(), '');
    off();
    await Promise.all([told.stop(), bare.stop()]);
  },
};

/** What a gateway loads of OpenTelemetry that nobody asks it for. */
export const loaded: Case = {
  isolated: true,
  async measure(probe) {
    const gateway = createGateway();
    const work = gateway.integration('work', {}, async (input: number) => input);
    await gateway.start();
    await work.call(1);
    await gateway.stop();
    probe.record('modules of OpenTelemetry', modulesLoaded(), '');
  },
};

/** All of OpenTelemetry is CommonJS here, also where it is imported. */
function modulesLoaded(): number {
  const { cache } = createRequire(import.meta.url);
  return Object.keys(cache).filter((path) => path.includes('@opentelemetry')).length;
}

function callOf(tracing: { tracer: undefined } | undefined): MakeCall {
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
    tracing,
  });
  const ref = createActor(integrationMachine, { input: { name: 'work', breaker: policy.breaker } });
  path.attach(ref);
  ref.start();
  const integration = new CallableIntegration(path);
  return (input) => integration.call(input);
}

function middle(samples: readonly number[]): number {
  return samples.toSorted((a, b) => a - b)[Math.floor(samples.length / 2)] ?? 0;
}
