import { describe, expect, it } from 'vitest';
import { type StartedProxy, startProxy, textIn } from '../startProxy.ts';

const methodsOf = (lines: readonly string[]): string[] =>
  lines.map((line) => (JSON.parse(line) as { method: string }).method);

async function crash(proxy: StartedProxy): Promise<void> {
  await proxy.call('act', { do: 'kill' });
  await proxy.told('integration.restarted', proxy.starts());
}

describe('a new server behind the proxy', () => {
  it('[P-3] hears the handshake of the client, the log level and the subscriptions, in this order', async () => {
    const proxy = await startProxy();
    await proxy.open();
    await proxy.ask('logging/setLevel', { level: 'debug' });
    await proxy.ask('logging/setLevel', { level: 'warning' });
    for (const uri of ['file:///a', 'file:///b']) await proxy.ask('resources/subscribe', { uri });
    await proxy.ask('resources/unsubscribe', { uri: 'file:///a' });
    await crash(proxy);
    const lines = await proxy.received();
    expect(methodsOf(lines).slice(0, 4)).toEqual([
      'initialize',
      'notifications/initialized',
      'logging/setLevel',
      'resources/subscribe',
    ]);
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({
      params: { protocolVersion: '2025-11-25', clientInfo: { name: 'test', version: '1' } },
    });
    expect(lines[2]).toContain('warning');
    expect(lines[3]).toContain('file:///b');
    expect(await proxy.told('mcp.server_replayed')).toMatchObject({ era: 'legacy', restored: 2, changed: undefined });
  });

  it('[P-3] gets no answer of its own to the client', async () => {
    const proxy = await startProxy();
    await proxy.open();
    const before = proxy.lines.length;
    await crash(proxy);
    await proxy.call('act', { do: 'start' });
    expect(proxy.lines).toHaveLength(before + 2);
  });

  it('[P-3] hears what the client said meanwhile, before the calls that waited for it', async () => {
    const proxy = await startProxy();
    await proxy.open();
    void proxy.call('act', { do: 'kill' });
    await proxy.told('integration.crashed');
    const call = proxy.call('act', { do: 'received' });
    proxy.notify('notifications/roots/list_changed');
    const methods = methodsOf(JSON.parse(textIn(await call)) as string[]);
    expect(methods.slice(2)).toEqual(['notifications/roots/list_changed', 'tools/call']);
  });

  it('[P-3] with other tools has the client told, once', async () => {
    const proxy = await startProxy({ env: { VARY: '1' } });
    await proxy.open();
    await crash(proxy);
    await proxy.seen(({ method }) => method === 'notifications/tools/list_changed');
    expect(await proxy.told('mcp.lists_changed')).toMatchObject({ lists: 'tools/list' });
    await proxy.call('act', { do: 'start' });
    expect(proxy.lines.filter((line) => line.includes('list_changed'))).toHaveLength(1);
  });

  it('[P-3] with the same tools has the client told nothing, page by page', async () => {
    const proxy = await startProxy({ env: { PAGE: '2' } });
    await proxy.open();
    await proxy.ask('tools/list', { cursor: '2' });
    await crash(proxy);
    await expect
      .poll(async () => (await proxy.received()).filter((line) => line.includes('tools/list')))
      .toEqual([expect.not.stringContaining('cursor') as string, expect.stringContaining('"cursor":"2"') as string]);
    await proxy.call('act', { do: 'start' });
    expect(proxy.lines.some((line) => line.includes('list_changed'))).toBe(false);
  });

  it('[P-3] with another tool on the second page has the client told', async () => {
    const proxy = await startProxy({ env: { PAGE: '3', VARY: '1' } });
    await proxy.open();
    await proxy.ask('tools/list', { cursor: '3' });
    await crash(proxy);
    const changed = await proxy.seen(({ method }) => method === 'notifications/tools/list_changed');
    expect(changed.params).toBeUndefined();
  });

  it('[P-3] with a list that goes on where it ended has the client told', async () => {
    const proxy = await startProxy({ env: { PAGE: '3', GROWS: '1' } });
    await proxy.open();
    await crash(proxy);
    await proxy.seen(({ method }) => method === 'notifications/tools/list_changed');
    expect(await proxy.told('mcp.lists_changed')).toMatchObject({ lists: 'tools/list' });
  });

  it('[P-3] hears once that the client is ready, though it said so while the server was away', async () => {
    const proxy = await startProxy();
    await proxy.ask('initialize', { protocolVersion: '2025-11-25', capabilities: {} });
    void proxy.call('act', { do: 'kill' });
    await proxy.told('integration.crashed');
    proxy.notify('notifications/initialized');
    expect(methodsOf(await proxy.received())).toEqual([
      ...['initialize', 'notifications/initialized'],
      ...['tools/list', 'tools/call'],
    ]);
  });

  it('[P-3] is asked for no list that the client has not seen, but for the tools before a call', async () => {
    const proxy = await startProxy({ env: { VARY: '1' } });
    await proxy.ask('initialize', { protocolVersion: '2025-06-18', capabilities: {} });
    proxy.notify('notifications/initialized');
    await crash(proxy);
    await proxy.call('act', { do: 'start' });
    const methods = methodsOf(await proxy.received());
    expect(methods.slice(0, 4)).toEqual(['initialize', 'notifications/initialized', 'tools/list', 'tools/call']);
    expect(methods.filter((method) => method.endsWith('/list'))).toHaveLength(1);
  });

  it('[P-3] that does not take everything back is used all the same, and that is said', async () => {
    const proxy = await startProxy({ env: { REFUSES_RESTORE: '1' } });
    await proxy.open();
    await proxy.ask('resources/subscribe', { uri: 'file:///a' });
    await crash(proxy);
    expect(textIn(await proxy.call('act', { do: 'start' }))).toBe('2');
    await expect
      .poll(() => proxy.said.join('\n'), { timeout: 10_000 })
      .toContain('kb refused resources/subscribe after its restart');
  });

  it('[P-3] [R-12] has its own tools known, before the client has asked for them', async () => {
    const proxy = await startProxy({ env: { VARY: '1' } });
    await proxy.open();
    await crash(proxy);
    await proxy.told('mcp.lists_changed');
    expect(textIn(await proxy.call('tool-2', { do: 'crash', onStart: 2 }))).toBe('3');
  });
});

describe('a request of the server to the client', () => {
  it('[P-3] is withdrawn when its server crashes, and the answer to it reaches no other server', async () => {
    const proxy = await startProxy();
    await proxy.open();
    void proxy.call('act', { do: 'ask', method: 'sampling/createMessage', askId: 0 });
    await proxy.seen(({ method }) => method === 'sampling/createMessage');
    await crash(proxy);
    const cancelled = await proxy.seen(({ method }) => method === 'notifications/cancelled');
    expect(cancelled.params).toMatchObject({ requestId: 0 });
    proxy.raw('{"jsonrpc":"2.0","id":0,"result":{"for":"the dead"}}');
    expect((await proxy.received()).some((line) => line.includes('the dead'))).toBe(false);
  });

  it('[P-3] of a new server with the id of one that the client may still answer gets another id, and its answer back', async () => {
    const proxy = await startProxy();
    await proxy.open();
    void proxy.call('act', { do: 'ask', method: 'sampling/createMessage', askId: 0 });
    await proxy.seen(({ method }) => method === 'sampling/createMessage');
    await crash(proxy);
    const asking = proxy.call('act', { do: 'ask', method: 'elicitation/create', askId: 0 });
    const { id } = await proxy.seen(({ method }) => method === 'elicitation/create');
    expect(id).toMatch(/^unwedge-/);
    proxy.raw(`{"jsonrpc":"2.0","result":{"for":"the living"},"id":${JSON.stringify(id)}}`);
    expect(JSON.parse(textIn(await asking))).toEqual({ jsonrpc: '2.0', result: { for: 'the living' }, id: 0 });
  });

  it('[P-3] that it takes back is taken back under the id the client knows', async () => {
    const proxy = await startProxy();
    await proxy.open();
    void proxy.call('act', { do: 'ask', method: 'sampling/createMessage', askId: 0 });
    await proxy.seen(({ method }) => method === 'sampling/createMessage');
    await crash(proxy);
    void proxy.call('act', { do: 'ask', method: 'elicitation/create', askId: 0 });
    const { id } = await proxy.seen(({ method }) => method === 'elicitation/create');
    await proxy.call('act', { do: 'unask', askId: 0 });
    const cancelled = await proxy.seen(
      ({ method, params }) => method === 'notifications/cancelled' && params?.['requestId'] !== 0,
    );
    expect(cancelled.params).toEqual({ requestId: id });
  });
});
