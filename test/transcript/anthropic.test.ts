import { describe, expect, it } from 'vitest';
import { repairTranscript } from '../../transcript/index.ts';

const use = (id: string, more: object = {}) => ({ type: 'tool_use', id, name: 'Bash', input: {}, ...more });
const result = (id: string, content = `real ${id}`) => ({ type: 'tool_result', tool_use_id: id, content });
const text = (words: string) => ({ type: 'text', text: words });
const user = (...content: object[]) => ({ role: 'user', content });
const assistant = (...content: object[]) => ({ role: 'assistant', content });
const start = { role: 'user', content: 'do it' };

/** What a repair makes of messages. */
const repaired = (...messages: object[]) => repairTranscript<unknown>(messages, { format: 'anthropic' });

const unknown: unknown = expect.objectContaining({
  is_error: true,
  content: expect.stringContaining('outcome unknown') as string,
});

describe('the repair of messages of Anthropic', () => {
  it('[G-12] answers a trailing call with an error that says its outcome is unknown and blames nobody', () => {
    const { history, findings } = repaired(start, assistant(use('a')));
    expect(history).toEqual([
      start,
      assistant(use('a')),
      user(expect.objectContaining({ tool_use_id: 'a' }) as object),
    ]);
    expect(JSON.stringify(history)).toMatch(/"is_error":true/);
    expect(JSON.stringify(history)).toMatch(/outcome unknown; it may have taken effect, check before repeating/);
    expect(JSON.stringify(history)).not.toMatch(/cancel|user stopped|no side effects/i);
    expect(findings).toEqual([{ rule: 'unanswered', at: 1, callId: 'a', tool: 'Bash' }]);
  });

  it('[G-12] [G-13] says the sentence that was given, and lets the real result win over it later', () => {
    const history = [start, assistant(use('a')), user(result('a', 'lost')), user(result('a', 'late'))];
    const once = repairTranscript([start, assistant(use('a'))], { format: 'anthropic', sentence: 'lost' });
    expect(JSON.stringify(once.history)).toContain('"content":"lost"');
    expect(repairTranscript(history, { format: 'anthropic', sentence: 'lost' })).toMatchObject({
      history: [start, assistant(use('a')), user(result('a', 'late'))],
      counts: { duplicate: 1, displaced: 1, unanswered: 0 },
    });
  });

  it('[G-12] puts all missing results before the text of the next message, in the order of the calls', () => {
    const { history } = repaired(start, assistant(use('a'), use('b'), use('c')), user(text('go on'), result('b')));
    expect(history).toEqual([
      start,
      assistant(use('a'), use('b'), use('c')),
      user(unknown as object, result('b'), unknown as object, text('go on')),
    ]);
  });

  it('[G-12] turns a next message that is a plain text into blocks, and keeps the text', () => {
    const { history } = repaired(start, assistant(use('a')), { role: 'user', content: 'well?' });
    expect(history).toEqual([start, assistant(use('a')), user(unknown as object, text('well?'))]);
  });

  it('[G-12] moves a displaced result to its call, with its cache_control', () => {
    const kept = { ...result('a'), cache_control: { type: 'ephemeral' } };
    const { history, counts } = repaired(
      start,
      assistant(use('a')),
      user(text('x')),
      assistant(text('y')),
      user(kept, text('z')),
    );
    expect(history).toEqual([start, assistant(use('a')), user(kept, text('x')), assistant(text('y')), user(text('z'))]);
    expect(counts).toMatchObject({ displaced: 1, unanswered: 0 });
  });

  it('[G-12] moves a result that came before its call', () => {
    const { history } = repaired(user(text('do it'), result('a')), assistant(use('a')));
    expect(history).toEqual([user(text('do it')), assistant(use('a')), user(result('a'))]);
  });

  it('[G-12] drops a second result, and joins one that says something else to the first', () => {
    const { history, findings } = repaired(
      start,
      assistant(use('a')),
      user(result('a'), result('a'), result('a', 'other')),
    );
    const said = ['real a', '[Another result of the same call:]', 'other'].join('\n\n');
    expect(history).toEqual([start, assistant(use('a')), user(result('a', said))]);
    expect(findings).toEqual([
      { rule: 'duplicate', at: 2, callId: 'a', tool: 'Bash' },
      { rule: 'duplicate', at: 2, callId: 'a', tool: 'Bash', differs: true },
    ]);
  });

  it('[G-12] drops an orphan, and fills a message that held nothing else where roles would no longer take turns', () => {
    const { history, counts } = repaired(start, assistant(text('x')), user(result('gone')), assistant(text('y')));
    expect(history).toEqual([
      start,
      assistant(text('x')),
      user(expect.objectContaining({ type: 'text' }) as object),
      assistant(text('y')),
    ]);
    expect(counts.orphan).toBe(1);
    expect(repaired(start, user(result('gone')), assistant(text('y'))).history).toEqual([start, assistant(text('y'))]);
  });

  it('[G-12] pairs ids that repeat in later turns each in its own turn', () => {
    const turn = [assistant(use('a')), user(result('a', 'first'))];
    const { history } = repaired(
      start,
      ...turn,
      assistant(use('a')),
      user(text('?')),
      assistant(use('a')),
      user(result('a', 'third')),
    );
    expect(history).toEqual([
      start,
      ...turn,
      assistant(use('a')),
      user(unknown as object, text('?')),
      assistant(use('a')),
      user(result('a', 'third')),
    ]);
  });

  it('[G-12] joins parallel calls that were stored in messages of their own', () => {
    const { history, counts } = repaired(
      start,
      assistant(text('x'), use('a')),
      assistant(use('b')),
      user(result('a')),
      user(result('b')),
    );
    expect(history).toEqual([start, assistant(text('x'), use('a'), use('b')), user(result('a'), result('b'))]);
    expect(counts).toMatchObject({ split_turn: 1, displaced: 1 });
  });

  it('[G-12] drops calls that were cut off and calls repeated in their turn', () => {
    const cut = { ...assistant(text('x'), use('a', { input: '{"com' })), stop_reason: 'max_tokens' };
    expect(repaired(start, cut, start).history).toEqual([start, { ...cut, content: [text('x')] }, start]);
    expect(repaired(start, assistant(use('a'), use('a')), user(result('a')))).toMatchObject({
      history: [start, assistant(use('a')), user(result('a'))],
      counts: { repeated_call: 1 },
    });
  });

  it('[G-12] leaves no message that ends with the thinking before a call that was cut off', () => {
    const thinking = { type: 'thinking', thinking: 'hm', signature: 's' };
    const cut = { ...assistant(thinking, use('a')), stop_reason: 'max_tokens' };
    expect(repaired(start, cut, start).history).toEqual([
      start,
      { ...cut, content: [thinking, text('[A tool call that was cut off stood here.]')] },
      start,
    ]);
  });

  it('[G-12] leaves thinking, server tools and blocks it does not know alone', () => {
    const thinking = { type: 'thinking', thinking: 'hm', signature: 's' };
    const server = [
      { type: 'server_tool_use', id: 'srv', name: 'web_search', input: {} },
      { type: 'web_search_tool_result', tool_use_id: 'srv', content: [] },
    ];
    const said = assistant(thinking, ...server, { type: 'brand_new' }, use('a'));
    const { history } = repaired(start, said);
    expect(history).toEqual([start, said, user(unknown as object)]);
    expect((history as object[])[1]).toBe(said);
  });
});
