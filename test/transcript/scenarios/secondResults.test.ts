import { describe, expect, it } from 'vitest';
import { repairTranscript, type TranscriptFormat } from '../../../transcript/index.ts';
import type { Fields } from '../damaged.ts';
import { acceptAnthropic, acceptOpenAiChat, acceptOpenAiResponses, acceptSession } from '../validators.ts';

/** What a tool said, in each form in which a format has it. */
type Said = string | readonly object[];

const question = { role: 'user', content: 'do it' };
const textParts = (format: TranscriptFormat, ...texts: string[]) =>
  texts.map((text) => ({ type: format === 'openai-responses' ? 'input_text' : 'text', text }));

function line(uuid: string, parentUuid: string | null, type: string, message: Fields): Fields {
  return { parentUuid, isSidechain: false, type, message, uuid, sessionId: 's' };
}

/** A call with two results, the second at once or after more of the conversation. */
const histories: Readonly<Record<TranscriptFormat, (one: Said, other: Said, isLate: boolean) => Fields[]>> = {
  anthropic(one, other, isLate) {
    const result = (content: Said) => ({ type: 'tool_result', tool_use_id: 'a', content });
    return [
      question,
      { role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 'read', input: {} }] },
      { role: 'user', content: isLate ? [result(one)] : [result(one), result(other)] },
      ...(isLate
        ? [
            { role: 'assistant', content: 'more' },
            { role: 'user', content: [result(other)] },
          ]
        : []),
    ];
  },
  'openai-chat'(one, other, isLate) {
    const call = { id: 'a', type: 'function', function: { name: 'read', arguments: '{}' } };
    const result = (content: Said) => ({ role: 'tool', tool_call_id: 'a', content });
    return [
      question,
      { role: 'assistant', content: null, tool_calls: [call] },
      result(one),
      ...(isLate ? [{ role: 'assistant', content: 'more' }, question] : []),
      result(other),
    ];
  },
  'openai-responses'(one, other, isLate) {
    const result = (output: Said) => ({ type: 'function_call_output', call_id: 'a', output });
    return [
      { type: 'message', ...question },
      { type: 'function_call', call_id: 'a', name: 'read', arguments: '{}' },
      result(one),
      ...(isLate ? [{ type: 'message', ...question }] : []),
      result(other),
    ];
  },
  'claude-code'(one, other, isLate) {
    const use = { type: 'tool_use', id: 'a', name: 'read', input: {} };
    const result = (content: Said): Fields => ({
      role: 'user',
      content: [{ type: 'tool_result', tool_use_id: 'a', content }],
    });
    return [
      line('1', null, 'user', question),
      line('2', '1', 'assistant', { id: 'msg', role: 'assistant', content: [use] }),
      line('3', '2', 'user', result(one)),
      ...(isLate
        ? [line('4', '3', 'assistant', { id: 'msg_2', role: 'assistant', content: [{ type: 'text', text: 'more' }] })]
        : []),
      line('5', isLate ? '4' : '2', 'user', result(other)),
    ];
  },
};

const accept = {
  anthropic: acceptAnthropic,
  'openai-chat': acceptOpenAiChat,
  'openai-responses': acceptOpenAiResponses,
  'claude-code': acceptSession,
} as const;

const formats = Object.keys(histories) as TranscriptFormat[];
const another = '[Another result of the same call:]';
const places = formats.flatMap((format) =>
  [false, true].map((isLate) => [format, isLate ? 'later' : 'at once', isLate] as const),
);

describe('a second result of one call', () => {
  it.each(places)('[G-12] that says something else is joined to the first: %s, %s', (format, _, isLate) => {
    const { history, counts, findings } = repairTranscript(histories[format]('real 1', 'real 2', isLate), { format });
    expect(JSON.stringify(history)).toContain(JSON.stringify(['real 1', another, 'real 2'].join('\n\n')));
    expect(JSON.stringify(history).split('real 2')).toHaveLength(2);
    expect(counts).toMatchObject({ duplicate: 1, orphan: 0, unanswered: 0 });
    expect(findings).toMatchObject([{ rule: 'duplicate', differs: true }]);
    expect(() => accept[format](history as never)).not.toThrow();
    expect(repairTranscript(history, { format })).toMatchObject({ repairs: 0, history });
  });

  it.each(places)('[G-12] that is a list is joined part by part: %s, %s', (format, _, isLate) => {
    const given = histories[format]('real 1', textParts(format, 'real 2', 'real 3'), isLate);
    const { history } = repairTranscript(given, { format });
    expect(JSON.stringify(history)).toContain(JSON.stringify(textParts(format, 'real 1', another, 'real 2', 'real 3')));
    expect(repairTranscript(history, { format }).repairs).toBe(0);
  });

  it.each(places)('[G-12] that says the same, or only stands for one, is dropped: %s, %s', (format, _, isLate) => {
    const { history } = repairTranscript(histories[format]('real 1', 'real 1', isLate), { format });
    expect(JSON.stringify(history)).not.toContain(another);
    const synthetic = repairTranscript(histories[format]('real 1', 'was cut', isLate), { format, sentence: 'was cut' });
    expect(JSON.stringify(synthetic.history)).not.toContain(another);
    expect(JSON.stringify(synthetic.history)).not.toContain('was cut');
  });

  it('[G-12] of a kind that cannot stand beside the first is told, and dropped', () => {
    const shot = (url: string) => ({
      type: 'computer_call_output',
      call_id: 'a',
      output: { type: 'computer_screenshot', image_url: url },
    });
    const { history, findings } = repairTranscript(
      [{ type: 'computer_call', call_id: 'a', action: { type: 'screenshot' } }, shot('data:1'), shot('data:2')],
      { format: 'openai-responses' },
    );
    expect(history).toHaveLength(2);
    expect(history[1]).toEqual(shot('data:1'));
    expect(findings).toMatchObject([{ rule: 'duplicate', differs: true }]);
  });
});
