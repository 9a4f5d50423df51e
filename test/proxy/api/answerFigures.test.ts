import { describe, expect, it } from 'vitest';
import { AnswerReader } from '../../../proxy/api/answerFigures.ts';

const events = (...data: readonly object[]): string => data.map((each) => `data: ${JSON.stringify(each)}\n\n`).join('');
const usage = { input_tokens: 10, cache_creation_input_tokens: 3, cache_read_input_tokens: 100, output_tokens: 1 };
const openAi = {
  input_tokens: 113,
  input_tokens_details: { cached_tokens: 100 },
  output_tokens: 40,
  output_tokens_details: { reasoning_tokens: 30 },
};
const chat = {
  prompt_tokens: 113,
  prompt_tokens_details: { cached_tokens: 100 },
  completion_tokens: 40,
  completion_tokens_details: { reasoning_tokens: 30 },
};
const streams: Readonly<Record<string, string>> = {
  messages: events(
    { type: 'message_start', message: { model: 'opus-4', usage } },
    { type: 'content_block_delta', delta: { text: 'hi' } },
    { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 40 } },
    { type: 'message_stop' },
  ),
  responses: events(
    { type: 'response.created', response: { model: 'opus-4' } },
    { type: 'response.output_text.delta', delta: 'hi' },
    { type: 'response.completed', response: { model: 'opus-4', usage: openAi } },
  ),
  chat: `${events(
    { model: 'opus-4', choices: [{ delta: { content: 'hi' } }] },
    { model: 'opus-4', choices: [], usage: chat },
  )}data: [DONE]\n\n`,
};
const wholes: Readonly<Record<string, object>> = {
  messages: { model: 'opus-4', usage: { ...usage, output_tokens: 40 } },
  responses: { model: 'opus-4', usage: openAi },
  chat: { model: 'opus-4', usage: chat },
};
const all = { model: 'opus-4', inputTokens: 113, cacheReadTokens: 100, outputTokens: 40 };
const said = (of: string) => ({ ...all, ...(of === 'messages' ? { cacheWriteTokens: 3 } : { reasoningTokens: 30 }) });

function read(isStream: boolean, text: string, size = 7): AnswerReader {
  const reader = new AnswerReader(isStream);
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += size) reader.push(bytes.subarray(at, at + size));
  return reader;
}

describe('the figures of an answer', () => {
  it.each(Object.entries(streams))('[O-5] are those of a stream of %s, wherever it is cut', (of, text) => {
    for (const size of [1, 7, 1000]) expect(read(true, text, size).figures).toEqual(said(of));
  });

  it.each(Object.entries(wholes))('[O-5] are those of an answer of %s that is no stream', (of, answer) => {
    expect(read(false, JSON.stringify(answer)).figures).toEqual(said(of));
  });

  it.each(['', 'no JSON', '[]', '{"usage":7,"model":{}}', '{"usage":{"input_tokens":"10"}}'])(
    '[O-5] are none where an answer says none: %s',
    (text) => {
      const { model, inputTokens, outputTokens } = read(false, text).figures;
      expect([model, inputTokens, outputTokens]).toEqual([undefined, undefined, undefined]);
      expect(read(true, `data: ${text}\n\n`).figures.inputTokens).toBeUndefined();
    },
  );

  it('[O-5] are none of an answer that is too long to be read', () => {
    const long = Buffer.alloc(5 * 1024 * 1024, 0x61).toString('latin1');
    const whole = JSON.stringify({ ...wholes['chat'], text: long });
    expect(read(false, whole, 1024 * 1024).figures).toEqual({});
    expect(read(true, `data: ${whole}\n\n`, 1024 * 1024).figures).toEqual({});
  });
});
