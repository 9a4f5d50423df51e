import { describe, expect, it } from 'vitest';
import { writeServerSentEvents } from '../../../workflow/sse.ts';
import type { WorkflowBackend } from '../../../workflow/workflowTypes.ts';
import { type Deferred, deferred } from '../../support/deferred.ts';
import { startWorld } from '../scenarioWorld.ts';
import { connect, idsIn, serve, toldIn } from '../sseClient.ts';

const ids = ['a', 'b', 'c'];

describe('a frontend of a run', () => {
  it('[W-1] may go away and come back; the run goes on, and it gets the rest', async () => {
    const { gateway } = await startWorld({});
    const work = new Map<string, Deferred<string>>(ids.map((id) => [id, deferred()]));
    const backend: WorkflowBackend<string, string, string> = {
      name: 'handmade',
      plan: () => ({ success: true, items: ids.map((id) => ({ id, action: `do ${id}` })) }),
      item: ({ id }) => work.get(id)?.promise ?? '',
    };
    const run = gateway.workflow('report', { backends: [backend], concurrency: 1 }).run('go');
    const url = await serve((request, response) => {
      void writeServerSentEvents(run, response, { lastEventId: request.headers['last-event-id'] });
    });

    const first = await connect(url);
    work.get('a')?.resolve('done');
    const before = await first.events(4);
    first.leave();
    expect(before.length).toBe(4);

    work.get('b')?.resolve('done');
    work.get('c')?.resolve('done');
    expect(await run.outcome).toMatchObject({ status: 'succeeded' });
    const seen = idsIn(first.text());
    const second = await connect(url, String(seen.at(-1)));
    const rest = await second.ended;
    expect([...seen, ...idsIn(rest)]).toEqual(Array.from({ length: 9 }, (_, index) => index + 1));
    expect(toldIn(rest).at(-1)).toMatchObject({ type: 'workflow_ended', data: { status: 'succeeded', done: 3 } });
    expect((await connect(url, '9')).status).toBe(204);
  });
});
