import { describe, expect, it, onTestFinished } from 'vitest';
import { createGateway } from '../../../../src/gateway/gateway.ts';
import type { Incident } from '../../../../incident/incident.ts';
import { AttemptError } from '../../../../src/policy/failures/failure.ts';
import { replay } from '../../../../incident/replay/replay.ts';
import type { ReplayResult } from '../../../../incident/replay/compare.ts';
import { seededRandom } from '../../../../testing/random.ts';
import { SimulatedClock } from '../../../../testing/simulatedClock.ts';
import { gathered, readBack } from '../gathered.ts';

/** Six calls of an integration that may be asked twice in 10 s. The second fails at first, the fifth has no time to wait, the last is cancelled. */
async function recorded(): Promise<Incident> {
  const clock = new SimulatedClock();
  const gateway = createGateway({ clock, random: () => 0.5, store: ':memory:', alerts: false });
  const policy = {
    rate: { requests: 2, perMs: 10_000 },
    retry: { maxAttempts: 2, backoff: { kind: 'constant', delayMs: 100 } },
    breaker: { consecutiveFailures: 2, failureRatio: 1, resetTimeoutMs: 60_000 },
    limits: { idleMs: 60_000, attemptMs: 60_000, overallMs: 90_000 },
  } as const;
  let attempts = 0;
  const kb = gateway.integration(
    'kb',
    { effect: 'readOnly', policy },
    () =>
      new Promise<string>((resolve, reject) => {
        const failure = new AttemptError({ kind: 'transient', message: 'HTTP 503', outcome: 'failed' });
        const isBad = ++attempts === 2;
        clock.setTimeout(() => (isBad ? reject(failure) : resolve('found')), 50);
      }),
  );
  await gateway.start();
  onTestFinished(async () => {
    const stopping = gateway.stop();
    await clock.advance(60_000);
    await stopping;
  });
  const cancels = new AbortController();
  clock.setTimeout(() => cancels.abort(), 2000);
  for (const options of [{}, {}, {}, {}, { overallMs: 3000 }, { signal: cancels.signal }]) {
    void kb.call('x', options);
    await clock.advance(20);
  }
  await clock.advance(60_000);
  return readBack(await gathered(gateway, 'kb', clock));
}

const play = (incident: Incident, policy: readonly string[] = []): Promise<ReplayResult> =>
  replay(incident, { clock: new SimulatedClock(), random: seededRandom(1), policy });

describe('the replay of rate limits', () => {
  it('[O-16] [R-15] has each attempt wait and be refused as it was, at its time', async () => {
    const result = await play(await recorded());
    expect(result.first).toBeUndefined();
    const ends = result.lines.map(({ of, recorded: was, replayed }) => [of, replayed?.what, was?.atMs, replayed?.atMs]);
    for (const [, , was, is] of ends) expect(Math.abs(Number(was) - Number(is))).toBeLessThan(2);
    expect(Object.fromEntries(ends.map(([of, what]) => [of, what]))).toEqual({
      'kb-1': 'answered, 1 attempt',
      'kb-2': 'answered, 2 attempts',
      'kb-3': 'answered, 1 attempt',
      'kb-4': 'answered, 1 attempt',
      'kb-5': 'refused: rate_limit, 0 attempts',
      'kb-6': 'refused: cancelled, 0 attempts',
    });
    expect(result.notes.join()).toContain('Rate limits of kb: each attempt waits for them as long as it did');
  });

  it('[O-16] [R-15] counts the requests anew where the limits are others', async () => {
    const result = await play(await recorded(), ['rate.requests=100']);
    // What it would have done is not on record: it does what the one before did.
    expect(result.first?.of).toBe('kb-5');
    expect(result.first?.replayed?.what).not.toContain('rate_limit');
    expect(result.notes.join()).toContain('its requests are counted anew');
    const fewer = await play(await recorded(), ['rate.requests=1', 'rate.perMs=60000']);
    expect(
      fewer.lines.filter(({ replayed }) => replayed?.what === 'refused: rate_limit, 0 attempts').length,
    ).toBeGreaterThan(2);
  });
});
