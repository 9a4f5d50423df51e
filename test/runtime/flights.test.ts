import { describe, expect, it } from 'vitest';
import { createGateway } from '../../src/gateway/gateway.ts';
import type { FlightRecord } from '../../src/policy/records/flight.ts';
import { AttemptError } from '../../src/policy/failures/failure.ts';
import { registryOf } from '../../src/runtime/registryOf.ts';
import { SimulatedClock } from '../../testing/simulatedClock.ts';

/** A gateway in memory whose operations fail as they are told. */
async function start() {
  const clock = new SimulatedClock();
  const gateway = createGateway({ clock, store: ':memory:', alerts: false });
  const policy = { retry: { maxAttempts: 1 }, breaker: { consecutiveFailures: 1000, failureRatio: 1 } } as const;
  const operation = async (input: string): Promise<string> => {
    if (input === 'ok') return input;
    throw new AttemptError({ kind: 'transient', message: input, outcome: 'unknown' });
  };
  const kb = gateway.integration('kb', { policy }, operation);
  await gateway.start();
  const flights = async (): Promise<readonly FlightRecord[]> => {
    await clock.settle();
    return (await gateway.store?.flights.read({})) ?? [];
  };
  return { clock, gateway, kb, flights };
}

describe('the flights of a runtime', () => {
  it('[O-16] writes nothing while all is well', async () => {
    const { clock, kb, flights } = await start();
    await kb.call('ok');
    await clock.advance(3_600_000);
    expect(await flights()).toEqual([]);
  });

  it('[O-16] writes what went before a failure, and the policy that was in force, at once', async () => {
    const { clock, gateway, kb, flights } = await start();
    await kb.call('ok');
    await kb.call('broken');
    await clock.advance(0);
    const [record] = await flights();
    expect(record).toMatchObject({ integration: 'kb', because: 'failure', pid: process.pid });
    expect(record?.rows.map((row) => ('end' in row ? row.end : row.what))).toEqual([
      'input',
      'answered',
      'threw',
      'failed',
    ]);
    const [policy] = (await gateway.store?.flights.policies()) ?? [];
    expect(policy).toMatchObject({ name: 'kb', kept: { of: 'integration', policy: { retry: { maxAttempts: 1 } } } });
  });

  it('[O-16] writes at most every 15 s however much fails, and each row once', async () => {
    const { clock, kb, flights } = await start();
    for (let second = 0; second < 30; second++) {
      await kb.call('broken');
      await clock.advance(1000);
    }
    const records = await flights();
    expect(records.map(({ at }) => at - (records[0]?.at ?? 0))).toEqual([0, 15_000, 30_000]);
    const failed = records.flatMap(({ rows }) => rows).filter((row) => row.what === 'end');
    expect(failed.map((row) => row.what === 'end' && row.call)).toEqual(
      Array.from({ length: 30 }, (_, index) => index + 1),
    );
  });

  it('[O-16] writes what is under way when it is asked, and at an orderly stop', async () => {
    const { clock, gateway, kb, flights } = await start();
    await kb.call('ok');
    expect(await registryOf(gateway)?.runtime.flights.keep('asked')).toBe(1);
    await kb.call('ok');
    const stopping = gateway.stop();
    const records = await flights();
    await clock.advance(10_000);
    await stopping;
    expect(records.map(({ because }) => because)).toEqual(['asked', 'stop']);
  });

  it('[O-16] [O-8] writes no secret: not in a message, a label or a tool', async () => {
    const clock = new SimulatedClock();
    const gateway = createGateway({ clock, store: ':memory:', alerts: false });
    const kb = gateway.integration('kb', { policy: { retry: { maxAttempts: 1 } } }, async () => {
      throw new Error('no access with token=hunter2secret');
    });
    await gateway.start();
    await kb.call('x', { label: 'Authorization: Bearer hunter2secret' });
    await clock.advance(0);
    const records = (await gateway.store?.flights.read({})) ?? [];
    expect(records).toHaveLength(1);
    expect(JSON.stringify(records)).not.toContain('hunter2secret');
    expect(JSON.stringify(records)).toContain('[redacted]');
  });

  it('[O-16] writes the watchdog of a session that it ended a turn of', async () => {
    const { clock, gateway } = await start();
    const session = gateway.session('alice', {
      onMessage: () => new Promise(() => undefined),
      watchdog: { turnMs: 50_000 },
    });
    await clock.settle();
    await session.send({ kind: 'user', data: 'hello' });
    await clock.advance(60_000);
    const rows = (await gateway.store?.flights.policies()) ?? [];
    expect(rows.find(({ name }) => name === 'alice')?.kept).toMatchObject({
      of: 'session',
      watchdog: { turnMs: 50_000 },
    });
  });
});
