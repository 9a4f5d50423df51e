import { describe, expect, it } from 'vitest';
import { presets } from '../../../../src/policy/presets.ts';
import { startProxy, textIn } from '../startProxy.ts';

const { idleMs } = presets.mcp.limits;

describe('what passes the proxy', () => {
  it.each([
    [
      'an unknown method with odd spaces',
      '{ "jsonrpc":"2.0" , "id" : "a", "method":"custom/x", "params": {"n": 1.0 } }',
    ],
    [
      'a number that no parser keeps',
      '{"jsonrpc":"2.0","id":"b","method":"custom/x","params":{"n":12345678901234567890}}',
    ],
    ['fields that nobody knows', '{"jsonrpc":"2.0","id":"c","method":"custom/x","extra":[1,{"a":null}]}'],
    ['escapes and other alphabets', '{"jsonrpc":"2.0","id":"d","method":"custom/x","params":{"t":"\\u00e9é日本\\n"}}'],
  ])('[P-3] reaches the server as it was written: %s', async (_, line) => {
    const proxy = await startProxy();
    await proxy.open();
    proxy.raw(line);
    await proxy.call('act', { do: 'start' });
    expect(await proxy.received()).toContain(line);
  });

  it('[P-3] of a tool call without a progress token is all but that token as it was written', async () => {
    const proxy = await startProxy();
    await proxy.open();
    proxy.raw(
      '{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"act","arguments":{"big":1e400,"n":1.50}}}',
    );
    await proxy.seen(({ id }) => id === 5);
    const line = (await proxy.received()).find((each) => each.includes('1e400')) ?? '';
    expect(line.replace(/"_meta":\{"progressToken":"unwedge-[\w-]+"\},/, '')).toBe(
      '{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"act","arguments":{"big":1e400,"n":1.50}}}',
    );
  });

  it('[P-3] reaches the client as the server wrote it', async () => {
    const proxy = await startProxy();
    await proxy.open();
    const raw =
      '{ "method" : "notifications/message", "jsonrpc":"2.0", "params":{"n":12345678901234567890} , "x":"\\u0041" }';
    await proxy.call('act', { do: 'say', raw: `${raw}\n` });
    expect(proxy.lines).toContain(raw);
  });

  it.each([0, -1, 1.5, '', '0', 'ä', Number.MAX_SAFE_INTEGER])('[P-3] is answered under the id %j', async (id) => {
    const proxy = await startProxy();
    await proxy.open();
    const answer = await proxy.call('act', { do: 'echo', text: 'here' }, id);
    expect([answer.id, textIn(answer)]).toEqual([id, 'here']);
  });

  it('[P-3] tells the id 1 from the id "1"', async () => {
    const proxy = await startProxy();
    await proxy.open();
    void proxy.call('act', { do: 'hold', key: 'number' }, 1);
    void proxy.call('act', { do: 'hold', key: 'text' }, '1');
    await proxy.call('act', { do: 'release', key: 'text' });
    await proxy.call('act', { do: 'release', key: 'number' });
    expect(proxy.lines.filter((line) => line.includes('"id":"1"'))).toEqual([
      expect.stringContaining('released text') as string,
    ]);
    expect(proxy.lines.filter((line) => line.includes('"id":1,'))).toEqual([
      expect.stringContaining('released number') as string,
    ]);
  });

  it('[P-3] [I-1] two requests of one id in flight get an answer each', async () => {
    const proxy = await startProxy();
    await proxy.open();
    void proxy.call('act', { do: 'hold', key: 'first' }, 4);
    void proxy.call('act', { do: 'hold', key: 'second' }, 4);
    await proxy.call('act', { do: 'release', key: 'second' });
    await proxy.call('act', { do: 'release', key: 'first' });
    const answers = proxy.lines.filter((line) => line.includes('"id":4'));
    expect(answers.map((line) => /released \w+/.exec(line)?.[0])).toEqual(['released second', 'released first']);
  });

  it('[P-3] does not include an answer that nobody asked for', async () => {
    const proxy = await startProxy();
    await proxy.open();
    await proxy.call('act', { do: 'say', raw: '{"jsonrpc":"2.0","id":"who","result":{}}\n' });
    expect(proxy.lines.some((line) => line.includes('who'))).toBe(false);
  });

  it.each(['"result":null', '"result":[]', '"result":7', '"error":"no"', '"error":{"message":"no code"}'])(
    '[P-1] [P-3] does not include an answer that has not the form of one, for which the client gets ours: %s',
    async (answer) => {
      const proxy = await startProxy();
      await proxy.open();
      const got = await proxy.call('act', { do: 'answer', raw: `{"jsonrpc":"2.0","id":$id,${answer}}` });
      expect(textIn(got)).toContain('The answer is malformed');
      expect(got.result?.['isError']).toBe(true);
      expect(proxy.facts).toContainEqual(
        expect.objectContaining({
          type: 'call.failed',
          failure: expect.objectContaining({ kind: 'protocol', attempts: 1 }) as object,
        }),
      );
    },
  );

  it('[P-3] includes an error that names no request', async () => {
    const proxy = await startProxy();
    await proxy.open();
    const raw = '{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Parse error"}}';
    await proxy.call('act', { do: 'say', raw: `${raw}\n` });
    expect(proxy.lines).toContain(raw);
  });

  it.each(['Loading model...', '[1,2]', '{"level":"info"}', '17'])(
    '[P-3] does not include what the server prints outside the protocol, which goes to stderr: %s',
    async (noise) => {
      const proxy = await startProxy();
      await proxy.open();
      await proxy.call('act', { do: 'say', raw: `${noise}\n` });
      expect(proxy.errors()).toContain(noise);
      expect(proxy.lines).not.toContain(noise);
    },
  );

  describe('and is a flood of what is no message', () => {
    const flood = (count: number): string => Array.from({ length: count }, (_, at) => `noise ${at}\n`).join('');
    const leftOut = 'kb: 80 more lines on stdout (720 bytes) that are no messages were left out';

    it('[P-3] passes its first lines alone, then how many were left out', async () => {
      const proxy = await startProxy();
      await proxy.open();
      proxy.clock.stop();
      await proxy.call('act', { do: 'say', raw: flood(100) });
      expect(proxy.errors()).toContain('noise 19\n');
      expect(proxy.errors()).not.toContain('noise 20\n');
      proxy.clock.skip(9999);
      expect(proxy.said).toEqual([]);
      proxy.clock.skip(1);
      expect(proxy.said).toEqual([leftOut]);
      await proxy.call('act', { do: 'say', raw: 'one more\n' });
      expect(proxy.errors()).toContain('one more\n');
    });

    it('[P-3] cuts a line that is long', async () => {
      const proxy = await startProxy();
      await proxy.open();
      await proxy.call('act', { do: 'say', raw: `${'x'.repeat(31_000)}\n` });
      expect(proxy.errors()).toBe(`${'x'.repeat(1000)}... (30 kB more)\n`);
      await proxy.stop();
      expect(proxy.facts.filter(({ type }) => type === 'mcp.stray_output')).toMatchObject([
        { lines: 0, bytes: 30_000 },
      ]);
    });

    it('[P-3] is told once for as long as it lasts', async () => {
      const proxy = await startProxy();
      await proxy.open();
      proxy.clock.stop();
      const told = () => proxy.facts.filter(({ type }) => type === 'mcp.stray_output');
      for (let windows = 0; windows < 3; windows++) {
        await proxy.call('act', { do: 'say', raw: flood(100) });
        proxy.clock.skip(10_000);
      }
      expect(proxy.said).toEqual([leftOut, leftOut, leftOut]);
      expect(told()).toMatchObject([{ integration: 'kb', lines: 80, bytes: 720 }]);
      await proxy.call('act', { do: 'say', raw: 'calm\n' });
      proxy.clock.skip(10_000);
      await proxy.call('act', { do: 'say', raw: flood(100) });
      proxy.clock.skip(10_000);
      expect(told()).toHaveLength(2);
    });

    it('[P-3] is told when its server ends', async () => {
      const proxy = await startProxy();
      await proxy.open();
      await proxy.call('act', { do: 'say', raw: flood(100) });
      await proxy.call('act', { do: 'crash' });
      expect(proxy.said).toContain(leftOut);
    });
  });

  it('[P-3] includes a message that such output is glued to', async () => {
    const proxy = await startProxy();
    await proxy.open();
    const message = '{"jsonrpc":"2.0","method":"notifications/message","params":{}}';
    await proxy.call('act', { do: 'say', raw: `Loading...${message}\n` });
    expect(proxy.lines).toContain(message);
    expect(proxy.errors()).toContain('Loading...');
  });

  it('[P-3] does not include a line of the client that is not JSON, which is answered', async () => {
    const proxy = await startProxy();
    await proxy.open();
    proxy.raw('{"jsonrpc":"2.0",');
    const answer = await proxy.seen(({ error }) => error !== undefined);
    expect(answer).toMatchObject({ id: null, error: { code: -32_700 } });
    expect(await proxy.received()).not.toContain('{"jsonrpc":"2.0",');
  });

  it('[P-3] is no JSON of the client that is no message: that is answered', async () => {
    const proxy = await startProxy();
    await proxy.open();
    proxy.raw('{"id":null,"method":"odd"}');
    expect((await proxy.seen(({ error }) => error !== undefined)).error?.code).toBe(-32_600);
    expect(await proxy.received()).not.toContain('{"id":null,"method":"odd"}');
  });

  it('[P-3] is not more than 64 MB a message: a longer one of the client is answered under its id', async () => {
    const proxy = await startProxy();
    await proxy.open();
    proxy.raw(`{"jsonrpc":"2.0","id":"huge","method":"custom/x","params":{"t":"${'x'.repeat(64 * 2 ** 20)}"}}`);
    const answer = await proxy.seen(({ id }) => id === 'huge');
    expect(answer.error?.message).toContain('67108864 bytes');
    expect(textIn(await proxy.call('act', { do: 'start' }))).toBe('1');
  });

  it('[P-3] a longer message of the server ends that server, and the next one answers', async () => {
    const proxy = await startProxy();
    await proxy.open();
    const answer = await proxy.call('peek', { do: 'large', bytes: 65 * 2 ** 20 });
    expect(textIn(answer)).toContain('sent a message that is too large');
    expect(textIn(await proxy.call('act', { do: 'start' }))).toBe('2');
  });

  it('[P-3] 1,001 requests at once: one too many is refused, and all are answered once', async () => {
    const proxy = await startProxy();
    await proxy.open();
    const calls = Array.from({ length: 1001 }, (_, index) => proxy.call('act', { do: 'hold', key: `${index}` }));
    // Only one that is refused can be answered before the server lets go.
    const refused = await Promise.race(calls);
    expect(textIn(refused)).toContain('1000 attempts in flight');
    proxy.notify('notifications/release');
    const answers = await Promise.all(calls);
    expect(answers.filter(({ result }) => result?.['isError'] === true)).toEqual([refused]);
    expect(proxy.lines).toHaveLength(1003);
  });
});

describe('a batch of the client', () => {
  const batch =
    '[{"jsonrpc":"2.0","id":1,"method":"custom/a"}, {"jsonrpc":"2.0","method":"notifications/x"},{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"act"}}]';

  it('[P-3] passes as it was written, and its answer as the server wrote it', async () => {
    const proxy = await startProxy();
    await proxy.open();
    proxy.raw(batch);
    await proxy.seen(({ id }) => id === 2);
    expect(await proxy.received()).toContain(batch);
    expect(proxy.lines[2]).toContain('} , {');
    const answers = JSON.parse(proxy.lines[2] ?? '') as readonly { id: number }[];
    expect(answers.map(({ id }) => id)).toEqual([1, 2]);
  });

  it('[P-3] has each of its requests answered once when the server dies of it', async () => {
    const proxy = await startProxy();
    await proxy.open();
    proxy.raw(
      '[{"jsonrpc":"2.0","id":1,"method":"custom/hang"},{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"act","arguments":{"do":"kill"}}}]',
    );
    const [first, second] = [await proxy.seen(({ id }) => id === 1), await proxy.seen(({ id }) => id === 2)];
    expect([first.error?.code, second.result?.['isError']]).toEqual([-32_603, true]);
  });

  it('[P-3] answered after one of its requests was given up: the others pass', async () => {
    const proxy = await startProxy({ whenAlive: 'end' });
    await proxy.open();
    void proxy.call('act', { do: 'hold', key: 'gone' }, 'gone');
    await proxy.call('act', { do: 'start' });
    proxy.clock.skip(idleMs);
    await proxy.seen(({ id }) => id === 'gone');
    void proxy.ask('custom/hang', {}, 'kept');
    await proxy.call('act', {
      do: 'say',
      raw: '[{"jsonrpc":"2.0","id":"gone","result":{}},{"jsonrpc":"2.0","id":"kept","result":{"n":1.0}}]\n',
    });
    await proxy.seen(({ id }) => id === 'kept');
    expect(proxy.lines).toContain('[{"jsonrpc":"2.0","id":"kept","result":{"n":1.0}}]');
  });

  it('[R-17] says once of a limit and a rule that they are for tools which the server does not list', async () => {
    const policies = {
      integrations: { kb: { tools: { pekk: { effect: 'readOnly' as const }, act: { idleMs: 9_000 } } } },
    };
    const proxy = await startProxy({ policies, toolMs: { pute: 1000 } });
    await proxy.open();
    await proxy.ask('tools/list');
    expect(proxy.said).toEqual([
      'kb has no tool "pute", which --tool-timeout names; did you mean "put"?',
      'kb has no tool "pekk", which policies.integrations.kb.tools names; did you mean "peek"?',
    ]);
    const several = await startProxy({ toolMs: { pute: 1000 }, isOneOfSeveral: true });
    await several.open();
    expect(several.said).toEqual([]);
  });
});
