/** Round of a conversation: what the model calls, and what it is answered. */
export interface Round {
  readonly tool?: string;
  readonly input?: object;
  readonly answer?: string;
  readonly failed?: boolean;
  /** A person says something before it. */
  readonly person?: string;
}

export type Shape = 'messages' | 'chat' | 'responses' | 'gemini';

export const paths: Readonly<Record<Shape, string>> = {
  messages: '/v1/messages',
  chat: '/v1/chat/completions',
  responses: '/v1/responses',
  gemini: '/v1beta/models/m:streamGenerateContent?alt=sse',
};

const failure = 'cat: /nope: No such file or directory';

/** So many rounds that are the same. */
export const again = (count: number, round: Round = {}): Round[] => Array.from({ length: count }, () => round);

/** Body of a request whose conversation has these rounds, as programs write it. @param from - number of the first round. */
export function bodyOf(shape: Shape, rounds: readonly Round[], extra: object = {}, from = 0): string {
  const told = (text: string): object =>
    shape === 'gemini' ? { role: 'user', parts: [{ text }] } : { role: 'user', content: text };
  const messages = [
    told('do it'),
    ...rounds.flatMap((round, index) => [
      ...(round.person === undefined ? [] : [told(round.person)]),
      ...roundOf(shape, round, `call_${from + index}`),
    ]),
  ];
  const key = { messages: 'messages', chat: 'messages', responses: 'input', gemini: 'contents' }[shape];
  return JSON.stringify({ model: 'm', stream: true, [key]: messages, ...extra });
}

function roundOf(
  shape: Shape,
  { tool = 'Bash', input = { command: 'cat /nope' }, answer = failure, failed = true }: Round,
  id: string,
) {
  switch (shape) {
    case 'messages': {
      const result = {
        type: 'tool_result',
        tool_use_id: id,
        content: failed ? `Exit code 1\n${answer}` : answer,
        ...(failed && { is_error: true }),
      };
      return [
        { role: 'assistant', content: [{ type: 'tool_use', id, name: tool, input }] },
        { role: 'user', content: [result, { type: 'text', text: '<system-reminder>Mind it.</system-reminder>' }] },
      ];
    }
    case 'chat':
      return [
        {
          role: 'assistant',
          content: null,
          tool_calls: [{ id, type: 'function', function: { name: tool, arguments: JSON.stringify(input) } }],
        },
        { role: 'tool', tool_call_id: id, content: failed ? `${answer}\n\nCommand exited with code 2` : answer },
      ];
    case 'responses':
      return [
        { type: 'function_call', name: tool, call_id: id, arguments: JSON.stringify(input) },
        {
          type: 'function_call_output',
          call_id: id,
          output: `Chunk ID: ${id.replace('call_', 'a1b2c')}\nWall time: 0.01${id.at(-1)} seconds\nProcess exited with code ${failed ? 1 : 0}\nOriginal token count: 14\nOutput:\n${answer}\n`,
        },
      ];
    case 'gemini':
      return [
        { role: 'model', parts: [{ functionCall: { name: tool, args: input } }] },
        {
          role: 'user',
          parts: [{ functionResponse: { name: tool, response: failed ? { error: answer } : { output: answer } } }],
        },
      ];
  }
}
