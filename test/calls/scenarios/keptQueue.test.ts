import { describe, expect, it } from 'vitest';
import { syntheticResult } from '../../../src/policy/failures/syntheticResult.ts';
import { fault } from '../../support/startIntegration.ts';
import { failureIn, startKeeping } from '../../support/startKeeping.ts';

describe('several equal calls that are kept', () => {
  it('[R-18] give their finished answers one by one, the oldest first; then the call is made', async () => {
    const { make, attempt, clock, seen, given } = startKeeping();
    for (let index = 0; index < 3; index++) make('pay:1');
    await clock.advance(3000);
    for (const index of [1, 0, 2]) {
      attempt(index).resolve(`paid ${index}`);
      await clock.advance(1000);
    }
    const repeats = [make('pay:1'), make('pay:1'), make('pay:1')];
    await clock.settle();
    expect(repeats.map(({ outcome }) => outcome())).toMatchObject([
      { value: 'paid 1' },
      { value: 'paid 0' },
      { value: 'paid 2' },
    ]);
    expect([seen.length, given.length]).toEqual([3, 3]);
    make('pay:1');
    expect(seen).toHaveLength(4);
  });

  it('[R-18] are joined one by one: each repeat gets the answer of the work it joined', async () => {
    const { make, attempt, clock, seen, facts } = startKeeping();
    for (let index = 0; index < 3; index++) make('pay:1');
    await clock.advance(3000);
    const repeats = [make('pay:1'), make('pay:1'), make('pay:1'), make('pay:1')];
    expect(facts.of('call.joined').map(({ of }) => of)).toEqual(['kb-1', 'kb-2', 'kb-3', 'kb-1']);
    for (const index of [2, 1, 0]) attempt(index).resolve(`paid ${index}`);
    await clock.settle();
    expect(repeats.map(({ outcome }) => outcome())).toMatchObject(
      [0, 1, 2, 0].map((index) => ({ value: `paid ${index}` })),
    );
    expect(seen).toHaveLength(4 - 1);
  });

  it('[R-18] of which one has ended and one was lost are told so, each once', async () => {
    const { make, attempt, clock, seen } = startKeeping();
    make('pay:1');
    make('pay:1');
    await clock.advance(3000);
    attempt(0).reject(fault('crash'));
    attempt(1).resolve('paid');
    await clock.settle();
    expect(failureIn(make('pay:1').outcome())).toMatchObject({ outcome: 'unknown' });
    const second = make('pay:1');
    await clock.settle();
    expect(second.outcome()).toMatchObject({ ok: true, value: 'paid' });
    expect(seen).toHaveLength(2);
  });
});

describe('a call that has joined one that is kept', () => {
  it('[R-18] [G-13] and is called off by a person says that it may have taken effect, not that it was not started', async () => {
    for (const others of [0, 1]) {
      const { make, clock } = startKeeping();
      make('pay:1');
      await clock.advance(3000);
      if (others > 0) make('pay:1');
      const controller = new AbortController();
      const joined = make('pay:1', { signal: controller.signal });
      controller.abort(new Error('user pressed stop'));
      await clock.settle();
      const failure = failureIn(joined.outcome());
      expect(failure).toMatchObject({ kind: 'cancelled', outcome: 'cancelled', effect: 'mutating' });
      if (failure === undefined) throw new Error('It did not fail');
      expect(syntheticResult(failure, 500).error).not.toContain('not started');
      expect(syntheticResult(failure, 500).error).toContain('may have taken effect');
    }
  });

  it('[R-18] is made anew where it reads, once it has passed its own limit in silence; what was silent is ended', async () => {
    const { make, attempt, clock, seen, facts } = startKeeping();
    make('get:1', { effect: 'readOnly' });
    await clock.advance(3000);
    const joined = make('get:1', { effect: 'readOnly' });
    const other = make('get:1', { effect: 'readOnly' });
    expect(seen).toHaveLength(1);
    await clock.advance(3000);
    expect(attempt(0).context.signal.aborted).toBe(true);
    expect(facts.of('call.kept_ended')).toMatchObject([{ how: 'lost' }]);
    expect(seen).toHaveLength(3);
    attempt(1).resolve('new');
    attempt(2).resolve('newer');
    await clock.settle();
    const values = [joined, other]
      .map(({ outcome }) => outcome())
      .map((each) => (each?.ok === true ? each.value : each));
    expect(new Set(values)).toEqual(new Set(['new', 'newer']));
  });

  it('[R-18] ends at its overall limit where it reads, and is not told as kept; the next one is made', async () => {
    const { make, attempt, clock, seen } = startKeeping();
    make('get:1', { effect: 'readOnly' });
    await clock.advance(3000);
    const joined = make('get:1', { effect: 'readOnly', overallMs: 2000 });
    await clock.advance(2000);
    expect(failureIn(joined.outcome())).toMatchObject({ reason: 'overall_timeout', retryable: true });
    expect(failureIn(joined.outcome())).not.toHaveProperty('kept');
    expect(attempt(0).context.signal.aborted).toBe(true);
    make('get:1', { effect: 'readOnly' });
    expect(seen).toHaveLength(2);
  });

  it('[R-18] waits on where it reads and what it joined shows signs of life', async () => {
    const { make, attempt, clock, seen } = startKeeping({
      limits: { idleMs: 3000, attemptMs: 4000, overallMs: 60_000 },
    });
    make('get:1', { effect: 'readOnly' });
    await clock.advance(3000);
    const joined = make('get:1', { effect: 'readOnly' });
    await clock.advance(2000);
    attempt(0).context.touch();
    await clock.advance(2000);
    expect(failureIn(joined.outcome())).toMatchObject({ reason: 'attempt_timeout', kept: {} });
    expect([seen.length, attempt(0).context.signal.aborted]).toEqual([1, false]);
  });
});

describe('a call that may be repeated by its policy', () => {
  it('[R-18] [R-12] is tried again as ever, its silent attempt is aborted; only the work of the last is kept', async () => {
    for (const effect of ['readOnly', 'idempotent'] as const) {
      const { make, attempt, clock, facts } = startKeeping({ retry: { maxAttempts: 2 } });
      const first = make('get:1', { effect });
      await clock.advance(3000);
      expect(attempt(0).context.signal.aborted).toBe(true);
      expect(facts.of('call.kept')).toEqual([]);
      await clock.advance(8000);
      expect(failureIn(first.outcome())).toMatchObject({ kind: 'timeout', attempts: 2, kept: { forMs: 600_000 } });
      expect(attempt(1).context.signal.aborted).toBe(false);
    }
  });

  it('[R-18] is kept where no time is left for another attempt', async () => {
    const { make, attempt, clock } = startKeeping({ retry: { maxAttempts: 2 } });
    const first = make('get:1', { effect: 'readOnly', overallMs: 3001 });
    await clock.advance(3001);
    expect(failureIn(first.outcome())).toMatchObject({ kept: {} });
    expect(attempt(0).context.signal.aborted).toBe(false);
  });
});

describe('words for the agent', () => {
  it('[R-18] [U-1] say of a read that it is made anew once its work has ended', async () => {
    const { make, clock } = startKeeping();
    const first = make('get:1', { effect: 'readOnly' });
    await clock.advance(3000);
    const failure = failureIn(first.outcome());
    if (failure === undefined) throw new Error('It did not fail');
    const { error } = syntheticResult(failure, 3000);
    expect(error).toContain('while its work goes on; once that has ended it is made anew');
    expect(error).not.toContain('not done a second time');
  });

  it('[R-18] [U-1] name the size of an answer that was too large to be kept, and do not call its outcome unknown', async () => {
    const { make, attempt, clock } = startKeeping();
    make('pay:1');
    await clock.advance(3000);
    attempt(0).resolve('x'.repeat(12_000_000));
    await clock.advance(1000);
    const failure = failureIn(make('pay:1').outcome());
    if (failure === undefined) throw new Error('It did not fail');
    const { error, outcome } = syntheticResult(failure, 0);
    expect(outcome).toBe('done');
    expect(error).toContain('its answer was too large to be kept (12.0 MB, of 10 MB in all)');
    expect(error).not.toContain('not known');
    expect(error.match(/the same call was made/g)).toHaveLength(1);
  });
});

describe('an integration that drains', () => {
  it('[R-18] [R-15] is busy until what is kept has ended, and tells of the end', async () => {
    const { make, attempt, clock, path } = startKeeping();
    make('pay:1');
    await clock.advance(3000);
    let ended = 0;
    path.drain({ until: clock.now() + 60_000, ended: () => void ended++ });
    expect(path.busy).toBe(true);
    attempt(0).resolve('paid');
    await clock.settle();
    expect(path.busy).toBe(false);
    expect(ended).toBeGreaterThan(0);
  });
});
