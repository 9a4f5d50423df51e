import { describe, expect, it } from 'vitest';
import { whyOf } from '../../../src/calls/callWhy.ts';
import { defaultSettings } from '../../../src/calls/callOptions.ts';
import type { Outcome } from '../../../src/policy/failures/failure.ts';
import { isSettled } from '../../support/deferred.ts';
import { fc } from '../../support/property.ts';
import { startRated, type StartedRated } from '../../support/rates.ts';
import { fault } from '../../support/startIntegration.ts';

const perMin = (requests: number) => ({ requests, perMs: 60_000 });
const capacity = (limit: number) => ({ requests: { limit, perMs: 60_000 } });
const answers = (): Promise<string> => Promise.resolve('answer');
const inputs = ({ seen }: StartedRated): string[] => seen.map(({ input }) => input);

describe('an integration with a rate limit', () => {
  it('[R-15] has calls wait for their part, first come first, without an attempt', async () => {
    const started = startRated(perMin(2));
    const { integration, clock } = started;
    for (const input of ['a', 'b', 'c', 'd', 'e']) void integration.call(input);
    expect(inputs(started)).toEqual(['a', 'b']);
    await clock.advance(29_999);
    expect(inputs(started)).toEqual(['a', 'b']);
    await clock.advance(1);
    expect(inputs(started)).toEqual(['a', 'b', 'c']);
    await clock.advance(60_000);
    expect(inputs(started)).toEqual(['a', 'b', 'c', 'd', 'e']);
  });

  it('[R-15] refuses at once what would wait past its deadline, with when to come again, and nothing is dispatched', async () => {
    const started = startRated(perMin(1));
    const { integration, facts, clock } = started;
    void integration.call('a');
    void integration.call('b');
    const refused = await integration.call('c', { overallMs: 120_000 });
    expect(refused).toMatchObject({
      ok: false,
      failure: { kind: 'rate_limit', retryAfterMs: 120_000, outcome: 'not_started', attempts: 0 },
    });
    expect(refused.ok || refused.failure.message).toContain('requests 1/min');
    expect(inputs(started)).toEqual(['a']);
    expect(facts.of('call.refused')).toHaveLength(1);
    expect(facts.of('call.failed')).toHaveLength(0);
    // It took nothing: the next in time waits no longer for it.
    void integration.call('d', { overallMs: 120_001 });
    await clock.advance(120_000);
    expect(inputs(started)).toEqual(['a', 'b', 'd']);
  });

  it('[R-15] never opens the circuit, and raises no pause', async () => {
    const { integration, facts } = startRated(perMin(1), { operation: answers });
    await integration.call('a');
    for (let n = 0; n < 20; n++) await integration.call('b', { overallMs: 10 });
    expect(integration.breaker.state).toBe('closed');
    expect(facts.of('breaker.opened')).toEqual([]);
    expect(facts.of('integration.paused')).toEqual([]);
    expect(integration.stats).toMatchObject({ refused: 20, failed: 0 });
  });

  it('[R-15] gives the place of a call that is aborted while it waits to the next', async () => {
    const started = startRated(perMin(1));
    const { integration, clock } = started;
    void integration.call('a');
    const gone = new AbortController();
    const aborted = integration.call('b', { signal: gone.signal });
    void integration.call('c');
    await clock.advance(10_000);
    gone.abort();
    expect(await aborted).toMatchObject({ failure: { kind: 'cancelled', outcome: 'not_started' } });
    await clock.advance(50_000);
    expect(inputs(started)).toEqual(['a', 'c']);
  });

  it('[R-15] has a large call starve for nobody: those that came later wait behind it', async () => {
    const functions = { cost: (input: string) => Number(input) };
    const started = startRated({ tokens: 60, perMs: 60_000 }, { functions });
    const { integration, clock } = started;
    for (const input of ['50', '55', '1', '1']) void integration.call(input);
    await clock.advance(44_999);
    expect(inputs(started)).toEqual(['50']);
    await clock.advance(1);
    expect(inputs(started)).toEqual(['50', '55']);
    await clock.advance(2000);
    expect(inputs(started)).toEqual(['50', '55', '1', '1']);
  });

  it('[R-15] counts retries, and lets them wait like any other', async () => {
    const started = startRated(perMin(1), { policy: { retry: { backoff: { initialMs: 1, maxMs: 1 } } } });
    const { integration, clock, attempt } = started;
    void integration.call('a');
    attempt(0).reject(fault('transient', { outcome: 'not_started' }));
    await clock.advance(30_000);
    expect(inputs(started)).toEqual(['a']);
    await clock.advance(30_000);
    expect(inputs(started)).toEqual(['a', 'a']);
  });

  it('[R-15] keeps the last failure of a call whose next attempt does not fit', async () => {
    const { integration, clock, attempt } = startRated(perMin(1));
    const call = integration.call('a', { overallMs: 30_000 });
    attempt(0).reject(fault('transient', { outcome: 'not_started' }));
    await clock.advance(2000);
    expect(await call).toMatchObject({
      failure: { kind: 'rate_limit', attempts: 1, cause: { kind: 'transient' } },
    });
  });

  it('[R-15] has a stream take its place as a call does', async () => {
    const started = startRated(perMin(1));
    const { integration, clock } = started;
    void integration.call('a');
    const { outcome } = integration.stream('b');
    expect(inputs(started)).toEqual(['a']);
    await clock.advance(60_000);
    expect(inputs(started)).toEqual(['a', 'b']);
    void outcome;
  });

  it('[R-15] keeps the order of a call that finds no free permit when its turn comes', async () => {
    const started = startRated(perMin(60), { policy: { maxInFlight: 1, queueLength: 5 } });
    const { integration, clock } = started;
    started.rates.of('kb', capacity(60)).take({ requests: 59 });
    for (const input of ['a', 'b', 'c']) void integration.call(input);
    await clock.advance(1500);
    expect(inputs(started)).toEqual(['a']);
    started.attempt(0).resolve('answer');
    await clock.advance(1000);
    expect(inputs(started)).toEqual(['a', 'b']);
    started.attempt(1).resolve('answer');
    await clock.advance(1000);
    expect(inputs(started)).toEqual(['a', 'b', 'c']);
  });

  it('[R-15] ends calls that wait when it is stopped, and leaves nothing behind', async () => {
    const { integration, path, deadlines, rates, clock } = startRated(perMin(1));
    const calls = ['a', 'b', 'c'].map((input) => integration.call(input));
    path.stop();
    for (const outcome of await Promise.all(calls)) expect(outcome).toMatchObject({ failure: { reason: 'stopped' } });
    expect([deadlines.size, rates.of('kb').waiting]).toEqual([0, 0]);
    await clock.settle();
    expect(clock.pending).toBe(0);
  });

  it('[R-15] lets calls wait on through a restart by hand and a crash', async () => {
    const started = startRated(perMin(1));
    const { integration, path, clock } = started;
    void integration.call('a');
    void integration.call('b');
    path.restart();
    path.crashed({ kind: 'crash', message: 'gone', outcome: 'unknown' });
    await clock.advance(30_000);
    path.restarted();
    await clock.advance(30_000);
    expect(inputs(started)).toEqual(['a', 'b']);
  });

  it('[R-15] a drain ends at once what would come after its end', async () => {
    const { integration, path, clock } = startRated(perMin(1));
    void integration.call('a');
    const [b, c] = [integration.call('b'), integration.call('c')];
    const until = clock.now() + 90_000;
    path.drain({ until, ended: () => undefined, admits: false } as never);
    await clock.settle();
    expect(await isSettled(b)).toBe(false);
    expect(await c).toMatchObject({ failure: { kind: 'cancelled', reason: 'stopped' } });
  });

  it('[R-15] tells of waits at most every ten seconds, with how many there were', async () => {
    const { integration, facts, clock } = startRated(perMin(60));
    for (let n = 0; n < 100; n++) void integration.call('a');
    expect(facts.of('integration.rate_limited')).toEqual([
      {
        type: 'integration.rate_limited',
        integration: 'kb',
        of: 'requests',
        limit: 60,
        perMs: 60_000,
        waitMs: 1000,
        calls: 1,
      },
    ]);
    await clock.advance(10_000);
    void integration.call('a');
    expect(facts.of('integration.rate_limited')).toHaveLength(2);
    expect(facts.of('integration.rate_limited')[1]?.calls).toBeGreaterThan(30);
  });

  it('[R-15] says of a waiting call what it waits for, and for how long', async () => {
    const { path, clock } = startRated(perMin(1));
    const settings = defaultSettings<string, string>(path.policy, undefined);
    path.start('a', settings, () => undefined);
    const [b, c] = [1, 2].map(() => path.start('b', settings, () => undefined));
    await clock.advance(48_000);
    const rate = { of: 'requests', limit: 1, perMs: 60_000 };
    expect(whyOf(b as never, clock)).toMatchObject({
      phase: 'rate',
      rate: { ...rate, waitMs: 12_000 },
      next: { rule: 'rate_limit', inMs: 12_000 },
    });
    expect(whyOf(c as never, clock)).toMatchObject({ rate: { ...rate, waitMs: 72_000 } });
    expect(path.rateWait).toMatchObject({ waitMs: 12_000 });
    await clock.advance(200_000);
    expect(path.rateWait).toBeUndefined();
  });

  it('[R-15] has a limit hold where the cost function throws or returns nonsense, and says so once a minute', async () => {
    const costs = [() => Number.NaN, () => -1, () => 'many' as never, () => ({ tokens: Number.POSITIVE_INFINITY })];
    const thrower = (): number => {
      throw new Error('sk-secret');
    };
    for (const cost of [...costs, thrower]) {
      const started = startRated(
        { tokens: 1000, perMs: 600_000 },
        { functions: { cost }, policy: { maxInFlight: 100 } },
      );
      const { integration, warnings, clock } = started;
      for (let n = 0; n < 15; n++) void integration.call('a');
      expect(started.seen).toHaveLength(10);
      expect(warnings).toEqual([
        expect.stringMatching(/^kb: `rate.cost` (threw|returned no number).*a tenth of a limit$/),
      ]);
      expect(warnings.join()).not.toContain('sk-secret');
      await clock.advance(60_000);
      void integration.call('a');
      expect(warnings).toHaveLength(2);
    }
  });

  it('[R-15] takes a call whose cost is unknown for what calls have cost of late', async () => {
    const cost = (input: string): number => (input === 'broken' ? Number.NaN : 50);
    const started = startRated({ tokens: 1000, perMs: 600_000 }, { functions: { cost } });
    const { integration, attempt, rates } = started;
    const left = (): number => 1000 - (rates.of('kb').take({ tokens: 1001 }) / 600_000) * 1000;
    const costOf = (input: string): number => {
      const before = left();
      void integration.call(input);
      return Math.round(before - left());
    };
    expect(costOf('good')).toBe(50);
    expect(costOf('broken')).toBe(50);
    attempt(0).context.spent({ tokens: 40 });
    attempt(0).context.spent({ tokens: 30 });
    expect(costOf('broken')).toBe(30);
    attempt(1).context.spent({ tokens: 20 });
    expect(costOf('broken')).toBe(25);
  });

  it('[R-15] has a limit hold of which attempts tell what they cost, or nobody', async () => {
    const started = startRated({ tokens: 1000, perMs: 600_000 }, { policy: { maxInFlight: 100 } });
    const { integration, attempt, warnings } = started;
    for (let n = 0; n < 10; n++) void integration.call('a');
    expect([started.seen.length, warnings]).toEqual([10, []]);
    void integration.call('a');
    expect([started.seen.length, warnings.join()]).toEqual([
      10,
      expect.stringMatching(/neither `rate.cost` nor `spent`/),
    ]);
    for (let n = 0; n < 10; n++) attempt(n).context.spent({ tokens: 1 });
    for (let n = 0; n < 50; n++) void integration.call('a');
    await started.clock.advance(60_000);
    expect(started.seen.length).toBe(61);
  });

  it('[R-15] lets a cost above the limit go when all is there, and the next when it has come back', async () => {
    const started = startRated({ tokens: 1000, perMs: 10_000 }, { functions: { cost: Number } });
    for (const input of ['5000', '1']) void started.integration.call(input, { overallMs: 60_000 });
    expect(inputs(started)).toEqual(['5000']);
    await started.clock.advance(40_009);
    expect(inputs(started)).toEqual(['5000']);
    await started.clock.advance(1);
    expect(inputs(started)).toEqual(['5000', '1']);
  });

  it('[R-15] settles with what an attempt says that it really spent', async () => {
    const started = startRated({ tokens: 60, perMs: 60_000 }, { functions: { cost: () => 10 } });
    const { integration, attempt, rates } = started;
    void integration.call('a');
    attempt(0).context.spent({ tokens: 30 });
    attempt(0).context.spent({ tokens: 50, other: 3, nonsense: Number.NaN });
    expect(rates.of('kb').take({ tokens: 11 })).toBe(1000);
    attempt(0).context.spent({ tokens: 0 });
    expect(rates.of('kb').take({ tokens: 60 })).toBe(0);
  });

  it('[R-15] learns from the headers that an operation hands on, also where nothing is configured', async () => {
    const started = startRated({});
    const { integration, attempt, clock } = started;
    void integration.call('a');
    void integration.call('b');
    attempt(0).context.rateLimit({
      'x-ratelimit-limit-requests': '10',
      'x-ratelimit-remaining-requests': '1',
      'x-ratelimit-reset-requests': '54s',
    });
    void integration.call('c');
    void integration.call('d');
    expect(inputs(started)).toEqual(['a', 'b', 'c']);
    await clock.advance(6000);
    expect(inputs(started)).toEqual(['a', 'b', 'c', 'd']);
  });

  it('[R-15] learns nothing where it is told not to', async () => {
    const started = startRated({ ...perMin(100), learn: false });
    void started.integration.call('a');
    started.attempt(0).context.rateLimit({ 'x-ratelimit-limit-requests': '1', 'x-ratelimit-remaining-requests': '0' });
    void started.integration.call('b');
    expect(inputs(started)).toEqual(['a', 'b']);
  });

  it('[R-15] holds a call back for an answer that came while it waited', async () => {
    const started = startRated(perMin(60));
    const { integration, attempt, clock, rates } = started;
    rates.of('kb', capacity(60)).take({ requests: 59 });
    void integration.call('a');
    void integration.call('b');
    attempt(0).context.rateLimit({
      'x-ratelimit-limit': '60',
      'x-ratelimit-remaining': '0',
      'x-ratelimit-reset': '30',
    });
    await clock.advance(29_999);
    expect(inputs(started)).toEqual(['a']);
    await clock.advance(1);
    expect(inputs(started)).toEqual(['a', 'b']);
  });

  it('[R-15] shares a bucket by its key: in order over both, and a call of one wakes the other', async () => {
    const one = startRated({ ...perMin(1), key: 'team' });
    const two = startRated({ requests: 5, perMs: 60_000, key: 'team' }, { beside: one });
    void one.integration.call('a');
    const gone = new AbortController();
    void two.integration.call('b', { signal: gone.signal });
    void one.integration.call('c');
    gone.abort();
    await one.clock.advance(60_000);
    expect([...inputs(one), ...inputs(two)]).toEqual(['a', 'c']);
  });

  it('[R-15] has a bucket for each key that calls have, made when it is asked for', () => {
    const started = startRated(perMin(1), { functions: { keyOf: (input) => input.slice(0, 1) } });
    for (const input of ['a1', 'a2', 'b1', 'b2']) void started.integration.call(input);
    expect(inputs(started)).toEqual(['a1', 'b1']);
    expect(started.rates.size).toBe(2);
  });

  it('[R-15] probes an open circuit without waiting', async () => {
    const started = startRated(perMin(1), {
      policy: { breaker: { consecutiveFailures: 1 }, retry: { maxAttempts: 1 } },
    });
    const { integration, clock, attempt } = started;
    void integration.call('a');
    attempt(0).reject(fault('transient', { outcome: 'failed' }));
    await clock.settle();
    expect(integration.breaker.state).toBe('open');
    started.rates.of('kb').learn({ requests: { limit: 1, remaining: 0, resetMs: 3_600_000, atOnce: true } });
    await clock.advance(120_000);
    void integration.call('probe');
    expect(inputs(started)).toEqual(['a', 'probe']);
  });

  it('[R-15] [I-1] never gives more than there is, and ends each call once by its deadline', async () => {
    const call = fc.record({
      afterMs: fc.integer({ min: 0, max: 3000 }),
      cost: fc.integer({ min: 1, max: 15 }),
      overallMs: fc.integer({ min: 1, max: 30_000 }),
      workMs: fc.integer({ min: 0, max: 4000 }),
      abortMs: fc.option(fc.integer({ min: 0, max: 10_000 })),
      fails: fc.boolean(),
    });
    const limits = { limit: fc.integer({ min: 5, max: 30 }), maxInFlight: fc.integer({ min: 1, max: 5 }) };
    await fc.assert(
      fc.asyncProperty(fc.array(call, { maxLength: 40 }), fc.record(limits), async (calls, { limit, maxInFlight }) => {
        const begun: { readonly at: number; readonly cost: number }[] = [];
        const started: StartedRated = startRated(
          { tokens: limit, perMs: 10_000 },
          {
            policy: { maxInFlight, queueLength: 3, breaker: { consecutiveFailures: 1000, minimumAttempts: 50 } },
            functions: { cost: (input) => Number(input.split(':')[0]) },
            operation: (input) => {
              const [cost, workMs, fails] = input.split(':').map(Number);
              begun.push({ at: started.clock.now(), cost: cost ?? 0 });
              return new Promise((resolve, reject) => {
                const end = (): void =>
                  fails === 1 ? reject(fault('transient', { outcome: 'not_started' })) : resolve('done');
                started.clock.setTimeout(end, workMs ?? 0);
              });
            },
          },
        );
        const { clock, integration } = started;
        const ends: number[] = [];
        const outcomes: Promise<Outcome<string>>[] = [];
        for (const { afterMs, cost, overallMs, workMs, abortMs, fails } of calls) {
          await clock.advance(afterMs);
          const gone = new AbortController();
          if (abortMs !== null) clock.setTimeout(() => gone.abort(), abortMs);
          const due = clock.now() + overallMs;
          const input = `${cost}:${workMs}:${Number(fails)}`;
          const outcome = integration.call(input, { overallMs, signal: gone.signal });
          void outcome.then(() => ends.push(clock.now() - due));
          outcomes.push(outcome);
        }
        await clock.advance(60_000);
        await Promise.all(outcomes);
        expect(ends).toHaveLength(calls.length);
        for (const late of ends) expect(late).toBeLessThanOrEqual(1);
        for (const [from, { at }] of begun.entries()) {
          let sum = 0;
          for (const later of begun.slice(from)) {
            sum += later.cost;
            // A cost above the limit waits for a full bucket, and then is all that goes.
            const most = Math.max(limit, later.cost) + ((later.at - at) * limit) / 10_000;
            expect(sum).toBeLessThanOrEqual(most + 15 + 1e-6);
          }
        }
        expect([started.deadlines.size, started.rates.of('kb').waiting]).toEqual([0, 0]);
      }),
      { numRuns: 60 },
    );
  });
});
