import { getEventListeners } from 'node:events';
import { describe, expect, it } from 'vitest';
import type { WorkflowItem, WorkflowPlan } from '../../../workflow/workflowTypes.ts';
import { deferred, isSettled } from '../../support/deferred.ts';
import {
  type Backend,
  backend,
  eventsOf,
  failing,
  item,
  never,
  planOf,
  startWorkflow,
  type StartedWorkflow,
  untilAborted,
} from '../startWorkflow.ts';

const hour = 60 * 60_000;

/** What can go wrong with one backend. */
const troubles: Readonly<Record<string, Partial<Backend>>> = {
  'a plan that never comes': { plan: never },
  'a plan that is thrown': { plan: () => failing('transient') },
  'a plan that throws nothing': {
    plan: () => {
      // oxlint-disable-next-line no-throw-literal
      throw undefined;
    },
  },
  'a thenable that throws': {
    plan: () => ({
      // oxlint-disable-next-line no-thenable
      then() {
        throw new Error('no');
      },
    }),
  },
  'a plan that answers twice': {
    plan: () =>
      ({
        // oxlint-disable-next-line no-thenable
        then(resolve: (plan: WorkflowPlan) => void, reject: (error: unknown) => void) {
          resolve({ success: false, items: [] });
          reject(new Error('no'));
          resolve(planOf(item('a')));
        },
      }) as never,
  },
  'a plan that cannot be looked at': {
    plan: () =>
      new Proxy(planOf(item('a')), {
        get() {
          throw new Error('no');
        },
        ownKeys() {
          throw new Error('no');
        },
      }) as never,
  },
  'no plan': { plan: () => undefined as never },
  'items that never end': { item: never },
  'items that end when they are aborted': { item: (_item, { signal }) => untilAborted(signal) },
  'items that fail': { item: () => failing('transient') },
  'items that touch for ever': {
    item: async (_item, { touch, signal }) => {
      touch();
      await untilAborted(signal);
      return '';
    },
  },
  'items that throw a symbol': {
    item: () => {
      // oxlint-disable-next-line no-throw-literal
      throw Symbol('no');
    },
  },
  'a failure that nobody can judge': {
    item: () => failing('permanent'),
    isCritical: () => {
      throw new Error('no');
    },
  },
  'a critical failure': { item: ({ id }) => (id === 'b' ? failing('auth') : `${id} done`) },
  'a summary that never comes': { summary: never },
  'a summary that is thrown': { summary: () => failing('permanent') },
};

const items = [item('a'), item('b'), item('c', ['a', 'b']), item('d', ['c'])];

/** What happens meanwhile. */
const disturbances: Readonly<Record<string, (started: StartedWorkflow, run: { cancel(): void }) => unknown>> = {
  nothing: () => undefined,
  'it is cancelled at once': (_started, run) => run.cancel(),
  'it is cancelled as a backend begins': ({ gateway }, run) => gateway.on('workflow.one.started', () => run.cancel()),
  'it is cancelled as it plans': ({ gateway }, run) => gateway.on('workflow.one.planned', () => run.cancel()),
  'it is cancelled as an item fails': ({ gateway }, run) => gateway.on('workflow.one.item_error', () => run.cancel()),
  'it is cancelled as a backend fails': ({ gateway }, run) => gateway.on('workflow.one.failed', () => run.cancel()),
  'it is cancelled as the next takes over': ({ gateway }, run) => gateway.on('workflow_fallback', () => run.cancel()),
  'it is cancelled as it ends': ({ gateway }, run) => gateway.on('workflow.one.completed', () => run.cancel()),
  'its gateway stops as a backend begins': ({ gateway }) =>
    gateway.on('workflow.one.started', () => void gateway.stop()),
  'its gateway stops as a backend fails': ({ gateway }) => gateway.on('workflow.one.failed', () => void gateway.stop()),
  'its gateway stops as the next takes over': ({ gateway }) =>
    gateway.on('workflow_fallback', () => void gateway.stop()),
  'every listener throws': ({ gateway }) =>
    gateway.on('*', () => {
      throw new Error('no');
    }),
};

describe.each(Object.keys(troubles))('a run with %s', (trouble) => {
  it.each(Object.keys(disturbances))('[I-1] ends once and leaves nothing, when %s', async (disturbance) => {
    const first = backend('one', items, troubles[trouble]);
    const started = await startWorkflow([first, backend('two', items, troubles[trouble])], { overallMs: hour / 2 });
    const { clock, gateway, workflow } = started;
    const before = clock.pending;
    const controller = new AbortController();
    const run = workflow.run('input', { signal: controller.signal });
    const events = eventsOf(run);
    disturbances[disturbance]?.(started, run);
    await clock.advance(hour / 2);
    const outcome = await run.outcome;
    expect(outcome.elapsedMs).toBeLessThanOrEqual(hour / 2);
    expect(run.progress).toMatchObject({ phase: 'ended', running: [] });
    const ends = (await events).filter(({ type }) => type === 'workflow_ended');
    expect(ends).toMatchObject([{ data: { status: outcome.status } }]);
    expect((await events).map(({ number }) => number)).toEqual((await events).map((_, index) => index + 1));
    expect(getEventListeners(controller.signal, 'abort')).toEqual([]);
    // What is written off is watched for its grace.
    await clock.advance(10_000);
    expect(clock.pending).toBeLessThanOrEqual(before);
    expect(JSON.stringify(gateway.tree())).not.toContain(run.id);
    const stopped = gateway.stop();
    await clock.advance(60_000);
    await stopped;
    expect(clock.pending).toBe(0);
  });
});

describe('an item that an earlier backend was at', () => {
  const minutes = 60_000;

  it('[W-1] is not done again when it ends while the next one plans', async () => {
    const late = deferred<string>();
    const planned = deferred<WorkflowPlan>();
    const { run, clock } = await startWorkflow([
      backend('one', [item('a')], { item: () => late.promise }),
      backend('two', [], { plan: () => planned.promise }),
    ]);
    const { outcome } = await run();
    await clock.advance(5 * minutes);
    late.resolve('late');
    await clock.settle();
    planned.resolve(planOf(item('a')));
    expect((await outcome).items).toMatchObject([{ id: 'a', status: 'done', value: 'late', backend: 'one' }]);
  });

  it('[W-1] is not done again when it ends while the next one does others', async () => {
    const late = deferred<string>();
    const other = deferred<string>();
    const { run, clock } = await startWorkflow([
      backend('one', [item('a')], { item: () => late.promise }),
      backend('two', [item('b'), item('a', ['b'])], { item: ({ id }) => (id === 'b' ? other.promise : 'again') }),
    ]);
    const { outcome } = await run();
    await clock.advance(5 * minutes);
    late.resolve('late');
    await clock.settle();
    other.resolve('other');
    expect((await outcome).items).toMatchObject([
      { id: 'b', status: 'done', backend: 'two' },
      { id: 'a', status: 'done', value: 'late', backend: 'one' },
    ]);
    expect((await outcome).status).toBe('succeeded');
  });

  it('[W-1] is not done again when it ends in the same turn as another one fails critically', async () => {
    const a = deferred<string>();
    const b = deferred<string>();
    const backends = [
      backend('one', [item('a'), item('b')], { item: ({ id }) => (id === 'a' ? a.promise : b.promise) }),
      backend('two', [item('a'), item('b')]),
    ];
    const { run } = await startWorkflow(backends, { concurrency: 2 });
    const { outcome } = await run();
    a.reject(Object.assign(new Error('no'), { status: 401 }));
    b.resolve('done');
    expect((await outcome).items).toMatchObject([{ backend: 'two' }, { value: 'done', backend: 'one' }]);
  });

  it('is known to be done, so that what may change something need not be refused', async () => {
    const late = deferred<string>();
    const planned = deferred<WorkflowPlan>();
    const mutating = item('a', [], { effect: 'mutating' });
    const { run, clock } = await startWorkflow([
      backend('one', [mutating], { item: () => late.promise }),
      backend('two', [], { plan: () => planned.promise }),
    ]);
    const { outcome } = await run();
    await clock.advance(5 * minutes);
    late.resolve('late');
    await clock.settle();
    planned.resolve(planOf(mutating));
    expect((await outcome).status).toBe('succeeded');
  });

  it('[W-4] ends each of the next one’s items once, though it refuses two of which one depends on the other', async () => {
    const mutating = { effect: 'mutating' as const };
    const { run, clock, told } = await startWorkflow([
      backend('one', [item('a', [], mutating), item('b', [], mutating)], { item: never }),
      backend('two', [item('a', [], mutating), item('b', ['a'], mutating)]),
    ]);
    const started = await run();
    await clock.advance(5 * minutes);
    const events = await eventsOf(started);
    const ends = events.flatMap(({ type, data }) => (type === 'workflow_item' && data.backend === 'two' ? [data] : []));
    expect(ends.map(({ id, status, ended }) => [id, status, ended])).toEqual([
      ['a', 'failed', 1],
      ['b', 'skipped', 2],
    ]);
    expect(told('workflow.two.item_error')).toHaveLength(1);
  });

  it('changes nothing when it ends after the run', async () => {
    const late = deferred<string>();
    const { run, clock } = await startWorkflow([backend('one', [item('a')], { item: () => late.promise })]);
    const started = await run();
    started.cancel();
    await clock.settle();
    late.resolve('late');
    await clock.settle();
    expect((await started.outcome).items).toMatchObject([{ status: 'failed' }]);
    expect((await eventsOf(started)).at(-1)?.type).toBe('workflow_ended');
  });
});

describe('a run', () => {
  it('[W-2] that is cancelled as a probe leaves its place to the next', async () => {
    let isBroken = true;
    const { run, clock } = await startWorkflow([
      backend('one', [item('a')], { plan: () => (isBroken ? failing('transient') : planOf(item('a'))) }),
      backend('two', [item('a')]),
    ]);
    for (let count = 0; count < 3; count++) await (await run()).outcome;
    await clock.advance(60_000);
    isBroken = false;
    const controller = new AbortController();
    const probe = run({ signal: controller.signal });
    controller.abort();
    expect((await (await probe).outcome).status).toBe('cancelled');
    expect((await (await run()).outcome).backend).toBe('one');
  });

  it('does the plan it was given, whatever becomes of it later', async () => {
    const items: WorkflowItem[] = [item('a'), item('b', ['a'])];
    const { run } = await startWorkflow([
      backend('one', [], {
        plan: () => ({ success: true, items }),
        item({ id }) {
          items.splice(0, 2, item('z'));
          return id;
        },
      }),
    ]);
    expect((await (await run()).outcome).items).toMatchObject([{ value: 'a' }, { value: 'b' }]);
  });

  it('takes ids as they are', async () => {
    const ids = ['__proto__', 'constructor', 'toString', ' ', '💥', 'x'.repeat(1_000), '0'];
    const items = ids.map((id, place) => item(id, ids.slice(Math.max(0, place - 1), place)));
    const { run } = await startWorkflow([backend('one', items), backend('two', items)]);
    const { status, items: results } = await (await run()).outcome;
    expect([status, results.map(({ id }) => id)]).toEqual(['succeeded', ids]);
  });

  it.each([
    ['in a chain', (place: number) => [`i${place - 1}`]],
    ['beside each other', () => []],
    ['all after the first', () => ['i0']],
  ])('of 10,000 items ends, %s', async (_name, after) => {
    const items = Array.from({ length: 10_000 }, (_, place) => item(`i${place}`, place === 0 ? [] : after(place)));
    const { run, clock } = await startWorkflow([
      backend('one', items, { summary: () => failing('permanent') }),
      backend('two', items),
    ]);
    const { outcome } = await run();
    while (!(await isSettled(outcome))) await clock.settle();
    expect(await outcome).toMatchObject({ status: 'succeeded', backend: 'two' });
  });

  it.each([
    ['cancelled', 0],
    ['that took too long', 5 * 60_000],
  ])('%s is not told as one that ended late', async (_name, afterMs) => {
    const { run, clock, told } = await startWorkflow([
      backend('one', [item('a')], { item: (_item, { signal }) => untilAborted(signal) }),
    ]);
    const started = await run();
    await clock.advance(afterMs);
    started.cancel();
    await clock.advance(10_000);
    expect(told('call.late')).toEqual([]);
  });

  it('is read from the start by who knows the events of another run', async () => {
    const { run } = await startWorkflow([backend('one', [item('a')])]);
    const ended = await run();
    expect((await eventsOf(ended, 5)).map(({ number }) => number)).toEqual([]);
    expect((await eventsOf(ended, 6)).map(({ number }) => number)).toEqual([1, 2, 3, 4, 5]);
  });

  it('[W-1] tells its readers no secrets', async () => {
    const { run } = await startWorkflow([
      backend('one', [item('a'), item('b')], {
        item({ id }) {
          throw Object.assign(new Error('Bad key sk-ant-api03-abcdefghijklmnopqrstuvwxyz'), {
            status: id === 'a' ? 400 : 401,
          });
        },
      }),
      backend('two', [], { plan: () => ({ success: false, items: [], error: 'password=hunter22' }) }),
    ]);
    const told = JSON.stringify(await eventsOf(await run()));
    expect(told).toContain('Bad key');
    expect(told).not.toMatch(/sk-ant-api03|hunter22/);
  });
});
