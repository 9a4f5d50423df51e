import type { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import type { BudgetInput } from '../../../../src/policy/budget.ts';
import { startAcp, type StartOptions } from '../startAcp.ts';

/** A client of an agent that has a budget, and says what it is given. */
async function startSpending(budget: BudgetInput, options: StartOptions = {}) {
  const agent = { faults: [{ at: 'text', do: 'hang' }] } as const;
  const acp = await startAcp({ agent, policies: { integrations: { faulty: { budget } } }, ...options });
  const sessionId = await acp.open();
  let nth = 0;
  const write = (message: object): void => {
    const stdout = acp.agents[0]?.stdout as PassThrough | undefined;
    stdout?.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  };
  /** Calls that are made beside each other, and answered one after the other. */
  const round = async (calls = 1): Promise<void> => {
    const ids = Array.from({ length: calls }, () => `call-${++nth}`);
    const tell = (update: object): void => write({ method: 'session/update', params: { sessionId, update } });
    for (const toolCallId of ids)
      tell({
        sessionUpdate: 'tool_call',
        toolCallId,
        title: 'Run',
        kind: 'execute',
        rawInput: { command: toolCallId },
      });
    for (const toolCallId of ids) tell({ sessionUpdate: 'tool_call_update', toolCallId, status: 'completed' });
    await acp.settle();
  };
  /** The agent answers the prompt that it heard last. */
  const end = async (usage: unknown): Promise<void> => {
    const id = acp.heard().findLast(({ method }) => method === 'session/prompt')?.id;
    write({ id, result: { stopReason: 'end_turn', usage } });
    await acp.settle();
  };
  const ask = async (id: string): Promise<void> => {
    acp.prompt(id, 'build it', sessionId);
    await acp.settle();
  };
  const failure = (id: string): unknown =>
    (acp.answer(id)?.['error'] as { data?: Record<string, unknown> } | undefined)?.data?.['unwedge/failure'];
  return { ...acp, round, end, ask, failure, sessionId };
}

const spent = { kind: 'spinning', retryable: false };

describe('a budget of an agent behind the proxy of its protocol', () => {
  it('[G-16] [A-3] ends a prompt between two rounds of calls, and counts calls that are made at once as one round', async () => {
    const { round, ask, answer, failure, heard, facts } = await startSpending({ session: { rounds: 3 } });
    await ask('p');
    await round(4);
    await round();
    expect(answer('p')).toBeUndefined();
    await round(2);
    expect(failure('p')).toMatchObject({ ...spent, outcome: 'unknown' });
    expect(JSON.stringify(answer('p'))).toContain('3 rounds of the run');
    expect(heard().filter(({ method }) => method === 'session/cancel')).toHaveLength(1);
    expect(facts('budget.spent')).toMatchObject([{ metric: 'rounds', used: 3 }]);
  });

  it('[G-16] [A-3] ends no prompt while a call of it is under way', async () => {
    const { ask, answer, failure, round, agents, sessionId, settle } = await startSpending({
      session: { toolCalls: 2 },
    });
    const tell = async (update: object): Promise<void> => {
      const message = { jsonrpc: '2.0', method: 'session/update', params: { sessionId, update } };
      (agents[0]?.stdout as PassThrough | undefined)?.write(`${JSON.stringify(message)}\n`);
      await settle();
    };
    await ask('p');
    await tell({ sessionUpdate: 'tool_call', toolCallId: 'long', title: 'Build' });
    await round(5);
    expect(answer('p')).toBeUndefined();
    await tell({ sessionUpdate: 'tool_call_update', toolCallId: 'long', status: 'completed' });
    expect(failure('p')).toMatchObject(spent);
  });

  it('[G-16] counts a turn anew with each prompt', async () => {
    const { round, end, ask, answer, failure } = await startSpending({ turn: { toolCalls: 3 } });
    for (const id of ['p', 'q', 'r']) {
      await ask(id);
      await round(2);
      await end(undefined);
      expect(answer(id)).toMatchObject({ result: { stopReason: 'end_turn' } });
    }
    await ask('s');
    await round(3);
    expect(failure('s')).toMatchObject(spent);
  });

  it('[G-16] begins no further prompt of a session whose tokens are spent, those of a cache and of thoughts included', async () => {
    const { end, ask, answer, failure, heard } = await startSpending({ session: { tokens: 1000 } });
    await ask('p');
    // As claude-agent-acp and codex-acp tell them.
    await end({ inputTokens: 100, cachedReadTokens: 500, cachedWriteTokens: 50, outputTokens: 100, totalTokens: 800 });
    await ask('q');
    await end({ inputTokens: 100, outputTokens: 99 });
    expect(answer('q')).toMatchObject({ result: { stopReason: 'end_turn' } });
    await ask('r');
    await end({ inputTokens: 0, outputTokens: 1 });
    await ask('s');
    expect(failure('s')).toMatchObject({ ...spent, outcome: 'not_started' });
    expect(heard().filter(({ method }) => method === 'session/prompt')).toHaveLength(3);
  });

  it('[G-16] takes a day of tokens and money from all sessions; what is no usage counts nothing', async () => {
    const prices = { '*': { input: 10, output: 20, cacheRead: 1, cacheWrite: 0 } };
    const { end, ask, registry } = await startSpending({ day: { tokens: '1M', money: 5 }, prices });
    await ask('p');
    await end({ inputTokens: 100_000, cachedReadTokens: 400_000, outputTokens: 10_000, totalTokens: 510_000 });
    for (const [nth, usage] of [
      null,
      7,
      { inputTokens: 'many', outputTokens: -5, totalTokens: Number.NaN },
    ].entries()) {
      await ask(`q${nth}`);
      await end(usage);
    }
    const { limits = [] } = registry.budget('faulty');
    expect(limits.map(({ metric, used }) => [metric, used])).toEqual([
      ['tokens', 510_000],
      ['money', 1.6],
    ]);
  });

  it('[G-16] counts requests of each session apart, and none of another one', async () => {
    const { end, ask, failure, request, settle, answers, prompt } = await startSpending({ session: { requests: 1 } });
    await ask('p');
    await end(undefined);
    await ask('q');
    expect(failure('q')).toMatchObject(spent);
    request('n2', 'session/new', { cwd: '/', mcpServers: [] });
    await settle();
    prompt('other', 'build it', String(answers('n2')[0]?.result?.['sessionId']));
    await settle();
    await end(undefined);
    expect(answers('other')).toMatchObject([{ result: { stopReason: 'end_turn' } }]);
  });

  it('[G-16] [G-15] holds where repetition is not looked for', async () => {
    const { round, ask, failure } = await startSpending({ session: { rounds: 2 } }, { spinning: 'off' });
    await ask('p');
    await round();
    await round();
    expect(failure('p')).toMatchObject(spent);
  });
});
