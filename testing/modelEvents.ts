/** The protocol of a model's stream. */
export type ModelProtocol = 'messages' | 'responses' | 'chat' | 'gemini';

/** Words of the model. */
interface ModelSays {
  readonly text: string;
  /** A tool that it calls after the text. */
  readonly tool?: { readonly name: string; readonly input: object } | undefined;
  /** Tells answers apart. */
  readonly number: number;
}

/** The events of a stream, in order, by the part of the answer that they belong to. */
export interface ModelEvents {
  /** The answer begins. */
  readonly start: readonly string[];
  readonly text: readonly string[];
  readonly tool: readonly string[];
  /** Why the answer ends, where that is an event before the last one. */
  readonly finish: readonly string[];
  /** All that is left to say, the last event among it. */
  readonly last: readonly string[];
  /** A sign of life without content. */
  readonly ping: string;
  /** The stream failed. @param type - of the error, in the words of the protocol. */
  error(type: string): string;
}

/** The events of an answer, in the protocol that its path asks for. */
export function modelEvents(protocol: ModelProtocol, says: ModelSays): ModelEvents {
  return protocols[protocol](says);
}

const words = (text: string): readonly string[] => text.split(/(?<= )/);

const named = (data: { readonly type: string }): string => `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`;

function messages({ text, tool, number }: ModelSays): ModelEvents {
  const usage = { input_tokens: 10, output_tokens: 5 };
  const message = { id: `msg_${number}`, type: 'message', role: 'assistant', model: 'faulty', content: [] };
  const block = (index: number, content_block: object, deltas: readonly object[]): readonly string[] => [
    named({ type: 'content_block_start', index, content_block } as never),
    ...deltas.map((delta) => named({ type: 'content_block_delta', index, delta } as never)),
    named({ type: 'content_block_stop', index } as never),
  ];
  const json = JSON.stringify(tool?.input ?? {});
  const half = Math.ceil(json.length / 2);
  return {
    start: [
      named({ type: 'message_start', message: { ...message, stop_reason: null, stop_sequence: null, usage } } as never),
    ],
    text: block(
      0,
      { type: 'text', text: '' },
      words(text).map((each) => ({ type: 'text_delta', text: each })),
    ),
    tool:
      tool === undefined
        ? []
        : block(
            1,
            { type: 'tool_use', id: `toolu_${number}`, name: tool.name, input: {} },
            [json.slice(0, half), json.slice(half)].map((partial_json) => ({ type: 'input_json_delta', partial_json })),
          ),
    finish: [
      named({
        type: 'message_delta',
        delta: { stop_reason: tool === undefined ? 'end_turn' : 'tool_use', stop_sequence: null },
        usage,
      } as never),
    ],
    last: [named({ type: 'message_stop' })],
    ping: named({ type: 'ping' }),
    error: (type) => named({ type: 'error', error: { type, message: type } } as never),
  };
}

function responses({ text, tool, number }: ModelSays): ModelEvents {
  const response = { id: `resp_${number}`, object: 'response', status: 'in_progress', output: [] };
  const item = (said: string) => ({
    type: 'message',
    role: 'assistant',
    id: `msg_${number}`,
    content: [{ type: 'output_text', text: said }],
  });
  const call = {
    type: 'function_call',
    name: tool?.name,
    call_id: `call_${number}`,
    arguments: JSON.stringify(tool?.input ?? {}),
  };
  const usage = { input_tokens: 10, output_tokens: 5, total_tokens: 15 };
  return {
    start: [named({ type: 'response.created', response } as never)],
    text: [
      named({ type: 'response.output_item.added', item: item('') } as never),
      ...words(text).map((delta) => named({ type: 'response.output_text.delta', delta } as never)),
      named({ type: 'response.output_item.done', item: item(text) } as never),
    ],
    tool:
      tool === undefined
        ? []
        : [
            named({ type: 'response.output_item.added', item: { ...call, arguments: '' } } as never),
            named({ type: 'response.function_call_arguments.delta', delta: call.arguments } as never),
            named({ type: 'response.output_item.done', item: call } as never),
          ],
    finish: [],
    last: [named({ type: 'response.completed', response: { ...response, status: 'completed', usage } } as never)],
    ping: named({ type: 'keepalive' }),
    error: (code) =>
      named({
        type: 'response.failed',
        response: { ...response, status: 'failed', error: { code, message: code } },
      } as never),
  };
}

function chat({ text, tool, number }: ModelSays): ModelEvents {
  const data = (value: object): string => `data: ${JSON.stringify(value)}\n\n`;
  const chunk = (delta: object, finish_reason: string | null = null): string =>
    data({ id: `chatcmpl_${number}`, object: 'chat.completion.chunk', choices: [{ index: 0, delta, finish_reason }] });
  const call = { index: 0, id: `call_${number}`, type: 'function' };
  return {
    start: [chunk({ role: 'assistant', content: '' })],
    text: words(text).map((content) => chunk({ content })),
    tool:
      tool === undefined
        ? []
        : [
            chunk({ tool_calls: [{ ...call, function: { name: tool.name, arguments: '' } }] }),
            chunk({ tool_calls: [{ index: 0, function: { arguments: JSON.stringify(tool.input) } }] }),
          ],
    finish: [chunk({}, tool === undefined ? 'stop' : 'tool_calls')],
    last: ['data: [DONE]\n\n'],
    ping: ': keepalive\n\n',
    error: (type) => data({ error: { message: type, type, code: null } }),
  };
}

/** Google's `streamGenerateContent`: no event is a last one but the one that says why the answer ends. */
function gemini({ text, tool, number }: ModelSays): ModelEvents {
  const chunk = (parts: readonly object[], rest: object = {}): string =>
    `data: ${JSON.stringify({ candidates: [{ index: 0, content: { role: 'model', parts }, ...rest }], responseId: `gemini_${number}` })}\n\n`;
  return {
    start: [chunk([])],
    text: words(text).map((each) => chunk([{ text: each }])),
    tool: tool === undefined ? [] : [chunk([{ functionCall: { name: tool.name, args: tool.input } }])],
    finish: [],
    last: [chunk([], { finishReason: 'STOP' })],
    ping: ': keepalive\n\n',
    error: (status) => `data: ${JSON.stringify({ error: { code: 503, message: status, status } })}\n\n`,
  };
}

const protocols: Readonly<Record<ModelProtocol, (says: ModelSays) => ModelEvents>> = {
  messages,
  responses,
  chat,
  gemini,
};
