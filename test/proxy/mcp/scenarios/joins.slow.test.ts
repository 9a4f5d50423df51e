import { describe, expect, it } from 'vitest';
import type { ToolOptions } from '../../../../src/policy/toolOptions.ts';
import { type Message, type Scripted, type StartedProxy, startProxy, textIn } from '../startProxy.ts';

const named = (name: string, annotations = {}): object => ({ name, inputSchema: { type: 'object' }, annotations });
const tools = [
  named('peek'),
  named('look', { readOnlyHint: true }),
  named('act'),
  named('plain', { readOnlyHint: true }),
];

async function start(more: Scripted = {}, peek: ToolOptions = {}): Promise<StartedProxy> {
  const policies = {
    integrations: { kb: { tools: { peek: { join: true, ...peek }, plain: { effect: 'readOnly' } } } },
  } as const;
  const proxy = await startProxy({ tools, policies, spinning: 'off', ...more });
  await proxy.open();
  return proxy;
}
const held = { do: 'hold', key: 'it' };
/** Requests for a tool that the server has had. */
const asked = async (proxy: StartedProxy, tool = 'peek'): Promise<number> =>
  (await proxy.received()).filter((line) => {
    const { method, params } = JSON.parse(line) as Message;
    return method === 'tools/call' && params?.['name'] === tool;
  }).length;
const release = (proxy: StartedProxy, tool = 'plain'): Promise<Message> =>
  proxy.call(tool, { do: 'release', key: 'it' });

describe('equal reads of one client', () => {
  it('[P-13] that are under way are one call, and each has its own answer', async () => {
    const proxy = await start();
    const calls = [
      proxy.call('peek', held, 'a'),
      proxy.call('peek', { key: 'it', do: 'hold' }, 2),
      proxy.call('peek', held, 'c'),
    ];
    await release(proxy);
    expect((await Promise.all(calls)).map((each) => [each.id, textIn(each)])).toEqual([
      ['a', 'released it'],
      [2, 'released it'],
      ['c', 'released it'],
    ]);
    expect(await asked(proxy)).toBe(1);
    expect(proxy.lines.filter((line) => line.includes('released it'))).toHaveLength(3);
  });

  it('[P-13] is for tools that the operator has named alone, whatever the server hints', async () => {
    const proxy = await start();
    const calls = [proxy.call('look', { ...held, key: 'one' }), proxy.call('look', { ...held, key: 'one' })];
    expect(await asked(proxy, 'look')).toBe(2);
    await proxy.call('plain', { do: 'release', key: 'one' });
    await calls[1];
  });

  it('[P-13] with other arguments are other calls', async () => {
    const proxy = await start();
    const calls = [proxy.call('peek', held), proxy.call('peek', { ...held, more: 1 })];
    expect(await asked(proxy)).toBe(2);
    proxy.notify('notifications/release');
    await Promise.race(calls);
  });

  const asking = (proxy: StartedProxy, _meta: object): Promise<Message> =>
    proxy.ask('tools/call', { name: 'peek', arguments: held, _meta });

  it.each([
    ['Claude Code', (at: number) => ({ 'claudecode/toolUseId': `toolu_${at}`, progressToken: at })],
    ['Codex', (at: number) => ({ callId: `call_${at}`, itemId: `fc_${at}`, threadId: 't', progressToken: at })],
    ['another', (at: number) => ({ 'com.example/tool_call_id': at, traceparent: `00-${at}`, requestId: at })],
  ])('[P-13] are equal whatever ids of its own %s gives each of its calls', async (_, meta) => {
    const proxy = await start();
    const calls = [asking(proxy, meta(1)), asking(proxy, meta(2)), asking(proxy, meta(3))];
    await release(proxy);
    for (const each of await Promise.all(calls)) expect(textIn(each)).toBe('released it');
    expect(await asked(proxy)).toBe(1);
  });

  it('[P-13] that say something else beside their arguments are other calls', async () => {
    const proxy = await start();
    const calls = [asking(proxy, { 'com.example/user': 'a' }), asking(proxy, { 'com.example/user': 'b' })];
    expect(await asked(proxy)).toBe(2);
    proxy.notify('notifications/release');
    await Promise.race(calls);
  });

  it('[P-13] with numbers that no parser keeps apart are other calls', async () => {
    const proxy = await start();
    for (const n of ['1234567890123456789', '1234567890123456788', '1234567890123456789'])
      proxy.raw(
        `{"jsonrpc":"2.0","id":"n","method":"tools/call","params":{"name":"peek","arguments":{"do":"hold","n":${n}}}}`,
      );
    expect(await asked(proxy)).toBe(2);
    await release(proxy);
  });

  it('[P-13] that have ended are made anew', async () => {
    const proxy = await start();
    for (const _ of ['once', 'again']) expect(textIn(await proxy.call('peek', { text: 'x' }))).toBe('x');
    expect(await asked(proxy)).toBe(2);
  });

  it('[P-13] join none that began before a call that may have effects ended; one that only reads bars nothing', async () => {
    const proxy = await start();
    const first = proxy.call('peek', held, 'first');
    await proxy.call('plain', {});
    const second = proxy.call('peek', held, 'second');
    expect(await asked(proxy)).toBe(1);
    await proxy.call('act', {});
    const third = proxy.call('peek', { ...held, key: 'it' }, 'third');
    const fourth = proxy.call('peek', held, 'fourth');
    expect(await asked(proxy)).toBe(2);
    // The server holds the later request under the key.
    await release(proxy);
    expect(textIn(await third)).toBe('released it');
    expect(textIn(await fourth)).toBe('released it');
    proxy.notify('notifications/cancelled', { requestId: 'first' });
    proxy.notify('notifications/cancelled', { requestId: 'second' });
    void first;
    void second;
  });

  it('[P-13] a hint of reading does not make a call one without effects', async () => {
    const proxy = await start();
    const first = proxy.call('peek', held);
    await proxy.call('look', {});
    const second = proxy.call('peek', held);
    expect(await asked(proxy)).toBe(2);
    await release(proxy);
    await Promise.race([first, second]);
  });

  it('[P-13] one that gives up ends no other; the last one ends the call', async () => {
    const proxy = await start();
    void proxy.call('peek', held, 'a');
    const other = proxy.call('peek', held, 'b');
    proxy.notify('notifications/cancelled', { requestId: 'a' });
    const cancels = async (): Promise<readonly string[]> =>
      (await proxy.received()).filter((line) => line.includes('notifications/cancelled'));
    expect(await cancels()).toEqual([]);
    await release(proxy);
    expect(textIn(await other)).toBe('released it');
    expect(proxy.lines.some((line) => line.includes('"id":"a"'))).toBe(false);

    void proxy.call('peek', { ...held, key: 'x' }, 'c');
    void proxy.call('peek', { ...held, key: 'x' }, 'd');
    for (const requestId of ['c', 'd']) proxy.notify('notifications/cancelled', { requestId });
    const [cancelled, ...more] = await cancels();
    const [request] = (await proxy.received()).filter((line) => line.includes('"key":"x"'));
    expect(more).toEqual([]);
    expect((JSON.parse(cancelled ?? '{}') as Message).params?.['requestId']).toBe(
      (JSON.parse(request ?? '{}') as Message).id,
    );
  });

  it('[P-13] the first goes on as its client wrote it, and its answer comes as the server wrote it', async () => {
    const proxy = await start();
    const written = `{"jsonrpc": "2.0",  "id": "mine", "method": "tools/call", "params": {"name": "peek", "arguments": ${JSON.stringify(held)}, "_meta": {"progressToken": 7}}}`;
    proxy.raw(written);
    const second = proxy.call('peek', held, 'b');
    expect((await proxy.received()).some((line) => line === written)).toBe(true);
    await release(proxy);
    expect(textIn(await second)).toBe('released it');
    expect(textIn(await proxy.seen(({ id }) => id === 'mine'))).toBe('released it');
    expect(await asked(proxy)).toBe(1);
  });

  it('[P-13] the first gives up and its client uses its id anew: the other has its own answer and progress', async () => {
    const proxy = await start();
    const raw = (id: string, name: string, args: object, progressToken: string): void =>
      proxy.raw(
        JSON.stringify({
          ...{ jsonrpc: '2.0', id, method: 'tools/call' },
          params: { name, arguments: args, _meta: { progressToken } },
        }),
      );
    raw('a', 'peek', held, 'first');
    raw('b', 'peek', held, 'second');
    proxy.notify('notifications/cancelled', { requestId: 'a' });
    proxy.notify('notifications/cancelled', { requestId: 'a' });
    raw('a', 'plain', { text: 'anew' }, 'third');
    expect(textIn(await proxy.seen(({ id }) => id === 'a'))).toBe('anew');
    await proxy.call('plain', {
      do: 'notify',
      method: 'notifications/progress',
      params: { progressToken: 'first', progress: 1 },
    });
    const told = proxy.lines.filter((line) => line.includes('notifications/progress'));
    expect(told.map((line) => (JSON.parse(line) as Message).params)).toEqual([
      { progressToken: 'second', progress: 1 },
    ]);
    await release(proxy);
    expect(textIn(await proxy.seen(({ id }) => id === 'b'))).toBe('released it');
    expect((await proxy.received()).filter((line) => line.includes('notifications/cancelled'))).toEqual([]);
    expect(proxy.lines.filter((line) => line.includes('"id":"a"'))).toHaveLength(1);
  });

  it('[P-13] the last that gives up cancels the request by the id that the server has for it', async () => {
    const proxy = await start();
    void proxy.call('peek', held, 'a');
    void proxy.call('peek', held, 'b');
    for (const requestId of ['a', 'b']) proxy.notify('notifications/cancelled', { requestId, reason: 'enough' });
    const cancels = (await proxy.received()).filter((line) => line.includes('notifications/cancelled'));
    expect(cancels.map((line) => (JSON.parse(line) as Message).params)).toEqual([{ requestId: 'a', reason: 'enough' }]);
  });

  it('[P-13] a call that was alone leaves nothing behind that another one could join', async () => {
    const proxy = await start();
    void proxy.call('peek', held, 'a');
    proxy.notify('notifications/cancelled', { requestId: 'a' });
    const second = proxy.call('peek', held, 'b');
    expect(await asked(proxy)).toBe(2);
    await release(proxy);
    expect(textIn(await second)).toBe('released it');
  });

  it('[P-13] each has the progress that it asked for', async () => {
    const proxy = await start();
    const call = (id: string, token?: string): void =>
      proxy.raw(
        JSON.stringify({
          ...{ jsonrpc: '2.0', id, method: 'tools/call' },
          params: {
            name: 'peek',
            arguments: { ...held, key: id[0] },
            ...(token !== undefined && { _meta: { progressToken: token } }),
          },
        }),
      );
    call('p1', 'one');
    call('p2');
    call('p3', 'three');
    const line = (await proxy.received()).find((each) => each.includes('"key":"p"'));
    const { params } = JSON.parse(line ?? '{}') as Message;
    const { progressToken } = (params?.['_meta'] ?? {}) as { readonly progressToken?: unknown };
    await proxy.call('plain', {
      do: 'notify',
      method: 'notifications/progress',
      params: { progressToken, progress: 3, message: 'so far' },
    });
    const told = proxy.lines
      .map((each) => JSON.parse(each) as Message)
      .filter(({ method }) => method === 'notifications/progress');
    expect(told.map((each) => each.params)).toEqual([
      { progressToken: 'one', progress: 3, message: 'so far' },
      { progressToken: 'three', progress: 3, message: 'so far' },
    ]);
    await proxy.call('plain', { do: 'release', key: 'p' });
    await proxy.seen(({ id }) => id === 'p2');
  });

  it('[P-13] each has its own limit, and the others go on', async () => {
    const proxy = await start({ overallMs: 4000, idleMs: 4000, keepMs: 0 });
    const first = proxy.call('peek', held);
    proxy.clock.skip(3000);
    const second = proxy.call('peek', held);
    expect(await asked(proxy)).toBe(1);
    proxy.clock.skip(1500);
    expect(textIn(await first)).toContain('within 4s');
    await release(proxy);
    expect(textIn(await second)).toBe('released it');
  });

  it('[P-13] are lost together, and asked again as one where that is allowed', async () => {
    const proxy = await start({}, { effect: 'readOnly' });
    const calls = [1, 2, 3].map((id) => proxy.call('peek', { do: 'crash', onStart: 1 }, id));
    expect((await Promise.all(calls)).map(textIn)).toEqual(['2', '2', '2']);
    expect(await asked(proxy)).toBe(1);
  });

  it('[P-13] an error of the server is each one’s', async () => {
    const proxy = await start();
    const answers = await Promise.all([1, 2].map((id) => proxy.call('peek', { do: 'fail' }, id)));
    expect(answers.map(({ result }) => result?.['isError'])).toEqual([true, true]);
  });

  it('[P-13] several clients that nobody tells apart join nothing', async () => {
    const proxy = await start({ isShared: true });
    void proxy.call('peek', held);
    void proxy.call('peek', held);
    expect(await asked(proxy)).toBe(2);
  });

  it('[P-13] [G-15] are no repetition', async () => {
    const proxy = await start({ spinning: 'hold' });
    for (let round = 0; round < 4; round++) {
      const calls = [1, 2, 3, 4, 5].map((at) => proxy.call('peek', { ...held, round }, `${round}-${at}`));
      await release(proxy);
      expect((await Promise.all(calls)).map(textIn)).toEqual(Array(5).fill('released it'));
    }
    expect(proxy.facts.filter(({ type }) => type === 'session.spinning')).toEqual([]);
  });

  it('[P-13] are refused for a tool that is said to change something', async () => {
    await expect(start({}, { effect: 'mutating' })).rejects.toThrow(
      /peek\.join.* to be left out: calls of a tool that is mutating are never one/,
    );
  });
});
