import { describe, expect, it } from 'vitest';
import { createGateway } from '../../../../src/index.ts';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { hasSqlite } from '../../../store/startStore.ts';
import { temporaryDirectory } from '../../../support/temporary.ts';
import { startDashboard } from '../startDashboard.ts';

/** A gateway that asks, and its dashboard, for a visitor of this right. */
async function start(right: 'all' | 'read') {
  const path = join(temporaryDirectory(), 'gateway.sqlite');
  const gateway = createGateway({ store: path, control: false, inbox: true });
  onTestFinished(() => gateway.stop());
  const approve = gateway.approval('deploys');
  await gateway.start();
  const answer = approve({ action: 'deploy' });
  await expect.poll(() => gateway.inbox?.open()).toHaveLength(1);
  const { port } = await startDashboard(path, { access: () => ({ right, by: 'kim' }) });
  const ask = async (way: string, body?: unknown) => {
    const json = { method: 'POST', body: JSON.stringify(body), headers: { 'content-type': 'application/json' } };
    const response = await fetch(`http://127.0.0.1:${port}${way}`, body === undefined ? {} : json);
    return { status: response.status, data: (await response.json()) as Record<string, unknown> };
  };
  const { data } = await ask('/api/snapshot');
  const [wait] = data['waits'] as { question: { id: string } }[];
  return { gateway, answer, ask, question: wait?.question.id };
}

describe.skipIf(!hasSqlite)('a question on the dashboard', () => {
  it('[G-17] [O-13] is answered by who has the right to, once, and that is on record', async () => {
    const { gateway, answer, ask, question } = await start('all');
    expect(await ask('/api/answer', { question, decision: 'perhaps' })).toMatchObject({ status: 400 });
    expect(await ask('/api/answer', { question, decision: 'accept', value: 'x' })).toMatchObject({
      data: { ok: false, text: expect.stringContaining('takes yes or no alone') as string },
    });
    const given = await ask('/api/answer', { question, decision: 'accept', why: 'looks good' });
    expect(given.data).toMatchObject({ ok: true });
    expect(await answer).toMatchObject({ decision: 'accept', reason: 'looks good', value: { by: 'kim', way: 'page' } });
    const second = await ask('/api/answer', { question, decision: 'decline' });
    expect(second.data).toMatchObject({ ok: false, text: expect.stringContaining('allowed by kim (page)') as string });
    expect((await ask('/api/snapshot')).data['waits']).toEqual([]);
    const events = await gateway.store?.read({ category: 'question', limit: 10 });
    expect(events?.filter(({ type }) => type === 'answered')).toMatchObject([{ metadata: { by: 'kim', way: 'page' } }]);
  });

  it('[G-17] is shown to who may only look, and not answered by them', async () => {
    const { gateway, ask, question } = await start('read');
    expect(await ask('/api/answer', { question, decision: 'accept' })).toMatchObject({ status: 403 });
    expect(await gateway.inbox?.open()).toHaveLength(1);
  });
});
