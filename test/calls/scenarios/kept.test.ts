import { describe, expect, it } from 'vitest';
import { syntheticResult } from '../../../src/policy/failures/syntheticResult.ts';
import { fault } from '../../support/startIntegration.ts';
import { about, failureIn, startKeeping } from '../../support/startKeeping.ts';

describe('a call whose limit has passed while its work goes on', () => {
  it('[R-18] is kept: its work gets no abort, it ends in time, and says until when its answer can be had', async () => {
    const { make, attempt, clock, facts, path } = startKeeping();
    const first = make('pay:1');
    const { signal } = attempt(0).context;
    await clock.advance(3000);
    const failure = failureIn(first.outcome());
    expect(failure).toMatchObject({ kind: 'timeout', outcome: 'unknown', retryable: true, kept: { forMs: 600_000 } });
    expect(signal.aborted).toBe(false);
    expect(facts.of('call.kept')).toMatchObject([{ tool: 'pay', id: 'kb-1', attempt: 1, forMs: 600_000 }]);
    expect(path.stats.attempts).toBe(0);
    if (failure === undefined) throw new Error('It did not fail');
    const until = new Date(failure.kept?.until ?? 0).toISOString().slice(11, 19);
    expect(syntheticResult(failure, 3000)).toMatchObject({ retryable: true, keptUntil: failure.kept?.until });
    expect(syntheticResult(failure, 3000).error).toContain(`make the same call again within 10m (until ${until} UTC)`);
    expect(syntheticResult(failure, 3000).error).not.toContain('check before');
  });

  it('[R-18] an abort by a signal that is read only later is none either', async () => {
    const { make, attempt, clock } = startKeeping();
    make('pay:1');
    await clock.advance(3000);
    expect(attempt(0).context.signal.aborted).toBe(false);
  });

  it('[R-18] is joined by the next equal call of its session, which gets the answer that comes', async () => {
    const { make, attempt, clock, seen, facts, given } = startKeeping();
    make('pay:1');
    await clock.advance(3000);
    const second = make('pay:1');
    await clock.advance(2000);
    attempt(0).resolve('paid');
    await clock.settle();
    expect(second.outcome()).toEqual({
      ok: true,
      value: 'paid',
      reconciled: 'the same call was made 5s ago, and this is its answer',
    });
    expect(seen).toHaveLength(1);
    expect(given).toEqual(['pay:1']);
    expect(facts.of('call.joined')).toMatchObject([{ of: 'kb-1', found: 'running', agoMs: 3000, tool: 'pay' }]);
    expect(facts.of('call.kept_ended')).toMatchObject([{ id: 'kb-1', how: 'answered', waited: 1, afterMs: 2000 }]);
    // Once: the next one is made.
    make('pay:1');
    expect(seen).toHaveLength(2);
  });

  it('[R-18] gives its finished answer to the next equal call, once, with its age in words', async () => {
    const { make, attempt, clock, seen, given, late, facts } = startKeeping();
    make('pay:1');
    await clock.advance(3000);
    attempt(0).resolve('paid');
    await clock.advance(60_000);
    expect(late).toEqual(['paid']);
    expect(given).toEqual([]);
    const second = make('pay:1');
    await clock.settle();
    expect(second.ended).toEqual([
      { ok: true, value: 'paid', reconciled: 'the same call was made 1m3s ago, and answered 1m ago' },
    ]);
    expect(given).toEqual(['pay:1']);
    expect(facts.of('call.joined')).toMatchObject([{ found: 'done', agoMs: 63_000 }]);
    make('pay:1');
    expect(seen).toHaveLength(2);
  });

  it.each([
    ['an answer', 'answer'],
    ['a loss', 'loss'],
  ] as const)('[R-18] keeps %s that comes between two calls, though one that had joined gave up', async (_, how) => {
    const { make, attempt, clock, seen } = startKeeping();
    make('pay:1');
    await clock.advance(3000);
    const joined = make('pay:1');
    await clock.advance(3000);
    expect(failureIn(joined.outcome())).toMatchObject({ kind: 'timeout', kept: {} });
    if (how === 'answer') attempt(0).resolve('paid');
    else attempt(0).reject(fault('crash'));
    await clock.advance(1000);
    const next = make('pay:1');
    await clock.settle();
    expect(seen).toHaveLength(1);
    expect(next.outcome()).toMatchObject(
      how === 'answer' ? { ok: true, value: 'paid' } : { ok: false, failure: { outcome: 'unknown' } },
    );
    make('pay:1');
    expect(seen).toHaveLength(2);
  });

  it('[R-18] an undeclared or idempotent one gives its finished answer too; a declared read is made anew', async () => {
    for (const effect of [undefined, 'idempotent', 'readOnly'] as const) {
      const { make, attempt, clock, seen } = startKeeping();
      make('get:1', { effect });
      await clock.advance(3000);
      attempt(0).resolve('old');
      await clock.settle();
      const second = make('get:1', { effect });
      expect([effect, seen.length, second.ended.length]).toEqual([
        effect,
        effect === 'readOnly' ? 2 : 1,
        effect === 'readOnly' ? 0 : 1,
      ]);
    }
  });

  it('[R-18] a declared read that runs still is joined, and not made a second time', async () => {
    const { make, attempt, clock, seen } = startKeeping();
    make('get:1', { effect: 'readOnly' });
    await clock.advance(3000);
    const second = make('get:1', { effect: 'readOnly' });
    attempt(0).resolve('fresh');
    await clock.settle();
    expect(second.outcome()).toMatchObject({ ok: true, value: 'fresh' });
    expect(seen).toHaveLength(1);
  });

  it('[R-18] is another call with other arguments, in another session, and without a session', async () => {
    const { make, attempt, clock, seen } = startKeeping();
    make('pay:1');
    await clock.advance(3000);
    make('pay:2');
    make('pay:1', { session: 's2' });
    make('pay:1', { session: undefined });
    expect(seen).toHaveLength(4);
    attempt(0).resolve('paid');
    await clock.settle();
    const other = make('pay:1', { session: 's3' });
    expect(other.ended).toEqual([]);
    expect(seen).toHaveLength(5);
    // Without a session nothing is kept.
    const { signal } = attempt(3).context;
    await clock.advance(3000);
    expect(signal.aborted).toBe(true);
  });

  it('[R-18] a joiner keeps its own limits, and is told until when it may ask again', async () => {
    const { make, clock, seen } = startKeeping();
    make('pay:1');
    await clock.advance(3000);
    const second = make('pay:1');
    await clock.advance(3000);
    expect(failureIn(second.outcome())).toMatchObject({
      kind: 'timeout',
      outcome: 'unknown',
      kept: { forMs: 597_000 },
    });
    const third = make('pay:1', { attemptMs: 10_000, overallMs: 1000 });
    await clock.advance(1000);
    expect(failureIn(third.outcome())).toMatchObject({ kind: 'timeout', kept: { forMs: 596_000 } });
    expect(seen).toHaveLength(1);
  });

  it('[R-18] a joiner waits on where the work shows signs of life, up to its limit on an attempt', async () => {
    const limits = { idleMs: 1000, attemptMs: 3000, overallMs: 60_000 };
    const { make, attempt, clock } = startKeeping({ limits });
    make('pay:1');
    await clock.advance(1000);
    const second = make('pay:1');
    for (let beat = 0; beat < 3; beat++) {
      await clock.advance(900);
      attempt(0).context.touch();
      expect(second.ended).toEqual([]);
    }
    await clock.advance(300);
    expect(failureIn(second.outcome())).toMatchObject({ reason: 'attempt_timeout' });
    const third = make('pay:1');
    await clock.advance(1000);
    expect(failureIn(third.outcome())).toMatchObject({ reason: 'idle_timeout' });
  });

  it('[R-18] is ended after its time; the first equal call is then answered unknown and not made, once', async () => {
    const { make, attempt, clock, seen, facts, given } = startKeeping();
    make('pay:1');
    const { signal } = attempt(0).context;
    await clock.advance(603_000);
    expect(signal.aborted).toBe(true);
    expect(facts.of('call.kept_ended')).toMatchObject([{ how: 'expired', waited: 0 }]);
    const second = make('pay:1');
    await clock.settle();
    expect(failureIn(second.outcome())).toMatchObject({ outcome: 'unknown', attempts: 0 });
    expect(failureIn(second.outcome())?.message).toContain('no answer came for as long as it was kept');
    expect(given).toEqual(['pay:1']);
    expect(seen).toHaveLength(1);
    make('pay:1');
    expect(seen).toHaveLength(2);
  });

  it('[R-18] that its server took with it answers the next equal call unknown, once; one that waits is told at once', async () => {
    const { make, attempt, clock, seen } = startKeeping();
    make('pay:1');
    make('pay:2');
    await clock.advance(3000);
    const joined = make('pay:2');
    attempt(0).reject(fault('crash'));
    attempt(1).reject(fault('crash'));
    await clock.settle();
    expect(failureIn(joined.outcome())).toMatchObject({ outcome: 'unknown' });
    expect(failureIn(make('pay:1').outcome())).toMatchObject({ outcome: 'unknown' });
    expect(seen).toHaveLength(2);
    make('pay:1');
    make('pay:2');
    expect(seen).toHaveLength(4);
  });

  it('[R-18] a read that waits for one that was lost is made anew', async () => {
    const { make, attempt, clock, seen } = startKeeping();
    make('get:1', { effect: 'readOnly' });
    await clock.advance(3000);
    const second = make('get:1', { effect: 'readOnly' });
    attempt(0).reject(fault('crash'));
    await clock.settle();
    attempt(1).resolve('new');
    await clock.settle();
    expect(second.outcome()).toEqual({ ok: true, value: 'new' });
    expect(seen).toHaveLength(2);
  });

  it('[R-18] an error of the tool is an answer too, given once', async () => {
    const { make, attempt, clock, seen, late } = startKeeping();
    make('pay:1');
    await clock.advance(3000);
    attempt(0).reject(fault('permanent', { message: 'Card declined', outcome: 'failed' }));
    await clock.settle();
    expect(late).toEqual(['Card declined']);
    const second = make('pay:1');
    await clock.settle();
    expect(failureIn(second.outcome())).toMatchObject({ kind: 'permanent', outcome: 'failed' });
    expect(failureIn(second.outcome())?.message).toContain('Card declined (the same call was made 3s ago');
    make('pay:1');
    expect(seen).toHaveLength(2);
  });

  it('[R-18] at most 32 of an integration: the next one is aborted as ever', async () => {
    const { make, attempt, clock, path } = startKeeping({ maxInFlight: 50 });
    const calls = Array.from({ length: 33 }, (_, index) => make(`pay:${index}`));
    const signals = calls.map((_, index) => attempt(index).context.signal);
    await clock.advance(3000);
    expect(signals.map(({ aborted }) => aborted)).toEqual([...Array.from({ length: 32 }, () => false), true]);
    expect(failureIn(calls[32]?.outcome())?.kept).toBeUndefined();
    attempt(0).resolve('paid');
    await clock.settle();
    path.reset();
    make('pay:again');
    await clock.advance(3000);
    expect(attempt(33).context.signal.aborted).toBe(false);
  });

  it('[R-18] gives its permit back: as many others may run', async () => {
    const { make, clock, seen, attempt, path } = startKeeping({ maxInFlight: 1 });
    make('pay:1');
    await clock.advance(3000);
    make('pay:2');
    expect(seen).toHaveLength(2);
    attempt(0).resolve('paid');
    attempt(1).resolve('paid');
    await clock.settle();
    make('pay:3');
    expect(seen).toHaveLength(3);
    expect(path.stats.abandoned).toBe(0);
  });

  it('[R-18] answers that are kept are bounded in bytes: one too large is told of without its value', async () => {
    const { make, attempt, clock } = startKeeping();
    make('pay:1');
    await clock.advance(3000);
    attempt(0).resolve('x'.repeat(10_000_001));
    await clock.settle();
    const second = make('pay:1');
    await clock.settle();
    expect(failureIn(second.outcome())).toMatchObject({ outcome: 'done', retryable: false });
  });

  it('[R-18] a cancel of its caller ends it, but one whose reason is a timeout keeps it', async () => {
    const timeouts = [
      new DOMException('The operation was aborted due to timeout', 'TimeoutError'),
      'McpError: MCP error -32001: Request timed out',
      Object.assign(new Error('x'), { code: -32_001 }),
    ];
    for (const [reason, isKept] of [
      ...timeouts.map((each) => [each, true] as const),
      [new Error('user pressed stop'), false] as const,
    ]) {
      const { make, attempt, clock, seen } = startKeeping();
      const controller = new AbortController();
      const first = make('pay:1', { signal: controller.signal });
      const { signal } = attempt(0).context;
      controller.abort(reason);
      await clock.settle();
      expect(failureIn(first.outcome())).toMatchObject({
        kind: 'cancelled',
        outcome: isKept ? 'unknown' : 'cancelled',
      });
      expect([reason, signal.aborted]).toEqual([reason, !isKept]);
      make('pay:1');
      expect(seen).toHaveLength(isKept ? 1 : 2);
    }
  });

  it('[R-18] a cancel of who has joined it ends it, unless another one waits', async () => {
    const { make, attempt, clock, seen } = startKeeping();
    const controller = new AbortController();
    make('pay:1');
    const { signal } = attempt(0).context;
    await clock.advance(3000);
    const other = make('pay:1');
    const second = make('pay:1', { signal: controller.signal });
    controller.abort(new Error('stop'));
    await clock.settle();
    expect(failureIn(second.outcome())).toMatchObject({ kind: 'cancelled' });
    expect(signal.aborted).toBe(false);
    await clock.advance(3000);
    expect(failureIn(other.outcome())).toMatchObject({ kind: 'timeout' });
    const last = new AbortController();
    make('pay:1', { signal: last.signal });
    last.abort(new Error('stop'));
    await clock.settle();
    expect(signal.aborted).toBe(true);
    make('pay:1');
    expect(seen).toHaveLength(2);
  });

  it('[R-18] `fresh` asks anew, whether it runs or has ended', async () => {
    const { make, attempt, clock, seen } = startKeeping();
    const fresh = { ms: 600_000, about, fresh: true };
    make('pay:1');
    await clock.advance(3000);
    make('pay:1', { keep: fresh });
    expect(seen).toHaveLength(2);
    attempt(0).resolve('paid');
    await clock.settle();
    make('pay:1', { keep: fresh });
    expect(seen).toHaveLength(3);
    make('pay:1');
    expect(seen).toHaveLength(4);
  });

  it('[R-18] [I-3] a stop ends it, and nothing is left in the queue of deadlines', async () => {
    const { make, attempt, clock, path, deadlines } = startKeeping();
    make('pay:1');
    const { signal } = attempt(0).context;
    await clock.advance(3000);
    path.stop();
    expect(signal.aborted).toBe(true);
    expect(deadlines.size).toBe(0);
  });

  it('[R-18] keeps no call of a scope, none of a stop or an operator', async () => {
    const { make, attempt, clock, path } = startKeeping();
    make('pay:1', { scope: 'one' });
    const { call } = make('pay:2');
    const signals = [0, 1].map((index) => attempt(index).context.signal);
    path.fire(call, '1:attempt_timeout', () => undefined);
    path.fire(call, path.why(call)?.next.id ?? '', () => undefined);
    await clock.advance(3000);
    expect(signals.map(({ aborted }) => aborted)).toEqual([true, true]);
  });
});

describe('a kept call of an integration that an operator restarts', () => {
  it('[R-18] is ended, and the first equal call is answered unknown', async () => {
    const { make, attempt, clock, path, seen } = startKeeping();
    make('pay:1');
    const { signal } = attempt(0).context;
    await clock.advance(3000);
    path.restart();
    expect(signal.aborted).toBe(true);
    expect(failureIn(make('pay:1').outcome())).toMatchObject({ outcome: 'unknown' });
    expect(seen).toHaveLength(1);
  });
});
