import { describe, expect, it } from 'vitest';
import { RawClient, startHttp, textIn } from '../startHttp.ts';

const initialized = { jsonrpc: '2.0', method: 'notifications/initialized' };

describe('a session', () => {
  it('[P-5] has a server of its own, and an id that cannot be guessed', async () => {
    const { url } = await startHttp();
    const clients = [new RawClient(url), new RawClient(url)];
    const pids = new Set<string>();
    for (const client of clients) {
      const opened = await client.open();
      expect(opened.status).toBe(200);
      expect(client.session).toMatch(/^[\w-]{24}$/);
      expect((await client.post(initialized)).status).toBe(202);
      pids.add(await client.call({ do: 'pid' }));
    }
    expect(pids.size).toBe(2);
    expect(clients[0]?.session).not.toBe(clients[1]?.session);
  });

  it('[P-5] gets the progress of a call before its answer, on the stream of that call', async () => {
    const { url } = await startHttp();
    const client = new RawClient(url);
    await client.open();
    const params = {
      name: 'act',
      arguments: { do: 'progress', value: 3, then: 'answer' },
      _meta: { progressToken: 'p' },
    };
    const messages = await (await client.request('tools/call', params)).messages();
    expect(messages.map(({ method, id }) => method ?? id)).toEqual(['notifications/progress', 2]);
  });

  it('[P-5] is asked by its server on the stream of the call that is under way, and its answer goes back', async () => {
    const { url } = await startHttp();
    const client = new RawClient(url);
    await client.open();
    const call = await client.request('tools/call', {
      name: 'act',
      arguments: { do: 'ask', method: 'roots/list', askId: 9 },
    });
    expect((await call.next())?.message).toBeUndefined();
    expect((await call.next())?.message).toMatchObject({ id: 9, method: 'roots/list' });
    await client.post({ jsonrpc: '2.0', id: 9, result: { roots: [] } });
    expect(textIn((await call.next())?.message)).toContain('"roots":[]');
    expect(await call.next()).toBeUndefined();
  });

  it('[P-5] hears what names no request on its standing stream, also what came while that was not open', async () => {
    const { url } = await startHttp();
    const client = new RawClient(url);
    await client.open();
    const changed = { jsonrpc: '2.0', method: 'notifications/log' };
    await client.post(changed);
    const standing = await client.get();
    expect(standing.headers.get('content-type')).toBe('text/event-stream');
    expect((await standing.next())?.message).toBeUndefined();
    expect((await standing.next())?.message).toMatchObject({ method: 'notifications/message' });
    await client.call({ do: 'notify', method: 'notifications/tools/list_changed' });
    expect((await standing.next())?.message).toMatchObject({ method: 'notifications/tools/list_changed' });
  });

  it('[P-5] that lost the stream of a call resumes it: the call goes on, and its answer comes once', async () => {
    const { url } = await startHttp();
    const client = new RawClient(url);
    await client.open();
    const call = await client.request('tools/call', { name: 'act', arguments: { do: 'hold' } });
    const primed = await call.next();
    call.cut();
    expect(await client.call({ do: 'release' })).toBe('done');
    const resumed = await client.get({ 'Last-Event-ID': primed?.id });
    expect((await resumed.messages()).map(textIn)).toEqual(['released it']);
    const again = await client.get({ 'Last-Event-ID': primed?.id });
    expect((await again.messages()).map(textIn)).toEqual(['released it']);
  });

  it('[P-5] that resumes before the answer is there gets it when it comes', async () => {
    const { url } = await startHttp();
    const client = new RawClient(url);
    await client.open();
    const call = await client.request('tools/call', { name: 'act', arguments: { do: 'hold' } });
    const primed = await call.next();
    call.cut();
    const resumed = await client.get({ 'Last-Event-ID': primed?.id });
    await client.call({ do: 'release' });
    expect((await resumed.messages()).map(textIn)).toEqual(['released it']);
  });

  it.each(['nonsense', '7-1', '2-99'])(
    '[P-5] that resumes from %s, which is nothing of ours, is told so',
    async (from) => {
      const { url } = await startHttp();
      const client = new RawClient(url);
      await client.open();
      await client.call({ do: 'echo' });
      expect((await client.get({ 'Last-Event-ID': from })).status).toBe(400);
    },
  );

  it('[P-5] can resume for five minutes, and what is large not at all', async () => {
    const { url, clock } = await startHttp();
    const client = new RawClient(url);
    await client.open();
    const ids: (string | undefined)[] = [];
    for (const bytes of [10, 5 * 1024 * 1024]) {
      const call = await client.request('tools/call', { name: 'act', arguments: { do: 'large', bytes } });
      ids.push((await call.next())?.id);
      await call.messages();
    }
    expect((await client.get({ 'Last-Event-ID': ids[1] })).status).toBe(400);
    const call = await client.request('tools/call', { name: 'act', arguments: {} });
    const { id } = (await call.next()) ?? {};
    await call.messages();
    expect((await client.get({ 'Last-Event-ID': id })).status).toBe(200);
    clock.skip(300_000);
    expect((await client.get({ 'Last-Event-ID': id })).status).toBe(400);
  });

  it('[P-5] of an older version gets no empty events', async () => {
    const { url } = await startHttp();
    const client = new RawClient(url);
    await client.open('2025-06-18');
    const call = await client.request('tools/call', { name: 'act', arguments: {} });
    expect(textIn((await call.next())?.message)).toBe('');
    expect(await call.next()).toBeUndefined();
  });

  it.each(['2025-03-26', '2025-06-18'])(
    '[P-5] of %s is pinged on a stream that says nothing for 5 s, and can resume it by the ID of that',
    async (version) => {
      const { url, clock } = await startHttp();
      clock.stop();
      const client = new RawClient(url);
      await client.open(version);
      const standing = await client.get();
      const call = await client.request('tools/call', { name: 'act', arguments: { do: 'hold' } });
      clock.skip(4999);
      const other = await client.request('tools/call', { name: 'act', arguments: {} });
      expect((await other.next())?.message).toMatchObject({ id: 3 });
      clock.skip(1);
      const pinged = await call.next();
      expect(pinged?.message).toEqual({ jsonrpc: '2.0', id: 'unwedge-stream-2', method: 'ping' });
      expect(await standing.next()).toMatchObject({ id: '0-1', message: { id: 'unwedge-stream-0', method: 'ping' } });
      call.cut();
      expect((await client.post({ jsonrpc: '2.0', id: 'unwedge-stream-2', result: {} })).status).toBe(202);
      expect(await client.call({ do: 'received' })).not.toContain('unwedge-stream');
      await client.call({ do: 'release' });
      const resumed = await client.get({ 'Last-Event-ID': pinged?.id });
      expect((await resumed.messages()).map(textIn)).toEqual(['released it']);
    },
  );

  it.each(['2024-11-05', '2025-11-25'])('[P-5] of %s is pinged on no stream', async (version) => {
    const { url, clock } = await startHttp();
    clock.stop();
    const client = new RawClient(url);
    await client.open(version);
    const call = await client.request('tools/call', { name: 'act', arguments: { do: 'hold' } });
    clock.skip(5000);
    await client.call({ do: 'release' });
    const messages = (await call.messages()).map(({ id, method }) => method ?? id);
    expect(messages).toEqual([2]);
  });

  it('[P-5] may send several messages as one, and gets every answer', async () => {
    const { url } = await startHttp();
    const client = new RawClient(url);
    await client.open('2025-03-26');
    const call = (id: number) => ({ jsonrpc: '2.0', id, method: 'tools/call', params: { name: 'act', arguments: {} } });
    const messages = await (await client.post([call(7), initialized, call(8)])).messages();
    expect(messages.map(({ id }) => id)).toEqual([7, 8]);
  });

  it('[P-5] calls off what it does not want any more by a notification', async () => {
    const { url, sessions } = await startHttp();
    const client = new RawClient(url);
    await client.open();
    const call = await client.request('tools/call', { name: 'act', arguments: { do: 'hang' } }, 'gone');
    await call.next();
    await client.post({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 'gone' } });
    expect(await client.call({ do: 'received' })).toContain('"requestId\\":\\"gone\\"');
    expect(sessions.names).toEqual(['kb-1']);
  });

  it('[P-5] may not have two requests of one id', async () => {
    const { url } = await startHttp();
    const client = new RawClient(url);
    await client.open();
    await client.request('tools/call', { name: 'act', arguments: { do: 'hang' } }, 'same');
    const second = await client.request('tools/call', { name: 'act', arguments: {} }, 'same');
    expect(second.status).toBe(400);
    expect(await second.messages()).toMatchObject([{ id: 'same', error: { code: -32_600 } }]);
  });
});

describe('the server of a session', () => {
  it('[P-5] [I-1] is restarted when it dies in mid call, which is answered; other sessions do not notice', async () => {
    const { url } = await startHttp();
    const [mine, other] = [new RawClient(url), new RawClient(url)];
    await mine.open();
    await other.open();
    await mine.post(initialized);
    const pid = await other.call({ do: 'pid' });
    const held = await other.request('tools/call', { name: 'act', arguments: { do: 'hold' } });
    expect(await mine.call({ do: 'kill' })).toContain('ended by SIGKILL');
    expect(await mine.call({ do: 'start' })).toBe('3');
    expect(await other.call({ do: 'pid' })).toBe(pid);
    await other.call({ do: 'release' });
    expect((await held.messages()).map(textIn)).toEqual(['released it']);
  });

  it('[P-5] that does not take the handshake leaves no session', async () => {
    const { url, told, sessions } = await startHttp({ env: { REFUSE_STARTS: '1' } });
    const client = new RawClient(url);
    const opened = await client.open();
    expect(await opened.messages()).toMatchObject([{ id: 1, error: { code: -32_603 } }]);
    await told('process.exited');
    expect((await client.request('tools/list')).status).toBe(404);
    expect((await new RawClient(url).open()).status).toBe(200);
    expect(sessions.names.length).toBeLessThanOrEqual(2);
  });
});

describe('the end of a session', () => {
  it('[P-5] [I-3] comes with a DELETE: its server ends, its streams end, its id is unknown', async () => {
    const { url, told, http } = await startHttp();
    const client = new RawClient(url);
    await client.open();
    const standing = await client.get();
    expect((await client.delete()).status).toBe(204);
    expect((await client.request('tools/list')).status).toBe(404);
    await told('process.exited');
    expect(await standing.messages()).toEqual([]);
    expect(http.sessions).toBe(0);
  });

  it.each([true, false])(
    '[P-5] [I-1] comes with a DELETE while a request is under way, which is answered: a server for all, %s',
    async (shared) => {
      const { url } = await startHttp({ shared });
      const client = new RawClient(url);
      await client.open();
      await client.post(initialized);
      const held = await client.request('tools/call', { name: 'act', arguments: { do: 'hold' } }, 7);
      expect((await client.delete()).status).toBe(204);
      expect((await held.messages()).map(({ id }) => id)).toEqual([7]);
    },
  );

  it('[P-5] [I-3] comes when it is not used: after its time without a request or an open stream', async () => {
    const { url, told, clock } = await startHttp();
    const [open, idle] = [new RawClient(url), new RawClient(url)];
    await open.open();
    await idle.open();
    await open.get();
    clock.skip(1_800_000);
    await told('process.exited');
    expect((await idle.request('tools/list')).status).toBe(404);
    expect((await open.request('tools/list')).status).toBe(200);
  });

  it('[P-5] makes its name free for the next one', async () => {
    const { url, told, sessions, runtime } = await startHttp();
    const first = new RawClient(url);
    await first.open();
    await first.delete();
    await told('process.exited');
    await new Promise<void>((resolve) => {
      const look = (): void => void (sessions.names.length === 0 ? resolve() : setImmediate(look));
      look();
    });
    expect(runtime.root.children().filter(({ id }) => id.includes('kb'))).toEqual([]);
    const second = new RawClient(url);
    await second.open();
    expect(sessions.names).toEqual(['kb-1']);
    expect(await second.call({ do: 'start' })).toBe('2');
  });
});

describe('too many sessions', () => {
  it('[P-5] are refused, and told what ends one', async () => {
    const { url } = await startHttp({ maxSessions: 1 });
    await new RawClient(url).open();
    const refused = await new RawClient(url).open();
    expect(refused.status).toBe(503);
    expect((await refused.messages())[0]?.error?.message).toContain(
      '1 sessions already; a session ends with a DELETE, or 30m',
    );
  });

  it('[P-5] make room in place of one whose client has left its stream', async () => {
    const { url, clock } = await startHttp({ maxSessions: 1 });
    const gone = new RawClient(url);
    await gone.open();
    const standing = await gone.get();
    await standing.next();
    standing.cut();
    const next = new RawClient(url);
    let opened = await next.open();
    while (opened.status === 503) {
      clock.skip(61_000);
      opened = await next.open();
    }
    expect(opened.status).toBe(200);
    expect((await gone.request('tools/list')).status).toBe(404);
  });
});
