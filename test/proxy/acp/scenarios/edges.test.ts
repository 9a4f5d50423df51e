import type { PassThrough } from 'node:stream';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { InProcessAcpAgentOptions } from '../../../../testing/index.ts';
import { temporaryDirectory } from '../../../support/temporary.ts';
import { startAcp } from '../startAcp.ts';

const minute = 60_000;
type Acp = Awaited<ReturnType<typeof startAcp>>;

/** Starts of an agent with these faults, one list each; its sessions outlive it. */
function inTurn(...faults: readonly NonNullable<InProcessAcpAgentOptions['faults']>[]) {
  const stateFile = join(temporaryDirectory(), 'state.json');
  return (start: number): InProcessAcpAgentOptions => ({ stateFile, faults: faults[start - 1] ?? [] });
}

/** Has the agent of that start say something that its script does not. */
function says(acp: Acp, message: object, start = 1): Promise<void> {
  const stdout = acp.agents[start - 1]?.stdout as PassThrough | undefined;
  stdout?.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  return acp.settle();
}

const deaf = [
  { at: 'text', do: 'hang' },
  { on: 'session/cancel', do: 'hang' },
] as const;

describe('edges of turns behind unwedge acp', () => {
  it('[A-3] an agent that is late with a request is not ended for it in the middle of a turn, and is at rest', async () => {
    const acp = await startAcp({ agent: { faults: [{ on: 'session/set_mode', do: 'hang' }] } });
    const sessionId = await acp.open();
    acp.prompt(1, Array.from({ length: 10 }, (_, index) => `say part ${index}; wait 60`).join('; '));
    acp.request(2, 'session/set_mode', { sessionId, modeId: 'x' });
    await acp.clock.advance(11 * minute);
    expect(acp.answer(2)).toMatchObject({ error: { data: { 'unwedge/failure': { kind: 'timeout' } } } });
    expect(acp.answer(1)).toMatchObject({ result: { stopReason: 'end_turn' } });
    acp.request(3, 'session/set_mode', { sessionId, modeId: 'x' });
    await acp.clock.advance(4 * minute);
    acp.request(4, 'session/list');
    await acp.clock.advance(minute);
    expect(acp.agents).toHaveLength(2);
  });

  it('[A-3] a session that is closed in a turn ends it, and what waits behind it', async () => {
    const acp = await startAcp({ agent: { faults: [...deaf, { on: 'session/close', do: 'hang' }] } });
    const sessionId = await acp.open();
    acp.prompt(1, 'say one');
    acp.prompt(2, 'say two');
    acp.request(3, 'session/close', { sessionId });
    await acp.settle();
    await says(acp, { id: 3, result: {} });
    await acp.clock.advance(6000);
    for (const id of [1, 2]) expect(acp.answers(id)).toMatchObject([{ result: { stopReason: 'cancelled' } }]);
  });

  it('[A-3] keeps sessions apart whose ids a new agent counts from the start again', async () => {
    const acp = await startAcp({
      agent: (start) => ({ loadSession: false, faults: start === 1 ? [{ at: 'text', do: 'crash' }] : [] }),
    });
    const one = await acp.open();
    acp.request('m', 'session/new', { cwd: '/', mcpServers: [] });
    await acp.settle();
    const two = String(acp.answer('m')?.result?.['sessionId']);
    const turns = [
      ['crash', one],
      ['alpha', two],
      ['beta', one],
      ['gamma', two],
    ] as const;
    for (const [id, [word, session]] of turns.entries()) {
      acp.prompt(id, `say ${word}`, session);
      await acp.clock.advance(10_000);
    }
    expect(acp.texts(one)).toMatch(/\n\nbeta$/);
    expect(acp.texts(two)).toMatch(/\n\nalphagamma$/);
  });

  it('[A-3] an editor that loads a session while it is brought back is told its past', async () => {
    const acp = await startAcp({
      agent: inTurn([{ nth: 2, at: 'text', do: 'crash' }], [{ on: 'session/load', nth: 1, do: 'slow', ms: 2000 }]),
    });
    const sessionId = await acp.open();
    acp.prompt(1, 'say one');
    await acp.settle();
    acp.prompt(2, 'say two');
    await acp.clock.advance(5000);
    acp.prompt(3, 'say three');
    await acp.settle();
    acp.request(4, 'session/load', { sessionId, cwd: '/', mcpServers: [] });
    await acp.clock.advance(10_000);
    expect(acp.answer(4)).toMatchObject({ result: {} });
    expect(acp.answer(3)).toMatchObject({ result: { stopReason: 'end_turn' } });
    expect(acp.texts(sessionId)).toBe('onetwothreeonetwothree');
  });

  it.for([
    ['before', { result: {} }],
    ['in the middle of', { error: { data: { 'unwedge/failure': { kind: 'crash', outcome: 'failed' } } } }],
  ] as const)(
    '[A-3] an agent that dies %s what it tells of a loaded session: nothing is told twice',
    async ([when, end]) => {
      const acp = await startAcp({ agent: inTurn([{ on: 'session/load', do: 'hang' }]) });
      const sessionId = await acp.open();
      acp.prompt(1, 'say one');
      await acp.settle();
      acp.request(2, 'session/load', { sessionId, cwd: '/', mcpServers: [] });
      await acp.settle();
      const update = { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: 'one' } };
      if (when !== 'before') await says(acp, { method: 'session/update', params: { sessionId, update } });
      acp.agents[0]?.kill();
      await acp.clock.advance(10_000);
      expect(acp.answers(2)).toMatchObject([end]);
      expect(acp.texts(sessionId)).toBe('oneone');
    },
  );

  it('[A-3] what is told of the past after its limit is not shown', async () => {
    const acp = await startAcp({
      startMs: 10_000,
      agent: inTurn([{ nth: 2, at: 'text', do: 'crash' }], [{ on: 'session/load', nth: 1, do: 'slow', ms: 10_100 }]),
    });
    const session = await acp.open();
    acp.prompt(1, 'say one');
    await acp.settle();
    acp.prompt(2, 'say two');
    await acp.clock.advance(5000);
    acp.prompt(3, 'say three');
    await acp.clock.advance(minute);
    expect(acp.answers(3)).toHaveLength(1);
    expect(acp.texts(session)).toMatch(/^onetwo(?:three)?$/);
  });

  it('[A-3] a turn that has its answer writes no file and starts no command; what it began is tidied up', async () => {
    const acp = await startAcp({ agent: { faults: deaf } });
    const sessionId = await acp.open();
    acp.prompt(1, 'say one');
    await acp.settle();
    acp.cancel();
    await acp.clock.advance(6000);
    const methods = ['fs/write_text_file', 'terminal/create', 'session/request_permission', 'terminal/release'];
    for (const method of methods) await says(acp, { id: method, method, params: { sessionId, terminalId: 't' } });
    expect(
      acp.messages.flatMap(({ method }) => (method !== undefined && methods.includes(method) ? method : [])),
    ).toEqual(['terminal/release']);
    const answers = acp.heard().filter(({ id, method }) => method === undefined && methods.includes(String(id)));
    expect(answers).toMatchObject([{ error: {} }, { error: {} }, { result: { outcome: { outcome: 'cancelled' } } }]);
  });

  it('[A-3] a question that its agent takes back is taken back by the id that the editor knows', async () => {
    const acp = await startAcp({ agent: inTurn([]) });
    await acp.open();
    acp.prompt(1, 'ask edit');
    await acp.settle();
    acp.agents[0]?.kill();
    await acp.clock.advance(10_000);
    acp.prompt(2, 'ask edit');
    await acp.clock.advance(10_000);
    const { id } = acp.messages.findLast(({ method }) => method === 'session/request_permission') ?? {};
    expect(id).not.toBe(0);
    await says(acp, { method: '$/cancel_request', params: { requestId: 0 } }, 2);
    expect(acp.messages.at(-1)).toMatchObject({ method: '$/cancel_request', params: { requestId: id } });
    expect(acp.proxy.why().questions).toEqual([]);
  });

  it('[A-3] a question that its turn has left behind excuses no other turn', async () => {
    const acp = await startAcp({
      agent: {
        faults: [
          { nth: 1, do: 'ask', then: 'go_on' },
          { nth: 2, at: 'text', do: 'hang' },
        ],
      },
    });
    await acp.open();
    acp.prompt(1, 'say one');
    await acp.settle();
    acp.prompt(2, 'say two');
    await acp.clock.advance(16 * minute);
    expect(acp.answer(2)).toMatchObject({ error: { data: { 'unwedge/failure': { kind: 'timeout' } } } });
    expect(acp.proxy.why().questions).toEqual([]);
  });

  it('[A-3] a prompt of which thoughts were told is not sent again', async () => {
    const acp = await startAcp({ agent: inTurn([]) });
    await acp.open();
    acp.prompt(1, 'think 10; say one');
    await acp.clock.advance(1000);
    acp.agents[0]?.kill();
    await acp.clock.advance(30_000);
    expect(acp.answer(1)).toMatchObject({
      error: { data: { 'unwedge/failure': { kind: 'crash', outcome: 'unknown' } } },
    });
    expect(acp.heard(2).filter(({ method }) => method === 'session/prompt')).toHaveLength(0);
  });

  it('[A-3] a request of a session that cannot be had again says so, at once', async () => {
    const acp = await startAcp({
      agent: (start) => ({
        loadSession: false,
        faults: start === 1 ? [] : [{ on: 'session/new', do: 'error', code: -32_000, message: 'sign in' }],
      }),
    });
    const sessionId = await acp.open();
    acp.agents[0]?.kill();
    await acp.clock.advance(10_000);
    acp.request(2, 'session/set_mode', { sessionId, modeId: 'x' });
    await acp.clock.advance(1000);
    expect(acp.answer(2)?.error?.['message']).toContain('sign in');
  });

  it('[A-3] a session is brought back before another is made of it', async () => {
    const acp = await startAcp({ agent: inTurn([]) });
    const sessionId = await acp.open();
    acp.agents[0]?.kill();
    await acp.clock.advance(10_000);
    acp.request(2, 'session/fork', { sessionId, cwd: '/' });
    await acp.clock.advance(10_000);
    expect(acp.heard(2).map(({ method }) => method)).toEqual(['initialize', 'session/load', 'session/fork']);
  });

  it('[A-3] `$/cancel_request` of the prompt under way ends that alone', async () => {
    const acp = await startAcp();
    await acp.open();
    acp.prompt(1, 'wait 60');
    acp.prompt(2, 'say two');
    acp.send({ method: '$/cancel_request', params: { requestId: 1 } });
    await acp.clock.advance(10_000);
    expect(acp.answer(1)).toMatchObject({ result: { stopReason: 'cancelled' } });
    expect(acp.answer(2)).toMatchObject({ result: { stopReason: 'end_turn' } });
  });

  it('[A-3] [I-1] a stop answers every prompt, and one that was cancelled with `cancelled`', async () => {
    const acp = await startAcp({ agent: { faults: deaf } });
    await acp.open();
    acp.prompt(1, 'say one');
    await acp.settle();
    acp.cancel();
    acp.prompt(2, 'say two');
    await acp.settle();
    const stopped = acp.registry.stop();
    await acp.clock.advance(30_000);
    await stopped;
    expect(acp.answers(1)).toMatchObject([{ result: { stopReason: 'cancelled' } }]);
    expect(acp.answers(2)).toMatchObject([{ error: { data: { 'unwedge/failure': { reason: 'stopped' } } } }]);
  });

  it('[A-3] answers of ours are no sign of an agent that works: its starts stay apart', async () => {
    const acp = await startAcp({
      agent: (start) => ({ faults: [start === 1 ? { at: 'text', do: 'crash' } : { on: 'initialize', do: 'crash' }] }),
    });
    await acp.open();
    acp.prompt(1, 'say one');
    for (let id = 2; id < 62; id++) {
      await acp.clock.advance(500);
      acp.prompt(id, 'say x');
      acp.cancel();
    }
    expect(acp.agents.length).toBeLessThan(15);
  });

  it('[A-3] an agent that does not answer how its session is brought back is started again', async () => {
    const acp = await startAcp({
      agent: inTurn([{ nth: 1, at: 'text', do: 'crash' }], [{ on: 'session/load', do: 'hang' }]),
    });
    await acp.open();
    acp.prompt(1, 'say one');
    await acp.clock.advance(5000);
    acp.prompt(2, 'say two');
    await acp.clock.advance(4 * minute);
    expect(acp.answer(2)).toMatchObject({ result: { stopReason: 'end_turn' } });
    expect(acp.agents).toHaveLength(3);
  });

  it('[A-3] an editor that loads a session whose turn its agent does not end is told its past once that has ended', async () => {
    const acp = await startAcp({ agent: inTurn([{ nth: 2, at: 'text', do: 'hang' }, ...deaf.slice(1)]) });
    const sessionId = await acp.open();
    acp.prompt(1, 'say one');
    await acp.settle();
    acp.prompt(2, 'say two');
    await acp.settle();
    acp.cancel();
    await acp.clock.advance(6000);
    acp.request(3, 'session/load', { sessionId, cwd: '/', mcpServers: [] });
    await acp.clock.advance(30_000);
    expect(acp.answer(3)).toMatchObject({ result: {} });
    expect(acp.texts(sessionId)).toBe('onetwoonetwo');
  });

  it('[A-3] a notification of a session that goes on under another id reaches it', async () => {
    const acp = await startAcp({
      agent: (start) => ({ loadSession: false, faults: start === 1 ? [{ at: 'text', do: 'crash' }] : [] }),
    });
    await acp.open();
    acp.request('m', 'session/new', { cwd: '/', mcpServers: [] });
    await acp.settle();
    const sessionId = String(acp.answer('m')?.result?.['sessionId']);
    for (const id of [1, 2]) {
      acp.prompt(id, 'say one', sessionId);
      await acp.clock.advance(5000);
    }
    acp.send({ method: '_x/hint', params: { sessionId, a: 1 } });
    await acp.settle();
    expect(acp.heard(2).at(-1)).toMatchObject({ method: '_x/hint', params: { sessionId: 'session-1', a: 1 } });
  });

  it('[A-3] [I-4] a message that is too long is refused, whatever its id is, and the next is heard', async () => {
    const acp = await startAcp();
    await acp.open();
    acp.input.write(String.raw`{"jsonrpc":"2.0","id":"\x","method":"session/prompt","params":{"a":"`);
    const megabyte = Buffer.alloc(1024 * 1024, 'x');
    for (let count = 0; count < 65; count++) acp.input.write(megabyte);
    acp.input.write('"}}\n');
    acp.prompt(1, 'say one');
    await acp.settle();
    expect(acp.messages.map(({ error }) => error?.['message'])).toContainEqual(expect.stringContaining('bytes'));
    expect(acp.answer(1)).toMatchObject({ result: { stopReason: 'end_turn' } });
  });

  it('[A-3] a handshake that is refused changes nothing for the next agent', async () => {
    const acp = await startAcp({ agent: inTurn([{ on: 'initialize', nth: 2, do: 'error' }]) });
    await acp.open();
    acp.request('j', 'initialize', { protocolVersion: 99 });
    await acp.settle();
    acp.agents[0]?.kill();
    await acp.clock.advance(5000);
    acp.prompt(1, 'say one');
    await acp.clock.advance(5000);
    expect(acp.heard(2)[0]).toMatchObject({ method: 'initialize', params: { protocolVersion: 1 } });
  });

  it.for([
    ['a turn that was cancelled', [{ at: 'text', do: 'hang' }]],
    ['one that does not hear that', deaf],
    ['a session that is brought back', [{ nth: 1, at: 'text', do: 'crash' }]],
  ] as const)('[A-3] [I-3] a stop leaves no timer of %s', async ([, faults]) => {
    const acp = await startAcp({ agent: inTurn(faults) });
    await acp.open();
    acp.prompt(1, 'say one');
    await acp.clock.advance(5000);
    acp.cancel();
    acp.prompt(2, 'say two');
    await acp.settle();
    let isStopped = false;
    void acp.registry.stop().then(() => (isStopped = true));
    for (let count = 0; count < 100 && !isStopped; count++) await acp.clock.advance(10);
    expect(isStopped).toBe(true);
    expect(acp.clock.pending).toBe(0);
    for (const id of [1, 2]) expect(acp.answers(id)).toHaveLength(1);
  });
});
