import { expect, it, onTestFinished } from 'vitest';
import { createGateway } from '../../../../src/gateway/gateway.ts';
import { incidentText } from '../../../../incident/incidentFiles.ts';
import { AttemptError } from '../../../../src/policy/failures/failure.ts';
import { replay } from '../../../../incident/replay/replay.ts';
import { seededRandom } from '../../../../testing/random.ts';
import { SimulatedClock } from '../../../../testing/simulatedClock.ts';
import { gathered, readBack } from '../gathered.ts';

/** Built from parts, so that scanners of this repository do not take them for real. */
const key = (end: string): string => ['sk', 'ant', 'api03', `aB3x7890aB3x7890${end}`].join('-');

it('[O-16] [O-8] keeps names apart that are not shown, of integrations and of tools, and plays each as itself', async () => {
  const clock = new SimulatedClock();
  const gateway = createGateway({ clock, random: () => 0.5, store: ':memory:', alerts: false });
  const [good, bad] = [key('a'), key('b')];
  const policy = { retry: { maxAttempts: 1 }, breaker: { consecutiveFailures: 2, failureRatio: 1 } };
  for (const name of [good, bad]) {
    gateway.integration(
      name,
      { effect: 'readOnly', policy },
      () =>
        new Promise<string>((resolve, reject) => {
          const failure = new AttemptError({ kind: 'transient', message: 'HTTP 503', outcome: 'failed' });
          clock.setTimeout(() => (name === bad ? reject(failure) : resolve('found')), 50);
        }),
    );
  }
  const session = gateway.session('agent:main', {
    onMessage: async (_, turn) => {
      for (const name of [good, bad, bad, bad, good]) await turn.tool(name, key('c'), {});
      await turn.tool(good, key('d'), {});
    },
  });
  await gateway.start();
  onTestFinished(async () => {
    const stopping = gateway.stop();
    await clock.advance(60_000);
    await stopping;
  });
  void session.send({ kind: 'user', text: 'go' });
  await clock.advance(20_000);
  // At the failure, and not only when they are asked for.
  expect((await gateway.store?.flights.read({}))?.map(({ because }) => because)).toContain('failure');

  const incident = await gathered(gateway, 'agent:main', clock);
  const text = incidentText(incident);
  for (const name of [good, bad, key('c'), key('d')]) expect(text).not.toContain(name);
  expect(new Set(incident.integrations.map(({ name }) => name)).size).toBe(2);
  const rows = incident.integrations.flatMap(({ records }) => records.flatMap((record) => record.rows));
  expect(new Set(rows.flatMap((row) => ('tool' in row && row.tool !== undefined ? [row.tool] : []))).size).toBe(2);

  const one = { clock: new SimulatedClock(), random: seededRandom(1) };
  const played = await replay(readBack(incident), one);
  expect(played.first).toBeUndefined();
  expect(played.lines.filter(({ of }) => of.startsWith('circuit of')).length).toBe(1);
  expect((await gathered(gateway, bad, clock)).integrations).toHaveLength(1);
});
