import { describe, expect, it } from 'vitest';
import type { SdkMessage } from '../../../../agents/conversation/claude/agentSdkTypes.ts';
import type { AgentEvent } from '../../../../agents/conversation/agentTypes.ts';
import { createClaudeEvents } from '../../../../agents/conversation/claude/claudeEvents.ts';
import { apiRetry, assistant, blockStart, delta, text, toolResult, toolUse } from '../scriptedQuery.ts';

function told(...messages: readonly SdkMessage[]): AgentEvent[] {
  const events: AgentEvent[] = [];
  const tell = createClaudeEvents((event) => events.push(event));
  for (const message of messages) tell(message);
  return events;
}

const said = (...messages: readonly SdkMessage[]): string =>
  told(...messages)
    .map((event) => (event.type === 'text' ? event.text : ''))
    .join('');

describe('what is told of the messages of Claude', () => {
  it('[U-4] says a streamed answer once, piece by piece', () => {
    const messages = [blockStart, delta('he'), delta('llo'), assistant(text('hello'))];
    expect(told(...messages)).toEqual([
      { type: 'text', text: 'he' },
      { type: 'text', text: 'llo' },
    ]);
  });

  it('[U-4] says the rest of an answer whose stream was cut, and all of one that came without', () => {
    expect(said(blockStart, delta('he'), assistant(text('hello')))).toBe('hello');
    expect(said(assistant(text('hello')))).toBe('hello');
  });

  it('[U-4] keeps messages apart, and an answer that was begun anew from its first try', () => {
    expect(said(assistant(text('one')), assistant(text('two')))).toBe('one\n\ntwo');
    expect(said(blockStart, delta('on'), blockStart, delta('one'), assistant(text('one')))).toBe('on\n\none');
    expect(said(blockStart, delta('wrong'), assistant(text('right')))).toBe('wrong\n\nright');
  });

  it('[R-14] [U-4] joins what Claude goes on with behind a cut', () => {
    const cut = 'Your response above was cut off mid-stream. Resume directly from where it stops.';
    const order = { ...assistant(text(cut)), type: 'user', isSynthetic: true };
    expect(said(assistant(text('one ')), order, assistant(text('two')), assistant(text('three')))).toBe(
      'one two\n\nthree',
    );
    const streamed = [blockStart, delta('one '), assistant(text('one ')), blockStart, delta('lost')];
    expect(said(...streamed, order, blockStart, delta('two'), assistant(text('two')))).toBe('one \n\nlost\n\ntwo');
  });

  it('[U-4] leaves out what sub-agents say, and what a failed request left as an answer', () => {
    const synthetic = { ...assistant(text('API Error')), is_api_error_message: true };
    expect(said({ ...assistant(text('sub')), parent_tool_use_id: 'toolu_1' }, synthetic)).toBe('');
    expect(said({ ...delta('sub'), parent_tool_use_id: 'toolu_1' })).toBe('');
  });

  it('[U-4] tells tools with what they are for, and how they ended', () => {
    const messages = [
      assistant(toolUse('t1', 'Read', { file_path: '/etc/hosts' }), toolUse('t2', 'Odd', { a: 1 })),
      toolResult('t1'),
      toolResult('t2', { is_error: true }),
    ];
    expect(told(...messages)).toEqual([
      { type: 'tool.started', id: 't1', tool: 'Read', action: '/etc/hosts' },
      { type: 'tool.started', id: 't2', tool: 'Odd', action: '{"a":1}' },
      { type: 'tool.ended', id: 't1', tool: 'Read', ok: true },
      { type: 'tool.ended', id: 't2', tool: 'Odd', ok: false },
    ]);
  });

  it('[U-4] names each of the tools that share an id when it ends', () => {
    const messages = [
      assistant(toolUse('t', 'Bash')),
      assistant(toolUse('t', 'Read')),
      toolResult('t'),
      toolResult('t'),
    ];
    const ended = told(...messages).flatMap((event) => (event.type === 'tool.ended' ? event.tool : []));
    expect(ended).toEqual(['Bash', 'Read']);
  });

  it('[U-4] tells retries, denials and thoughts', () => {
    const denied = {
      type: 'system',
      subtype: 'permission_denied',
      tool_name: 'Bash',
      tool_use_id: 't1',
      message: 'no',
    };
    const thinking = { type: 'content_block_delta', delta: { type: 'thinking_delta', thinking: 'hm' } };
    const messages = [
      apiRetry(2),
      denied,
      { type: 'stream_event', event: thinking },
      assistant({ type: 'thinking', thinking: 'hm' }),
      assistant({ type: 'thinking', thinking: 'well' }),
    ];
    expect(told(...messages)).toEqual([
      { type: 'retrying', by: 'agent', attempt: 2, delayMs: 609, message: 'overloaded (HTTP 529)' },
      { type: 'approval.resolved', id: 't1', tool: 'Bash', decision: 'decline', reason: 'no' },
      { type: 'reasoning', text: 'hm' },
      { type: 'reasoning', text: 'well' },
    ]);
  });

  it('[U-4] notes that a full disk kept the session from being written, not that it kept settings from it', () => {
    const lost = (...what: string[]) => ({ type: 'system', subtype: 'session_writes_lost', lost: what });
    const notice = { type: 'notice', message: expect.stringMatching(/^The disk is full: the session/) as string };
    expect(told(lost('transcript', 'global_config'))).toEqual([notice]);
    expect(told({ type: 'system', subtype: 'session_writes_lost' })).toEqual([notice]);
    expect(told(lost('global_config'))).toEqual([]);
  });

  it('[I-1] passes over what it does not understand', () => {
    const odd: SdkMessage[] = [
      {},
      { type: 'assistant' },
      { type: 'assistant', message: { content: [null, 5, {}] } },
      { type: 'user', message: { content: 'hi' } },
      { type: 'stream_event' },
      { type: 'stream_event', event: { type: 'content_block_delta' } },
      { type: 'system' },
      { type: 'new_kind_of_message', content: [] },
    ];
    expect(told(...odd)).toEqual([]);
  });
});
