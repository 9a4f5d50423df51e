import { describe, expect, it } from 'vitest';
import { repairTranscript } from '../../transcript/index.ts';

const plain = [
  { role: 'user', content: 'hi' },
  { role: 'assistant', content: 'hello' },
];
const anthropic = { role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 'x', input: {} }] };
const chat = { role: 'tool', tool_call_id: 'a', content: 'x' };

describe('repairTranscript', () => {
  it('[G-12] repairs the messages of a request and keeps the rest of it', () => {
    const request = { model: 'm', messages: [{ role: 'user', content: 'hi' }, anthropic], max_tokens: 5 };
    const { history, format, repairs } = repairTranscript(request);
    expect({ format, repairs }).toEqual({ format: 'anthropic', repairs: 1 });
    expect(history).toMatchObject({ model: 'm', messages: { length: 3 }, max_tokens: 5 });
    expect(request.messages).toHaveLength(2);
  });

  it('[G-12] gives plain messages and nothing at all back, whatever their format', () => {
    expect(repairTranscript(plain)).toMatchObject({ history: plain, format: undefined, repairs: 0 });
    expect(repairTranscript([])).toMatchObject({ history: [], format: undefined, repairs: 0 });
  });

  it('[G-12] refuses a history of no format or of two, and names what can be named', () => {
    const formats = 'anthropic, openai-chat, openai-responses, claude-code';
    expect(() => repairTranscript([anthropic, chat])).toThrow(
      new RangeError(
        `Cannot tell the format of \`history\`: it has marks of anthropic and openai-chat; name it with \`format\`, one of ${formats}`,
      ),
    );
    expect(() => repairTranscript([{ x: 1 }])).toThrow(/its entries are neither messages nor items/);
    expect(() => repairTranscript('not a log')).toThrow(/no line of the text is an entry of a session/);
    expect(() => repairTranscript({ messages: [], input: [] })).toThrow(/it has both `messages` and `input`/);
  });

  it('refuses wrong options and what is no history at once', () => {
    expect(() => repairTranscript({})).toThrow(
      new TypeError(
        'Expected `history` to be an array, or an object with an array `messages` or `input`, got an object',
      ),
    );
    expect(() => repairTranscript(plain, { format: 'gemini' as 'anthropic' })).toThrow(
      /Expected `options.format` to be one of/,
    );
    expect(() => repairTranscript(plain, { sentence: '' })).toThrow(
      /Expected `options.sentence` to be a non-empty string/,
    );
    expect(() => repairTranscript('{}', { format: 'anthropic' })).toThrow(/parsed JSON for the format anthropic/);
  });

  it.each([
    ['an output without an id stands behind a call of another kind', { type: 'custom_tool_call_output', output: 'x' }],
    ['a call has a role', { type: 'function_call', call_id: 'b', name: 'run', arguments: '{}', role: 'user' }],
  ])('[G-12] [Q-4] mends items once: %s', (_, item) => {
    const items = [{ type: 'function_call', name: 'run', arguments: '{}' }, item];
    const { history } = repairTranscript(items, { format: 'openai-responses' });
    expect(repairTranscript(history, { format: 'openai-responses' })).toMatchObject({ repairs: 0, history });
  });

  it('[G-12] lists the first thousand findings, and counts all', () => {
    const many = Array.from({ length: 1200 }, (_, index) => ({ ...chat, tool_call_id: `call_${index}` }));
    const { findings, counts } = repairTranscript(many);
    expect([findings.length, counts.orphan]).toEqual([1000, 1200]);
  });
});
