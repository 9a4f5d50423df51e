import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Readiness } from '../../../../web/serve/readiness.ts';
import type { SessionWhy } from '../../../../src/sessions/why.ts';
import { deferred } from '../../../support/deferred.ts';
import { faultyServer } from '../../../support/faultyServer.ts';
import { parseOpenMetrics } from '../../../support/openMetrics.ts';
import { startServed } from '../startServed.ts';

const echo = { tool: { server: 'kb', name: 'echo', arguments: { word: 'hello' } } };

describe('the life of a gateway that is served', () => {
  it('[E-1] lets what is under way end when it stops, refuses what is new, and says that it is not ready', async () => {
    // Answers once it is told to.
    const waiting: (() => void)[] = [];
    const asked = deferred<void>();
    const upstream = createServer((_request, response) => {
      waiting.push(() => response.end('{"answer":"at last"}'));
      asked.resolve(undefined);
    });
    await new Promise<void>((resolve) => void upstream.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void upstream.close());
    const { port } = upstream.address() as AddressInfo;
    const guard = {
      command: process.execPath,
      args: ['-e', `fetch('http://127.0.0.1:${port}').then(() => process.exit(0))`],
    };
    const { serving, get, post, send, ask } = await startServed({
      servers: { kb: faultyServer() },
      hooks: { PreToolUse: [guard] },
    });
    await post('/v1/sessions', { id: 'a' });
    const sent = send('a', echo);
    await asked.promise;
    const stopped = serving.stop(60_000);
    expect(await get<Readiness>('/readyz')).toEqual({
      ready: false,
      reasons: ['It is stopping: what is under way may end, and nothing new is begun.'],
    });
    expect((await ask('/readyz')).status).toBe(503);
    expect((await ask('/healthz')).status).toBe(200);
    expect(await send('a', echo)).toMatchObject({ status: 503, error: 'It is stopping.' });
    expect((await post('/v1/sessions', { id: 'b' })).status).toBe(503);
    for (const answer of waiting) answer();
    expect(await sent).toMatchObject({ status: 200, state: 'done' });
    await stopped;
    await expect(ask('/healthz')).rejects.toThrow('fetch failed');
  });

  it('[E-1] is cut at once when it is told to stop again', async () => {
    const kb = faultyServer({ faults: [{ tool: 'echo', do: 'hang' }] });
    const { serving, get, post, send } = await startServed({ servers: { kb } });
    await post('/v1/sessions', { id: 'a' });
    const sent = send('a', echo);
    const phase = async () => (await get<SessionWhy>('/v1/sessions/a/why')).calls[0]?.progress?.phase;
    await expect.poll(phase).toBe('in_flight');
    const stopped = serving.stop(3_600_000);
    void serving.stop();
    await stopped;
    // It is delivered again at the next start.
    expect(await sent).toMatchObject({ status: 202, state: 'waiting' });
  });

  it('[E-1] [O-12] gives its metrics to who has the token', async () => {
    const { post, send, ask } = await startServed({ servers: { kb: faultyServer() } });
    await post('/v1/sessions', { id: 'a' });
    await send('a', echo);
    const text = await (await ask('/metrics', { headers: { accept: 'application/openmetrics-text' } })).text();
    expect(Object.keys(parseOpenMetrics(text)).length).toBeGreaterThan(5);
    expect(text).toContain('integration="kb"');
    expect((await ask('/metrics', { headers: { authorization: '' } })).status).toBe(401);
  });

  it('[E-1] [O-13] has the dashboard on the same listener, for the browser that was given its address', async () => {
    const { serving, post, ask } = await startServed({ servers: { kb: faultyServer() } });
    const page = await ask('/', { headers: { authorization: '' } });
    expect([page.status, page.headers.get('content-security-policy')]).toEqual([
      200,
      expect.stringContaining('script-src'),
    ]);
    expect((await ask('/api/snapshot')).status).toBe(403);
    const { url } = (await (await post('/v1/dashboard', {})).json()) as { url: string };
    expect(url).toBe(serving.dashboardUrl);
    const login = await post('/login', { token: url.split('token=')[1] }, { 'content-type': 'application/json' });
    const cookie = login.headers.get('set-cookie')?.split(';')[0] ?? '';
    const snapshot = await ask('/api/snapshot', { headers: { cookie } });
    expect(await snapshot.json()).toMatchObject({ integrations: [expect.objectContaining({ key: 'kb' })] });
    expect(serving.dashboardUrl).not.toBe(url);
  });

  it('[E-1] is refused from another site, under another name, and with half a token', async () => {
    const { ask } = await startServed();
    expect((await ask('/v1/sessions', { headers: { origin: 'https://evil.test' } })).status).toBe(403);
    expect((await ask('/healthz', { headers: { origin: 'https://evil.test' } })).status).toBe(403);
  });
});
