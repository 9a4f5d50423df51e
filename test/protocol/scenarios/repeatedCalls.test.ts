import { describe, expect, it } from 'vitest';
import type { ModelUsage } from '../../../src/policy/budget.ts';
import { HeardCalls } from '../../../src/policy/spinning/heardCalls.ts';
import { ownLimits } from '../../../src/policy/spinning/spinningRule.ts';
import { agentCommand } from '../../../src/protocol/agentCommand.ts';
import { createAgentStream } from '../../../src/protocol/agentStream.ts';
import { hearCodexLog } from '../../../src/protocol/codexCalls.ts';
import { SimulatedClock } from '../../../testing/simulatedClock.ts';
import { hearing } from '../../support/hearing.ts';
import { recordedRounds, roundArgs, roundOf } from '../../support/agentRounds.ts';

/** Reads what an agent prints. */
function listen(agent: string) {
  const command = agentCommand(agent, roundArgs(agent));
  if (command === undefined) throw new RangeError(agent);
  const { caller, told, ends } = hearing(new SimulatedClock());
  const stream = createAgentStream(command, false, undefined, new HeardCalls(ownLimits, caller));
  return { told, ends, push: (text: string) => stream.push(Buffer.from(text)) };
}

const codexItem = (nth: number, item: object): string =>
  ['started', 'completed']
    .map((what) => `${JSON.stringify({ type: `item.${what}`, item: { id: `i${nth}`, ...item } })}\n`)
    .join('');

const claudeCall = (id: string, by: string | null, input: object, result: object): string =>
  [
    {
      type: 'assistant',
      parent_tool_use_id: by,
      message: { content: [{ type: 'tool_use', id, name: 'Read', input }] },
    },
    {
      type: 'user',
      parent_tool_use_id: by,
      message: { content: [{ type: 'tool_result', tool_use_id: id, ...result }] },
    },
  ]
    .map((each) => `${JSON.stringify(each)}\n`)
    .join('');

it('[G-15] an item of Codex whose type is a name of all objects is no call, and what follows is read', () => {
  const { told, push } = listen('codex');
  push(codexItem(0, { type: 'constructor', status: 'completed' }));
  const failed = { type: 'command_execution', command: 'ls', exit_code: 1, status: 'failed', aggregated_output: 'no' };
  for (let nth = 1; nth <= 4; nth++) push(codexItem(nth, failed));
  expect(told.map(({ step }) => step)).toEqual(['notice']);
});

describe('the stream of an agent that makes one call for ever, as it was recorded', () => {
  const failing = recordedRounds.filter(([, kind]) => kind !== 'succeeds');
  const succeeding = recordedRounds.filter(([, kind]) => kind === 'succeeds');

  it.each(failing)('[G-15] of %s (%s) is told of at the fourth failure, and ended at the twentieth', (agent, kind) => {
    const { told, ends, push } = listen(agent);
    for (let nth = 1; nth <= 20; nth++) {
      expect(ends).toHaveLength(0);
      push(roundOf(agent, kind, nth));
    }
    expect(ends).toHaveLength(1);
    expect(told.map(({ step, form, count }) => [step, form, count])).toEqual([
      ['notice', 'failure', 4],
      ['tell', 'failure', 6],
      ['end', 'failure', 20],
    ]);
  });

  it.each(succeeding)('[G-15] of %s (%s) is told of, and goes on', (agent, kind) => {
    const { told, ends, push } = listen(agent);
    for (let nth = 1; nth <= 60; nth++) push(roundOf(agent, kind, nth));
    expect(told.map(({ step, form }) => [step, form])).toEqual([['notice', 'success']]);
    expect(ends).toEqual([]);
  });
});

describe('the calls in a stream', () => {
  it('[G-15] of Claude are told apart by the sub-agent that makes them', () => {
    const { told, push } = listen('claude');
    const gone = { is_error: true, content: 'File does not exist.' };
    for (let nth = 1; nth <= 3; nth++)
      for (const by of [null, 'task-1', 'task-2', 'task-3']) push(claudeCall(`${by}-${nth}`, by, { file: 'a' }, gone));
    expect(told).toEqual([]);
    push(claudeCall('x', 'task-1', { file: 'a' }, gone));
    expect(told).toMatchObject([{ step: 'notice', tool: 'Read' }]);
  });

  it('[G-15] of Claude are reads where its tool only looks; an answer that changes is none', () => {
    const { told, push } = listen('claude');
    for (let nth = 1; nth <= 20; nth++)
      push(claudeCall(`a${nth}`, null, { file: 'log' }, { content: [{ type: 'text', text: `line ${nth}` }] }));
    expect(told).toEqual([]);
    for (let nth = 1; nth <= 40; nth++)
      push(claudeCall(`b${nth}`, null, { file: 'a' }, { content: [{ type: 'text', text: 'the same' }] }));
    expect(told.map(({ step, form }) => [step, form])).toEqual([
      ['notice', 'read'],
      ['tell', 'read'],
    ]);
  });

  it.each([
    [
      'mcp_tool_call',
      { server: 'db', tool: 'ask', arguments: { q: 1 }, status: 'failed', error: { message: 'locked' } },
    ],
    [
      'dynamic_tool_call',
      { tool: 'ask', arguments: {}, success: false, content_items: [{ type: 'text', text: 'no' }] },
    ],
  ])('[G-15] of Codex fail as its item says: %s', (type, item) => {
    const { told, push, ends } = listen('codex');
    for (let nth = 1; nth <= 20; nth++) push(codexItem(nth, { type, ...item }));
    expect(told[0]).toMatchObject({ step: 'notice', form: 'failure' });
    expect(ends).toHaveLength(1);
  });

  it('[G-15] of Codex that change files are not the same where it does not say what is changed', () => {
    const { told, push, ends } = listen('codex');
    const change = { type: 'file_change', changes: [{ path: 'a.ts', kind: 'update' }], status: 'failed' };
    for (let nth = 1; nth <= 40; nth++) push(codexItem(nth, change));
    expect(ends).toEqual([]);
    expect(told.map(({ form }) => form)).toEqual(['varied']);
  });

  it.each(recordedRounds.filter(([, kind]) => kind === 'fails'))(
    '[G-15] of %s end nothing where other arguments fail alike',
    (agent, kind) => {
      const { ends, push } = listen(agent);
      for (let nth = 1; nth <= 60; nth++) {
        push(roundOf(agent, kind, nth).replaceAll('/nowhere/at/all', `/nowhere/${nth}`));
        push('not a message\n');
      }
      expect(ends).toEqual([]);
    },
  );
});

describe('calls that Codex refuses, of which its log alone tells', () => {
  const log = (error: string): string =>
    `2026-11-30T04:07:38.063566Z ERROR codex_core::tools::router: error=${error}\n`;
  function hear(lines: readonly string[]) {
    const { caller, told, ends } = hearing(new SimulatedClock());
    const ear = new HeardCalls(ownLimits, caller);
    for (const line of lines) hearCodexLog(line, ear);
    return { told: told.map(({ step, tool }) => `${step} ${tool}`), ends };
  }
  const twenty = (make: (nth: number) => string) => Array.from({ length: 20 }, (_, nth) => make(nth));
  const patch = 'apply_patch verification failed: Failed to find expected lines in a.ts:\n';

  it.each([
    ['apply_patch', `${patch}const a = 1;`],
    ['write_stdin', 'write_stdin failed: Unknown process id 4711'],
    ['a tool', 'failed to parse function arguments: missing field `cmd` at line 1 column 2'],
    ['a tool', 'unsupported call: nope'],
  ])('[G-15] end it by twenty that are alike: %s', (tool, error) => {
    const { told, ends } = hear(twenty(() => log(error)));
    expect(told).toEqual([`notice ${tool}`, `tell ${tool}`, `end ${tool}`]);
    expect(ends).toHaveLength(1);
    expect(hear([twenty(() => log(error)).join('')]).told).toEqual(told);
  });

  it('[G-15] go on where each is another, and are not counted where an event tells of them, too', () => {
    expect(hear(twenty((nth) => log(`${patch}const a = ${nth};`))).ends).toEqual([]);
    const others = [log('exec_command failed: CreateProcess { message: "no" }'), 'ERROR codex_core::session: no\n'];
    for (const line of others) expect(hear(twenty(() => line)).told).toEqual([]);
  });
});

describe('the usage that an agent tells', () => {
  /** What is counted of what an agent prints. */
  function count(agent: string) {
    const command = agentCommand(agent, roundArgs(agent));
    if (command === undefined) throw new RangeError(agent);
    const used: ModelUsage[] = [];
    const budget = {
      spend: () => undefined,
      refusal: () => undefined,
      used: (usage: ModelUsage) => void used.push(usage),
    };
    const { caller } = hearing(new SimulatedClock());
    const ear = new HeardCalls(undefined, { ...caller, budgets: [budget] });
    const stream = createAgentStream(command, false, undefined, ear);
    const push = (...messages: object[]): void => {
      for (const each of messages) stream.push(Buffer.from(`${JSON.stringify(each)}\n`));
    };
    return { used, push };
  }
  const said = (id: string, usage: object) => ({
    type: 'assistant',
    message: { id, model: 'big-1', content: [], usage },
  });

  it('[G-16] of Claude counts once for each message, what came of its cache too, and its result adds what they could not know', () => {
    const { used, push } = count('claude');
    const usage = {
      input_tokens: 10,
      cache_read_input_tokens: 100,
      cache_creation_input_tokens: 1000,
      output_tokens: 1,
    };
    push(said('a', usage), said('a', usage), said('b', usage));
    const one = { model: 'big-1', inputTokens: 1110, cacheReadTokens: 100, cacheWriteTokens: 1000, outputTokens: 1 };
    expect(used).toEqual([one, one]);
    const all = {
      input_tokens: 20,
      cache_read_input_tokens: 200,
      cache_creation_input_tokens: 2000,
      output_tokens: 500,
    };
    push({ type: 'result', subtype: 'success', is_error: false, result: 'done', usage: all });
    expect(used[2]).toEqual({ model: 'big-1', outputTokens: 498 });
    push(said('c', usage), { type: 'result', subtype: 'success', is_error: false, result: 'done', usage });
    expect(used.slice(3)).toEqual([one, { model: 'big-1', outputTokens: 0 }]);
  });

  it('[G-16] of Claude counts as its result tells it where that is all it tells', () => {
    const { used, push } = count('claude');
    push({
      type: 'result',
      subtype: 'success',
      is_error: false,
      result: 'done',
      usage: { input_tokens: 9, output_tokens: 5 },
    });
    expect(used).toMatchObject([{ inputTokens: 9, outputTokens: 5 }]);
  });

  it('[G-16] of Codex counts at the end of its turn, its cache among what it read', () => {
    const { used, push } = count('codex');
    push({ type: 'turn.completed', usage: { input_tokens: 50, cached_input_tokens: 40, output_tokens: 7 } });
    expect(used).toEqual([{ inputTokens: 50, cacheReadTokens: 40, cacheWriteTokens: 0, outputTokens: 7 }]);
  });

  it('[G-16] counts nothing where it is none', () => {
    const { used, push } = count('claude');
    push(said('a', { input_tokens: 'x' }), { type: 'assistant', message: { id: 'b', content: [] } });
    for (const { inputTokens, outputTokens } of used) expect([inputTokens, outputTokens]).toEqual([0, 0]);
  });
});
