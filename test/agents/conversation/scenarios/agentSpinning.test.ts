import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { agentKind } from '../../../../agents/conversation/agent.ts';
import type { SdkMessage } from '../../../../agents/conversation/claude/agentSdkTypes.ts';
import type { Agent } from '../../../../agents/conversation/agentTypes.ts';
import { createGateway } from '../../../../src/gateway/gateway.ts';
import { codexFixture, type Script, says } from '../../codex/startCodex.ts';
import type { PlayedQuery } from '../scriptedQuery.ts';
import { begin, startAgent } from '../startAgent.ts';

/** One round of a model that makes the same call again. */
const round = (nth: number, by: string | null = null, ok = false): readonly SdkMessage[] => [
  {
    ...{ type: 'assistant', parent_tool_use_id: by },
    message: { content: [{ type: 'tool_use', id: `${by}-${nth}`, name: 'Bash', input: { command: 'make' } }] },
  },
  {
    ...{ type: 'user', parent_tool_use_id: by },
    message: {
      content: [
        { type: 'tool_result', tool_use_id: `${by}-${nth}`, is_error: !ok, content: ok ? 'ok' : 'Exit code 2' },
      ],
    },
  },
];

const spin = (query: PlayedQuery, times: number, by: string | null = null, ok = false): void => {
  for (let nth = 0; nth < times; nth++) query.say(...round(nth, by, ok));
};

async function startTurn(options: Parameters<typeof startAgent>[0] = {}) {
  const started = await startAgent(options);
  const conversation = await started.converse();
  const turn = conversation.send('build it');
  await started.clock.advance(1);
  return { ...started, conversation, turn, query: started.sdk.at(0) };
}

describe('an agent that makes one call for ever', () => {
  it('[G-15] [A-2] is ended at the twentieth failure; the conversation goes on', async () => {
    const { clock, conversation, turn, query, of } = await startTurn();
    spin(query, 19);
    await clock.advance(1);
    expect(query.interrupts).toBe(0);
    spin(query, 1, null);
    await clock.advance(1);
    expect(query.interrupts).toBe(1);
    expect(await turn.outcome).toMatchObject({
      ok: false,
      failure: { kind: 'spinning', outcome: 'unknown', retryable: false, attempts: 1 },
    });
    expect(of('session.spinning').map(({ step, session }) => [step, session])).toEqual([
      ['notice', 'session-1'],
      ['tell', 'session-1'],
      ['end', 'session-1'],
    ]);
    expect(of('call.failed')).toMatchObject([{ integration: 'coder', failure: { kind: 'spinning' } }]);
    const next = conversation.send('go on');
    await clock.advance(1);
    query.answer('done');
    await clock.advance(1);
    expect(await next.outcome).toMatchObject({ ok: true, value: { text: 'done' } });
  });

  it('[G-16] [A-2] is ended between two calls by the budget of its conversation, whose next turn is refused', async () => {
    const { clock, conversation, turn, query } = await startTurn({ policy: { budget: { session: { rounds: 10 } } } });
    spin(query, 9, null, true);
    await clock.advance(1);
    expect(query.interrupts).toBe(0);
    query.say(...round(9, null, true));
    await clock.advance(1);
    expect(query.interrupts).toBe(1);
    const message = expect.stringContaining('coder has spent 10; its budget is 10 rounds of the run') as unknown;
    const spent = { kind: 'spinning', reason: 'budget', message, retryable: false };
    expect(await turn.outcome).toMatchObject({ ok: false, failure: { ...spent, outcome: 'unknown' } });
    const next = conversation.send('go on');
    expect(await next.outcome).toMatchObject({ ok: false, failure: { ...spent, outcome: 'not_started' } });
  });

  it('[G-15] [R-11] is not gone on with by its fallback', async () => {
    const start = vi.fn<Agent['start']>();
    const fallback = { name: 'other', backend: 'claude', start } as unknown as Agent;
    const { clock, turn, query } = await startTurn({ fallback, fallBackAfterEffects: true });
    spin(query, 20);
    await clock.advance(1);
    expect(await turn.outcome).toMatchObject({ ok: false, failure: { kind: 'spinning' } });
    expect(start).not.toHaveBeenCalled();
  });

  it('[G-15] opens no circuit', async () => {
    const { clock, conversation, turn, query, of } = await startTurn();
    spin(query, 20);
    await clock.advance(1);
    await turn.outcome;
    for (let nth = 0; nth < 7; nth++) {
      const again = conversation.send('again');
      await clock.advance(1);
      spin(query, 20);
      await clock.advance(1);
      expect(await again.outcome).toMatchObject({ ok: false, failure: { kind: 'spinning' } });
    }
    expect(of('breaker.opened')).toEqual([]);
  });

  it('[G-15] counts its sub-agents apart, and what ends a turn within that turn', async () => {
    const { clock, conversation, turn, query } = await startTurn();
    for (const by of ['task-1', 'task-2', null]) spin(query, 15, by);
    query.answer('first');
    await clock.advance(1);
    expect(await turn.outcome).toMatchObject({ ok: true });
    const next = conversation.send('go on');
    await clock.advance(1);
    spin(query, 15);
    query.answer('second');
    await clock.advance(1);
    expect(await next.outcome).toMatchObject({ ok: true, value: { text: 'second' } });
  });

  it('[G-15] is told of where its calls succeed, and goes on', async () => {
    const { clock, turn, query, of } = await startTurn();
    spin(query, 60, null, true);
    query.answer('pressed it sixty times');
    await clock.advance(1);
    expect(await turn.outcome).toMatchObject({ ok: true });
    expect(of('session.spinning').map(({ step, form }) => [step, form])).toEqual([['notice', 'success']]);
  });

  it('[G-15] is left alone with spinning off', async () => {
    const { clock, turn, query, of } = await startTurn({ spinning: 'off' });
    spin(query, 60);
    query.answer('done');
    await clock.advance(1);
    expect(await turn.outcome).toMatchObject({ ok: true });
    expect(of('session.spinning')).toEqual([]);
  });
});

describe('an agent over the app-server of Codex that makes one call for ever', () => {
  async function runCodex(count: number, item: object, turns = 1) {
    const rounds = Array.from({ length: count }, (_, nth) => [
      says.item('started', { id: `c${nth}`, ...item, status: 'inProgress' }),
      says.item('completed', { id: `c${nth}`, ...item }),
    ]).flat();
    const played: NonNullable<Script['turn/start']>[number] = [
      ['usual'],
      ...rounds,
      ...(count < 20 ? [says.completed] : []),
    ];
    const script: Script = { 'turn/start': Array.from({ length: turns }, () => played) };
    const options = { env: { FAKE_CODEX: JSON.stringify(script) } };
    const gateway = createGateway({ kinds: [agentKind], policies: { integrations: { coder: { idleMs: 60_000 } } } });
    onTestFinished(() => gateway.stop());
    const steps: string[] = [];
    gateway.on('session.spinning', ({ step }) => steps.push(step));
    const codex = { command: process.execPath, args: [codexFixture], interruptMs: 1000 };
    const agent = gateway.agent('coder', { backend: 'codex', ...options, codex });
    await gateway.start();
    const conversation = await begin(agent);
    for (let turn = 1; turn < turns; turn++) await conversation.send('build it').outcome;
    return { outcome: await conversation.send('build it').outcome, steps };
  }

  it.each([
    ['a command', { type: 'commandExecution', command: 'make', status: 'failed', exitCode: 2, aggregatedOutput: 'no' }],
    [
      'a tool of a server',
      {
        ...{ type: 'mcpToolCall', server: 'db', tool: 'ask', arguments: {}, status: 'failed', error: null },
        result: { content: [{ type: 'text', text: 'locked' }], structuredContent: null, _meta: null },
      },
    ],
  ])('[G-15] [A-2] is ended at the twentieth failure: %s', async (_, item) => {
    const { outcome, steps } = await runCodex(20, item);
    expect(outcome).toMatchObject({ ok: false, failure: { kind: 'spinning' } });
    expect(outcome.ok ? '' : outcome.failure.message).toMatch(/\("(?:exit code 2 no|locked)"\)$/);
    expect(steps).toEqual(['notice', 'tell', 'end']);
  });

  const item = { type: 'commandExecution', command: 'make', status: 'failed', exitCode: 2, aggregatedOutput: 'no' };

  it('[G-15] is not ended by what an earlier turn did', async () => {
    expect((await runCodex(15, item, 2)).outcome).toMatchObject({ ok: true });
  });

  it('[G-15] is left alone below that', async () => {
    const { outcome, steps } = await runCodex(19, item);
    expect(outcome).toMatchObject({ ok: true });
    expect(steps).toEqual(['notice', 'tell']);
  });
});
