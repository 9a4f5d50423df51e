import { describe, expect, it } from 'vitest';
import { AttemptError } from '../../../src/policy/failures/failure.ts';
import type { Verdict } from '../../../src/policy/reconcileRule.ts';
import { progressText } from '../../../workflow/progressText.ts';
import type { WorkflowProbeContext, WorkflowReconcile, WorkflowStepContext } from '../../../workflow/workflowTypes.ts';
import { type Backend, backend, eventsOf, item, never, planOf, startWorkflow, untilAborted } from '../startWorkflow.ts';

const minutes = 60_000;
const pay = item('pay', [], { effect: 'mutating', input: { reference: 'o-7' } });
const tell = item('tell', ['pay']);
const lost = new AttemptError({ kind: 'crash', message: 'The connection broke', outcome: 'unknown' });

/** A primary that begins to pay and does not end, a fallback, and a rule that answers with these, one after the other. */
async function startPayments(verdicts: readonly Verdict<string>[], rule: Partial<WorkflowReconcile<string>> = {}) {
  const did: string[] = [];
  const asked: WorkflowProbeContext[] = [];
  const told: WorkflowStepContext['found'][] = [];
  const fallback: Partial<Backend> = {
    plan: (_, { found }) => {
      told.push(new Map(found));
      return planOf(pay, tell);
    },
    item: ({ id }, { found }) => {
      did.push(`${id}${found.has(id) ? ` (${found.get(id)})` : ''}`);
      return `${id} by fallback`;
    },
  };
  const started = await startWorkflow(
    [
      backend('primary', [pay, tell], {
        policy: { attemptMs: minutes },
        item: (_, { signal }) => untilAborted(signal),
      }),
      backend('fallback', [], fallback),
    ],
    {
      reconcile: {
        probe: (_, context) => {
          asked.push(context);
          return verdicts[Math.min(asked.length, verdicts.length) - 1] ?? 'unknown';
        },
        ...rule,
      },
    },
  );
  return { ...started, did, asked, told };
}

describe('an item that is handed over after its answer was lost', () => {
  it('[R-16] [W-1] is asked about before the next backend begins, and is not done again when it was done', async () => {
    const { run, clock, did, told, facts } = await startPayments([{ done: 'ch_42', how: 'it is listed as ch_42' }]);
    const running = await run({ session: 's1' });
    await clock.advance(2 * minutes);
    expect(await running.outcome).toMatchObject({
      status: 'succeeded',
      backend: 'fallback',
      items: [
        { id: 'pay', status: 'done', value: 'ch_42', backend: 'primary', reconciled: 'it is listed as ch_42' },
        { id: 'tell', status: 'done', backend: 'fallback' },
      ],
    });
    expect(did).toEqual(['tell']);
    expect(told[0]?.get('pay')).toBe('primary had begun it, and it was done (it is listed as ch_42)');
    const events = await eventsOf(running);
    expect(events.map(({ type }) => type)).toContain('workflow_reconciled');
    expect(events.find(({ type }) => type === 'workflow_reconciled')?.data).toEqual({
      ...{ backend: 'fallback', from: 'primary', id: 'pay', action: 'do pay' },
      ...{ verdict: 'done', how: 'it is listed as ch_42' },
    });
    expect(facts.filter(({ type }) => type === 'call.reconciled').at(-1)).toMatchObject({
      integration: 'workflow:deploy:fallback:items',
      label: 'pay',
      session: 's1',
      verdict: 'done',
    });
  });

  it('[R-16] [W-1] is done by the next backend when the rule vouches that it did not happen', async () => {
    const { run, clock, did, asked } = await startPayments(['not_done'], { notBefore: '10s' });
    const running = await run();
    await clock.advance(minutes);
    expect(progressText(running.progress)).toBe('finding out what was done · fallback');
    await clock.advance(9999);
    expect(did).toEqual([]);
    await clock.advance(1);
    expect(await running.outcome).toMatchObject({ status: 'succeeded', items: [{ value: 'pay by fallback' }, {}] });
    expect(did).toEqual(['pay (primary had begun it, and it did not happen (its probe does not find it))', 'tell']);
    expect(asked.every(({ backend: of }) => of === 'primary')).toBe(true);
  });

  it.each([['not_done'], [{ done: 'ch_42' }], ['unknown']] as const)(
    '[R-16] [O-10] is no call of the backend that asks about it: %j',
    async (verdict) => {
      const { run, clock, did, gateway, facts } = await startPayments([verdict]);
      const running = await run();
      await clock.advance(2 * minutes);
      await running.outcome;
      const lines = await gateway.report();
      const asking = lines.find(({ integration }) => integration === 'workflow:deploy:fallback:items');
      expect(asking?.calls ?? 0).toBe(did.length);
      expect(asking?.failures ?? {}).toEqual({});
      const failed = facts.flatMap((fact) => (fact.type === 'call.failed' ? [fact.integration] : []));
      expect(failed).not.toContain('workflow:deploy:fallback:items');
    },
  );

  it('[R-16] [W-1] is not done again, and what depends on it neither, when nobody knows', async () => {
    const { run, clock, did } = await startPayments(['not_done', 'unknown']);
    const running = await run();
    await clock.advance(2 * minutes);
    const { status, items } = await running.outcome;
    expect([status, did]).toEqual(['failed', []]);
    expect(items).toMatchObject([
      { id: 'pay', status: 'failed', failure: { outcome: 'unknown', how: 'its probe does not know' } },
      { id: 'tell', status: 'skipped' },
    ]);
  });

  it('[R-16] [W-1] keeps no run that is cancelled waiting', async () => {
    const { run, clock, did } = await startPayments([], { probe: never, timeoutMs: '60s' });
    const running = await run();
    await clock.advance(minutes + 1000);
    expect(running.progress.phase).toBe('reconciling');
    running.cancel();
    await clock.settle();
    expect(await running.outcome).toMatchObject({ status: 'cancelled' });
    expect(did).toEqual([]);
  });

  it('[R-16] that changes nothing is not asked about', async () => {
    const asked: string[] = [];
    const items = [item('look', [], { effect: 'readOnly' })];
    const { run, clock } = await startWorkflow(
      [backend('primary', items, { policy: { attemptMs: minutes }, item: never }), backend('fallback', items)],
      { reconcile: { probe: ({ id }) => (asked.push(id), 'unknown') } },
    );
    const running = await run();
    await clock.advance(2 * minutes);
    expect(await running.outcome).toMatchObject({ status: 'succeeded' });
    expect(asked).toEqual([]);
  });
});

describe('an item whose answer is lost', () => {
  it.each([
    [{ done: 'ch_42' } as const, 'ch_42'],
    ['done' as const, undefined],
  ])('[R-16] [W-4] is asked about before it is tried again: %j', async (verdict, value) => {
    let begun = 0;
    const primary = backend('primary', [pay], {
      item: () => {
        begun++;
        throw lost;
      },
    });
    const { run, clock } = await startWorkflow([primary], { reconcile: { probe: () => verdict } });
    const running = await run();
    await clock.advance(minutes);
    const outcome = await running.outcome;
    expect(outcome).toMatchObject({ status: 'succeeded', items: [{ status: 'done', value }] });
    expect(begun).toBe(1);
  });
});
