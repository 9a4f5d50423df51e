import { describe, expect, it } from 'vitest';
import { isModelContent } from '../../src/streams/modelContent.ts';

const said = (data: unknown, name?: string): boolean => isModelContent(name, JSON.stringify(data));
const delta = (of: object) => ({ type: 'content_block_delta', index: 0, delta: of });
const block = (of: object) => ({ type: 'content_block_start', index: 0, content_block: of });
const added = (item: object) => ({ type: 'response.output_item.added', output_index: 0, item });
const chunk = (of: object, finish: string | null = null) => ({
  id: 'chatcmpl-1',
  object: 'chat.completion.chunk',
  model: 'm',
  system_fingerprint: 'fp',
  choices: [{ index: 0, delta: of, logprobs: null, finish_reason: finish }],
  usage: null,
});
const part = (of: object, more: object = {}) => ({
  candidates: [{ content: { role: 'model', parts: [of] }, ...more }],
});

describe('content of a model', () => {
  it.each([
    ['a ping', { type: 'ping' }],
    ['a keepalive', { type: 'keepalive', sequence_number: 3 }],
    [
      'the frame of a message',
      { type: 'message_start', message: { id: 'm', role: 'assistant', content: [], model: 'm' } },
    ],
    ['an empty text', block({ type: 'text', text: '' })],
    ['an empty thought', block({ type: 'thinking', thinking: '', signature: '' })],
    ['an empty delta', delta({ type: 'text_delta', text: '' })],
    ['an empty thought more', delta({ type: 'thinking_delta', thinking: '' })],
    ['empty arguments', delta({ type: 'input_json_delta', partial_json: '' })],
    ['the end of a block', { type: 'content_block_stop', index: 0 }],
    ['figures', { type: 'message_delta', delta: { stop_reason: null }, usage: { output_tokens: 3 } }],
    [
      'a response',
      { type: 'response.created', response: { id: 'r', instructions: 'be brief', text: { format: { type: 'text' } } } },
    ],
    ['a response that waits', { type: 'response.queued', response: { instructions: 'be brief' } }],
    ['a response that runs', { type: 'response.in_progress', response: { output: [], instructions: 'be brief' } }],
    ['a thought that begins', added({ type: 'reasoning', id: 'rs', summary: [], encrypted_content: 'gAAAA' })],
    [
      'a message that begins',
      added({ type: 'message', id: 'msg', status: 'in_progress', role: 'assistant', content: [] }),
    ],
    [
      'an empty part',
      { type: 'response.content_part.added', item_id: 'm', part: { type: 'output_text', text: '', annotations: [] } },
    ],
    ['an empty piece', { type: 'response.output_text.delta', item_id: 'm', delta: '' }],
    ['an empty piece of a thought', { type: 'response.reasoning_summary_text.delta', item_id: 'm', delta: '' }],
    ['a role', chunk({ role: 'assistant', content: '' })],
    ['nothing of a choice', chunk({})],
    ['null', chunk({ content: null, refusal: null, reasoning: null })],
    ['a call that goes on with nothing', chunk({ tool_calls: [{ index: 0, function: { arguments: '' } }] })],
    ['no choice', { object: 'chat.completion.chunk', choices: [], prompt_filter_results: [{ text: 'x' }] }],
    ['usage alone', { choices: [], usage: { total_tokens: 3 } }],
    ['an empty part of Gemini', part({ text: '' })],
    ['a candidate without parts', { candidates: [{ index: 0 }], modelVersion: 'g' }],
  ])('[R-13] [E-7] is none: %s', (_, data) => {
    expect(said(data)).toBe(false);
    const { type } = data as { type?: string };
    expect(said(data, type)).toBe(false);
  });

  it.each([
    ['a text', delta({ type: 'text_delta', text: ' ' })],
    ['a text with an empty one in it', delta({ type: 'text_delta', text: '"text":""' })],
    ['a thought', delta({ type: 'thinking_delta', thinking: 'Hm' })],
    ['arguments', delta({ type: 'input_json_delta', partial_json: '{' })],
    ['a signature', delta({ type: 'signature_delta', signature: 'abc' })],
    ['a call', block({ type: 'tool_use', id: 't', name: 'Bash', input: {} })],
    ['a thought that is not shown', block({ type: 'redacted_thinking', data: 'x' })],
    ['the reason of an end', { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: {} }],
    ['a piece', { type: 'response.output_text.delta', delta: 'a' }],
    ['a piece of a summary', { type: 'response.reasoning_summary_text.delta', delta: 'a' }],
    ['a call of a function', added({ type: 'function_call', call_id: 'c', name: 'f', arguments: '' })],
    ['a search', { type: 'response.web_search_call.searching', item_id: 'w' }],
    ['a word', chunk({ content: 'a' })],
    ['a reasoned word', chunk({ content: '', reasoning_content: 'a' })],
    ['a thought of a router', chunk({ content: '', reasoning: 'a' })],
    [
      'a call by its name',
      chunk({ tool_calls: [{ index: 0, id: 'c', type: 'function', function: { name: 'f', arguments: '' } }] }),
    ],
    ['arguments of a call', chunk({ tool_calls: [{ index: 0, function: { arguments: '{' } }] })],
    ['an end', chunk({}, 'stop')],
    ['a completion', { object: 'text_completion', choices: [{ text: 'a', index: 0 }] }],
    ['a part of Gemini', part({ text: 'a' })],
    ['a call of Gemini', part({ functionCall: { name: 'f', args: {} } })],
    ['an end of Gemini', part({ text: '' }, { finishReason: 'STOP' })],
    ['what is not known', { progress: 3 }],
    ['what is long', { choices: [], pad: ' '.repeat(20_000) }],
  ])('[R-13] [E-7] is some: %s', (_, data) => {
    expect(said(data)).toBe(true);
  });

  it('[R-13] counts data that is no JSON as content, unless it is blank', () => {
    expect(isModelContent(undefined, 'hello')).toBe(true);
    expect(isModelContent('x', '')).toBe(false);
    expect(isModelContent('ping', 'hello')).toBe(false);
  });

  it.each([
    ['words in another field', { type: 'message.output.delta', content: 'Hello' }],
    ['words of a part', { type: 'message.part.delta', properties: { text: 'Hello' } }],
    ['a number', { type: 'progress.delta', delta: 3 }],
  ])('[R-13] is what nobody knows, of events that are named like those of a model: %s', (_, event) => {
    expect(said(event)).toBe(true);
  });
});
