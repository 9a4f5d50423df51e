import { describe, expect, it, onTestFinished } from 'vitest';
import { createGateway } from '../../../../src/gateway/gateway.ts';
import { replay } from '../../../../incident/replay/replay.ts';
import { seededRandom } from '../../../../testing/random.ts';
import { SimulatedClock } from '../../../../testing/simulatedClock.ts';
import { gathered, readBack } from '../gathered.ts';

describe('the replay of an incident in which the process stood still', () => {
  it.each(['kb', 'agent:main'])('[O-16] [G-6] ends as it did: %s', async (subject) => {
    const clock = new SimulatedClock();
    const gateway = createGateway({ clock, random: () => 0.5, store: ':memory:', alerts: false });
    const policy = { limits: { idleMs: Infinity, attemptMs: 15_000 }, retry: { maxAttempts: 1 } };
    gateway.integration(
      'kb',
      { effect: 'readOnly', policy },
      ({ input }: { readonly input: number }) =>
        new Promise<string>((resolve) => void clock.setTimeout(() => resolve('found'), input)),
    );
    const session = gateway.session('agent:main', {
      watchdog: { toolCallMs: 20_000 },
      onMessage: ({ data }, turn) => turn.tool('kb', 'query', data),
    });
    await gateway.start();
    onTestFinished(async () => {
      const stopping = gateway.stop();
      await clock.advance(60_000);
      await stopping;
    });
    const send = (ms: number): void => void session.send({ kind: 'user', data: ms });
    send(100);
    await clock.advance(1000);
    send(1_000_000);
    await clock.advance(3000);
    clock.stall(25_000);
    await clock.advance(13_000);
    for (let each = 0; each < 3; each++) {
      send(100);
      await clock.advance(1000);
    }
    const result = await replay(readBack(await gathered(gateway, subject, clock)), {
      clock: new SimulatedClock(),
      random: seededRandom(1),
    });
    expect(result.lines.length).toBeGreaterThan(4);
    expect(result.lines.map(({ recorded }) => recorded?.what)).toContain('failed: timeout, 1 attempt');
    expect(result.first).toBeUndefined();
    expect(result.notes).toContain(
      'The process stood still for 25s: what came or ended in that time may do so in another order.',
    );
  });
});
