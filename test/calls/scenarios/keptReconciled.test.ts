import { describe, expect, it } from 'vitest';
import type { CallSettings } from '../../../src/calls/callOptions.ts';
import { fault } from '../../support/startIntegration.ts';
import { startReconciling } from '../../support/startReconciling.ts';

/** Calls that are kept and have a reconcile rule that asks; attempts have 5 s. */
function startBoth(rule: Parameters<typeof startReconciling>[0] = {}) {
  const started = startReconciling({ attempts: 1, ...rule }, { retry: { maxAttempts: 1 } });
  const keep: CallSettings<string, string>['keep'] = { ms: 600_000, about: started.rule.about };
  const make: typeof started.make = (input, settings = {}) => started.make(input, { keep, ...settings });
  return { ...started, make };
}

describe('a kept call with a reconcile rule', () => {
  it('[R-18] [R-16] is settled by its own answer, which is the verdict: nobody is asked any more', async () => {
    const { make, attempt, asked, clock, facts, seen } = startBoth();
    const first = make('charge:1');
    const { signal } = attempt(0).context;
    await clock.advance(5000);
    expect(asked).toHaveLength(1);
    attempt(0).resolve('ch_1');
    expect(await first.outcome).toEqual({ ok: true, value: 'ch_1', reconciled: 'its answer came late' });
    expect([asked[0]?.signal.aborted, signal.aborted]).toEqual([true, false]);
    expect(facts.of('call.reconciled')).toMatchObject([{ verdict: 'done', how: 'its answer came late' }]);
    expect(facts.of('call.kept_ended')).toMatchObject([{ how: 'answered' }]);
    make('charge:1');
    expect(seen).toHaveLength(2);
  });

  it('[R-18] [R-16] is settled by the rule where that knows first: its work is ended, and its answer given to nobody', async () => {
    const { make, attempt, asked, clock, facts, seen } = startBoth();
    const first = make('charge:1');
    const { signal } = attempt(0).context;
    await clock.advance(5000);
    const second = make('charge:1');
    asked[0]?.resolve({ done: 'ch_1' });
    await clock.settle();
    expect([first.ended(), second.ended()]).toMatchObject([
      { ok: true, value: 'ch_1' },
      { ok: true, value: 'ch_1' },
    ]);
    expect(signal.aborted).toBe(true);
    expect(facts.of('call.kept_ended')).toMatchObject([{ how: 'settled' }]);
    attempt(0).resolve('ch_late');
    await clock.settle();
    make('charge:1');
    expect(seen).toHaveLength(2);
  });

  it('[R-18] [R-16] goes on where the rule does not know: the next equal call joins it, and gets its answer', async () => {
    const { make, attempt, asked, clock, seen } = startBoth();
    const first = make('charge:1');
    await clock.advance(5000);
    asked[0]?.resolve('unknown');
    await clock.settle();
    expect(first.ended()).toMatchObject({ ok: false, failure: { outcome: 'unknown' } });
    const second = make('charge:1');
    await clock.settle();
    attempt(0).resolve('ch_1');
    await clock.settle();
    expect(second.ended()).toMatchObject({ ok: true, value: 'ch_1' });
    expect(seen).toHaveLength(1);
  });

  it('[R-18] [R-16] is asked about on where its process ended, and no equal call is made before that is known', async () => {
    const { make, attempt, asked, clock, seen, processes } = startBoth({ attempts: 3 });
    const first = make('charge:1');
    await clock.advance(5000);
    processes.gone = 1;
    attempt(0).reject(new Error('socket hang up'));
    await clock.settle();
    expect(first.ended()).toBeUndefined();
    make('charge:1');
    expect([seen.length, asked.length]).toEqual([1, 1]);
  });

  it('[R-18] [R-16] with a late verdict of the rule is answered with that, once', async () => {
    const { make, asked, clock, seen } = startBoth();
    const first = make('charge:1', { overallMs: 6000 });
    await clock.advance(6000);
    expect(first.ended()).toMatchObject({ ok: false });
    asked[0]?.resolve({ done: 'ch_1' });
    await clock.settle();
    const second = make('charge:1');
    await clock.settle();
    expect(second.ended()).toMatchObject({ ok: true, value: 'ch_1' });
    expect(seen).toHaveLength(1);
  });

  it('[R-18] [R-16] that is found not to have happened is not told as kept, nor is one whose work has ended meanwhile', async () => {
    const { make, attempt, asked, clock, seen } = startBoth({ notBeforeMs: 0 });
    const first = make('charge:1');
    await clock.advance(5000);
    asked[0]?.resolve('not_done');
    await clock.settle();
    expect(first.ended()).toMatchObject({ ok: false, failure: { outcome: 'not_done' } });
    expect(first.ended()).not.toHaveProperty('failure.kept');
    const second = make('charge:2');
    await clock.advance(5000);
    attempt(1).reject(fault('crash'));
    await clock.settle();
    asked[1]?.resolve('unknown');
    await clock.settle();
    expect(second.ended()).toMatchObject({ ok: false, failure: { outcome: 'unknown' } });
    expect(second.ended()).not.toHaveProperty('failure.kept');
    expect(seen).toHaveLength(2);
  });
});
