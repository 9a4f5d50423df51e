import { describe, expect, it } from 'vitest';
import type { HistoryEntry } from '../../../../src/index.ts';
import { fakeMcpServer } from '../../../../testing/fakeMcpServer.ts';
import { deferred } from '../../../support/deferred.ts';
import { faultyServer } from '../../../support/faultyServer.ts';
import { eventsOf, startServed } from '../startServed.ts';

const echo = { tool: { server: 'kb', name: 'echo', arguments: { word: 'hello' } } };

type Sessions = { readonly sessions: readonly { readonly id: string }[] };

describe('DELETE /v1/sessions/:session', () => {
  it('[G-18] [E-1] ends a session, and the streams of its events with it; named again it goes on with its history', async () => {
    const { ask, get, post, send } = await startServed({ servers: { kb: faultyServer() } });
    await post('/v1/sessions', { id: 'a' });
    await send('a', echo);
    const events = eventsOf(await ask('/v1/sessions/a/events'));
    const closed = await ask('/v1/sessions/a?reason=done', { method: 'DELETE' });
    expect([closed.status, await closed.json()]).toEqual([200, { ok: true, text: 'serve:a is closed.' }]);
    const seen = [];
    for await (const { data } of events) seen.push(data);
    expect(seen.at(-1)).toMatchObject({ type: 'session.closed', because: 'closed', reason: 'done', by: 'http' });
    expect(await get<Sessions>('/v1/sessions')).toEqual({ sessions: [] });
    expect(await send('a', echo)).toMatchObject({ state: 'done', id: 'serve:a-m2' });
    const { history } = await get<{ history: readonly HistoryEntry[] }>('/v1/sessions/a/history');
    expect(history.filter(({ type }) => type === 'message')).toHaveLength(2);
  });

  it('[G-18] [E-1] cuts the message under way, or lets it end within `drain`', async () => {
    const begun = deferred<void>();
    const answer = deferred<string>();
    const kb = fakeMcpServer({
      tools: {
        echo: () => {
          begun.resolve(undefined);
          return answer.promise;
        },
      },
    });
    const { ask, post, send } = await startServed({ servers: { kb: kb as never } });
    await post('/v1/sessions', { id: 'a' });
    const sent = send('a', echo);
    await begun.promise;
    const closing = ask('/v1/sessions/a?drain=1h', { method: 'DELETE' });
    await expect.poll(async () => (await send('a', echo, '')).status).toBe(503);
    answer.resolve('late, and in time');
    expect(await sent).toMatchObject({ state: 'done' });
    expect(await (await closing).json()).toEqual({ ok: true, text: 'serve:a is closed.' });
  });

  it('[G-18] [E-1] of a session that nobody knows is 404', async () => {
    const { ask } = await startServed();
    expect((await ask('/v1/sessions/nobody', { method: 'DELETE' })).status).toBe(404);
  });
});

describe('more sessions than are held at a time', () => {
  it('[G-18] [N-8] let idle ones go, which go on with their history when they are named again', async () => {
    const { clock, get, post, send } = await startServed({ servers: { kb: faultyServer() }, maxSessions: 3 });
    const ids = ['a', 'b', 'c', 'd', 'e', 'f', 'g'];
    for (const id of ids) {
      (clock as { skip?: (ms: number) => void }).skip?.(2000);
      expect((await post('/v1/sessions', { id })).status).toBe(201);
      expect(await send(id, echo)).toMatchObject({ state: 'done' });
    }
    await expect.poll(async () => (await get<Sessions>('/v1/sessions')).sessions.length).toBe(3);
    for (const id of ids) {
      (clock as { skip?: (ms: number) => void }).skip?.(2000);
      const { history } = await get<{ history: readonly HistoryEntry[] }>(`/v1/sessions/${id}/history`);
      expect(history).toHaveLength(3);
    }
  });

  it('[G-18] [E-1] are refused while all that are held are at work', async () => {
    const answer = deferred<string>();
    const kb = fakeMcpServer({ tools: { echo: () => answer.promise } });
    const { clock, post, send, ask } = await startServed({ servers: { kb: kb as never }, maxSessions: 1 });
    await post('/v1/sessions', { id: 'a' });
    const { id } = await send('a', echo, '');
    (clock as { skip?: (ms: number) => void }).skip?.(2000);
    expect((await post('/v1/sessions', { id: 'b' })).status).toBe(503);
    expect(await (await ask('/readyz')).json()).toMatchObject({ ready: false });
    answer.resolve('done');
    expect(id).toBe('serve:a-m1');
  });
});
