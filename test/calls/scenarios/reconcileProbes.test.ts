import { describe, expect, it } from 'vitest';
import { mostProbes } from '../../../src/calls/reconcile/probeSteps.ts';
import { asFinding } from '../../../src/policy/reconciler.ts';
import { fault } from '../../support/startIntegration.ts';
import { type Asked, startReconciling } from '../../support/startReconciling.ts';

const lost = fault('timeout', { message: 'No answer' });

/** What a probe answers that was told to come back later. */
const later = (againInMs: number) =>
  asFinding({ verdict: 'unknown', how: 'list_payments failed: the circuit of books is open', againInMs });

/** Twenty calls whose answers are lost at once. */
async function startOutage(rule: Parameters<typeof startReconciling>[0] = {}) {
  const started = startReconciling(rule, { maxInFlight: 20, retry: { maxAttempts: 1 } });
  const made = Array.from({ length: 20 }, (_, index) => started.make(`charge:${index}`));
  for (const [index] of made.entries()) started.attempt(index).reject(lost);
  await started.clock.settle();
  return { ...started, made };
}

const inputs = (asked: readonly Asked[]): unknown[] => asked.map(({ lost: { input } }) => input);

describe('probes of one integration', () => {
  it('[R-16] are four at once; the others wait for their turn, first come first', async () => {
    const { asked, clock, made } = await startOutage();
    expect(inputs(asked)).toEqual(['charge:0', 'charge:1', 'charge:2', 'charge:3']);
    asked[2]?.resolve('done');
    await clock.settle();
    expect(inputs(asked).slice(mostProbes)).toEqual(['charge:4']);
    for (let next = 0; next < asked.length; next++) {
      const unanswered = asked.filter(({ signal }) => !signal.aborted).length;
      expect(unanswered).toBeLessThanOrEqual(mostProbes);
      asked[next]?.resolve('done');
      await clock.settle();
    }
    expect(inputs(asked)).toEqual(made.map((_, index) => `charge:${index}`));
    for (const { outcome } of made) expect(await outcome).toMatchObject({ failure: { outcome: 'done' } });
  });

  it('[R-16] give their turn to the next when they are late', async () => {
    const { asked, clock } = await startOutage({ timeoutMs: 1000 });
    await clock.advance(999);
    expect(asked).toHaveLength(mostProbes);
    await clock.advance(1);
    expect(inputs(asked).slice(mostProbes)).toEqual(['charge:4', 'charge:5', 'charge:6', 'charge:7']);
  });

  it('[R-16] are asked in vain of nobody: a call whose limit passes while it waits for its turn ends as unknown', async () => {
    const { make, attempt, asked, clock, deadlines, path } = startReconciling(
      { timeoutMs: 60_000 },
      { maxInFlight: 20, retry: { maxAttempts: 1 } },
    );
    for (let index = 0; index < mostProbes; index++) make(`charge:${index}`);
    const last = make('charge:last', { overallMs: 3000 });
    for (let index = 0; index <= mostProbes; index++) attempt(index).reject(lost);
    await clock.advance(3000);
    expect(last.ended()).toMatchObject({ ok: false, failure: { outcome: 'unknown' } });
    expect(asked).toHaveLength(mostProbes);
    path.stop();
    await clock.settle();
    expect([asked.length, deadlines.size]).toEqual([mostProbes, 0]);
  });

  it('[R-16] [O-13] are said to wait for their turn', async () => {
    const { made, why } = await startOutage();
    expect(why(made[0]?.call)?.reconciling).toMatchObject({ state: 'asking', inMs: 5000 });
    expect(why(made[4]?.call)?.reconciling).toEqual({
      asks: 'list_payments',
      about: 'charge',
      held: false,
      state: 'queued',
      probes: 0,
    });
  });
});

describe('a probe that is told to come back later', () => {
  it('[R-16] does so, as often as it is told within the limit of its call, and uses up no attempt', async () => {
    const { make, attempt, asked, clock } = startReconciling({ attempts: 1 });
    const { outcome } = make('charge:1');
    attempt(0).reject(lost);
    for (let times = 0; times < 5; times++) {
      await clock.settle();
      expect(asked).toHaveLength(times + 1);
      asked[times]?.resolve(later(8000));
      await clock.advance(7999);
      expect(asked).toHaveLength(times + 1);
      await clock.advance(1);
    }
    asked[5]?.resolve({ done: 'ch_42' });
    expect(await outcome).toMatchObject({ ok: true, value: 'ch_42' });
  });

  it('[R-16] is asked again as any other where that time is behind the limit of its call', async () => {
    const { make, attempt, asked, clock } = startReconciling({ attempts: 2 });
    const { outcome } = make('charge:1', { overallMs: 10_000 });
    attempt(0).reject(lost);
    await clock.settle();
    asked[0]?.resolve(later(10_000));
    await clock.advance(2000);
    asked[1]?.resolve(later(10_000));
    const how = 'list_payments failed: the circuit of books is open';
    expect(await outcome).toMatchObject({ ok: false, failure: { outcome: 'unknown', how } });
    expect(asked).toHaveLength(2);
  });

  it('[R-16] has all its attempts left when it is answered at last', async () => {
    const { make, attempt, asked, clock } = startReconciling({ attempts: 2 });
    const { outcome } = make('charge:1');
    attempt(0).reject(lost);
    await clock.settle();
    for (let times = 0; times < 3; times++) {
      asked[times]?.resolve(later(5000));
      await clock.advance(5000);
    }
    asked[3]?.resolve('unknown');
    await clock.advance(2000);
    asked[4]?.resolve({ done: 'ch_42' });
    expect(await outcome).toMatchObject({ ok: true, value: 'ch_42' });
  });

  it('[R-16] is never asked in a loop', async () => {
    const { make, attempt, asked, clock } = startReconciling({ attempts: 1 });
    make('charge:1');
    attempt(0).reject(lost);
    await clock.settle();
    asked[0]?.resolve(later(0));
    await clock.advance(499);
    expect(asked).toHaveLength(1);
    await clock.advance(1);
    expect(asked).toHaveLength(2);
  });

  it('[R-16] holds its turn no longer', async () => {
    const { asked, clock } = await startOutage();
    asked[0]?.resolve(later(30_000));
    await clock.settle();
    expect(inputs(asked)).toEqual(['charge:0', 'charge:1', 'charge:2', 'charge:3', 'charge:4']);
  });
});
