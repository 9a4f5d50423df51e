import { describe, expect, it } from 'vitest';
import { type StartedProxy, startProxy, textIn } from '../startProxy.ts';

const version = 'io.modelcontextprotocol/protocolVersion';
const subscription = 'io.modelcontextprotocol/subscriptionId';
const modern = (params: object = {}) => ({ _meta: { [version]: '2026-07-28' }, ...params });
const legacy = { protocolVersion: '2025-11-25', capabilities: {} };

describe('the question for the era of the server', () => {
  it('[P-3] is answered by a server of the stateless era itself', async () => {
    const proxy = await startProxy({ env: { STYLE: 'modern' } });
    expect((await proxy.ask('server/discover', modern())).result?.['supportedVersions']).toEqual(['2026-07-28']);
  });

  it('[P-3] is answered by a server of the old era as it does that', async () => {
    const proxy = await startProxy();
    expect((await proxy.ask('server/discover', modern())).error).toEqual({
      code: -32_601,
      message: 'Method not found',
    });
    await proxy.ask('initialize', legacy);
    expect(proxy.starts()).toBe(1);
  });

  it('[P-3] is answered by the proxy when the server dies of it; a fresh one takes the handshake, and nothing counts as a crash', async () => {
    const proxy = await startProxy({ env: { STYLE: 'dies' } });
    expect((await proxy.ask('server/discover', modern())).error?.code).toBe(-32_601);
    expect((await proxy.ask('initialize', legacy)).result).toBeDefined();
    expect(proxy.starts()).toBe(2);
    const crashes = proxy.facts.filter(({ type }) => type === 'child.crashed' || type === 'integration.crashed');
    expect(crashes).toEqual([]);
  });

  it('[P-3] is not put again to a server that died of it', async () => {
    const proxy = await startProxy({ env: { STYLE: 'dies' } });
    await proxy.ask('server/discover', modern());
    expect((await proxy.ask('server/discover', modern())).error?.code).toBe(-32_601);
    await proxy.ask('initialize', legacy);
    expect(proxy.starts()).toBe(2);
  });

  it('[P-3] is answered at once when the command is not there, and so is the handshake that follows', async () => {
    const proxy = await startProxy({ command: '/nowhere/at-all' });
    proxy.clock.stop();
    const { error } = await proxy.ask('server/discover', modern());
    expect(error?.code).toBe(-32_601);
    expect(error?.message).toContain('no such command');
    expect((await proxy.ask('initialize', legacy)).error?.message).toContain('no such command');
  });

  it('[P-3] is answered with the last words of a server that did not come up', async () => {
    const proxy = await startProxy({ env: { FAIL_STARTS: '1', STYLE: 'modern' } });
    const { error } = await proxy.ask('server/discover', modern());
    expect(error?.code).toBe(-32_601);
    expect(error?.message).toContain('no luck at start 1');
  });

  it('[P-3] is put again to a server that came up no more without being asked it', async () => {
    const proxy = await startProxy({ env: { FAIL_STARTS: '2', STYLE: 'modern' } });
    await proxy.ask('server/discover', modern());
    expect((await proxy.ask('initialize', legacy)).error).toBeDefined();
    expect((await proxy.ask('server/discover', modern())).result?.['supportedVersions']).toEqual(['2026-07-28']);
  });

  it('[P-3] [I-1] is answered also when the proxy stops', async () => {
    const proxy = await startProxy({ env: { STYLE: 'ignores' } });
    proxy.clock.stop();
    const asked = proxy.ask('server/discover', modern());
    await proxy.told('process.started');
    void proxy.stop();
    expect((await asked).error?.code).toBe(-32_601);
  });

  it('[P-3] is answered by the proxy when the server is silent: 10 s after the question', async () => {
    const proxy = await startProxy({ env: { STYLE: 'ignores' } });
    proxy.clock.stop();
    const asked = proxy.ask('server/discover', modern());
    await proxy.told('process.started');
    proxy.clock.skip(9900);
    expect(proxy.lines).toEqual([]);
    proxy.clock.skip(100);
    expect((await asked).error?.code).toBe(-32_601);
    expect((await proxy.ask('initialize', legacy)).result).toBeDefined();
    expect(proxy.starts()).toBe(1);
  });

  it('[P-3] is answered by the proxy when the server is silent: 3 s after its first words', async () => {
    const proxy = await startProxy({ env: { STYLE: 'ignores', STDERR: 'ready' } });
    proxy.clock.stop();
    const asked = proxy.ask('server/discover', modern());
    await expect.poll(proxy.errors).toContain('ready');
    proxy.clock.skip(2000);
    await proxy.call('act', { do: 'start' });
    proxy.clock.skip(900);
    expect(proxy.lines).toHaveLength(1);
    proxy.clock.skip(100);
    await new Promise((resolve) => setImmediate(resolve));
    expect(proxy.lines).toHaveLength(2);
    expect((await asked).error?.code).toBe(-32_601);
  });

  it('[P-3] is put to the next server when the one before it was on its way out', async () => {
    const proxy = await startProxy({ env: { STYLE: 'modern' } });
    await proxy.ask('tools/call', modern({ name: 'act', arguments: { do: 'kill' } }));
    expect((await proxy.ask('server/discover', modern())).result?.['supportedVersions']).toEqual(['2026-07-28']);
  });
});

describe('a client of the stateless era', () => {
  const listen = (id: number | string = 'listen:0') => ({
    id,
    params: modern({ notifications: { toolsListChanged: true } }),
  });

  async function startModern(env: Record<string, string> = {}): Promise<StartedProxy> {
    const proxy = await startProxy({ env: { STYLE: 'modern', ...env } });
    await proxy.ask('tools/list', modern());
    return proxy;
  }
  const crash = async (proxy: StartedProxy): Promise<void> => {
    await proxy.ask('tools/call', modern({ name: 'act', arguments: { do: 'kill' } }));
    await proxy.told('integration.restarted', proxy.starts());
  };
  const acknowledgements = (proxy: StartedProxy): number =>
    proxy.lines.filter((line) => line.includes('subscriptions/acknowledged')).length;

  it('[P-3] gets a result in the form of its era for a call that was lost', async () => {
    const proxy = await startModern();
    const answer = await proxy.ask('tools/call', modern({ name: 'act', arguments: { do: 'kill' } }));
    expect(answer.result).toMatchObject({ resultType: 'complete', isError: true });
  });

  it('[P-3] meets a new server that was asked for no handshake', async () => {
    const proxy = await startModern();
    await crash(proxy);
    const lines = await proxy.received();
    expect(lines.some((line) => line.includes('initialize'))).toBe(false);
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({ method: 'server/discover', params: modern() });
  });

  it('[P-3] keeps its subscription over a crash: it is written again as it was, and acknowledged once', async () => {
    const proxy = await startModern();
    const { id, params } = listen();
    const line = JSON.stringify({ jsonrpc: '2.0', id, method: 'subscriptions/listen', params });
    proxy.raw(line);
    await proxy.seen(({ method }) => method === 'notifications/subscriptions/acknowledged');
    await crash(proxy);
    expect(await proxy.received()).toContain(line);
    expect(acknowledgements(proxy)).toBe(1);
    expect(proxy.lines.some((each) => each.includes('"id":"listen:0","result"'))).toBe(false);
  });

  it('[P-3] is told on its subscription that a new server has other tools', async () => {
    const proxy = await startModern({ VARY: '1' });
    const { id, params } = listen(3);
    void proxy.ask('subscriptions/listen', params, id);
    await proxy.seen(({ method }) => method === 'notifications/subscriptions/acknowledged');
    await crash(proxy);
    const changed = await proxy.seen(({ method }) => method === 'notifications/tools/list_changed');
    expect(changed.params).toEqual({ _meta: { [subscription]: 3 } });
  });

  it('[P-3] hears nothing of changes that it has not asked for', async () => {
    const proxy = await startModern({ VARY: '1' });
    await crash(proxy);
    await proxy.told('mcp.lists_changed');
    expect(proxy.lines.some((line) => line.includes('list_changed'))).toBe(false);
  });

  it('[P-3] ends its subscription by a cancellation, and no new server hears of it', async () => {
    const proxy = await startModern();
    const { id, params } = listen();
    void proxy.ask('subscriptions/listen', params, id);
    await proxy.seen(({ method }) => method === 'notifications/subscriptions/acknowledged');
    proxy.notify('notifications/cancelled', { requestId: id });
    await proxy.ask('tools/call', modern({ name: 'act', arguments: { do: 'start' } }));
    expect((await proxy.received()).some((line) => line.includes('notifications/cancelled'))).toBe(true);
    await crash(proxy);
    expect((await proxy.received()).some((line) => line.includes('subscriptions/listen'))).toBe(false);
  });

  it('[P-3] whose subscription its server has ended is told, and no new server hears of it', async () => {
    const proxy = await startModern();
    const { id, params } = listen();
    void proxy.ask('subscriptions/listen', params, id);
    await proxy.seen(({ method }) => method === 'notifications/subscriptions/acknowledged');
    const cancelled = { do: 'notify', method: 'notifications/cancelled', params: { requestId: id } };
    await proxy.ask('tools/call', modern({ name: 'act', arguments: cancelled }));
    expect(proxy.lines.some((line) => line.includes('notifications/cancelled'))).toBe(true);
    await crash(proxy);
    expect((await proxy.received()).some((line) => line.includes('subscriptions/listen'))).toBe(false);
  });

  it('[P-3] with a subscription has a server that exited by itself back without asking', async () => {
    const proxy = await startModern();
    const { id, params } = listen();
    void proxy.ask('subscriptions/listen', params, id);
    await proxy.seen(({ method }) => method === 'notifications/subscriptions/acknowledged');
    await proxy.ask('tools/call', modern({ name: 'act', arguments: { do: 'crash', code: 0 } }));
    await proxy.told('integration.restarted');
    expect(textIn(await proxy.ask('tools/call', modern({ name: 'act', arguments: { do: 'start' } })))).toBe('2');
  });

  it('[P-3] with a subscription has a server that exits at every start tried less and less often', async () => {
    const proxy = await startModern();
    const { id, params } = listen();
    void proxy.ask('subscriptions/listen', params, id);
    await proxy.seen(({ method }) => method === 'notifications/subscriptions/acknowledged');
    proxy.breaks('kindly');
    await proxy.ask('tools/call', modern({ name: 'act', arguments: { do: 'crash', code: 0 } }));
    expect((await proxy.told('child.restarting', 3)).delayMs).toBe(500);
  });
});
