import { describe, expect, it } from 'vitest';
import { startHub } from '../../hub/startHub.ts';
import { RawClient, startHttp } from '../../http/startHttp.ts';
import { type Message, startProxy } from '../startProxy.ts';

const call = (name: string, more: object = {}, as: unknown = name): object => ({
  ...{ jsonrpc: '2.0', ...more, method: 'tools/call' },
  params: { name: as, arguments: { mark: 'smuggled' } },
});
/** Ways of a call around whatever judges requests by their names. */
const ways = (name: string): object[] => [
  call(name),
  ...[null, { a: 1 }, true, [1]].map((id) => call(name, { id })),
  [call(name), call(name, { id: null })],
  [call(name)],
  ...[[name], { name }].map((as, at) => call(name, { id: `odd-${at}` }, as)),
];
/** Names of a tool that may be called, and of one that may not, in one call. */
const doubled = (id: string): string[] => [
  `{"jsonrpc":"2.0","id":"${id}-1","method":"tools/call","params":{"name":"act","name":"echo","arguments":{"mark":"smuggled"}}}`,
  `{"jsonrpc":"2.0","id":"${id}-2","method":"tools/call","params":{"name":"act","arguments":{"mark":"smuggled"}},"params":{"name":"echo"}}`,
  `{"jsonrpc":"2.0","id":"${id}-3","method":"tools/call","params":{"name":"act","arguments":{"mark":"smuggled"}},"method":"ping"}`,
];
const arrived = (received: readonly string[]): string[] => received.filter((line) => line.includes('smuggled'));

describe('a call of a tool that is no ordinary request', () => {
  it.each([
    ['is denied', { deny: ['act'] }],
    ['is pinned', { pin: true }],
    ['has no rule', {}],
  ])('[P-11] [P-3] never reaches the server, where its tool %s', async (_, rules) => {
    const proxy = await startProxy(rules);
    await proxy.open();
    for (const way of ways('act')) proxy.raw(JSON.stringify(way));
    for (const line of ['[]', 'null', '"x"']) proxy.raw(line);
    expect((await proxy.seen(({ id }) => id === 'odd-1')).error?.code).toBe(-32_602);
    expect(arrived(await proxy.received())).toEqual([]);
    const codes = proxy.lines.map((line) => JSON.parse(line) as Message).filter(({ id }) => id === null);
    expect(codes.map(({ error }) => error?.code)).toEqual(Array<number>(8).fill(-32_600));
    const said = proxy.said.filter((line) => line.includes('without an id'));
    expect(said).toEqual(['The client sent "tools/call" without an id: it was not passed on']);
  });

  it('[P-11] [P-3] never reaches the server where it says twice what is called, alone or in a batch', async () => {
    const proxy = await startProxy({ deny: ['act'] });
    await proxy.open();
    for (const line of doubled('one')) proxy.raw(line);
    proxy.raw(`[${doubled('batch').join(',')}]`);
    const { error } = await proxy.seen(({ id }) => id === 'batch-3');
    expect(error).toMatchObject({ code: -32_600, message: expect.stringContaining('"method" twice') as string });
    expect(arrived(await proxy.received())).toEqual([]);
    const codes = proxy.lines.map((line) => (JSON.parse(line) as Message).error?.code);
    expect(codes.filter((code) => code === -32_600)).toHaveLength(6);
  });

  it('[P-11] [P-3] never reaches a server that ends a line at a carriage return, as one of its own', async () => {
    const proxy = await startProxy({ deny: ['act'] });
    await proxy.open();
    const inner = JSON.stringify(call('act', { id: 'inner' }));
    proxy.raw(`{"jsonrpc":"2.0","id":"outer","method":"custom/x","params":[\r${inner}\r]}\r`);
    const received = (await proxy.received()).filter((line) => line.includes('smuggled'));
    expect(received.map((line) => line.trimEnd())).toEqual([
      `{"jsonrpc":"2.0","id":"outer","method":"custom/x","params":[ ${inner} ]}`,
    ]);
  });

  it('[P-11] [P-8] never reaches a server of a hub', async () => {
    const hub = await startHub({ one: { deny: ['act'] }, other: {} });
    await hub.open();
    for (const way of [...ways('one__act'), ...ways('act')]) hub.input.write(`${JSON.stringify(way)}\n`);
    expect((await hub.ask('tools/call', { name: ['one__act'], arguments: {} })).error?.code).toBe(-32_602);
    for (const name of ['one', 'other'])
      expect(arrived(JSON.parse(await hub.call(`${name}__put`, { do: 'received' })) as string[])).toEqual([]);
  });

  it('[P-11] [P-5] never reaches a server over HTTP', async () => {
    const { url } = await startHttp({ server: { deny: ['act'] } });
    const client = new RawClient(url);
    await client.open();
    for (const way of ways('act')) await client.post(way);
    expect(arrived(JSON.parse(await client.call({ do: 'received' }, 'put')) as string[])).toEqual([]);
  });
});
