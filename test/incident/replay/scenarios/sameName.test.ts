import { describe, expect, it, onTestFinished } from 'vitest';
import { createGateway } from '../../../../src/gateway/gateway.ts';
import type { Gateway } from '../../../../src/gateway/gatewayTypes.ts';
import type { Incident } from '../../../../incident/incident.ts';
import { AttemptError } from '../../../../src/policy/failures/failure.ts';
import { replay } from '../../../../incident/replay/replay.ts';
import type { ReplayResult } from '../../../../incident/replay/compare.ts';
import { registryOf } from '../../../../src/runtime/registryOf.ts';
import { seededRandom } from '../../../../testing/random.ts';
import { SimulatedClock } from '../../../../testing/simulatedClock.ts';
import { gathered, readBack } from '../gathered.ts';

async function startGateway(clock: SimulatedClock): Promise<Gateway> {
  const gateway = createGateway({ clock, random: () => 0.5, store: ':memory:', alerts: false });
  await gateway.start();
  onTestFinished(async () => {
    const stopping = gateway.stop();
    await clock.advance(60_000);
    await stopping;
  });
  return gateway;
}

/** An integration whose operation takes 50 ms and fails when it is told to. */
function declare(gateway: Gateway, clock: SimulatedClock, consecutiveFailures: number) {
  const policy = {
    retry: { maxAttempts: 1 },
    breaker: { consecutiveFailures, failureRatio: 1, resetTimeoutMs: 60_000 },
  };
  return gateway.integration(
    'kb',
    { effect: 'readOnly', policy },
    (input: string) =>
      new Promise<string>((resolve, reject) => {
        const failure = new AttemptError({ kind: 'transient', message: 'HTTP 503', outcome: 'failed' });
        clock.setTimeout(() => (input === 'ok' ? resolve('found') : reject(failure)), 50);
      }),
  );
}

type Callable = ReturnType<typeof declare>;

async function callEach(kb: Callable, clock: SimulatedClock, inputs: readonly string[]): Promise<void> {
  for (const input of inputs) {
    void kb.call(input);
    await clock.advance(100);
  }
}

const play = (incident: Incident): Promise<ReplayResult> =>
  replay(incident, { clock: new SimulatedClock(), random: seededRandom(1) });

const endsOf = ({ lines }: ReplayResult): readonly (readonly [string, string | undefined])[] =>
  lines.map(({ of, replayed }) => [of, replayed?.what] as const);

describe('the replay of an integration whose name is not its alone', () => {
  it('[O-16] plays the one that was declared last, by its own policy, and says that there was one before', async () => {
    const clock = new SimulatedClock();
    const gateway = await startGateway(clock);
    await callEach(declare(gateway, clock, 3), clock, ['ok', 'bad', 'ok']);
    const leaving = registryOf(gateway)?.runtime.leave('kb');
    await clock.advance(1000);
    await leaving;
    await callEach(declare(gateway, clock, 2), clock, ['bad', 'ok', 'bad', 'bad', 'ok']);
    const incident = readBack(await gathered(gateway, 'kb', clock));
    expect(incident.missing).toEqual(['What another kb of the same gateway did before it is not in it.']);
    const result = await play(incident);
    expect(result.first).toBeUndefined();
    expect(endsOf(result)).toEqual([
      ['kb-1', 'failed: transient, 1 attempt'],
      ['kb-2', 'answered, 1 attempt'],
      ['kb-3', 'failed: transient, 1 attempt'],
      ['kb-4', 'failed: transient, 1 attempt'],
      ['circuit of kb', 'opened: transient'],
      ['kb-5', 'refused: circuit_open, 0 attempts'],
    ]);
  });

  it('[O-16] plays what a process did that was killed beside what the next one did', async () => {
    const clock = new SimulatedClock();
    const killed = await startGateway(clock);
    const theirs = declare(killed, clock, 2);
    await callEach(theirs, clock, ['ok', 'bad', 'bad', 'ok']);
    await clock.advance(1000);
    const gateway = await startGateway(clock);
    await callEach(declare(gateway, clock, 3), clock, ['bad', 'ok']);
    const incident = readBack(await gathered(gateway, 'kb', clock, [killed], 7));
    expect(incident.missing).toEqual([
      expect.stringMatching(
        /^What kb of process 7 did after .* is not in it: its process wrote its last record then\.$/,
      ),
    ]);
    const result = await play(incident);
    expect(result.first).toBeUndefined();
    expect(endsOf(result)).toEqual([
      ['kb of process 7-1', 'answered, 1 attempt'],
      ['kb of process 7-2', 'failed: transient, 1 attempt'],
      ['kb of process 7-3', 'failed: transient, 1 attempt'],
      ['circuit of kb of process 7', 'opened: transient'],
      ['kb of process 7-4', 'refused: circuit_open, 0 attempts'],
      ['kb-1', 'failed: transient, 1 attempt'],
      ['kb-2', 'answered, 1 attempt'],
    ]);
  });

  it('[O-16] plays the one of one gateway where another of the process has it too, without its circuit', async () => {
    const clock = new SimulatedClock();
    const [gateway, other] = [await startGateway(clock), await startGateway(clock)];
    const [kb, theirs] = [declare(gateway, clock, 2), declare(other, clock, 1)];
    await callEach(theirs, clock, ['ok', 'bad']);
    await callEach(kb, clock, ['ok', 'bad', 'ok']);
    const incident = readBack(await gathered(gateway, 'kb', clock, [other]));
    expect(incident.missing).toEqual([`What the kb of another gateway of process ${process.pid} did is not in it.`]);
    const result = await play(incident);
    expect(result.first).toBeUndefined();
    expect(endsOf(result)).toEqual([
      ['kb-1', 'answered, 1 attempt'],
      ['kb-2', 'failed: transient, 1 attempt'],
      ['kb-3', 'answered, 1 attempt'],
    ]);
    expect(result.notes.join()).toContain('Circuits of kb are not compared');
  });
});
