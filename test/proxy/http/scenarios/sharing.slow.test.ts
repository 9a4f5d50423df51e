import { describe, expect, it } from 'vitest';
import { RawClient, startHttp, stateless, textIn } from '../startHttp.ts';

const subscription = 'io.modelcontextprotocol/subscriptionId';

describe('a server that all sessions share', () => {
  async function two() {
    const started = await startHttp({ shared: true });
    const [one, other] = [new RawClient(started.url), new RawClient(started.url)];
    await Promise.all([one.open(), other.open()]);
    return { ...started, one, other };
  }

  it('[P-5] is one process, greeted once, without what only some of its clients can do', async () => {
    const { one, other } = await two();
    await one.post({ jsonrpc: '2.0', method: 'notifications/initialized' });
    expect(await one.call({ do: 'pid' })).toBe(await other.call({ do: 'pid' }));
    const received = JSON.parse(await other.call({ do: 'received' })) as string[];
    const greetings = received.filter((line) => line.includes('"initialize"'));
    expect(greetings).toHaveLength(1);
    expect(greetings[0]).toContain('"capabilities":{},"clientInfo":{"name":"unwedge"');
    expect(received.filter((line) => line.includes('notifications/initialized'))).toHaveLength(1);
  });

  it('[P-5] answers each of them its own, whatever ids and progress tokens they use', async () => {
    const { one, other } = await two();
    const hold = (client: RawClient, key: string) =>
      client.request('tools/call', { name: 'act', arguments: { do: 'hold', key } }, 7);
    const [first, second] = [await hold(one, 'one'), await hold(other, 'other')];
    await one.call({ do: 'release', key: 'other' });
    await one.call({ do: 'release', key: 'one' });
    expect(await first.messages()).toMatchObject([{ id: 7, result: { content: [{ text: 'released one' }] } }]);
    expect(await second.messages()).toMatchObject([{ id: 7, result: { content: [{ text: 'released other' }] } }]);

    const params = { name: 'act', arguments: { do: 'progress', value: 1 }, _meta: { progressToken: 5 } };
    const [a, b] = [await one.request('tools/call', params), await other.request('tools/call', params)];
    for (const call of [a, b]) {
      await call.next();
      expect((await call.next())?.message?.params).toMatchObject({ progressToken: 5, progress: 1 });
    }
  });

  it('[P-5] tells each of the resources it has subscribed to, and of the log as much as it wants', async () => {
    const { one, other } = await two();
    const [mine, theirs] = [await one.get(), await other.get()];
    for (const stream of [mine, theirs]) await stream.next();
    await (await one.request('resources/subscribe', { uri: 'kb://a' })).messages();
    await (await one.request('logging/setLevel', { level: 'debug' })).messages();
    await (await other.request('logging/setLevel', { level: 'error' })).messages();
    await one.call({ do: 'notify', method: 'notifications/resources/updated', params: { uri: 'kb://a' } });
    await one.call({ do: 'notify', method: 'notifications/message', params: { level: 'info', data: 'low' } });
    await one.call({ do: 'notify', method: 'notifications/message', params: { level: 'error', data: 'high' } });
    await one.call({ do: 'notify', method: 'notifications/tools/list_changed' });
    const heard = [];
    for (let index = 0; index < 2; index++) heard.push((await theirs.next())?.message?.params?.['data'] ?? 'changed');
    expect(heard).toEqual(['high', 'changed']);
    expect((await mine.next())?.message?.method).toBe('notifications/resources/updated');
    expect(await one.call({ do: 'received' })).not.toContain('\\"level\\":\\"error\\"}}');
  });

  it('[P-5] cannot ask any of them', async () => {
    const { one } = await two();
    const asked = JSON.parse(await one.call({ do: 'ask', method: 'roots/list' })) as { error?: { code: number } };
    expect(asked.error?.code).toBe(-32_601);
  });

  it('[P-5] is told what a client has called off that has ended its session', async () => {
    const { one, other } = await two();
    await (await one.request('tools/call', { name: 'act', arguments: { do: 'hang' } })).next();
    await one.delete();
    expect(await other.call({ do: 'received' })).toContain('notifications/cancelled');
  });

  it('[P-5] [I-1] that dies is restarted for all of them', async () => {
    const { one, other } = await two();
    const held = await other.request('tools/call', { name: 'act', arguments: { do: 'hold' } });
    expect(await one.call({ do: 'kill' })).toContain('ended by SIGKILL');
    expect(textIn((await held.messages()).at(-1))).toContain('ended by SIGKILL');
    expect(await other.call({ do: 'start' })).toBe('2');
  });
});

describe('requests of the stateless era', () => {
  const modern = { env: { STYLE: 'modern' } };
  const call = (url: string, args: object, id = 1) =>
    stateless(url, 'tools/call', { name: 'act', arguments: args }, {}, id);

  it('[P-5] share a server, and are answered with JSON when nothing comes before', async () => {
    const { url } = await startHttp(modern);
    const discovered = await stateless(url, 'server/discover');
    expect(discovered.headers.get('content-type')).toBe('application/json');
    expect(discovered.headers.get('mcp-session-id')).toBeNull();
    const [a, b] = await Promise.all([call(url, { do: 'pid' }), call(url, { do: 'pid' })]);
    expect(textIn((await a.messages())[0])).toBe(textIn((await b.messages())[0]));
  });

  it('[P-5] become a stream when progress comes first, or when the answer takes its time', async () => {
    const { url, clock } = await startHttp(modern);
    const params = { name: 'act', arguments: { do: 'progress', then: 'answer' }, _meta: { progressToken: 'mine' } };
    const progressing = await stateless(url, 'tools/call', params);
    expect(progressing.headers.get('content-type')).toBe('text/event-stream');
    const [first] = await progressing.messages();
    expect(first?.params?.['progressToken']).toBe('mine');
    const held = call(url, { do: 'hold' });
    let headers = false;
    void held.then(() => (headers = true));
    while (!headers) {
      clock.skip(5000);
      await call(url, {});
    }
    await call(url, { do: 'release' });
    expect(textIn((await (await held).messages())[0])).toBe('released it');
  });

  it('[P-5] are called off when their client leaves', async () => {
    const { url } = await startHttp(modern);
    const listening = await stateless(url, 'subscriptions/listen', { notifications: { toolsListChanged: true } });
    await listening.next();
    listening.cut();
    let received = '';
    while (!received.includes('notifications/cancelled')) {
      received = textIn((await (await call(url, { do: 'received' })).messages())[0]);
    }
    expect(received).toContain('client-1');
  });

  it('[P-5] that listen hear what is theirs, under the ids they gave', async () => {
    const { url } = await startHttp(modern);
    const listen = (id: number) =>
      stateless(url, 'subscriptions/listen', { notifications: { toolsListChanged: true } }, {}, id);
    const [one, other] = [await listen(4), await listen(4)];
    for (const each of [one, other]) {
      expect((await each.next())?.message?.params).toMatchObject({ _meta: { [subscription]: 4 } });
    }
    const params = { _meta: { [subscription]: 'client-2' } };
    await call(url, { do: 'notify', method: 'notifications/tools/list_changed', params });
    expect((await other.next())?.message).toMatchObject({
      method: 'notifications/tools/list_changed',
      params: { _meta: { [subscription]: 4 } },
    });
  });

  it('[P-5] [I-3] leave no server behind when none comes for a while', async () => {
    const { url, clock, told } = await startHttp(modern);
    await (await stateless(url, 'server/discover')).messages();
    clock.skip(1_800_000);
    await told('process.exited');
    expect((await stateless(url, 'server/discover')).status).toBe(200);
  });
});
