import { describe, expect, it } from 'vitest';
import type { Workflow, WorkflowEvent, WorkflowPlan, WorkflowRun } from '../../../workflow/workflowTypes.ts';
import { deferred } from '../../support/deferred.ts';
import { type HttpBackend, plan, startWorld } from '../scenarioWorld.ts';
import { serve } from '../sseClient.ts';

const openReason = 'Circuit breaker OPEN - too many recent failures';

async function eventsOf(run: WorkflowRun<string, string>): Promise<WorkflowEvent[]> {
  const events: WorkflowEvent[] = [];
  for await (const { type, data } of run.events()) events.push({ type, data } as WorkflowEvent);
  return events;
}

const outcomeOf = (workflow: Workflow<string, string, string>) => workflow.run('go').outcome;

describe('a workflow over HTTP', () => {
  it('[W-1] plans, does its items in their order, and sums up', async () => {
    const { gateway, remote, upstream } = await startWorld({
      '/plan': [{ body: plan({ publish: ['fetch', 'write'], fetch: [], write: ['fetch'] }) }],
      '/items/fetch': [{ body: 'fetched' }],
      '/items/write': [{ body: 'written' }],
      '/items/publish': [{ body: 'published' }],
    });
    const run = gateway.workflow('report', { backends: [remote] }).run('go');
    const events = eventsOf(run);
    const outcome = await run.outcome;
    expect(outcome).toMatchObject({ status: 'succeeded', backend: 'remote', fallbacks: [], failure: undefined });
    expect(outcome.summary).toBe('published fetched written');
    expect(upstream.received.map(({ path }) => path)).toEqual([
      '/plan',
      '/items/fetch',
      '/items/write',
      '/items/publish',
    ]);
    expect((await events).map(({ type }) => type)).toEqual([
      'workflow_started',
      'workflow_planned',
      ...Array.from({ length: 6 }, () => 'workflow_item'),
      'workflow_ended',
    ]);
  });

  it('[W-4] tries an item again that met HTTP 503', async () => {
    const { gateway, remote, upstream, told } = await startWorld({
      '/plan': [{ body: plan({ fetch: [] }) }],
      '/items/fetch': [{ status: 503 }, { body: 'fetched' }],
    });
    const outcome = await outcomeOf(gateway.workflow('report', { backends: [remote] }));
    expect(outcome.status).toBe('succeeded');
    expect(outcome.items).toMatchObject([{ id: 'fetch', status: 'done', value: 'fetched', attempts: 2 }]);
    expect([upstream.requests('/plan'), upstream.requests('/items/fetch')]).toEqual([1, 2]);
    expect(told('workflow.remote.item_error')).toMatchObject([
      { action: 'do fetch', attempt: 1, maxAttempts: 3, final: false, tools: ['fetch'], servers: ['kb'] },
    ]);
  });

  it('[W-4] ends in part when an item fails for good, and names what depended on it', async () => {
    const { gateway, remote, upstream, told } = await startWorld({
      '/plan': [{ body: plan({ fetch: [], write: ['fetch'], mail: ['write'], count: [] }) }],
      '/items/fetch': [{ status: 503 }],
      '/items/count': [{ body: 'counted' }],
    });
    const outcome = await outcomeOf(gateway.workflow('report', { backends: [remote] }));
    expect(outcome).toMatchObject({ status: 'partial', backend: 'remote', fallbacks: [] });
    expect(outcome.items).toMatchObject([
      { id: 'fetch', status: 'failed', attempts: 3, failure: { kind: 'transient', status: 503 } },
      { id: 'write', status: 'skipped', because: ['fetch'] },
      { id: 'mail', status: 'skipped', because: ['write'] },
      { id: 'count', status: 'done', value: 'counted' },
    ]);
    expect(upstream.requests('/items/fetch')).toBe(3);
    expect(upstream.received.some(({ path }) => /write|mail/.test(path))).toBe(false);
    expect(told('workflow.remote.item_error').filter(({ final }) => final)).toMatchObject([
      { item: 'fetch', attempt: 3 },
    ]);
  });

  it('[W-4] does not try an item again that is refused for good', async () => {
    const { gateway, remote, upstream } = await startWorld({
      '/plan': [{ body: plan({ fetch: [], count: [] }) }],
      '/items/fetch': [{ status: 404 }],
      '/items/count': [{}],
    });
    expect((await outcomeOf(gateway.workflow('report', { backends: [remote] }))).status).toBe('partial');
    expect(upstream.requests('/items/fetch')).toBe(1);
  });
});

describe('a workflow whose primary fails', () => {
  it('[W-1] goes on in a process of another backend, which does not do again what is done', async () => {
    const items = { fetch: [], write: ['fetch'] };
    const { gateway, remote, local, upstream, told } = await startWorld(
      {
        '/plan': [{ body: plan(items) }],
        '/items/fetch': [{ body: 'fetched' }],
        '/items/write': [{ status: 401 }],
        '/local/write': [{ body: 'written here' }],
      },
      plan(items),
    );
    const run = gateway.workflow('report', { backends: [remote, local] }).run('go');
    const events = eventsOf(run);
    const outcome = await run.outcome;
    expect(outcome).toMatchObject({ status: 'succeeded', backend: 'local', summary: 'fetched written here' });
    expect(outcome.items).toMatchObject([
      { id: 'fetch', status: 'done', value: 'fetched', backend: 'remote' },
      { id: 'write', status: 'done', value: 'written here', backend: 'local' },
    ]);
    expect(upstream.received.map(({ path }) => path)).toEqual([
      '/plan',
      '/items/fetch',
      '/items/write',
      '/local/write',
    ]);
    expect((await events).find(({ type }) => type === 'workflow_fallback')?.data).toEqual({
      from: 'remote',
      to: 'local',
      reason: expect.stringContaining('HTTP 401') as string,
    });
    expect(told('workflow_fallback')).toMatchObject([{ workflow: 'report', from: 'remote', to: 'local' }]);
    expect(told('process.started').length).toBe(2);
  });

  it('[W-2] goes straight to the fallback after three failed runs, until a probe succeeds 60 s later', async () => {
    const { gateway, clock, remote, upstream } = await startWorld({
      '/plan': [{ status: 500 }, { status: 500 }, { status: 500 }, { body: plan({ fetch: [] }) }],
      '/items/fetch': [{ body: 'fetched' }],
    });
    const local: HttpBackend = {
      name: 'local',
      plan: () => JSON.parse(plan({ fetch: [] })) as WorkflowPlan,
      item: () => 'fetched here',
    };
    const workflow = gateway.workflow('report', { backends: [remote, local] });
    for (let failed = 1; failed <= 3; failed++) {
      expect((await outcomeOf(workflow)).fallbacks[0]?.reason).toContain('HTTP 500');
      expect(upstream.requests('/plan')).toBe(failed);
    }
    const refused = await outcomeOf(workflow);
    expect(refused).toMatchObject({ status: 'succeeded', backend: 'local' });
    expect(refused.fallbacks).toEqual([{ from: 'remote', to: 'local', reason: openReason }]);
    clock.skip(30_000);
    expect((await outcomeOf(workflow)).fallbacks[0]?.reason).toBe(openReason);
    expect(upstream.requests('/plan')).toBe(3);
    clock.skip(30_000);
    const [probe, beside] = await Promise.all([outcomeOf(workflow), outcomeOf(workflow)]);
    expect([probe.backend, beside.backend]).toEqual(['remote', 'local']);
    expect(upstream.requests('/plan')).toBe(4);
    expect(await outcomeOf(workflow)).toMatchObject({ status: 'succeeded', backend: 'remote', fallbacks: [] });
  });

  it('[W-3] aborts a primary that takes 5 min, and gives the next backend 5 min of its own', async () => {
    const { gateway, clock, local, told } = await startWorld(
      { '/local/fetch': [{ body: 'fetched here' }] },
      plan({ fetch: [] }),
    );
    const asked = deferred<void>();
    const closed = deferred<void>();
    const url = await serve((_request, response) => {
      response.on('close', () => closed.resolve());
      asked.resolve();
    });
    const begun = deferred<void>();
    const goOn = deferred<void>();
    const workflow = gateway.workflow<string, string, string>('report', {
      backends: [
        {
          name: 'hangs',
          plan: async (_input, { signal }) => (await fetch(url, { signal })).json() as never,
          item: () => 'never',
        },
        {
          ...local,
          async plan(input, context) {
            begun.resolve();
            await goOn.promise;
            return local.plan(input, context);
          },
        },
      ],
    });
    const outcome = outcomeOf(workflow);
    await asked.promise;
    clock.skip(300_000);
    await closed.promise;
    await begun.promise;
    clock.skip(290_000);
    goOn.resolve();
    expect(await outcome).toMatchObject({ status: 'succeeded', backend: 'local' });
    expect(told('workflow.hangs.failed')).toMatchObject([{ kind: 'timeout', fallback: 'local' }]);
  });

  it('[W-3] ends with all causes when every backend fails', async () => {
    const { gateway, remote, local } = await startWorld({ '/plan': [{ status: 500 }] }, 'no plan');
    const outcome = await outcomeOf(gateway.workflow('report', { backends: [remote, local] }));
    expect(outcome).toMatchObject({ status: 'failed', backend: 'local', items: [] });
    const { cause } = outcome.failure ?? {};
    expect(cause).toBeInstanceOf(AggregateError);
    expect(cause).toMatchObject({ errors: [{ failure: { status: 500 } }, { failure: { kind: 'protocol' } }] });
  });
});
