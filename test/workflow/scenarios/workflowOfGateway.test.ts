import { describe, expect, it } from 'vitest';
import type { IntegrationError } from '../../../src/policy/failures/failure.ts';
import type { WorkflowItemContext } from '../../../workflow/workflowTypes.ts';
import { deferred } from '../../support/deferred.ts';
import {
  type Backend,
  backend,
  eventsOf,
  failing,
  item,
  never,
  startWorkflow,
  untilAborted,
} from '../startWorkflow.ts';

const minutes = 60_000;
const abc = [item('a'), item('b', ['a']), item('c', ['b'])];
const failingPlan = (message: string): Partial<Backend> => ({
  plan: () => {
    throw new Error(message);
  },
});

describe('a workflow', () => {
  it('[W-1] plans, does the items in their order and sums up', async () => {
    const order: string[] = [];
    const { run } = await startWorkflow([
      backend('primary', [item('c', ['b']), item('b', ['a']), item('a')], {
        item: ({ id }, { done }) => `${order.push(id)}:${done.size}`,
        summary: (items) => items.map(({ id }) => id).join(),
      }),
    ]);
    expect(await (await run()).outcome).toMatchObject({ status: 'succeeded', summary: 'c,b,a', failure: undefined });
    expect(order).toEqual(['a', 'b', 'c']);
  });

  it('[W-1] goes on with the fallback, which is handed what is done', async () => {
    const seen: unknown[] = [];
    const { run, told } = await startWorkflow([
      backend('primary', abc, { item: ({ id }) => (id === 'c' ? failing('auth', 'no key') : `${id}!`) }),
      backend('fallback', abc, {
        plan: (_input, { done }) => (seen.push(new Map(done)), { success: true, items: abc }),
        item: ({ id }) => (seen.push(id), `${id}?`),
      }),
    ]);
    const outcome = await (await run()).outcome;
    expect(seen).toEqual([
      new Map([
        ['a', 'a!'],
        ['b', 'b!'],
      ]),
      'c',
    ]);
    expect(outcome.items.map((each) => [each.id, each.status, each.backend])).toEqual([
      ['a', 'done', 'primary'],
      ['b', 'done', 'primary'],
      ['c', 'done', 'fallback'],
    ]);
    const fallback = { from: 'primary', to: 'fallback', reason: 'c failed, which ends the run: no key' };
    expect(outcome).toMatchObject({ status: 'succeeded', backend: 'fallback', fallbacks: [fallback] });
    expect(told('workflow_fallback')).toMatchObject([
      { workflow: 'deploy', run: expect.stringMatching(/^deploy-1-/) as string, ...fallback },
    ]);
  });

  it('[W-1] tells the fallback as an event of the run, and that what is handed over is done', async () => {
    const { run } = await startWorkflow([
      backend('primary', abc, { summary: () => Promise.reject(new Error('no summary')) }),
      backend('fallback', abc),
    ]);
    const events = await eventsOf(await run());
    const data = { from: 'primary', to: 'fallback', reason: 'no summary' };
    expect(events.filter(({ type }) => type === 'workflow_fallback')).toMatchObject([{ data }]);
    expect(events.filter((event) => 'status' in event.data && event.data.status === 'handed_over')).toHaveLength(3);
  });

  it.each<[string, Partial<Backend>, string]>([
    ['a plan that throws', failingPlan('no model'), 'no model'],
    ['a plan that rejects', { plan: () => Promise.reject(new Error('late')) }, 'late'],
    [
      'a plan that is none',
      { plan: () => ({ success: false, items: [], error: 'too vague' }) },
      'primary could not make a plan: too vague',
    ],
    [
      'an empty plan',
      { plan: () => ({ success: true, items: [] }) },
      'The plan of primary cannot be used: items: expected an array of at least one item, got an array of 0',
    ],
    ['a summary that throws', { summary: () => failing('permanent', 'no words') }, 'no words'],
    [
      'items of which none is done',
      { item: () => failing('permanent', 'bad') },
      'None of 3 items was done by primary; a: bad',
    ],
    [
      'an operation of its own that it aborted',
      { plan: () => Promise.reject(new DOMException('mine', 'AbortError')) },
      'mine',
    ],
  ])('[W-1] [W-2] falls back from %s, and counts one failure', async (_what, more, reason) => {
    const { run, told } = await startWorkflow([backend('primary', abc, more), backend('fallback', abc)]);
    expect(await (await run()).outcome).toMatchObject({ status: 'succeeded', fallbacks: [{ reason }] });
    expect(told('workflow.primary.failed')).toMatchObject([{ error: reason, fallback: 'fallback', breaker: 'closed' }]);
    await run();
    await run();
    expect(told('workflow.primary.failed')).toMatchObject([{}, {}, { breaker: 'open' }]);
  });

  it('[W-1] goes through three backends', async () => {
    const { run } = await startWorkflow([
      backend('a', abc, failingPlan('1')),
      backend('b', abc, failingPlan('2')),
      backend('c', abc),
    ]);
    const outcome = await (await run()).outcome;
    expect(outcome).toMatchObject({
      status: 'succeeded',
      backend: 'c',
      fallbacks: [{ to: 'b' }, { from: 'b', to: 'c' }],
    });
  });

  it('[W-2] goes straight to the fallback once three whole runs have failed, for 60 s', async () => {
    let plans = 0;
    const { run, clock, told } = await startWorkflow([
      backend('primary', abc, { plan: () => failing('permanent', `no ${++plans}`) }),
      backend('fallback', abc),
    ]);
    for (let count = 1; count <= 4; count++) await run();
    expect(plans).toBe(3);
    const outcome = await (await run()).outcome;
    expect(outcome.fallbacks).toMatchObject([{ reason: 'Circuit breaker OPEN - too many recent failures' }]);
    // Of the trip, and of each run that was refused.
    const open = { fallback: 'fallback', retryAfterMs: 60_000 };
    expect(told('workflow.primary.circuit_breaker_open')).toMatchObject([open, open, open]);
    expect(told('workflow.primary.started')).toHaveLength(3);
    await clock.advance(59_999);
    await run();
    expect(plans).toBe(3);
    await clock.advance(1);
    await run();
    expect(plans).toBe(4);
  });

  it('[W-6] tells the trip once though two runs fail, and each time a probe opens the circuit again', async () => {
    const failures = Array.from({ length: 4 }, () => deferred<never>());
    let plans = 0;
    const { run, clock, told } = await startWorkflow([
      backend('primary', abc, { plan: () => failures[plans++]?.promise ?? failing('permanent') }),
    ]);
    for (let count = 0; count < 4; count++) await run();
    for (const [index, { reject }] of failures.entries()) {
      reject(Object.assign(new Error(`no ${index}`), { status: 400 }));
      await clock.settle();
    }
    const trips = () => told('workflow.primary.circuit_breaker_open');
    expect(trips().map((fact) => fact.run)).toEqual([expect.stringMatching(/^deploy-3-/)]);
    await clock.advance(60_000);
    await run();
    expect(trips()).toHaveLength(2);
    expect(told('workflow.primary.failed').at(-1)).toMatchObject({ breaker: 'open' });
  });

  it('[W-2] does not count partial success', async () => {
    const { run, told } = await startWorkflow([
      backend('primary', [item('a'), item('b')], { item: ({ id }) => (id === 'a' ? failing('permanent') : id) }),
    ]);
    for (let count = 0; count < 10; count++) expect(await (await run()).outcome).toMatchObject({ status: 'partial' });
    expect(told('breaker.opened')).toEqual([]);
  });

  it('[W-2] counts partial success as a success: what failed before it is forgotten', async () => {
    let bad = true;
    const { run, told } = await startWorkflow([
      backend('primary', [item('a'), item('b')], {
        plan: () => (bad ? failing('permanent') : { success: true, items: [item('a'), item('b')] }),
        item: ({ id }) => (id === 'a' ? failing('permanent') : id),
      }),
    ]);
    for (const next of [true, true, false, true, true]) {
      bad = next;
      await run();
    }
    expect(told('breaker.opened')).toEqual([]);
    await run();
    expect(told('breaker.opened')).toHaveLength(1);
  });

  it('[W-2] counts in a row: a run that went well begins anew', async () => {
    let bad = true;
    const { run, told } = await startWorkflow([
      backend('primary', abc, { plan: () => (bad ? failing('permanent') : { success: true, items: abc }) }),
    ]);
    for (const next of [true, true, false, true, true]) {
      bad = next;
      await run();
    }
    expect(told('breaker.opened')).toEqual([]);
    await run();
    expect(told('breaker.opened')).toMatchObject([{ integration: 'workflow:deploy:primary', openForMs: 60_000 }]);
  });

  it('[W-2] [M-3] has one run alone try a backend whose circuit may close', async () => {
    const gate = deferred<string>();
    let plans = 0;
    const { run, clock } = await startWorkflow([
      backend('primary', [item('a')], {
        plan: () => (++plans <= 3 ? failing('permanent') : { success: true, items: [item('a')] }),
        item: () => gate.promise,
      }),
      backend('fallback', abc),
    ]);
    for (let count = 0; count < 3; count++) await run();
    await clock.advance(60_000);
    const probe = await run();
    const second = await run();
    expect(await second.outcome).toMatchObject({ backend: 'fallback' });
    gate.resolve('a');
    expect(await probe.outcome).toMatchObject({ backend: 'primary', status: 'succeeded' });
    await clock.settle();
    expect(await (await run()).outcome).toMatchObject({ backend: 'primary' });
  });

  it('[W-2] does not count items: their circuit stays closed whatever they meet', async () => {
    const many = Array.from({ length: 60 }, (_, index) => item(`i${index}`));
    const { run, told, clock } = await startWorkflow([
      backend('primary', [item('good'), ...many], { item: ({ id }) => (id === 'good' ? id : failing('transient')) }),
    ]);
    const running = await run();
    await clock.advance(4 * minutes);
    expect(await running.outcome).toMatchObject({ status: 'partial' });
    expect(told('workflow.primary.item_error').filter(({ final, attempt }) => final && attempt === 3)).toHaveLength(60);
    expect(told('breaker.opened')).toEqual([]);
  });

  it('[W-2] [M-8] tries a backend again at once when its circuit was reset by name', async () => {
    let plans = 0;
    const plan = (): never => failing('permanent', `${++plans}`);
    const { run, gateway } = await startWorkflow([backend('primary', abc, { plan })]);
    for (let count = 0; count < 4; count++) await run();
    expect(plans).toBe(3);
    gateway.restart('workflow:deploy:primary');
    await run();
    expect(plans).toBe(4);
  });

  it('[W-3] aborts a backend after five minutes, and gives the next one five of its own', async () => {
    const signals: AbortSignal[] = [];
    const { run, clock, told } = await startWorkflow([
      backend('primary', abc, { plan: (_input, { signal }) => (signals.push(signal), untilAborted(signal)) }),
      backend('fallback', abc, { plan: (_input, { signal }) => (signals.push(signal), untilAborted(signal)) }),
    ]);
    const running = await run();
    await clock.advance(5 * minutes - 1);
    expect(signals.map(({ aborted }) => aborted)).toEqual([false]);
    await clock.advance(1);
    expect(signals.map(({ aborted }) => aborted)).toEqual([true, false]);
    await clock.advance(5 * minutes - 1);
    expect(signals[1]?.aborted).toBe(false);
    await clock.advance(1);
    const outcome = await running.outcome;
    expect(outcome).toMatchObject({ status: 'failed', elapsedMs: 10 * minutes, backend: 'fallback' });
    expect(told('workflow.fallback.failed')).toMatchObject([{ elapsedMs: 5 * minutes, fallback: undefined }]);
    expect(told('workflow.primary.failed')).toMatchObject([
      { kind: 'timeout', error: 'primary workflow timeout after 300s' },
    ]);
  });

  it('[W-3] ends when all fail with one failure that holds all causes', async () => {
    const { run } = await startWorkflow([
      backend('a', abc, failingPlan('first')),
      backend('b', abc, failingPlan('second')),
    ]);
    const { failure, message } = await (await run()).outcome;
    expect(message).toBe(
      'Failed with 0 of 0 items done: No backend of deploy could end its run: workflow:deploy:a: first; workflow:deploy:b: second',
    );
    expect(failure?.cause).toBeInstanceOf(AggregateError);
    const errors = (failure?.cause as AggregateError | undefined)?.errors ?? [];
    expect(errors.map((error: IntegrationError) => error.failure.message)).toEqual(['first', 'second']);
    expect(failure).toMatchObject({ integration: 'workflow:deploy', attempts: 2 });
  });

  it('[W-3] [W-4] shows what was done of the last plan when all have failed', async () => {
    const { run } = await startWorkflow([
      backend('primary', abc, { item: ({ id }) => (id === 'b' ? failing('auth') : id) }),
      backend('fallback', abc, failingPlan('no model')),
    ]);
    const { items, message } = await (await run()).outcome;
    expect(items.map(({ id, status }) => `${id} ${status}`)).toEqual(['a done', 'b failed', 'c skipped']);
    expect(message).toMatch(/^Failed with 1 of 3 items done: /);
  });

  it('[W-3] keeps the failure of a lone backend as it is', async () => {
    const { run } = await startWorkflow([backend('a', abc, failingPlan('alone'))]);
    const { failure } = await (await run()).outcome;
    expect(failure).toMatchObject({ message: 'alone', integration: 'workflow:deploy:a', cause: new Error('alone') });
  });

  it('[W-3] aborts items at work when their backend has had its time', async () => {
    const contexts: WorkflowItemContext[] = [];
    const { run, clock } = await startWorkflow(
      [
        backend('primary', [item('a'), item('b')], {
          item: (_item, context) => (contexts.push(context), untilAborted(context.signal)),
        }),
        backend('fallback', [item('a'), item('b')]),
      ],
      { concurrency: 2 },
    );
    const running = await run();
    await clock.advance(5 * minutes);
    expect(contexts.map(({ signal }) => signal.aborted)).toEqual([true, true]);
    expect(await running.outcome).toMatchObject({ status: 'succeeded', backend: 'fallback' });
  });

  it.each(['plan', 'item', 'summary'] as const)('[W-3] goes on when the %s ignores its abort', async (step) => {
    const { run, clock, told } = await startWorkflow([
      backend('primary', abc, { [step]: never }),
      backend('fallback', abc),
    ]);
    const running = await run();
    await clock.advance(5 * minutes);
    expect(await running.outcome).toMatchObject({ status: 'succeeded', backend: 'fallback', elapsedMs: 5 * minutes });
    await clock.advance(5000);
    expect(told('call.abandoned').map(({ integration }) => integration)).toEqual([
      step === 'item' ? 'workflow:deploy:primary:items' : 'workflow:deploy:primary',
    ]);
  });

  it('[W-3] ends the whole run at its own limit, and tries no further backend', async () => {
    const { run, clock } = await startWorkflow([backend('primary', abc, { plan: never }), backend('fallback', abc)], {
      overallMs: 1000,
    });
    const running = await run();
    await clock.advance(999);
    expect(running.progress.phase).toBe('planning');
    await clock.advance(1);
    const outcome = await running.outcome;
    expect(outcome).toMatchObject({ status: 'failed', elapsedMs: 1000, fallbacks: [] });
    expect(outcome.failure).toMatchObject({
      kind: 'timeout',
      reason: 'overall_timeout',
      message: 'The run was not done within 1s',
    });
  });

  it('[W-3] ends the whole run after 30 min where nothing else is said', async () => {
    const many = Array.from({ length: 7 }, (_, index) => backend(`b${index}`, abc, { plan: never }));
    const { run, clock } = await startWorkflow(many);
    const running = await run();
    await clock.advance(30 * minutes);
    expect(await running.outcome).toMatchObject({ status: 'failed', elapsedMs: 30 * minutes, backend: 'b5' });
  });

  it('[W-3] takes a sign of life of an item for one of its backend', async () => {
    const gate = deferred<string>();
    let touch = (): void => undefined;
    const { run, clock } = await startWorkflow([
      backend('primary', [item('a')], {
        policy: { limits: { idleMs: 1000 } },
        item: (_item, context) => {
          ({ touch } = context);
          return gate.promise;
        },
      }),
    ]);
    const running = await run();
    await clock.advance(900);
    touch();
    await clock.advance(900);
    gate.resolve('slow');
    expect(await running.outcome).toMatchObject({ status: 'succeeded' });
  });

  it('[W-3] falls back from a backend that shows no sign of life for as long as its policy says', async () => {
    const { run, clock } = await startWorkflow([
      backend('primary', abc, { policy: { limits: { idleMs: 1000 } }, plan: never }),
      backend('fallback', abc),
    ]);
    const running = await run();
    await clock.advance(1000);
    expect((await running.outcome).fallbacks).toMatchObject([{ reason: 'primary gave no sign of life for 1s' }]);
  });

  it('[W-3] makes one attempt of a whole run whatever its policy says', async () => {
    let plans = 0;
    const { run, clock } = await startWorkflow([
      backend('primary', abc, { policy: { extends: 'workflow' }, plan: () => failing('transient', `${++plans}`) }),
    ]);
    const running = await run();
    await clock.advance(minutes);
    expect(await running.outcome).toMatchObject({ status: 'failed', failure: { attempts: 1 } });
    expect(plans).toBe(1);
  });

  it('[M-13] does not wait for a backend that asks for a pause, but counts its failure', async () => {
    let plans = 0;
    const limited = (): never => {
      plans++;
      throw Object.assign(new Error('slow down'), { status: 429, headers: { 'retry-after': '30' } });
    };
    const { run } = await startWorkflow([backend('primary', abc, { plan: limited }), backend('fallback', abc)]);
    await run();
    expect(await (await run()).outcome).toMatchObject({ backend: 'fallback', elapsedMs: 0 });
    expect(plans).toBe(2);
  });
});
