import { expect, it, onTestFinished } from 'vitest';
import { createGateway } from '../../../src/gateway/gateway.ts';
import type { FlightRow } from '../../../src/policy/records/flight.ts';
import { replay } from '../../../incident/replay/replay.ts';
import { seededRandom } from '../../../testing/random.ts';
import { SimulatedClock } from '../../../testing/simulatedClock.ts';
import { gathered, readBack } from './gathered.ts';

it.each([
  ['an answer that a busy machine read before its limit', { end: 'answered', by: 25 }, 'answered, 1 attempt'],
  ['a limit that a busy machine found late', { end: 'limit', by: 60 }, 'failed: timeout, 1 attempt'],
] as const)('[O-16] %s ends the attempt then', async (_, { end, by }, what) => {
  const clock = new SimulatedClock();
  const gateway = createGateway({ clock, random: () => 0.5, store: ':memory:', alerts: false });
  const limits = { idleMs: 1000, attemptMs: 30, overallMs: 5000 };
  const kb = gateway.integration(
    'kb',
    { policy: { maxAttempts: 1, limits } },
    () =>
      new Promise<string>((resolve) => {
        if (end === 'answered') clock.setTimeout(() => resolve('found'), 29);
      }),
  );
  await gateway.start();
  onTestFinished(async () => {
    const stopping = gateway.stop();
    await clock.advance(60_000);
    await stopping;
  });
  void kb.call('question');
  await clock.advance(1000);
  const incident = readBack(await gathered(gateway, 'kb', clock));
  const late = (row: FlightRow): FlightRow => ('endedAt' in row ? { ...row, endedAt: row.endedAt + by } : row);
  const integrations = incident.integrations.map((each) => ({
    ...each,
    records: each.records.map((record) => ({ ...record, rows: record.rows.map(late) })),
  }));
  const one = { clock: new SimulatedClock(), random: seededRandom(1) };
  const { first, lines } = await replay({ ...incident, integrations }, one);
  expect(first).toBeUndefined();
  expect(lines.map(({ replayed }) => replayed?.what)).toEqual([what]);
  expect(Math.abs(Number(lines[0]?.recorded?.atMs) - Number(lines[0]?.replayed?.atMs))).toBeLessThan(2);
});
