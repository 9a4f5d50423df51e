import { describe, expect, it, vi } from 'vitest';
import { SpinningRequests } from '../../../../proxy/api/spinningRequests.ts';
import { again, bodyOf, paths, type Round, type Shape } from '../conversations.ts';
import { type Started, startApiProxy } from '../startApiProxy.ts';

const shapes = ['messages', 'chat', 'responses', 'gemini'] as const satisfies readonly Shape[];
const claude = {
  'user-agent': 'claude-cli/2.1.332 (external, cli)',
  'x-claude-code-session-id': '4f072770-3527-48e6-89c9-43705f450869',
};
const codex = { 'user-agent': 'codex_exec/0.166.0', 'session-id': '01a22a59-5cc9-7360-bbc5-874f0bcef7a7' };

/** A proxy and an agent that asks once a round. */
async function startAgent(shape: Shape, options: Started = {}, headers: Readonly<Record<string, string>> = {}) {
  const started = await startApiProxy(options);
  const send = (body: string) => started.ask({ path: paths[shape], body, headers }).got;
  return {
    ...started,
    send,
    /** Asks with the first round, then with the first two, and so on. @returns the last answer */
    play: async (rounds: readonly Round[]) => {
      for (let count = 1; count < rounds.length; count++) await send(bodyOf(shape, rounds.slice(0, count)));
      return send(bodyOf(shape, rounds));
    },
  };
}

describe.each(shapes)('the conversation in a request: %s', (shape) => {
  it('[E-7] the fourth equal failure is told by a header and an event, once, and passes untouched', async () => {
    const { play, send, of, api } = await startAgent(shape);
    expect((await play(again(3))).headers).not.toHaveProperty('x-unwedge-spinning');
    const body = bodyOf(shape, again(4));
    const { status, headers } = await send(body);
    expect(status).toBe(200);
    expect(headers['x-unwedge-spinning']).toBe('notice; tool=Bash; count=4');
    expect(api.requests.at(-1)?.body).toBe(body);
    expect(of('session.spinning')).toMatchObject([
      { integration: 'model', tool: 'Bash', step: 'notice', form: 'failure', count: 4, answer: '' },
    ]);
    expect((await play(again(9))).headers['x-unwedge-spinning']).toBe('notice; tool=Bash; count=9');
  });

  it('[E-7] equal successes are noticed, and never more', async () => {
    const { play, of } = await startAgent(shape, { spinning: 'end' });
    const { status, headers } = await play(again(30, { failed: false, answer: 'ok' }));
    expect([status, headers['x-unwedge-spinning']]).toEqual([200, 'notice; tool=Bash; count=30']);
    expect(of('session.spinning').map(({ step, form }) => [step, form])).toEqual([['notice', 'success']]);
  });

  it('[E-7] by option the twentieth equal failure ends the turn, and a word of a person begins anew', async () => {
    const { play, send, of, api } = await startAgent(shape, { spinning: 'end' });
    expect((await play(again(19))).headers['x-unwedge-spinning']).toBe('tell; tool=Bash; count=19');
    const { status, headers, text } = await send(bodyOf(shape, again(20)));
    expect(status).toBe(400);
    expect(headers['x-unwedge-spinning']).toBe('end; tool=Bash; count=20');
    expect(headers['x-should-retry']).toBe('false');
    expect(text).toContain(
      'unwedge: This is spinning, and is ended here: Bash was called 20 times with the same arguments',
    );
    expect(api.requests.length).toBe(19);
    expect((await send(bodyOf(shape, again(20)))).status).toBe(400);
    expect(of('session.spinning').map(({ step }) => step)).toEqual(['notice', 'tell', 'end']);
    const goesOn = [...again(20), { person: 'Try once more.' }];
    expect((await send(bodyOf(shape, goesOn))).status).toBe(200);
    expect((await send(bodyOf(shape, [...goesOn, ...again(18)]))).status).toBe(200);
    expect((await send(bodyOf(shape, [...goesOn, ...again(19)]))).status).toBe(400);
  });

  it.each(['off', 'notice', 'tell'] as const)('[E-7] with %s nothing is ended', async (spinning) => {
    const { play, of } = await startAgent(shape, { spinning });
    const { status, headers } = await play(again(40));
    expect(status).toBe(200);
    expect(headers['x-unwedge-spinning']).toBe(spinning === 'off' ? undefined : `${spinning}; tool=Bash; count=40`);
    expect(of('session.spinning').length).toBe({ off: 0, notice: 1, tell: 2 }[spinning]);
  });

  it('[E-7] work that goes on is left alone', async () => {
    const { play, of } = await startAgent(shape, { spinning: 'end' });
    const rounds = Array.from({ length: 40 }, (_, index) => [
      { input: { command: 'npm test' }, answer: 'two tests failed' },
      { tool: 'Edit', input: { path: 'a.ts', line: index }, answer: `edited line ${index}`, failed: false },
      { input: { command: 'job status' }, answer: `${index} of 40 done`, failed: false },
    ]).flat();
    expect((await play(rounds.slice(0, 8))).headers).not.toHaveProperty('x-unwedge-spinning');
    expect((await play(rounds)).status).toBe(200);
    expect(of('session.spinning').filter(({ step }) => step !== 'notice')).toEqual([]);
  });
});

describe('conversations of clients', () => {
  it.each([
    ['Claude Code', 'messages', claude, 410],
    ['Codex', 'responses', codex, 400],
  ] as const)('[E-7] that of %s is remembered over a compaction', async (_name, shape, headers, status) => {
    const { play, send, of } = await startAgent(shape, { spinning: 'end' }, headers);
    await play(again(15));
    // Its messages are gone but for what comes after it.
    for (let count = 1; count < 5; count++) expect((await send(bodyOf(shape, again(count), {}, 15))).status).toBe(200);
    const { status: last, text } = await send(bodyOf(shape, again(5), {}, 15));
    expect(last).toBe(status);
    expect(text).toContain('20 times');
    expect(of('session.spinning').at(-1)?.session).toBe(Object.values(headers)[1]);
  });

  it('[E-7] sub-agents count apart, and so do agents whose client names no conversation', async () => {
    const { send, ask, of } = await startAgent('messages', {}, claude);
    for (const agent of ['a', 'b', 'c', 'd', 'e', 'f'])
      await ask({
        body: bodyOf('messages', again(1), {}, agent.charCodeAt(0)),
        headers: { ...claude, 'x-claude-code-agent-id': agent },
      }).got;
    for (let number = 0; number < 6; number++) await ask({ body: bodyOf('messages', again(2), {}, number * 2) }).got;
    await send(bodyOf('messages', again(3)));
    expect(of('session.spinning')).toEqual([]);
  });

  it('[E-7] calls whose ids are names of tools are told apart by their places, also in a conversation with a name', async () => {
    const { play } = await startAgent('gemini', {}, codex);
    expect((await play(again(4))).headers['x-unwedge-spinning']).toBe('notice; tool=Bash; count=4');
  });

  it('[E-7] conversations without a name that begin and end alike are judged each by itself', async () => {
    const { send } = await startAgent('gemini', { spinning: 'end' });
    const other = again(19).map((round, index) => ({ ...round, input: { command: `cat /${index}` }, failed: false }));
    for (const [rounds, status] of [
      [again(20), 400],
      [[{}, ...other.slice(1), {}], 200],
      [again(20), 400],
    ] as const)
      expect((await send(bodyOf('gemini', rounds))).status).toBe(status);
  });

  it('[E-7] an id so short that other runs have it too is no name', async () => {
    const { send } = await startAgent('messages', {}, { 'session-id': 'run-1' });
    await send(bodyOf('messages', again(3)));
    expect((await send(bodyOf('messages', again(1), {}, 3))).headers).not.toHaveProperty('x-unwedge-spinning');
  });

  it('[E-7] of 200 conversations the one that was heard longest ago is forgotten, and told of anew', () => {
    const requests = new SpinningRequests('notice');
    const news = (session: string): readonly boolean[] => {
      const headers = { 'session-id': `01a22a59-5cc9-7360-bbc5-${session}` };
      const { found } = requests.judge(Buffer.from(bodyOf('messages', again(4))), headers, 0);
      return found.map(({ verdict }) => verdict.isNews);
    };
    expect([news('first'), news('first')]).toEqual([[true], [false]]);
    for (let nth = 0; nth < 199; nth++) news(`${nth}`);
    expect(news('first')).toEqual([false]);
    for (let nth = 0; nth < 200; nth++) news(`${nth}`);
    expect(news('first')).toEqual([true]);
  });

  const judgedBy = (requests: SpinningRequests, shape: Shape, rounds: readonly Round[], from = 0, extra = {}) =>
    requests.judge(Buffer.from(bodyOf(shape, rounds, extra, from)), {}, 0).found.map(({ verdict }) => verdict.count);

  it.each(shapes)('[E-7] what was read of a request before is not read again, and is judged alike: %s', (shape) => {
    const requests = new SpinningRequests('notice');
    const rounds = [...again(5), { person: 'Once more.' }, ...again(3), { input: { command: 'ls' } }, ...again(9)];
    for (let count = 1; count <= rounds.length; count++)
      for (const extra of [{}, { max_tokens: count }])
        expect(judgedBy(requests, shape, rounds.slice(0, count), 0, extra)).toEqual(
          judgedBy(new SpinningRequests('notice'), shape, rounds.slice(0, count)),
        );
  });

  it.each(shapes)('[E-7] a conversation that was edited, cut or forked is judged anew: %s', (shape) => {
    const requests = new SpinningRequests('notice');
    const other = { input: { command: 'ls' }, answer: 'a', failed: false };
    const asked = [
      again(6),
      [...again(3), other, ...again(5)],
      again(5),
      [...again(4), { answer: 'another' }, ...again(4)],
      again(7),
    ];
    for (const rounds of asked)
      expect(judgedBy(requests, shape, rounds)).toEqual(judgedBy(new SpinningRequests('notice'), shape, rounds));
  });

  it('[E-7] marks of what is to be cached move on, and change nothing', () => {
    const requests = new SpinningRequests('notice');
    const read = vi.spyOn(JSON, 'parse');
    for (let count = 1; count <= 6; count++) {
      const body = JSON.parse(bodyOf('messages', again(count))) as { messages: { content: object[] }[] };
      Object.assign(body.messages.at(-1)?.content[0] ?? {}, { cache_control: { type: 'ephemeral' } });
      read.mockClear();
      requests.judge(Buffer.from(JSON.stringify(body)), claude, 0);
      const texts = read.mock.calls.map(([text]) => text);
      expect(texts.some((text) => text.includes('do it'))).toBe(count === 1);
    }
    read.mockRestore();
  });

  it('[E-7] a client that asks again with the same request learns the same, and nothing is told twice', async () => {
    const { send, of } = await startAgent('chat');
    await send(bodyOf('chat', again(3)));
    for (let count = 0; count < 3; count++)
      expect((await send(bodyOf('chat', again(4)))).headers['x-unwedge-spinning']).toBe('notice; tool=Bash; count=4');
    expect(of('session.spinning').length).toBe(1);
  });

  it('[E-7] a refusal of the API has the header too, and what is no conversation has none', async () => {
    const { send, ask } = await startAgent('messages', { script: [{ do: 'refuse', status: 400 }] });
    expect((await send(bodyOf('messages', again(4)))).headers['x-unwedge-spinning']).toBe('notice; tool=Bash; count=4');
    for (const body of [
      '{"messages":[{"tool_use_id":',
      '"tool_use_id"',
      '{"messages":{"tool_use_id":1}}',
      '{"messages":[null,7,{"content":[{"type":"tool_result","tool_use_id":"x"}]}]}',
    ])
      expect((await ask({ body }).got).headers).not.toHaveProperty('x-unwedge-spinning');
  });

  it('[E-7] nothing of what was said is in the events', async () => {
    const { play, facts } = await startAgent('messages', { spinning: 'end' }, claude);
    const secret = { input: { command: 'cat planted-secret' }, answer: 'planted-answer' };
    expect((await play(again(20, secret))).status).toBe(410);
    expect(JSON.stringify(facts)).not.toContain('planted');
  });

  it('[E-7] a name of a tool that is no header is written as one', async () => {
    const { send } = await startAgent('chat');
    const { headers } = await send(bodyOf('chat', again(4, { tool: 'größer\r\nx: y' })));
    expect(headers['x-unwedge-spinning']).toBe('notice; tool=gr__er__x:_y; count=4');
  });
});
