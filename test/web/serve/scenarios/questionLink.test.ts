import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type ApprovalRequest, createGateway } from '../../../../src/index.ts';
import { createProxyRuntime } from '../../../../cli/proxyRuntime.ts';
import { hasSqlite } from '../../../store/startStore.ts';
import { temporaryDirectory } from '../../../support/temporary.ts';
import { startServed } from '../startServed.ts';

interface News {
  readonly question: string;
  readonly text: string;
  readonly link?: string;
}

async function startServer(answer: RequestListener): Promise<string> {
  const server = createServer(answer).listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`;
}

/** `unwedge serve`, and beside it a gateway on the same store whose webhook is told of questions, with links to the first. */
async function startAsking(more: { readonly baseUrl?: string | null; readonly overallMs?: number } = {}) {
  const { serving, store, clock } = await startServed();
  const told: News[] = [];
  const url = await startServer((request, response) => {
    void text(request).then((body) => told.push(JSON.parse(body) as News));
    response.end();
  });
  const { baseUrl = `${serving.origin}/`, overallMs } = more;
  const notify = { webhook: { url }, ...(baseUrl !== null && { baseUrl }) };
  const gateway = createGateway({ store, clock, control: false, inbox: { notify, overallMs } });
  onTestFinished(() => gateway.stop());
  const approve = gateway.approval('deploys');
  await gateway.start();
  const asking = async (request: ApprovalRequest) => {
    const before = told.length;
    const answer = approve(request);
    await expect.poll(() => told.length).toBe(before + 1);
    return { answer, news: told.at(-1) as News, link: told.at(-1)?.link ?? '' };
  };
  return { serving, gateway, clock, told, asking };
}

const form = (fields: Record<string, string>, headers: Record<string, string> = {}) => ({
  method: 'POST',
  body: new URLSearchParams(fields).toString(),
  headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
});

describe.skipIf(!hasSqlite)('a link to a question', () => {
  it('[G-17] is told to a webhook, shows the question to GET, is answered by POST alone, once, with who answered', async () => {
    const { asking, gateway } = await startAsking();
    const { answer, news, link } = await asking({ action: 'deploy <b>now</b>', payload: { host: '"a"' } });
    expect(news).toMatchObject({ type: 'question.asked', asker: 'deploys', question: expect.any(String) as string });
    expect(news.text).toContain(`deploys asks a person until `);
    expect(news.text).toContain(`; answer: ${link}`);
    for (const method of ['GET', 'HEAD', 'GET']) expect((await fetch(link, { method })).status).toBe(200);
    const page = await (await fetch(link)).text();
    expect(page).toContain('deploy &lt;b&gt;now&lt;/b&gt;');
    expect(page).toContain('&quot;a');
    expect(page).not.toContain('<b>');
    expect(await gateway.inbox?.open()).toHaveLength(1);
    expect((await fetch(link, form({ decision: 'perhaps' }))).status).toBe(400);
    expect((await fetch(link, { method: 'POST', body: '{"decision":"accept"}' })).status).toBe(400);
    expect((await fetch(link, { method: 'PUT' })).status).toBe(405);
    const thanks = await fetch(link, form({ decision: 'accept', by: 'anna', reason: 'go' }));
    expect([thanks.status, await thanks.text()]).toEqual([200, expect.stringContaining('allowed by anna (link)')]);
    expect(await answer).toMatchObject({ decision: 'accept', reason: 'go', value: { by: 'anna', way: 'link' } });
    for (const init of [{}, form({ decision: 'decline', by: 'ben' })]) {
      const again = await fetch(link, init);
      expect([again.status, await again.text()]).toEqual([410, expect.stringContaining('allowed by anna (link)')]);
    }
  });

  it('[G-17] [Q-6] is answered once by many who press at the same time', async () => {
    const { asking } = await startAsking();
    const { answer, link } = await asking({ action: 'deploy' });
    const names = ['a', 'b', 'c', 'd', 'e', 'f'];
    const pressed = await Promise.all(names.map((by) => fetch(link, form({ decision: 'accept', by }))));
    expect(pressed.map(({ status }) => status).sort((a, b) => a - b)).toEqual([200, 410, 410, 410, 410, 410]);
    const by = names[pressed.findIndex(({ status }) => status === 200)];
    expect(await answer).toMatchObject({ decision: 'accept', value: { by } });
  });

  it('[G-17] [Q-6] with a wrong signature says the same whether there is such a question or not', async () => {
    const { asking, serving } = await startAsking();
    const { link, news } = await asking({ action: 'deploy' });
    const other = await asking({ action: 'another' });
    const signed = link.split('/').at(-1) ?? '';
    const wrong = `${signed[0] === 'A' ? 'B' : 'A'}${signed.slice(1)}`;
    const ways = [
      `/inbox/${news.question}/${wrong}`,
      `/inbox/${other.news.question}/${signed}`,
      `/inbox/${'0'.repeat(20)}/${signed}`,
      `/inbox/${news.question.slice(0, 8)}/${signed}`,
      `/inbox/${news.question}`,
      '/inbox/',
    ];
    for (const init of [{}, form({ decision: 'accept' })]) {
      const answers = await Promise.all(ways.map((way) => fetch(`${serving.origin}${way}`, init)));
      const bodies = await Promise.all(answers.map(async (each) => [each.status, await each.text()]));
      expect(new Set(bodies.map((each) => JSON.stringify(each))).size).toBe(1);
      expect(bodies[0]).toEqual([404, expect.stringContaining('This link is not good.')]);
    }
    expect((await fetch(link)).status).toBe(200);
  });

  it('[G-17] [Q-6] ends with the deadline of its question', async () => {
    const { asking, clock } = await startAsking({ overallMs: 2000 });
    const { answer, link } = await asking({ action: 'deploy' });
    expect(await answer).toMatchObject({ decision: 'decline', failure: 'timeout' });
    expect(clock.now()).toBeGreaterThan(0);
    const late = await fetch(link, form({ decision: 'accept' }));
    expect([late.status, await late.text()]).toEqual([410, expect.stringContaining('declined')]);
  });

  it('[G-17] [Q-6] is not taken from the page of another site', async () => {
    const { asking, gateway } = await startAsking();
    const { link } = await asking({ action: 'deploy' });
    const origin = { origin: 'https://evil.example' };
    expect((await fetch(link, form({ decision: 'accept' }, origin))).status).toBe(403);
    expect((await fetch(link, form({ decision: 'accept' }, { origin: 'null' }))).status).toBe(403);
    const { headers } = await fetch(link);
    expect(headers.get('content-security-policy')).toContain("default-src 'none'");
    expect([headers.get('referrer-policy'), headers.get('cache-control')]).toEqual(['same-origin', 'no-store']);
    expect(await gateway.inbox?.open()).toHaveLength(1);
  });

  it('[G-17] is not told where no address is given: then the command is; nor is it on record', async () => {
    const without = await startAsking({ baseUrl: null });
    const { news } = await without.asking({ action: 'deploy @here <!all>' });
    expect(news.link).toBeUndefined();
    expect(news.text).toContain(`unwedge inbox answer ${news.question.slice(0, 8)}`);
    expect(news.text).toContain('deploy ＠here ‹!all›');
    const { asking, gateway } = await startAsking();
    const { link } = await asking({ action: 'deploy' });
    await gateway.store?.flush();
    const events = await gateway.store?.read({ limit: 100 });
    expect(JSON.stringify(events)).not.toContain(link.split('/').at(-1));
  });
});

describe.skipIf(!hasSqlite)('a question of what stands before a server or an agent', () => {
  it('[G-17] is told as one of a gateway is', async () => {
    const told: string[] = [];
    const url = await startServer((request, response) => {
      void text(request).then((body) => told.push(body));
      response.end();
    });
    const inbox = { notify: { webhook: { url }, baseUrl: 'https://agents.example' } };
    const { registry } = createProxyRuntime({ store: join(temporaryDirectory(), 'db'), inbox });
    onTestFinished(() => registry.stop());
    await registry.start();
    await expect.poll(() => registry.paths.has('inbox:webhook')).toBe(true);
    void registry.runtime.inbox?.ask({ source: 'elicitation', asker: 'kb', what: 'which one?', form: { is: 'text' } });
    await expect.poll(() => told).toHaveLength(1);
    expect(told[0]).toContain('https://agents.example/inbox/');
  });
});
