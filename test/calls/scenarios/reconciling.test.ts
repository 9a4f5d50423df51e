import { describe, expect, it } from 'vitest';
import type { KeyRule } from '../../../src/policy/reconciler.ts';
import { fault } from '../../support/startIntegration.ts';
import { startReconciling } from '../../support/startReconciling.ts';

const lost = fault('timeout', { message: 'No answer' });

describe('a call whose answer is lost, with a reconcile rule', () => {
  it('[R-16] is answered with what the probe gives', async () => {
    const { make, attempt, asked, clock, facts } = startReconciling();
    const { outcome, call } = make('charge:1');
    attempt(0).reject(lost);
    await clock.settle();
    expect(call.waiting).toBe('reconciling');
    expect(asked.map(({ lost: { integration, tool, input, session } }) => [integration, tool, input, session])).toEqual(
      [['kb', 'charge', 'charge:1', 's1']],
    );
    asked[0]?.resolve({ done: 'ch_42', how: 'it is listed as ch_42' });
    expect(await outcome).toEqual({ ok: true, value: 'ch_42', reconciled: 'it is listed as ch_42' });
    expect(facts.of('call.reconciling')).toMatchObject([
      { asks: 'list_payments', tool: 'charge', attempt: 1, kind: 'timeout' },
    ]);
    expect(facts.of('call.reconciled')).toMatchObject([
      { verdict: 'done', how: 'it is listed as ch_42', probes: 1, late: false },
    ]);
    expect(facts.of('call.succeeded')).toHaveLength(1);
    expect(facts.of('call.failed')).toHaveLength(0);
  });

  it('[R-16] fails as done where the probe gives no result, and is never made again', async () => {
    const { make, attempt, asked, clock, seen } = startReconciling();
    const { outcome } = make('charge:1');
    attempt(0).reject(lost);
    await clock.settle();
    asked[0]?.resolve('done');
    const failure = { kind: 'timeout', outcome: 'done', how: 'list_payments finds it', retryable: false, attempts: 1 };
    expect(await outcome).toMatchObject({ ok: false, failure });
    await clock.advance(60_000);
    expect(seen).toHaveLength(1);
  });

  it('[R-16] is made again after not_done, if its process has ended', async () => {
    const { make, attempt, asked, clock, processes } = startReconciling();
    const { outcome } = make('charge:1');
    attempt(0).reject(lost);
    processes.gone = 1;
    await clock.settle();
    asked[0]?.resolve('not_done');
    await clock.advance(2000);
    attempt(1).resolve('charged');
    expect(await outcome).toEqual({ ok: true, value: 'charged' });
  });

  it('[R-16] after not_done without a further attempt fails as not_done', async () => {
    const { make, attempt, asked, clock, processes } = startReconciling({}, { retry: { maxAttempts: 1 } });
    processes.gone = 1;
    const { outcome } = make('charge:1');
    attempt(0).reject(lost);
    await clock.settle();
    asked[0]?.resolve('not_done');
    expect(await outcome).toMatchObject({ ok: false, failure: { outcome: 'not_done', retryable: true } });
  });

  it('[O-13] [R-16] that an operator has not tried again ends with what is found out, well or not', async () => {
    for (const found of ['done', 'not_done'] as const) {
      const { make, attempt, asked, clock, processes, path, seen } = startReconciling();
      processes.gone = 1;
      const { outcome, call } = make('charge:1');
      attempt(0).reject(lost);
      await clock.settle();
      expect(path.stopRetrying(call, () => undefined)).toMatchObject({ ok: true });
      expect(call.settled).toBe(false);
      asked[0]?.resolve(found);
      await clock.advance(60_000);
      expect(await outcome).toMatchObject({ ok: false, failure: { outcome: found } });
      expect(seen).toHaveLength(1);
    }
  });

  it('[R-16] does not go by not_done while its process lives: it asks again, and it ends as unknown', async () => {
    const { make, attempt, asked, clock, seen } = startReconciling();
    const { outcome } = make('charge:1');
    attempt(0).reject(lost);
    for (let probe = 0; probe < 3; probe++) {
      await clock.advance(3000);
      asked[probe]?.resolve('not_done');
    }
    const failure = { outcome: 'unknown', how: 'list_payments does not find it, and it may still happen' };
    expect(await outcome).toMatchObject({ ok: false, failure });
    expect(seen).toHaveLength(1);
    expect(asked).toHaveLength(3);
  });

  it('[R-16] asks again at notBefore, and then goes by not_done', async () => {
    const { make, attempt, asked, clock, seen } = startReconciling({ notBeforeMs: 10_000 });
    const { outcome } = make('charge:1');
    attempt(0).reject(lost);
    await clock.settle();
    asked[0]?.resolve('not_done');
    await clock.advance(9999);
    expect(asked).toHaveLength(1);
    await clock.advance(1);
    asked[1]?.resolve('not_done');
    await clock.advance(2000);
    expect(seen).toHaveLength(2);
    attempt(1).resolve('charged');
    expect(await outcome).toMatchObject({ ok: true, value: 'charged' });
  });

  it('[R-16] finds out by notBefore that it was done after all', async () => {
    const { make, attempt, asked, clock, seen } = startReconciling({ notBeforeMs: 10_000 });
    const { outcome } = make('charge:1');
    attempt(0).reject(lost);
    await clock.settle();
    asked[0]?.resolve('not_done');
    await clock.advance(10_000);
    asked[1]?.resolve({ done: 'ch_42' });
    expect(await outcome).toMatchObject({ ok: true, value: 'ch_42' });
    expect(seen).toHaveLength(1);
  });

  it('[R-16] asks at once when its process ends, whatever it waits for', async () => {
    const { make, attempt, asked, clock, processes, path } = startReconciling({ notBeforeMs: 20_000 });
    const { outcome } = make('charge:1', { retry: { ...path.policy.retry, maxAttempts: 1 } });
    attempt(0).reject(lost);
    await clock.settle();
    asked[0]?.resolve('not_done');
    await clock.settle();
    processes.gone = 1;
    path.incarnationEnded();
    asked[1]?.resolve('not_done');
    expect(await outcome).toMatchObject({ ok: false, failure: { outcome: 'not_done' } });
  });

  it('[R-16] takes the end of its process for nothing where the rule does not say that its effect ends with it', async () => {
    const { make, attempt, asked, clock, processes, path, seen } = startReconciling({
      endsWithProcess: false,
      notBeforeMs: 20_000,
    });
    const { outcome } = make('charge:1');
    attempt(0).reject(lost);
    await clock.settle();
    processes.gone = 1;
    path.incarnationEnded();
    asked[0]?.resolve('not_done');
    await clock.advance(19_999);
    expect([asked.length, seen.length]).toEqual([1, 1]);
    await clock.advance(1);
    asked[1]?.resolve({ done: 'ch_42' });
    expect(await outcome).toMatchObject({ ok: true, value: 'ch_42' });
  });

  it.each<[string, (asked: { resolve: (value: unknown) => void; reject: (error: Error) => void } | undefined) => void]>(
    [
      ['throws', (asked) => asked?.reject(new Error('down'))],
      ['answers nonsense', (asked) => asked?.resolve({ yes: true })],
      ['does not know', (asked) => asked?.resolve('unknown')],
      ['does not answer', () => undefined],
    ],
  )('[R-16] ends as unknown when its probe %s each time, and is not made again', async (_, answer) => {
    const { make, attempt, asked, clock, seen, deadlines } = startReconciling();
    const { outcome } = make('charge:1', { effect: undefined });
    attempt(0).reject(fault('transient', { message: 'HTTP 500' }));
    for (let probe = 0; probe < 3; probe++) {
      await clock.settle();
      answer(asked[probe]);
      await clock.advance(7000);
    }
    expect(await outcome).toMatchObject({ ok: false, failure: { kind: 'transient', outcome: 'unknown' } });
    expect(asked).toHaveLength(3);
    expect(asked.every(({ signal }) => signal.aborted)).toBe(true);
    expect(seen).toHaveLength(1);
    expect(deadlines.size).toBe(0);
  });

  it('[R-16] contains a probe that throws at once', async () => {
    const { make, attempt, clock } = startReconciling({
      attempts: 1,
      ask: () => {
        throw new Error('broken');
      },
    });
    const { outcome } = make('charge:1');
    attempt(0).reject(lost);
    await clock.settle();
    expect(await outcome).toMatchObject({ ok: false, failure: { outcome: 'unknown', how: 'list_payments failed' } });
  });

  it('[R-16] takes no notice of a probe that answers after its time', async () => {
    const { make, attempt, asked, clock } = startReconciling({ attempts: 1 });
    const { outcome, times } = make('charge:1');
    attempt(0).reject(lost);
    await clock.advance(5000);
    expect(await outcome).toMatchObject({ ok: false, failure: { outcome: 'unknown' } });
    asked[0]?.resolve({ done: 'late' });
    await clock.settle();
    expect(times()).toBe(1);
  });

  it('[R-16] is not asked about what was refused, or may be repeated', async () => {
    const { make, attempt, asked, clock } = startReconciling();
    make('charge:1');
    attempt(0).reject(fault('overloaded', { outcome: 'failed' }));
    make('list:1', { effect: 'readOnly' });
    attempt(1).reject(lost);
    await clock.settle();
    expect(asked).toHaveLength(0);
  });

  it('[R-16] is answered by its own answer when that comes after all', async () => {
    const { make, attempt, asked, clock, facts } = startReconciling();
    const late: string[] = [];
    const { outcome } = make('charge:1', { late: (value) => late.push(value) });
    await clock.advance(5000);
    expect(asked).toHaveLength(1);
    attempt(0).resolve('charged');
    expect(await outcome).toEqual({ ok: true, value: 'charged', reconciled: 'its answer came late' });
    expect(late).toEqual([]);
    expect(asked[0]?.signal.aborted).toBe(true);
    expect(facts.of('call.reconciled')).toMatchObject([{ verdict: 'done', late: false }]);
  });

  it('[R-16] [G-11] is not asked about by a runtime that has lost the session to another', async () => {
    const { make, attempt, asked, clock, seen, deadlines } = startReconciling();
    const settled: string[] = [];
    const log = {
      opened: () => Promise.resolve(false),
      settled: ({ verdict }: { verdict: string }) => void settled.push(verdict),
    };
    const { outcome } = make('charge:1', { reconcileLog: log });
    attempt(0).reject(lost);
    await clock.advance(60_000);
    const failure = { outcome: 'unknown', how: 'another runtime has the session now' };
    expect(await outcome).toMatchObject({ ok: false, failure });
    expect([asked.length, seen.length, deadlines.size]).toEqual([0, 1, 0]);
    expect(settled).toEqual(['unknown']);
  });
});

describe('the limits of a call that is reconciled', () => {
  it('[R-16] end it as unknown; the question stays open behind it', async () => {
    const { make, attempt, asked, clock, facts } = startReconciling({ notBeforeMs: 60_000 });
    const { outcome } = make('charge:1', { overallMs: 10_000 });
    attempt(0).reject(lost);
    await clock.settle();
    asked[0]?.resolve('not_done');
    await clock.advance(10_000);
    expect(await outcome).toMatchObject({ ok: false, failure: { outcome: 'unknown', kind: 'timeout' } });
    await clock.advance(50_000);
    asked[1]?.resolve({ done: 'ch_42' });
    await clock.settle();
    expect(facts.of('call.reconciled')).toMatchObject([{ verdict: 'done', late: true }]);
  });

  it('[R-16] answer a caller who cancels at once, and ask behind it', async () => {
    const { make, asked, clock, facts } = startReconciling();
    const controller = new AbortController();
    const { outcome, times } = make('charge:1', { signal: controller.signal });
    controller.abort();
    expect(await outcome).toMatchObject({ ok: false, failure: { kind: 'cancelled', outcome: 'cancelled' } });
    await clock.settle();
    expect(asked).toHaveLength(1);
    asked[0]?.resolve('done');
    await clock.settle();
    expect(facts.of('call.reconciled')).toMatchObject([{ verdict: 'done', late: true }]);
    expect(times()).toBe(1);
  });

  it('[R-16] answer a caller who cancels while it is asked, once', async () => {
    const { make, attempt, asked, clock } = startReconciling();
    const controller = new AbortController();
    const { outcome, times } = make('charge:1', { signal: controller.signal });
    attempt(0).reject(lost);
    await clock.settle();
    controller.abort();
    expect(await outcome).toMatchObject({ ok: false, failure: { kind: 'cancelled', outcome: 'unknown' } });
    asked[0]?.resolve({ done: 'ch_42' });
    await clock.settle();
    expect(times()).toBe(1);
  });

  it('[R-16] a stop ends the call, its probe and every wait', async () => {
    const { make, attempt, asked, clock, path, deadlines, facts } = startReconciling();
    const { outcome } = make('charge:1');
    attempt(0).reject(lost);
    await clock.settle();
    path.stop();
    expect(await outcome).toMatchObject({ ok: false, failure: { kind: 'cancelled', outcome: 'unknown' } });
    expect(asked[0]?.signal.aborted).toBe(true);
    expect(deadlines.size).toBe(0);
    asked[0]?.resolve('not_done');
    await clock.advance(60_000);
    expect(facts.of('call.reconciled')).toMatchObject([{ verdict: 'unknown', how: 'stopped before it was known' }]);
  });

  it('[R-16] a drain waits for the question, also without its caller', async () => {
    const { make, asked, clock, path } = startReconciling();
    const controller = new AbortController();
    make('charge:1', { signal: controller.signal });
    controller.abort();
    await clock.settle();
    let ended = 0;
    path.drain({ until: 60_000, ended: () => ended++ });
    expect(path.busy).toBe(true);
    asked[0]?.resolve('done');
    await clock.settle();
    expect(path.busy).toBe(false);
    expect(ended).toBeGreaterThan(0);
  });

  it('[R-16] an open circuit ends no call that waits for a verdict', async () => {
    const { make, attempt, asked, clock, path } = startReconciling();
    const { outcome, ended } = make('charge:1');
    attempt(0).reject(lost);
    await clock.settle();
    const release = path.link.isolate();
    await clock.settle();
    expect(ended()).toBeUndefined();
    asked[0]?.resolve({ done: 'ch_42' });
    expect(await outcome).toMatchObject({ ok: true });
    release();
  });
});

describe('calls that equal one whose effect is open', () => {
  it('[R-16] wait for its verdict and share it; another input passes', async () => {
    const { make, attempt, asked, clock, seen } = startReconciling();
    const first = make('charge:1');
    attempt(0).reject(lost);
    await clock.settle();
    const second = make('charge:1');
    make('charge:2');
    await clock.settle();
    expect(seen.map(({ input }) => input)).toEqual(['charge:1', 'charge:2']);
    expect(second.call.waiting).toBe('reconciling');
    asked[0]?.resolve({ done: 'ch_42', how: 'listed' });
    expect(await first.outcome).toMatchObject({ value: 'ch_42' });
    expect(await second.outcome).toEqual({ ok: true, value: 'ch_42', reconciled: 'listed' });
  });

  it('[R-16] of other sessions, or without one, are not held', async () => {
    const { make, attempt, clock, seen } = startReconciling();
    make('charge:1');
    attempt(0).reject(lost);
    await clock.settle();
    make('charge:1', { session: 's2' });
    make('charge:1', { session: undefined });
    expect(seen).toHaveLength(3);
  });

  it('[R-16] of any input wait with hold: tool, and go on when it is known', async () => {
    const { make, attempt, asked, clock, seen } = startReconciling({ hold: 'tool' });
    make('charge:1');
    attempt(0).reject(lost);
    await clock.settle();
    make('charge:2');
    make('list:1');
    expect(seen.map(({ input }) => input)).toEqual(['charge:1', 'list:1']);
    asked[0]?.resolve('done');
    await clock.settle();
    expect(seen.map(({ input }) => input)).toEqual(['charge:1', 'list:1', 'charge:2']);
  });

  it('[R-16] are known by their own input where another of the tool waited with them', async () => {
    const { make, attempt, asked, clock, processes, seen } = startReconciling({ hold: 'tool' });
    const controller = new AbortController();
    make('charge:1', { signal: controller.signal });
    processes.gone = 1;
    processes.current = 2;
    controller.abort();
    await clock.settle();
    const other = make('charge:2');
    asked[0]?.resolve('not_done');
    await clock.settle();
    // It is made, as no call equals the one that did not happen, and its own answer is lost.
    attempt(1).reject(lost);
    await clock.settle();
    const equal = make('charge:2');
    asked[1]?.resolve({ done: 'ch_2' });
    expect(await other.outcome).toMatchObject({ value: 'ch_2' });
    expect(await equal.outcome).toMatchObject({ value: 'ch_2' });
    expect(seen).toHaveLength(2);
  });

  it('[R-16] end as unknown with it', async () => {
    const { make, attempt, asked, clock, seen } = startReconciling({ attempts: 1 });
    make('charge:1');
    attempt(0).reject(lost);
    await clock.settle();
    const second = make('charge:1');
    asked[0]?.resolve('unknown');
    expect(await second.outcome).toMatchObject({ ok: false, failure: { outcome: 'unknown', attempts: 0 } });
    expect(seen).toHaveLength(1);
  });

  it('[R-16] after not_done wait for the call that is made again, and share its answer', async () => {
    const { make, attempt, asked, clock, processes, seen } = startReconciling();
    const first = make('charge:1');
    attempt(0).reject(lost);
    processes.gone = 1;
    await clock.settle();
    const second = make('charge:1');
    asked[0]?.resolve('not_done');
    await clock.advance(2000);
    expect(seen).toHaveLength(2);
    attempt(1).resolve('charged');
    expect(await first.outcome).toMatchObject({ value: 'charged' });
    expect(await second.outcome).toMatchObject({ value: 'charged', reconciled: 'an equal call was answered' });
  });

  it('[R-16] after not_done, where its caller has left, one of them is made and the others wait for that', async () => {
    const { make, attempt, asked, clock, processes, seen } = startReconciling();
    const controller = new AbortController();
    make('charge:1', { signal: controller.signal });
    processes.gone = 1;
    processes.current = 2;
    controller.abort();
    await clock.settle();
    const second = make('charge:1');
    const third = make('charge:1');
    asked[0]?.resolve('not_done');
    await clock.settle();
    expect(seen).toHaveLength(2);
    // Its answer is lost as well: both wait on.
    attempt(1).reject(lost);
    await clock.settle();
    expect(seen).toHaveLength(2);
    asked[1]?.resolve({ done: 'ch_43' });
    expect(await second.outcome).toMatchObject({ value: 'ch_43' });
    expect(await third.outcome).toMatchObject({ value: 'ch_43' });
  });

  it('[R-16] end by their own limits as unknown, and not as not started', async () => {
    const { make, attempt, clock, seen } = startReconciling({ timeoutMs: 60_000 });
    make('charge:1');
    attempt(0).reject(lost);
    await clock.settle();
    const second = make('charge:1', { overallMs: 3000 });
    await clock.advance(3000);
    expect(second.ended()).toMatchObject({ ok: false, failure: { outcome: 'unknown' } });
    expect(seen).toHaveLength(1);
  });

  it.each([
    [599_999, ['charge:1', 'charge:1']],
    [600_000, ['charge:1', 'charge:1', 'charge:1']],
  ])('[R-16] are answered once with a verdict that came too late, %s ms after it', async (waitMs, expected) => {
    const { make, asked, clock, seen } = startReconciling();
    const controller = new AbortController();
    make('charge:1', { signal: controller.signal });
    controller.abort();
    await clock.settle();
    asked[0]?.resolve({ done: 'ch_42' });
    await clock.advance(waitMs);
    make('charge:1');
    make('charge:1');
    await clock.settle();
    expect(seen.map(({ input }) => input)).toEqual(expected);
  });

  it('[R-16] of an idempotency key are the same to the other side, once its outcome was unknown', async () => {
    const key: KeyRule = {
      kind: 'key',
      about: (request) => ({ tool: 'charge', input: request }),
      keyed: (request, given) => `${String(request)}#${given}`,
    };
    let chance = 0;
    const random = (): number => (chance = (chance + 0.37) % 1);
    const { make, attempt, clock, seen, path } = startReconciling({}, { retry: { maxAttempts: 2 } }, { random });
    const settings = { reconcile: key, effect: 'idempotent' } as const;
    const first = make('charge:1', settings);
    attempt(0).reject(lost);
    await clock.advance(3000);
    attempt(1).reject(lost);
    expect(await first.outcome).toMatchObject({ ok: false, failure: { outcome: 'unknown' } });
    // One that is refused has told nobody.
    const release = path.link.isolate();
    await make('charge:1', settings).outcome;
    release();
    await clock.settle();
    make('charge:1', settings);
    seen[2]?.resolve('charged');
    await clock.settle();
    make('charge:1', settings);
    make('charge:1', settings);
    const keys = seen.map(({ input }) => input);
    expect(keys[0]).toMatch(/^charge:1#[0-9a-f-]{36}$/);
    expect(keys.map((each) => keys.indexOf(each))).toEqual([0, 0, 0, 3, 4]);
  });

  it('[R-16] [G-11] that an earlier process had sent are never said not to have taken effect', async () => {
    const { make, attempt, clock, path } = startReconciling({}, { retry: { maxAttempts: 1 } });
    const settings = { reconcile: undefined, effect: 'idempotent', isSentBefore: true } as const;
    const refused = make('charge:1', settings);
    attempt(0).reject(fault('overloaded', { outcome: 'failed' }));
    expect(await refused.outcome).toMatchObject({ failure: { kind: 'overloaded', outcome: 'unknown' } });
    path.link.isolate();
    await clock.settle();
    expect(await make('charge:1', settings).outcome).toMatchObject({
      failure: { kind: 'circuit_open', outcome: 'unknown' },
    });
  });
});
