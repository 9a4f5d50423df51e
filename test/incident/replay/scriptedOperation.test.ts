import { expect, it, onTestFinished } from 'vitest';
import { createGateway } from '../../../src/gateway/gateway.ts';
import { AttemptError } from '../../../src/policy/failures/failure.ts';
import type { FlightRow } from '../../../src/policy/records/flight.ts';
import { replay } from '../../../incident/replay/replay.ts';
import { seededRandom } from '../../../testing/random.ts';
import { SimulatedClock } from '../../../testing/simulatedClock.ts';
import { gathered, readBack } from './gathered.ts';

it('[O-16] an attempt keeps the limits that it kept, though a busy machine began it late', async () => {
  const clock = new SimulatedClock();
  const gateway = createGateway({ clock, random: () => 0.5, store: ':memory:', alerts: false });
  const policy = {
    retry: { maxAttempts: 2, backoff: { initialMs: 10, maxMs: 10 } },
    limits: { idleMs: 30, attemptMs: 30, overallMs: 5000 },
  };
  const kb = gateway.integration(
    'kb',
    { effect: 'readOnly', policy },
    () =>
      new Promise<string>((_, reject) => {
        const failure = new AttemptError({ kind: 'transient', message: 'HTTP 503', outcome: 'failed' });
        clock.setTimeout(() => reject(failure), 5);
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
  // Its second attempt came 40 ms later than its wait was over.
  const late = (row: FlightRow): FlightRow => {
    if (row.what === 'end') return { ...row, endedAt: row.endedAt + 40 };
    if (row.what !== 'attempt' || row.attempt === 1) return row;
    return { ...row, startedAt: row.startedAt + 40, endedAt: row.endedAt + 40 };
  };
  const integrations = incident.integrations.map((each) => ({
    ...each,
    records: each.records.map((record) => ({ ...record, rows: record.rows.map(late) })),
  }));
  const { first, lines } = await replay(
    { ...incident, integrations },
    { clock: new SimulatedClock(), random: seededRandom(1) },
  );
  expect(first).toBeUndefined();
  expect(lines.map(({ replayed }) => replayed?.what)).toEqual(['failed: transient, 2 attempts']);
});
