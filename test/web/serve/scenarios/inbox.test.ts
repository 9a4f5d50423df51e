import { describe, expect, it, onTestFinished } from 'vitest';
import { createGateway } from '../../../../src/index.ts';
import { systemClock } from '../../../../src/runtime/systemClock.ts';
import { fixture } from '../../../actors/mcp/mcpHarness.ts';
import { hasSqlite } from '../../../store/startStore.ts';
import { temporaryDirectory } from '../../../support/temporary.ts';
import { startServed } from '../startServed.ts';

describe.skipIf(!hasSqlite)('the inbox of unwedge serve', () => {
  it('[G-17] is on where nothing else is said, and takes an answer by HTTP, once', async () => {
    const { get, post, ask, store, clock } = await startServed();
    const gateway = createGateway({ store, clock, control: false, inbox: true });
    onTestFinished(() => gateway.stop());
    await gateway.start();
    const approval = gateway.approval('deploys')({ action: 'deploy', payload: { token: 'hunter2hunter2' } });
    await expect.poll(() => gateway.inbox?.open()).toHaveLength(1);
    const { questions } = await get<{ questions: { id: string }[] }>('/v1/inbox');
    expect(questions).toMatchObject([{ asker: 'deploys', what: 'deploy' }]);
    expect(JSON.stringify(questions)).not.toMatch(/hunter2|waiter|place/);
    const way = `/v1/inbox/${questions[0]?.id.slice(0, 8)}`;
    expect((await ask('/v1/inbox', { headers: { authorization: '' } })).status).toBe(401);
    expect((await post(way, { decision: 'perhaps' })).status).toBe(400);
    expect((await ask(way)).status).toBe(405);
    expect(await (await post(way, { decision: 'accept', by: 'anna' })).json()).toMatchObject({ ok: true });
    expect(await approval).toMatchObject({ decision: 'accept', value: { by: 'anna', way: 'http' } });
    const second = await post(way, { decision: 'decline', by: 'ben' });
    expect(second.status).toBe(409);
    expect(await second.json()).toMatchObject({ error: expect.stringContaining('allowed by anna (http)') as string });
  });

  it('[G-17] says what was wrong: 404 for an id that names none or several, 400 for what is no answer to it', async () => {
    const { get, post, store, clock } = await startServed();
    const gateway = createGateway({ store, clock, control: false, inbox: true });
    onTestFinished(() => gateway.stop());
    await gateway.start();
    const form = { is: 'choice', options: [{ id: 'a', name: 'All of it' }, { id: 'b' }] } as const;
    // Of 17 ids two begin alike.
    for (let count = 0; count < 17; count++) void gateway.approval(`a${count}`)({ action: 'deploy', form });
    await expect.poll(() => gateway.inbox?.open()).toHaveLength(17);
    const { questions } = await get<{ questions: { id: string }[] }>('/v1/inbox');
    const firsts = questions.map(({ id }) => id.slice(0, 1));
    const twice = firsts.find((first, at) => firsts.indexOf(first) !== at);
    const answer = async (id: string | undefined, value?: string) => {
      const response = await post(`/v1/inbox/${id}`, { decision: 'accept', value });
      return [response.status, ((await response.json()) as { error?: string }).error];
    };
    expect(await answer('beefbeef')).toEqual([404, 'No question beefbeef is known here.']);
    expect(await answer(twice)).toEqual([404, `More than one question begins with ${twice}: give more of its id.`]);
    const id = questions[0]?.id;
    expect(await answer(id)).toEqual([400, `The question ${id} takes one of a (All of it), b, or to be declined.`]);
    expect(await answer(id, 'a')).toEqual([200, undefined]);
    expect((await answer(id, 'a'))[0]).toBe(409);
  });

  it('[G-17] [P-3] has an elicitation of a server that it serves answered by people, for the session that called', async () => {
    const server = { command: process.execPath, args: [fixture('mcpScripted'), temporaryDirectory()] };
    const { get, post } = await startServed({ clock: systemClock, servers: { kb: server } });
    await post('/v1/sessions', { id: 's1' });
    const params = { message: 'Deploy?', requestedSchema: { type: 'object', properties: {} } };
    const args = { do: 'ask', method: 'elicitation/create', askId: 'q1', params };
    const called = post('/v1/sessions/s1/messages?wait=30s', { tool: { server: 'kb', name: 'act', arguments: args } });
    const open = async () => (await get<{ questions: { id: string }[] }>('/v1/inbox')).questions;
    await expect.poll(open, { timeout: 20_000 }).toMatchObject([{ asker: 'kb', session: 'serve:s1', what: 'Deploy?' }]);
    await post(`/v1/inbox/${(await open())[0]?.id}`, { decision: 'accept' });
    expect(JSON.stringify(await (await called).json())).toContain('accept');
  });

  it('[G-17] is off where the configuration says so', async () => {
    const { post } = await startServed({ gateway: { inbox: false } });
    expect(await (await post('/v1/inbox/beef', { decision: 'accept' })).json()).toMatchObject({
      error: 'No inbox is on here.',
    });
  });
});
