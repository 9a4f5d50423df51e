import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openReader } from '../../../../reader/openReader.ts';
import { temporaryDirectory } from '../../../support/temporary.ts';
import { type Message, type Scripted, type StartedProxy, startProxy, textIn } from '../startProxy.ts';

const tool = (name: string, description: string): object => ({
  name,
  description,
  inputSchema: { type: 'object', properties: { path: { type: 'string' } } },
});
const first = [tool('read', 'reads'), tool('write', 'writes')];
const second = [tool('read', 'reads, and tells <all> of it'), tool('write', 'writes'), tool('more', 'is new')];

const listed = async (proxy: StartedProxy): Promise<unknown> => {
  const { result } = await proxy.ask('tools/list');
  return ((result?.['tools'] ?? []) as readonly { readonly name: string; readonly description: string }[]).map(
    ({ name, description }) => `${name}: ${description}`,
  );
};
const storePath = (): string => join(temporaryDirectory(), 'unwedge.db');

/** Starts a proxy on the same store as others. */
const start = async (
  store: string | undefined,
  tools: readonly object[],
  more: Scripted = {},
): Promise<StartedProxy> => {
  const proxy = await startProxy({ store, tools, ...more });
  await proxy.open();
  return proxy;
};
const changes = (proxy: StartedProxy): readonly unknown[] =>
  proxy.facts.filter(({ type }) => type === 'mcp.tool_changed');

/** Says yes as `unwedge accept` does. */
async function accept(store: string, wanted?: string): Promise<readonly string[]> {
  const reader = await openReader(store);
  try {
    const asked = (await reader.questions()).filter(
      ({ source, detail }) =>
        source === 'tool' && (wanted === undefined || JSON.stringify(detail).includes(`"tool":"${wanted}"`)),
    );
    for (const { id } of asked) await reader.answerQuestion(id, { decision: 'accept', way: 'command' }, Date.now());
    return asked.map(({ what }) => what);
  } finally {
    reader.close();
  }
}

describe('definitions of tools', () => {
  it('[P-11] that change are told once, and go on without a pin', async () => {
    const store = storePath();
    await (await start(store, first)).stop();
    const proxy = await start(store, second);
    expect(await proxy.told('mcp.tool_changed')).toMatchObject({ tool: 'read', parts: ['description'], held: false });
    expect(await listed(proxy)).toEqual(['read: reads, and tells <all> of it', 'write: writes', 'more: is new']);
    expect(textIn(await proxy.call('read', { text: 'on' }))).toBe('on');
    await proxy.stop();
    const next = await start(store, second);
    await listed(next);
    await next.stop();
    expect([changes(proxy).length, changes(next).length]).toEqual([1, 0]);
  });

  it('[P-11] [Q-6] that changed or are new are held by a pin: the old list goes on, and calls are refused', async () => {
    const store = storePath();
    await (await start(store, first, { pin: true })).stop();
    const proxy = await start(store, second, { pin: true });
    expect(await listed(proxy)).toEqual(['read: reads', 'write: writes']);
    const refused = await proxy.call('read', {});
    expect(textIn(refused)).toContain('The tool read of kb changed (description), and is held');
    expect(textIn(refused)).toContain('unwedge accept kb read');
    expect(refused.result?.['_meta']).toMatchObject({
      'unwedge/failure': { kind: 'permanent', reason: 'held', outcome: 'not_started' },
    });
    expect(textIn(await proxy.call('more', {}))).toContain('The tool more of kb is new');
    expect(textIn(await proxy.call('write', { text: 'on' }))).toBe('on');
    expect((await proxy.received()).filter((line) => line.includes('"name":"read"'))).toEqual([]);
  });

  it('[P-11] are accepted one by one, by whichever process; those that hold them hear of it, and tell their clients', async () => {
    const store = storePath();
    await (await start(store, first, { pin: true })).stop();
    const [one, other] = [await start(store, second, { pin: true }), await start(store, second, { pin: true })];
    await listed(one);
    await listed(other);
    expect(changes(one).length + changes(other).length).toBe(2);
    expect(await accept(store, 'read')).toEqual([
      'The tool read of kb changed (description) since it was accepted, and is held. Accept it as it is now?',
    ]);
    const isTold = ({ method }: Message): boolean => method === 'notifications/tools/list_changed';
    for (const proxy of [one, other]) {
      await proxy.seen(isTold);
      expect(await listed(proxy)).toEqual(['read: reads, and tells <all> of it', 'write: writes']);
      expect(textIn(await proxy.call('read', { text: 'on' }))).toBe('on');
      expect(textIn(await proxy.call('more', {}))).toContain('is held');
    }
    await one.stop();
    await other.stop();
    const later = await start(store, second, { pin: true });
    expect(await listed(later)).toEqual(['read: reads, and tells <all> of it', 'write: writes']);
  });

  it('[P-11] are looked at before a call of a client that has listed nothing', async () => {
    const store = storePath();
    await (await start(store, first, { pin: true })).stop();
    const proxy = await startProxy({ store, tools: second, pin: true });
    await proxy.ask('initialize', {
      protocolVersion: '2025-11-25',
      capabilities: {},
      clientInfo: { name: 't', version: '1' },
    });
    expect(textIn(await proxy.call('read', {}))).toContain('is held');
  });

  it('[P-11] that change while the server runs are held once it says so, and are well again when they are as before', async () => {
    const proxy = await start(storePath(), first, { pin: true });
    const say = async (tools: readonly object[]): Promise<void> => {
      proxy.lists(tools);
      await proxy.call('write', { do: 'notify', method: 'notifications/tools/list_changed' });
    };
    await say(second);
    expect(textIn(await proxy.call('read', {}))).toContain('is held');
    await say(first);
    expect(textIn(await proxy.call('read', { text: 'on' }))).toBe('on');
    expect(await listed(proxy)).toEqual(['read: reads', 'write: writes']);
  });

  it('[P-11] that change are told as soon as the server says so, though nobody asks for them', async () => {
    const proxy = await start(storePath(), first, { pin: true });
    expect(await listed(proxy)).toHaveLength(2);
    expect(textIn(await proxy.call('write', { text: 'on' }))).toBe('on');
    proxy.lists(second);
    await proxy.call('write', { do: 'notify', method: 'notifications/tools/list_changed' });
    proxy.clock.skip(150);
    expect(await proxy.told('mcp.tool_changed')).toMatchObject({ tool: 'read', held: true });
  });

  it('[P-11] go by what says what a tool is: not by the order of its schema, nor by other fields', async () => {
    const store = storePath();
    const one = { name: 'a', inputSchema: { type: 'object', required: ['x'] }, _meta: { v: 1 } };
    const same = { _meta: { v: 2 }, inputSchema: { required: ['x'], type: 'object' }, name: 'a', icons: [] };
    await (await start(store, [one], { pin: true })).stop();
    const proxy = await start(store, [same], { pin: true });
    await listed(proxy);
    expect(changes(proxy)).toEqual([]);
    expect(textIn(await proxy.call('a', { text: 'on' }))).toBe('on');
  });

  it('[P-11] page by page: what a later page brings first is no new tool', async () => {
    const store = storePath();
    const proxy = await start(store, first, { pin: true, env: { PAGE: '1' } });
    expect(textIn(await proxy.call('write', { text: 'on' }))).toBe('on');
    expect(changes(proxy)).toEqual([]);
  });

  it('[P-11] without a database hold until the process ends, which is said once', async () => {
    const proxy = await start(undefined, first, { pin: true });
    proxy.lists(second);
    await proxy.call('write', { do: 'notify', method: 'notifications/tools/list_changed' });
    expect(textIn(await proxy.call('read', {}))).toContain('is held');
    expect(proxy.said.filter((line) => line.includes('no database'))).toEqual([
      'There is no database to keep the pins of kb in: they hold until this process ends',
    ]);
  });
});
