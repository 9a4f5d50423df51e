import { describe, expect, it, onTestFinished } from 'vitest';
import { type Outage, Outages, type Refusing } from '../../src/alerts/outages.ts';
import { createGateway } from '../../src/gateway/gateway.ts';
import type { FailureKind } from '../../src/policy/failures/failure.ts';
import { createBus } from '../../src/telemetry/bus.ts';
import { SimulatedClock } from '../../testing/simulatedClock.ts';

const second = 1000;
const openNow = { now: 'its circuit is open', until: 'its circuit has closed' } as const;

function startOutages() {
  const clock = new SimulatedClock();
  const bus = createBus({ clock });
  const met: Outage[] = [];
  const over: string[] = [];
  const states = new Map<string, Refusing>();
  const outages = new Outages({
    clock,
    bus,
    refusing: (integration) => states.get(integration),
    met: (outage) => met.push(outage),
    over: (integration) => over.push(integration),
  });
  const openCircuit = (
    kind: FailureKind | 'isolated' = 'transient',
    { openForMs = 60 * second, refused = 0 }: { openForMs?: number; refused?: number } = {},
  ): void => {
    states.set('kb', { refused, because: { ...openNow, ...(kind === 'isolated' && { isHeld: true }) } });
    bus.tell({ type: 'breaker.opened', integration: 'kb', openForMs, kind, cause: 'gateway closed (1012)' });
  };
  const refuse = (refused: number): void => {
    states.set('kb', { refused, because: openNow });
  };
  const close = (): void => {
    states.set('kb', { refused: states.get('kb')?.refused ?? 0 });
    bus.tell({ type: 'breaker.closed', integration: 'kb' });
  };
  return { clock, bus, met, over, outages, openCircuit, refuse, close };
}

describe('an outage', () => {
  it('[O-3] is an open circuit that has refused calls, told within a minute, and again where it refuses more', async () => {
    const { clock, met, openCircuit, refuse } = startOutages();
    openCircuit('overloaded', { refused: 7 });
    refuse(10);
    await clock.advance(10 * second);
    expect(met).toEqual([
      {
        integration: 'kb',
        kind: 'overloaded',
        message: 'its circuit is open and refused 3 calls: gateway closed (1012)',
      },
    ]);
    await clock.advance(600 * second);
    expect(met).toHaveLength(1);
    refuse(500);
    await clock.advance(600 * second);
    expect(met).toHaveLength(2);
  });

  it('[O-3] is a circuit that nobody calls and that is open for longer than one reset time, not before', async () => {
    const { clock, met, openCircuit } = startOutages();
    openCircuit('transient', { openForMs: 60 * second });
    await clock.advance(60 * second);
    expect(met).toEqual([]);
    await clock.advance(10 * second);
    expect(met).toMatchObject([{ message: 'its circuit is open, for 1m10s now: gateway closed (1012)' }]);
  });

  it('[O-3] of a quota that opens for hours is told within two minutes', async () => {
    const { clock, met, openCircuit } = startOutages();
    openCircuit('quota', { openForMs: 5 * 3_600 * second });
    await clock.advance(120 * second);
    expect(met).toMatchObject([{ kind: 'quota' }]);
  });

  it('[O-3] counts over the probes that fail', async () => {
    const { clock, met, openCircuit } = startOutages();
    for (let probe = 0; probe < 4; probe++) {
      openCircuit('transient', { openForMs: 20 * second });
      await clock.advance(20 * second);
    }
    expect(met).toHaveLength(1);
  });

  it('[O-3] is over when the circuit closes, and the next one is told again', async () => {
    const { clock, met, over, openCircuit, refuse, close } = startOutages();
    for (const refused of [1, 2]) {
      openCircuit('transient', { refused: refused - 1 });
      refuse(refused);
      await clock.advance(15 * second);
      close();
    }
    expect(met).toHaveLength(2);
    expect(over).toEqual(['kb', 'kb']);
  });

  it('[O-3] is none while it lasts for less than a look, is held open by an operator, or is of a kind that counts for no alert', async () => {
    const { clock, met, openCircuit, refuse, close } = startOutages();
    openCircuit();
    refuse(5);
    close();
    await clock.advance(120 * second);
    openCircuit('isolated');
    await clock.advance(120 * second);
    openCircuit('permanent');
    await clock.advance(120 * second);
    expect(met).toEqual([]);
  });

  it('[O-3] is found by its refusals where the circuit was open before', async () => {
    const { clock, bus, met, refuse } = startOutages();
    refuse(0);
    const message = 'The circuit of kb is open';
    bus.tell({ type: 'call.refused', integration: 'kb', call: 'kb-1', kind: 'circuit_open', message, refused: 0 });
    refuse(2);
    await clock.advance(10 * second);
    expect(met).toMatchObject([{ integration: 'kb', message: 'its circuit is open and refused 2 calls' }]);
  });

  it('[O-3] [I-3] leaves no timer and no listener when the watch is stopped', async () => {
    const { clock, met, outages, openCircuit, refuse } = startOutages();
    openCircuit();
    refuse(4);
    outages.stop();
    openCircuit();
    await clock.advance(120 * second);
    expect(met).toEqual([]);
    expect(clock.pending).toBe(0);
  });
});

describe('the alert of an outage, with the defaults', () => {
  async function startOutage() {
    const clock = new SimulatedClock();
    const gateway = createGateway({ clock, control: false });
    onTestFinished(() => gateway.stop());
    const world = { down: true };
    const kb = gateway.integration('kb', {}, () => {
      if (world.down) throw Object.assign(new Error('down'), { code: 'ECONNREFUSED' });
      return 'fine';
    });
    await gateway.start();
    const told: string[] = [];
    gateway.on('alert.raised', ({ because, at }) => told.push(`raised by ${because} at ${at}`));
    gateway.on('alert.cleared', ({ by }) => told.push(`cleared: ${by}`));
    /** A call each five seconds, as an agent makes them. */
    const live = async (seconds: number): Promise<void> => {
      for (let passed = 0; passed < seconds; passed += 5) {
        void kb.call(undefined);
        await clock.advance(5 * second);
      }
    };
    const state = (): string => kb.breaker.state;
    return { clock, state, told, world, live };
  }

  it('[O-3] comes within a minute of the first refused call, once, and is cleared by the probe that succeeds', async () => {
    const { told, world, live, state } = await startOutage();
    while (state() === 'closed') await live(5);
    await live(60);
    expect(told).toHaveLength(1);
    expect(told).toEqual([expect.stringContaining('raised by circuit')]);
    await live(600);
    expect(told).toHaveLength(1);
    world.down = false;
    await live(65);
    expect(told.slice(1)).toEqual(['cleared: closed']);
  });

  it('[O-3] comes again where it was cleared while nobody called, and calls are refused again', async () => {
    const { told, live, clock, state } = await startOutage();
    while (state() === 'closed') await live(5);
    await live(30);
    await clock.advance(900 * second);
    expect(told.map((line) => line.replace(/ at .*/, ''))).toEqual(['raised by circuit', 'cleared: quiet']);
    await live(60);
    expect(told).toHaveLength(3);
    expect(told[2]).toContain('raised by');
  });

  it('[O-3] comes also where a probe closes the circuit in between', async () => {
    const { told, live, world, state } = await startOutage();
    for (let time = 0; time < 2; time++) {
      world.down = true;
      while (state() === 'closed') await live(5);
      await live(40);
      world.down = false;
      while (state() !== 'closed') await live(5);
    }
    expect(told.map((line) => line.replace(/ at .*/, ''))).toEqual([
      'raised by circuit',
      'cleared: closed',
      'raised by circuit',
      'cleared: closed',
    ]);
  });
});
