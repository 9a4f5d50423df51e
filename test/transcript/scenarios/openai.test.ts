import { describe, expect, it } from 'vitest';
import { repairTranscript } from '../../../transcript/index.ts';

const user = { role: 'user', content: 'do it' };
const ask = (...ids: string[]) => ({
  role: 'assistant',
  content: null,
  tool_calls: ids.map((id) => ({ id, type: 'function', function: { name: 'run', arguments: '{}' } })),
});
const tool = (id: string, content = `real ${id}`) => ({ role: 'tool', tool_call_id: id, content });
const unknown = expect.stringContaining('outcome unknown') as string;

const repaired = (...messages: object[]) => repairTranscript<unknown>(messages);

describe("the repair of messages of OpenAI's chat", () => {
  it('[G-12] answers what is missing behind the message that asked, before anything else', () => {
    const { format, history, counts } = repaired(user, ask('a', 'b'), user, tool('b'));
    expect(format).toBe('openai-chat');
    expect(history).toEqual([user, ask('a', 'b'), tool('a', unknown), tool('b'), user]);
    expect(counts).toMatchObject({ unanswered: 1, displaced: 1 });
  });

  it('[G-12] keeps the order of results that are all there', () => {
    const history = [user, ask('a', 'b'), tool('b'), tool('a')];
    expect(repaired(...history)).toMatchObject({ repairs: 0, history });
  });

  it('[G-12] drops orphans and results that are told twice', () => {
    const { history, counts } = repaired(user, tool('gone'), ask('a'), tool('a'), tool('a'));
    expect(history).toEqual([user, ask('a'), tool('a')]);
    expect(counts).toMatchObject({ orphan: 1, duplicate: 1 });
  });

  it('[G-12] drops a call whose arguments were cut off, with a message that held nothing else', () => {
    const cut = {
      ...ask('a'),
      tool_calls: [{ id: 'a', type: 'function', function: { name: 'run', arguments: '{"x":' } }],
    };
    expect(repaired(user, cut, user)).toMatchObject({ history: [user, user], counts: { partial_call: 1 } });
    expect(repaired(user, cut, tool('a')).repairs).toBe(0);
  });
});

const message = { type: 'message', role: 'user', content: 'do it' };
const call = (id: string, type = 'function_call') => ({ type, call_id: id, name: 'run' });
const output = (id: string, text = `real ${id}`, type = 'function_call') => ({
  type: `${type}_output`,
  call_id: id,
  output: text,
});

describe("the repair of items of OpenAI's responses", () => {
  it('[G-12] answers calls of each kind in their own shape, behind the last of them', () => {
    const calls = [call('a'), call('b', 'custom_tool_call'), call('c', 'shell_call'), call('d', 'apply_patch_call')];
    expect(repaired(message, ...calls, message).history).toEqual([
      message,
      ...calls,
      output('a', unknown),
      output('b', unknown, 'custom_tool_call'),
      { ...output('c', '', 'shell_call'), output: [{ stdout: '', stderr: unknown, outcome: { type: 'timeout' } }] },
      { ...output('d', unknown, 'apply_patch_call'), status: 'failed' },
      message,
    ]);
  });

  it("[G-12] moves an output that comes before its call or after somebody else's word", () => {
    const { history, counts } = repaired(output('a'), message, call('a'), call('b'), message, output('b'));
    expect(history).toEqual([message, call('a'), call('b'), output('a'), output('b'), message]);
    expect(counts.displaced).toBe(2);
  });

  it('[G-12] leaves what the server runs itself, and reasoning, alone', () => {
    const items = [
      message,
      { type: 'reasoning', id: 'rs' },
      { type: 'web_search_call', id: 'ws' },
      { type: 'mcp_call', id: 'm' },
    ];
    expect(repaired(...items)).toMatchObject({ repairs: 0, history: items });
  });

  it('[G-12] drops reasoning with the call that it led to', () => {
    const reasoning = { type: 'reasoning', id: 'rs' };
    const cut = { ...call('a', 'function_call'), status: 'incomplete' };
    expect(repaired(message, reasoning, cut, message).history).toEqual([message, message]);
    const kept = [message, reasoning, call('b', 'function_call'), output('b')];
    expect(repaired(message, reasoning, cut, ...kept.slice(2))).toMatchObject({ history: kept });
  });

  it('[G-12] takes a function output for a local shell call', () => {
    const items = [message, call('a', 'local_shell_call'), output('a')];
    expect(repaired(...items)).toMatchObject({ repairs: 0 });
  });

  it('[G-12] drops an orphan, but not where its call may be kept elsewhere', () => {
    expect(repaired(message, output('gone')).history).toEqual([message]);
    const request = { model: 'x', previous_response_id: 'resp_1', input: [output('gone')] };
    expect(repairTranscript(request).history).toBe(request);
    const items = [{ type: 'item_reference', id: 'fc_1' }, output('gone')];
    expect(repairTranscript(items).history).toBe(items);
  });
});
