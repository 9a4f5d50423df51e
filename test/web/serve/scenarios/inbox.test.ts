import { describe, expect, it, onTestFinished } from 'vitest';
import { createGateway } from '../../../../src/index.ts';
import { hasSqlite } from '../../../store/startStore.ts';
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

  it('[G-17] is off where the configuration says so', async () => {
    const { post } = await startServed({ gateway: { inbox: false } });
    expect(await (await post('/v1/inbox/beef', { decision: 'accept' })).json()).toMatchObject({
      error: 'No inbox is on here.',
    });
  });
});
