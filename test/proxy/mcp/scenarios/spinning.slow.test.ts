import { describe, expect, it } from 'vitest';
import type { FactOf } from '../../../../src/policy/facts/facts.ts';
import { type Message, type Scripted, type StartedProxy, startProxy, textIn } from '../startProxy.ts';

const news = ({ facts }: StartedProxy): readonly FactOf<'session.spinning'>[] =>
  facts.filter((fact): fact is FactOf<'session.spinning'> => fact.type === 'session.spinning');

/** A tool that answers with this text, `$id` being that of the call. */
const answering = (raw: string) => ({ do: 'answer', raw });
/** Spaces, order and numbers of a failure as we would not write them. */
const failure = `{ "result" : {"isError":true, "content":[ {"type":"text","text":"no such\\u0020file"} ], "n":12345678901234567890} , "id":$id,"jsonrpc":"2.0" }`;
const sentence =
  '[unwedge: act was called 6 times with the same arguments and failed alike each time. The same call again will fail again: change its arguments, mend what it names, use another tool, or say that you cannot go on.]';

async function opened(options: Scripted = {}): Promise<StartedProxy> {
  const proxy = await startProxy(options);
  await proxy.open();
  return proxy;
}

/** Calls one after the other; the answers. */
async function times(count: number, call: (index: number) => Promise<Message>): Promise<Message[]> {
  const answers: Message[] = [];
  for (let index = 0; index < count; index++) answers.push(await call(index));
  return answers;
}

const partsIn = ({ result }: Message): readonly string[] => (result?.content ?? []).map(({ text }) => text);
const isTold = (message: Message): boolean => JSON.stringify(message).includes('[unwedge: ');
/** Calls of a tool that the server has received. */
const received = async (proxy: StartedProxy, name: string): Promise<number> =>
  (JSON.parse(textIn(await proxy.call('peek', { do: 'received' }))) as string[]).filter(
    (line) => line.includes('tools/call') && line.includes(`"name":"${name}"`),
  ).length;

describe('a client behind the proxy that repeats a call', () => {
  it('[P-9] reads what its server wrote, byte by byte, until it is told with the sixth equal failure', async () => {
    const proxy = await opened();
    await times(7, (index) => proxy.call('act', answering(failure), index));
    const own = (id: number): string => failure.replace('$id', `${id}`);
    const answers = proxy.lines.slice(-7);
    expect(answers.toSpliced(5, 1)).toEqual([0, 1, 2, 3, 4, 6].map(own));
    expect(answers[5]).toBe(own(5).replace('} ], "n"', `} ,{"type":"text","text":"${sentence}"}], "n"`));
    const about = { integration: 'kb', tool: 'act' };
    expect(news(proxy)[0]?.session).toMatch(/^kb-[\da-f]{8}$/);
    expect(news(proxy)).toMatchObject([
      { ...about, step: 'notice', form: 'failure', count: 4, period: 1, answer: 'no such file' },
      { ...about, step: 'tell', form: 'failure', count: 6, period: 1, answer: 'no such file' },
    ]);
    expect(proxy.said).toEqual([
      'act was called 4 times with the same arguments and failed alike each time; the last answer: "no such file"',
      'act was called 6 times with the same arguments and failed alike each time; the last answer: "no such file"',
    ]);
  });

  it('[P-9] reads it at the end of the message where its server answers with an error', async () => {
    const proxy = await opened();
    const error = answering(
      '{"jsonrpc":"2.0","id":$id,"error":{"data":[1.0],"message":"it is \\"shut\\"","code":-32603}}',
    );
    const answers = await times(6, (index) => proxy.call('put', error, index));
    expect(answers.slice(0, 5).some(isTold)).toBe(false);
    expect(proxy.lines.at(-1)).toMatch(
      /^\{"jsonrpc":"2\.0","id":5,"error":\{"data":\[1\.0\],"message":"it is \\"shut\\" \[unwedge: put was called 6 times .+\]","code":-32603\}\}$/,
    );
    expect(answers[5]?.error?.message).toMatch(/^it is "shut" \[unwedge: put was called 6 times/);
  });

  it('[P-9] reads it in an answer of ours as well, and in a batch', async () => {
    const policies = { integrations: { kb: { breaker: { consecutiveFailures: 100 } } } };
    const proxy = await opened({ overallMs: 60_000, keepMs: 0, policies });
    proxy.clock.stop();
    const late = async (): Promise<Message> => {
      const hung = proxy.call('act', { do: 'hold' });
      await proxy.call('put', { text: 'there' });
      proxy.clock.skip(60_000);
      return hung;
    };
    const answers = await times(6, late);
    expect(answers.slice(0, 5).some(isTold)).toBe(false);
    expect(partsIn(answers[5] as Message)).toEqual([
      expect.stringMatching(/^No answer within 1m: /),
      expect.stringMatching(/^\[unwedge: act was called 6 times/),
    ]);

    await times(5, () => proxy.call('act', { do: 'fail' }));
    const params = { name: 'act', arguments: { do: 'fail' } };
    const other = { jsonrpc: '2.0', id: 'other', method: 'ping' };
    proxy.raw(JSON.stringify([{ jsonrpc: '2.0', id: 'sixth', method: 'tools/call', params }, other]));
    expect(partsIn(await proxy.seen(({ id }) => id === 'sixth'))).toHaveLength(2);
  });

  it('[P-9] is not touched where equal answers are successes, of a tool that acts or that reads', async () => {
    const proxy = await opened();
    for (const tool of ['act', 'peek']) {
      const answers = await times(25, () => proxy.call(tool, { text: 'ok' }));
      expect(answers.every((answer) => partsIn(answer).join() === 'ok')).toBe(true);
    }
    expect(news(proxy)).toMatchObject([
      { tool: 'act', step: 'notice', form: 'success', count: 4 },
      { tool: 'peek', step: 'notice', form: 'read', count: 4 },
    ]);
  });

  it('[P-9] is told of equal answers of what its server says to read, where that is chosen', async () => {
    const proxy = await opened({ spinning: 'tell' });
    const answers = await times(12, () => proxy.call('peek', { text: 'ok' }));
    expect(answers.findIndex(isTold)).toBe(11);
    const acts = await times(12, () => proxy.call('act', { text: 'ok' }));
    expect(acts.some(isTold)).toBe(false);
  });

  it.each(['hold', 'end'] as const)(
    '[P-9] is refused by %s at the twentieth, and its server hears of it no more',
    async (spinning) => {
      const proxy = await opened({ spinning });
      const answers = await times(20, () => proxy.call('act', { do: 'fail' }));
      expect(answers.every((answer) => textIn(answer) === 'no')).toBe(true);
      // It is told up to there; the twentieth was answered all the same, and says no more than that.
      expect(answers.flatMap((answer, index) => (isTold(answer) ? [index + 1] : []))).toEqual([6, 12, 18]);
      expect(partsIn(answers[19] as Message)).toEqual(['no']);
      const before = await received(proxy, 'act');
      const refused = await times(3, () => proxy.call('act', { do: 'fail' }));
      expect(await received(proxy, 'act')).toBe(before);
      for (const answer of refused) {
        expect(answer.result).toMatchObject({
          isError: true,
          _meta: { 'unwedge/failure': { kind: 'spinning', outcome: 'not_started', retryable: false } },
        });
      }
      const begins = spinning === 'hold' ? 'Not called again' : 'This is spinning, and is ended here';
      expect(textIn(refused[0] as Message)).toMatch(
        new RegExp(
          `^${begins}: act was called 21 times with the same arguments.* failed alike each time, last at \\d{4}-.+Z: "no"\\. The same call`,
        ),
      );
      expect(news(proxy).at(-1)).toMatchObject({ step: spinning, count: 20 });
      expect(proxy.facts.filter(({ type }) => type === 'call.failed')).toMatchObject(
        refused.map(() => ({ failure: { kind: 'spinning', retryable: false, alerts: false } })),
      );
      expect(proxy.facts.filter(({ type }) => type === 'breaker.opened')).toEqual([]);
      // Other arguments are another call; what was done by it is news to the held one.
      expect(textIn(await proxy.call('act', { text: 'mended' }))).toBe('mended');
      expect(textIn(await proxy.call('act', { do: 'fail' }))).toBe('no');
    },
  );

  it('[P-9] may try again what is held once it was quiet for five minutes', async () => {
    const proxy = await opened({ spinning: 'hold' });
    proxy.clock.stop();
    await times(20, () => proxy.call('act', { do: 'fail' }));
    proxy.clock.skip(299_000);
    expect(textIn(await proxy.call('act', { do: 'fail' }))).toContain('Not called again');
    proxy.clock.skip(301_000);
    expect(textIn(await proxy.call('act', { do: 'fail' }))).toBe('no');
  });

  it('[P-9] is counted over restarts of its server, and what it cancelled was no answer', async () => {
    const proxy = await opened();
    const args = { do: 'hang', onStart: 1, then: 'fail' };
    for (const id of ['a', 'b', 'c', 'd', 'e', 'f']) {
      void proxy.call('act', args, id);
      proxy.notify('notifications/cancelled', { requestId: id });
    }
    await proxy.call('act', { do: 'crash', onStart: 1 });
    const before = await times(3, () => proxy.call('act', args));
    await proxy.call('act', { do: 'crash', onStart: 2 });
    const after = await times(3, () => proxy.call('act', args));
    expect(proxy.starts()).toBe(3);
    expect([...before, ...after].map(isTold)).toEqual([false, false, false, false, false, true]);
  });

  it('[P-9] our own retries are one call', async () => {
    const proxy = await opened();
    const args = { do: 'crash', onStart: 2, then: 'fail' };
    const answers = await times(6, () => proxy.call('peek', args));
    expect(proxy.starts()).toBe(3);
    expect(answers.map(isTold)).toEqual([false, false, false, false, false, true]);
  });

  it('[P-9] an answer that asks for something first is none', async () => {
    const proxy = await opened({ spinning: 'end' });
    const asks = '{"jsonrpc":"2.0","id":$id,"result":{"resultType":"input_required","inputRequests":{}}}';
    const url = '{"jsonrpc":"2.0","id":$id,"error":{"code":-32042,"message":"sign in first"}}';
    for (const raw of [asks, url]) await times(30, () => proxy.call('peek', answering(raw)));
    expect(news(proxy)).toEqual([]);
  });

  it('[P-9] is left alone where it is off, may repeat, polls, or is not told apart from others', async () => {
    const tools = { act: { repeats: 'allowed' }, peek: { poll: true } } as const;
    const configured = (policies: object) => ({ policies: { integrations: { kb: policies } } });
    const setups: Scripted[] = [
      { spinning: 'off' },
      configured({ spinning: 'off' }),
      configured({ tools }),
      { isShared: true },
    ];
    for (const setup of setups) {
      const proxy = await opened(setup);
      const answers = [
        ...(await times(21, () => proxy.call('act', { do: 'fail' }))),
        ...(await times(21, () => proxy.call('peek', { text: 'ok' }))),
      ];
      expect(answers.some(isTold)).toBe(false);
      expect(news(proxy)).toEqual([]);
    }
  });

  it('[P-9] goes as far as the configuration says, and the option before it', async () => {
    const policies = { integrations: { kb: { spinning: 'hold' as const } } };
    const held = await opened({ policies });
    await times(20, () => held.call('act', { do: 'fail' }));
    expect(textIn(await held.call('act', { do: 'fail' }))).toContain('Not called again');
    const noticed = await opened({ policies, spinning: 'notice' });
    expect((await times(21, () => noticed.call('act', { do: 'fail' }))).every((each) => textIn(each) === 'no')).toBe(
      true,
    );
  });
});
