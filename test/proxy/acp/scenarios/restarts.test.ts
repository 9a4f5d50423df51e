import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { InProcessAcpAgentOptions } from '../../../../testing/index.ts';
import { temporaryDirectory } from '../../../support/temporary.ts';
import { startAcp } from '../startAcp.ts';

/** An agent whose first process has these faults; its sessions outlive it. */
function firstOnly(faults: InProcessAcpAgentOptions['faults'], more: InProcessAcpAgentOptions = {}) {
  const stateFile = join(temporaryDirectory(), 'state.json');
  return (start: number): InProcessAcpAgentOptions => ({ stateFile, ...more, faults: start === 1 ? faults : [] });
}

const failureOf = (error: unknown): unknown =>
  ((error as { data?: Record<string, unknown> } | undefined)?.data ?? {})['unwedge/failure'];

describe('agents that die behind unwedge acp', () => {
  it('[A-3] a prompt whose turn had begun is answered as lost, with what is known of its tools, and not sent again', async () => {
    const file = join(temporaryDirectory(), 'effects');
    const acp = await startAcp({ agent: firstOnly([{ at: 'end', do: 'crash', signal: 'SIGKILL' }]) });
    const session = await acp.open();
    acp.prompt(1, `say one; append ${file} paid`);
    await acp.clock.advance(10_000);
    const { error } = acp.answer(1) ?? {};
    expect(error?.['message']).toMatch(/ended by SIGKILL.*it had told of 1 tool call, all of them over/);
    expect(failureOf(error)).toMatchObject({ kind: 'crash', outcome: 'unknown', retryable: false });
    acp.prompt(2, 'say two');
    await acp.clock.advance(10_000);
    expect(acp.answer(2)).toMatchObject({ result: { stopReason: 'end_turn' } });
    expect(acp.texts(session)).toBe('onetwo');
    expect(acp.heard(2).map(({ method }) => method)).toEqual(['initialize', 'session/load', 'session/prompt']);
    expect(readFileSync(file, 'utf8')).toBe('paid\n');
    expect(acp.facts('acp.session_loaded')).toMatchObject([{ agentSession: session, by: 'session/load' }]);
  });

  it('[A-3] a tool that was under way is named as one whose outcome is not known', async () => {
    const acp = await startAcp({ agent: firstOnly([{ at: 'tool', do: 'crash' }]) });
    await acp.open();
    acp.prompt(1, 'tool deploy');
    await acp.clock.advance(10_000);
    expect(acp.answer(1)?.error?.['message']).toMatch(/the outcome of 1 is not known \(deploy\)/);
  });

  it('[A-3] a prompt of which nothing had begun is sent again, once the session is loaded', async () => {
    const acp = await startAcp({ agent: firstOnly([{ at: 'before', do: 'crash' }]) });
    const session = await acp.open();
    acp.prompt(1, 'say one');
    await acp.clock.advance(20_000);
    expect(acp.answers(1)).toMatchObject([{ result: { stopReason: 'end_turn' } }]);
    expect(acp.texts(session)).toBe('one');
    expect(acp.heard(2).map(({ method }) => method)).toEqual(['initialize', 'session/load', 'session/prompt']);
  });

  it.for(['before', 'after', 'split'] as const)(
    '[A-3] shows nothing of the past twice to an editor, of an agent that replays it %s its answer',
    async (replay) => {
      const acp = await startAcp({ agent: firstOnly([{ nth: 2, at: 'text', do: 'crash' }], { replay }) });
      const session = await acp.open();
      acp.prompt(1, 'say one; tool read');
      await acp.settle();
      acp.prompt(2, 'say two');
      await acp.clock.advance(10_000);
      acp.prompt(3, 'say three');
      await acp.clock.advance(10_000);
      expect(acp.answer(3)).toMatchObject({ result: { stopReason: 'end_turn' } });
      expect(acp.texts(session)).toBe('onetwothree');
      const tools = acp.messages.filter(
        ({ params }) => (params?.['update'] as { sessionUpdate?: string })?.sessionUpdate === 'tool_call',
      );
      expect(tools).toHaveLength(1);
    },
  );

  it('[A-3] passes what is replayed where the editor itself loads a session', async () => {
    const acp = await startAcp({ agent: firstOnly([]) });
    const session = await acp.open();
    acp.prompt(1, 'say one');
    await acp.settle();
    acp.request(2, 'session/load', { sessionId: session, cwd: '/', mcpServers: [] });
    await acp.settle();
    expect(acp.texts(session)).toBe('oneone');
  });

  it('[A-3] goes on in a new session, and says so, where the agent can load none; the editor keeps its id', async () => {
    const acp = await startAcp({ agent: firstOnly([{ nth: 1, at: 'text', do: 'crash' }], { loadSession: false }) });
    const session = await acp.open();
    // Has the second one give its session another id.
    acp.request('m', 'session/new', { cwd: '/', mcpServers: [] });
    await acp.settle();
    acp.prompt(1, 'say one');
    await acp.clock.advance(10_000);
    acp.prompt(2, 'say two');
    await acp.clock.advance(10_000);
    expect(acp.answer(2)).toMatchObject({ result: { stopReason: 'end_turn' } });
    expect(acp.texts(session)).toMatch(/^onefaulty was restarted and cannot load this session: .*\n\ntwo$/s);
    acp.prompt(3, 'ask edit');
    await acp.settle();
    const question = acp.messages.find(({ method }) => method === 'session/request_permission');
    expect(question?.params?.['sessionId']).toBe(session);
    acp.cancel(session);
    await acp.settle();
    expect(acp.answer(3)).toMatchObject({ result: { stopReason: 'cancelled' } });
  });

  it('[A-3] resumes where it can and cannot load', async () => {
    const acp = await startAcp({
      agent: firstOnly([{ at: 'text', do: 'crash' }], { loadSession: false, resume: true }),
    });
    await acp.open();
    acp.prompt(1, 'say one');
    await acp.clock.advance(10_000);
    acp.prompt(2, 'say two');
    await acp.clock.advance(10_000);
    expect(acp.heard(2).map(({ method }) => method)).toEqual(['initialize', 'session/resume', 'session/prompt']);
  });

  it('[A-3] brings back the mode of a session, and what it was opened with', async () => {
    const acp = await startAcp({ agent: firstOnly([{ at: 'text', do: 'crash' }]) });
    const session = await acp.open({ cwd: '/work' });
    acp.request('a', 'authenticate', { methodId: 'key' });
    acp.request('s', 'session/set_mode', { sessionId: session, modeId: 'plan' });
    acp.request('t', 'session/set_mode', { sessionId: session, modeId: 'code' });
    await acp.settle();
    acp.prompt(1, 'say one');
    await acp.clock.advance(10_000);
    acp.prompt(2, 'say two');
    await acp.clock.advance(10_000);
    expect(
      acp.heard(2).map(({ method, params }) => [method, params?.['cwd'] ?? params?.['modeId'] ?? params?.['methodId']]),
    ).toEqual([
      ['initialize', undefined],
      ['authenticate', 'key'],
      ['session/load', '/work'],
      ['session/set_mode', 'code'],
      ['session/prompt', undefined],
    ]);
  });

  it('[A-3] a request that only looks is asked of the next agent; any other is answered', async () => {
    const acp = await startAcp({
      agent: firstOnly([
        { on: 'session/list', do: 'hang' },
        { on: 'x/act', do: 'crash' },
      ]),
    });
    await acp.open();
    acp.request(1, 'session/list', {});
    acp.request(2, 'x/act', {});
    await acp.clock.advance(10_000);
    expect(acp.heard(2).map(({ method }) => method)).toContain('session/list');
    expect(acp.answers(1)).toHaveLength(1);
    expect(acp.answers(2)).toMatchObject([
      { error: { data: { 'unwedge/failure': { kind: 'crash', outcome: 'unknown' } } } },
    ]);
    expect(acp.heard(2).map(({ method }) => method)).not.toContain('x/act');
  });

  it('[A-3] an agent that does not answer its handshake is an error, and is started again', async () => {
    const acp = await startAcp({ agent: firstOnly([{ on: 'initialize', do: 'hang' }]), startMs: 20_000 });
    acp.request('i', 'initialize', { protocolVersion: 1 });
    await acp.clock.advance(21_000);
    expect(acp.answer('i')).toMatchObject({
      error: { message: expect.stringContaining('No answer to initialize within 20s') as string },
    });
    acp.request('j', 'initialize', { protocolVersion: 1 });
    await acp.clock.advance(10_000);
    expect(acp.answer('j')).toMatchObject({ result: { protocolVersion: 1 } });
  });

  it('[A-3] an agent that dies at every start ends what waits for it, and no prompt waits for ever', async () => {
    const acp = await startAcp({ agent: { faults: [{ on: 'initialize', do: 'crash', stderr: 'no key' }] } });
    acp.request('i', 'initialize', { protocolVersion: 1 });
    acp.prompt(1, 'say one');
    await acp.clock.advance(300_000);
    expect(acp.answers('i')).toHaveLength(1);
    expect(acp.answers(1)).toHaveLength(1);
    expect(acp.answer('i')?.error?.['message']).toContain('code 1');
  });

  it('[A-3] an agent that dies at rest comes back for the next prompt, and its open questions are taken back', async () => {
    const acp = await startAcp({ agent: firstOnly([]) });
    await acp.open();
    acp.prompt(1, 'ask edit');
    await acp.settle();
    acp.agents[0]?.kill();
    await acp.clock.advance(10_000);
    expect(acp.answers(1)).toHaveLength(1);
    expect(acp.messages.filter(({ method }) => method === '$/cancel_request')).toMatchObject([
      { params: { requestId: 0 } },
    ]);
    // The answer that comes late is of no use to the next agent, whose ids begin anew.
    acp.send({ id: 0, result: { outcome: { outcome: 'selected', optionId: 'allow_once' } } });
    acp.prompt(2, 'ask edit');
    await acp.clock.advance(10_000);
    expect(acp.answer(2)).toBeUndefined();
    expect(acp.messages.filter(({ method }) => method === 'session/request_permission')).toHaveLength(2);
  });

  it('[A-3] a prompt waits for an agent that is slow to start, and is refused once it does not come up three times', async () => {
    const slow = await startAcp({
      agent: (start) =>
        start === 1
          ? { faults: [{ at: 'text', do: 'crash' }] }
          : { faults: [{ on: 'initialize', do: 'slow', ms: 8000 }] },
    });
    await slow.open();
    slow.prompt(1, 'say one');
    await slow.settle();
    slow.prompt(2, 'say two');
    await slow.clock.advance(12_000);
    expect(slow.answer(2)).toBeUndefined();
    await slow.clock.advance(20_000);
    expect(slow.answers(2)).toHaveLength(1);

    const broken = await startAcp({
      agent: (start) => ({ faults: [start === 1 ? { at: 'text', do: 'crash' } : { on: 'initialize', do: 'crash' }] }),
    });
    await broken.open();
    broken.prompt(1, 'say one');
    await broken.settle();
    broken.prompt(2, 'say two');
    await broken.clock.advance(30_000);
    expect(broken.answer(2)).toMatchObject({ error: { data: { 'unwedge/failure': { outcome: 'not_started' } } } });
  });

  it('[A-3] one that ends with its proxy, as it starts, is not told of as restarted by anybody', async () => {
    const acp = await startAcp({ agent: { faults: [{ on: 'initialize', do: 'hang' }] } });
    acp.send({ id: 1, method: 'initialize', params: { protocolVersion: 1, clientCapabilities: {} } });
    await acp.settle();
    const stopped = acp.registry.stop();
    await acp.clock.advance(30_000);
    await stopped;
    expect(acp.said).toEqual([]);
    expect(acp.answers(1)).toHaveLength(1);
  });
});
