import { describe, expect, it } from 'vitest';
import { createClaudeReader } from '../../src/protocol/claudeOutput.ts';
import { createResultJoiner } from '../../cli/run/claudeResult.ts';

/** What Claude 2.1.332 says to itself. */
const orders = {
  cut: 'Your response above was cut off mid-stream. Resume directly from where it stops — no apology, no recap. If none of it survived, answer the request from the start.',
  limit:
    'Output token limit hit. Resume directly — no apology, no recap of what you were doing. Pick up mid-thought if that is where the cut happened. Break remaining work into smaller pieces.',
  older:
    'Your response was cut off because it exceeded the output token limit. Continue from where you left off and finish the response.',
};
const again = {
  'the whole again':
    'Your response above was cut off mid-stream and only your next message is delivered. Write the complete response again from the start — no apology, no mention of the cut-off.',
  'a shorter one':
    'Output token limit hit. Your caller does not receive an answer in pieces. Give the whole answer in less.',
  'another tool call':
    'Your response was cut off because it exceeded the output token limit. The cut fell inside a tool call, so that call did not run. Make the call again in a shorter response.',
  'what a hook asks for': 'Stop hook feedback: run the tests first.',
  'what a hook asks for in such words':
    'Stop hook feedback:\nThe output token limit. Continue from where you left off.',
  'what a hook asks for in one line': 'PostToolUse hook: it was cut off. Resume where you stopped.',
  'what a task says': '<task-notification>It was cut off.</task-notification> Resume where you stopped.',
};
let count = 0;
const says = (text: string, fields: object = {}) => ({
  type: 'assistant',
  message: { id: `msg_${++count}`, content: [{ type: 'text', text }] },
  parent_tool_use_id: null,
  ...fields,
});
const order = (text: string, fields: object = {}) => ({
  type: 'user',
  message: { role: 'user', content: [{ type: 'text', text }] },
  parent_tool_use_id: null,
  isSynthetic: true,
  ...fields,
});
const uses = { type: 'assistant', message: { id: 'msg_t', content: [{ type: 'tool_use', id: 't1', name: 'Bash' }] } };
const used = { type: 'user', message: { content: [{ type: 'tool_result', tool_use_id: 't1', content: 'x' }] } };
const result = (text: string, fields: object = {}) => ({
  num_turns: 2,
  subtype: 'success',
  is_error: false,
  result: text,
  session_id: 's-1',
  type: 'result',
  ...fields,
});

function read(...messages: readonly object[]) {
  const reader = createClaudeReader();
  for (const message of messages) reader.line(JSON.stringify(message));
  return reader.report(0);
}

describe('an answer of Claude that came in pieces', () => {
  it.each(Object.entries(orders))('[R-14] [S-10] is joined: %s', (_, text) => {
    const messages = [says('first half, '), order(text), says('second half.'), result('second half.')];
    expect(read(...messages)).toMatchObject({ text: 'first half, second half.', failure: undefined });
  });

  it('[R-14] is joined of all pieces, also those of one message, and of an array of messages', () => {
    const two = {
      type: 'assistant',
      message: { id: 'm', content: ['a', 'b'].map((text) => ({ type: 'text', text })) },
    };
    const messages = [two, order(orders.cut), says('c'), order(orders.limit), says('d'), result('d')];
    expect(read(...messages).text).toBe('abcd');
    const reader = createClaudeReader();
    reader.line(JSON.stringify(messages));
    expect(reader.report(0).text).toBe('abcd');
  });

  it('[R-14] is whole where its last piece says nothing more', () => {
    expect(read(says('all of it'), order(orders.cut), result('')).text).toBe('all of it');
    expect(read(says('one '), order(orders.cut), result('two')).text).toBe('one two');
    expect(read(says('all of it'), order(orders.cut), says(''), result(''))).toMatchObject({
      text: 'all of it',
      failure: undefined,
    });
  });

  it('[R-14] has nothing of what was said before a tool, by a sub-agent or by a failed request', () => {
    const before = [says('let me see'), uses, used];
    const sub = says('sub', { parent_tool_use_id: 'toolu_1' });
    const failed = says('API Error', { is_api_error_message: true });
    const pieces = [says('one '), sub, failed, order(orders.cut), says('two')];
    expect(read(...before, ...pieces, result('two')).text).toBe('one two');
    expect(read(...pieces, uses, used, says('done'), result('done')).text).toBe('done');
  });

  it.each(Object.entries(again))('[R-14] is not one where Claude asks itself for %s', (_, text) => {
    expect(read(says('first'), order(text), says('whole'), result('whole')).text).toBe('whole');
  });

  it('[R-14] is not said twice, by its result or by a model that begins anew', () => {
    const first = 'The first half of an answer that is long enough, ';
    expect(read(says(first), order(orders.cut), result(first)).text).toBe(first);
    expect(read(says('one '), order(orders.cut), says('two '), order(orders.cut), result('two ')).text).toBe(
      'one two ',
    );
    const anew = `${first}and all that follows.`;
    expect(read(says(first), order(orders.cut), says(anew), result(anew)).text).toBe(anew);
    expect(read(says('ha '), order(orders.cut), says('ha ha'), result('ha ha')).text).toBe('ha ha ha');
  });

  it.each([
    ['was joined', [says('two'), result('two')]],
    ['failed', [result('API Error', { is_error: true })]],
  ])('[R-14] ends with its result: the next one of a run is another, after one that %s', (_, end) => {
    const first = [says('one '), order(orders.cut), ...end];
    expect(read(...first, says('other'), result('other')).text).toBe('other');
    expect(read(...first, result('said by Claude alone')).text).toBe('said by Claude alone');
  });

  it('[R-14] is not one because its user wrote such words', () => {
    const asked = order(orders.cut, { isSynthetic: undefined });
    expect(read(says('first'), asked, says('second'), result('second')).text).toBe('second');
  });
});

describe('the lines of a run of Claude', () => {
  const pass = (messages: readonly object[], answerOf?: (id: string) => string | undefined): readonly string[] => {
    const amend = createResultJoiner(answerOf);
    return messages.map((message) => amend(JSON.stringify(message)));
  };

  it('[R-14] have the whole answer in the line of the result, and are as they were besides', () => {
    const messages = [says('one '), order(orders.cut), says('two'), result('two', { total_cost_usd: 0.000_28 })];
    const lines = pass(messages);
    expect(lines.slice(0, 3)).toEqual(messages.slice(0, 3).map((each) => JSON.stringify(each)));
    expect(JSON.parse(lines[3] ?? '')).toEqual({ ...messages[3], result: 'one two' });
  });

  it('[R-14] are as they were where the answer came in one piece, or the run failed', () => {
    const whole = [says('let me see'), uses, used, says('done'), result('done')];
    expect(pass(whole)).toEqual(whole.map((each) => JSON.stringify(each)));
    const failed = [says('one '), order(orders.cut), result('API Error: Overloaded', { is_error: true })];
    expect(pass(failed)).toEqual(failed.map((each) => JSON.stringify(each)));
  });

  it('[R-14] are read also where one is long, or has the fields of a result in what a tool gets', () => {
    const long = 'x'.repeat(300 * 1024);
    const pieces = [says(long), order(orders.cut), says('two'), result('two')];
    expect(JSON.parse(pass(pieces)[3] ?? '')).toMatchObject({ result: `${long}two` });
    const input = { type: 'result', result: 'no' };
    const call = {
      type: 'assistant',
      message: { id: 'm', content: [{ type: 'tool_use', id: 't', name: 'x', input }] },
    };
    const lines = [says('one '), order(orders.cut), call, says('done'), result('done')];
    expect(pass(lines)).toEqual(lines.map((each) => JSON.stringify(each)));
  });

  it('[R-14] have each the answer of its own in a run of several', () => {
    const failed = [says('one '), order(orders.cut), result('API Error', { is_error: true })];
    const lines = [...failed, says('other, long'), result('other, long'), result('x')];
    expect(pass(lines)).toEqual(lines.map((each) => JSON.stringify(each)));
  });

  it('[R-14] have the answer of the session where the result is all there is', () => {
    const asked: string[] = [];
    const answerOf = (id: string): string => `${asked.push(id)}: one two`;
    expect(JSON.parse(pass([result('two')], answerOf)[0] ?? '')).toMatchObject({ result: '1: one two' });
    expect(pass([result('two', { num_turns: 1 })], answerOf)).toEqual([
      JSON.stringify(result('two', { num_turns: 1 })),
    ]);
    expect(asked).toEqual(['s-1']);
  });
});
