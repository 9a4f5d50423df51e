import { describe, expect, it, onTestFinished } from 'vitest';
import {
  type AcpClientFault,
  type FaultyAcpAgentOptions,
  type FaultyAcpClientOptions,
  faultyAcpClient,
  inProcessAcpAgent,
  SimulatedClock,
} from '../../../testing/index.ts';

async function start(options: FaultyAcpClientOptions = {}, agentOptions: FaultyAcpAgentOptions = {}) {
  const clock = new SimulatedClock();
  const agent = inProcessAcpAgent({ clock, ...agentOptions });
  onTestFinished(() => agent.kill());
  const client = faultyAcpClient(agent, { clock, ...options });
  const session = await client.open();
  const read = () => agent.transcript.slice(2).map(({ line }) => line.slice(line.indexOf('"id"')));
  const methods = () =>
    agent.transcript.map(({ line }) =>
      line.startsWith('{') ? (JSON.parse(line) as { method?: string }).method : line,
    );
  return { clock, agent, client, session, read, methods };
}

const doing = (...faults: readonly AcpClientFault[]) => start({ faults });

/** Lets everything that is on its way in this process arrive. */
const settled = async () => {
  for (let turns = 0; turns < 10; turns++) await new Promise((done) => void setImmediate(done));
};

describe('the ACP client without a fault', () => {
  it('[A-7] has nothing to say of an agent that does right', async () => {
    const { client } = await start();
    expect(await client.prompt('say hello there; tool look')).toEqual({
      stopReason: 'end_turn',
      error: undefined,
      isClosed: undefined,
      text: 'hello there',
    });
    expect(await client.prompt('ask pay; say done with it')).toMatchObject({ text: 'done with it' });
    expect(client.received.map(({ method }) => method)).toContain('session/request_permission');
    expect(client.judge()).toEqual([]);
  });

  it('[A-7] has nothing to say of answers that begin alike', async () => {
    const { client } = await start();
    await client.prompt('hello');
    await client.prompt('goodbye');
    expect(client.judge()).toEqual([]);
  });

  it('[A-7] loads a session, before and after whose answer its history may come', async () => {
    const { client, session } = await start({}, { replay: 'split' });
    await client.prompt('say hello there');
    await client.load(session);
    expect(client.judge()).toEqual([]);
  });

  it('[A-7] tells how requests fail, and prompts end', async () => {
    const { client, agent } = await start({}, { faults: [{ prompt: 'fail', do: 'error', code: 429, message: 'no' }] });
    await expect(client.request('no/such', {})).rejects.toThrow('Method not found: no/such');
    expect(await client.prompt('fail')).toMatchObject({ error: { code: 429, message: 'no' } });
    const last = client.prompt('wait 1000');
    agent.kill();
    expect(await last).toMatchObject({ isClosed: true });
    await expect(client.request('authenticate', {})).rejects.toThrow('authenticate was not answered');
    expect(client.judge()).toEqual(['the prompt "wait 1000" has no answer']);
  });
});

describe('the judgement of the ACP client', () => {
  it.each<[FaultyAcpAgentOptions['faults'], string[]]>([
    [[{ do: 'repeat', times: 2 }], ['the text "one two three" came twice']],
    [[{ do: 'duplicate_answer' }], ['an answer to 3, which nothing waited for']],
    [[{ do: 'noise' }], ['no message: Loading model...']],
  ])('[A-7] of %j', async (faults = [], problems) => {
    const { client } = await start({}, { faults });
    await client.prompt('say one two three');
    await settled();
    expect(client.judge()).toEqual(problems);
  });

  it('[A-7] of an agent that goes on after its answer, or answers another', async () => {
    const late = await start(
      { faults: [{ do: 'cancel' }] },
      { faults: [{ on: 'session/cancel', do: 'late', updates: 1 }] },
    );
    expect(await late.client.prompt('wait 5')).toMatchObject({ stopReason: 'cancelled' });
    await settled();
    expect(late.client.judge()).toEqual(['agent_message_chunk after the end of the turn']);
    const wrong = await start({}, { faults: [{ do: 'wrong_id' }] });
    void wrong.client.prompt('say one');
    await settled();
    expect(wrong.client.judge()).toEqual([
      'the prompt "say one" has no answer',
      'an answer to "nobody-asked", which nothing waited for',
    ]);
  });

  it('[A-7] of a text that comes again in a later turn, and of a history within one', async () => {
    const { client, agent } = await start();
    await client.prompt('say one two three');
    await client.prompt('say so: one two three; wait 0');
    expect(client.judge()).toEqual(['the text "one two " came twice']);
    const replay = await start();
    await replay.client.prompt('say first of all');
    void replay.client.prompt('wait 5');
    agent.kill();
    replay.agent.stdin.write('{"jsonrpc":"2.0","id":"x","method":"session/load","params":{"sessionId":"session-1"}}\n');
    await settled();
    expect(replay.client.judge()).toContain('a history was told within a turn');
  });
});

describe('a fault of the ACP client', () => {
  it('[A-7] cancels at once, twice, later, and when all is over', async () => {
    const once = await doing({ do: 'cancel', times: 2 });
    expect(await once.client.prompt('wait 5')).toMatchObject({ stopReason: 'cancelled' });
    expect(once.methods().slice(2)).toEqual(['session/prompt', 'session/cancel', 'session/cancel']);
    const later = await doing({ at: 'text', do: 'cancel', afterMs: '3s' });
    const end = later.client.prompt('say one; wait 5');
    await settled();
    await later.clock.advance(3000);
    expect(await end).toMatchObject({ stopReason: 'cancelled', text: 'one' });
    const late = await doing({ at: 'answer', do: 'cancel' });
    expect(await late.client.prompt('say one')).toMatchObject({ stopReason: 'end_turn' });
    await settled();
    expect(late.methods().at(-1)).toBe('session/cancel');
  });

  it('[A-7] sends a second prompt meanwhile, with an id of its own or the same', async () => {
    const { client, read } = await doing({ nth: 1, at: 'tool', do: 'prompt', text: 'say second of all' });
    await client.prompt('say first; tool look');
    await settled();
    expect(read().map((line) => line.slice(0, 6))).toEqual(['"id":3', '"id":4']);
    expect(client.judge()).toEqual([]);
    const same = await doing({ nth: 1, do: 'prompt', text: 'say second of all', sameId: true });
    await same.client.prompt('say first');
    await settled();
    expect(same.read().map((line) => line.slice(0, 6))).toEqual(['"id":3', '"id":3']);
    expect(same.client.judge()).toEqual([]);
  });

  it.each([
    ['reject', { outcome: 'selected', optionId: 'reject_once' }, 'end_turn'],
    ['at_cancel', { outcome: 'cancelled' }, 'cancelled'],
    ['after_cancel', { outcome: 'selected', optionId: 'allow_once' }, 'cancelled'],
    ['never', undefined, 'cancelled'],
  ] as const)('[A-7] answers a permission: %s', async (permissions, outcome, stopReason) => {
    const { client, agent } = await start({ permissions });
    const end = client.prompt('ask pay');
    await settled();
    if (permissions !== 'reject') client.cancel();
    expect(await end).toMatchObject({ stopReason });
    await settled();
    const replies = agent.transcript.map(({ line }) => JSON.parse(line) as { result?: { outcome: unknown } });
    expect(replies.find(({ result }) => result !== undefined)?.result?.outcome).toEqual(outcome);
  });

  it('[A-7] answers a permission that was on its way when it cancelled', async () => {
    const faults = [{ on: 'session/cancel', do: 'hang' }] as const;
    const { client } = await start({ permissions: 'at_cancel' }, { faults });
    const end = client.prompt('think 0; ask pay');
    client.cancel();
    expect(await end).toMatchObject({ stopReason: 'cancelled' });
  });

  it('[A-7] closes the stdin of the agent in a turn, which then owes no answer', async () => {
    const { client, agent } = await doing({ at: 'text', do: 'close_stdin' });
    expect(await client.prompt('say one; wait 5')).toMatchObject({ isClosed: true });
    expect(await agent.exited).toEqual({ code: 0 });
    expect(client.judge()).toEqual([]);
  });

  it('[A-7] does not read for a while', async () => {
    const { client, clock } = await doing({ do: 'stop_reading', ms: '5s' });
    let isOver = false;
    const end = client.prompt('say one').then(() => (isOver = true));
    await settled();
    await clock.advance(4999);
    await settled();
    expect(isOver).toBe(false);
    await clock.advance(1);
    await end;
  });

  it('[A-7] sends garbage, and what no agent knows', async () => {
    const { client, methods } = await doing(
      { do: 'garbage', line: 'half' },
      { do: 'strange', what: 'request' },
      { do: 'strange', what: 'notification' },
    );
    expect(await client.prompt('say one')).toMatchObject({ stopReason: 'end_turn' });
    expect(methods().slice(2)).toHaveLength(4);
    expect(client.judge()).toEqual([]);
  });

  it.each([
    ['mixed', ['0,', '"",', '"a",', '-1,', '9007199254740991,', '"ü \\"quoted\\"",', '7,']],
    ['same', ['1,', '1,', '1,', '1,']],
  ] as const)('[A-7] has ids: %s', async (ids, expected) => {
    const { client, agent } = await start({ ids });
    for (const _ of expected.slice(2)) await client.prompt('x'.repeat(100_000));
    expect(agent.transcript.map(({ line }) => /"id":(.*?,)"method/.exec(line)?.[1])).toEqual(expected);
  });

  it('[A-7] that does not exist is refused', () => {
    const agent = inProcessAcpAgent();
    expect(() => faultyAcpClient(agent, { faults: [{ do: 'nothing' }] as never })).toThrow(/`faults\[0\].do`/);
  });
});
