import type { ClientFault, ClientKind } from '../../../proxy/api/clients.ts';
import type { Dialect } from '../../../proxy/api/route.ts';
import type { ModelAnswer, ModelScript } from '../../../testing/index.ts';

/** The tool that a model calls. */
export interface ModelTool {
  readonly name: string;
  readonly input: object;
}

/** What befalls the first answer, in which the model calls a tool. */
function answerOf(fault: ClientFault, dialect: Dialect, tool: ModelTool): ModelAnswer {
  const says = { text: 'I look.', tool };
  // In these the reason of the end is the last that is said.
  const finish = dialect === 'responses' || dialect === 'gemini' ? 'end' : 'finish';
  switch (fault) {
    case 'refused':
      return { do: 'refuse', status: 529 };
    case 'refused for an hour':
      return { do: 'refuse', status: 429, headers: { 'retry-after': '3600' } };
    case 'refused without a hint':
      return { do: 'refuse', status: 429 };
    case 'cut before headers':
      return { do: 'reset' };
    case 'silent before headers':
      return { do: 'hang' };
    case 'cut in its text':
      return { ...says, until: 'text', then: 'reset' };
    case 'silent in its text':
      return { ...says, until: 'text', then: 'stall' };
    case 'cut in a call':
      return { ...says, until: 'tool', then: 'reset' };
    case 'cut after a call':
      return { ...says, until: 'content', then: 'close' };
    case 'silent after a call':
      return { ...says, until: 'content', then: 'stall' };
    case 'cut after its finish':
      return { ...says, until: finish, then: 'reset' };
    case 'silent after its finish':
      return { ...says, until: finish, then: 'stall' };
  }
}

/** How often a refusal comes; what breaks does so once, and the limit of an hour lasts. */
const timesOf: Readonly<Partial<Record<ClientFault, number>>> = {
  refused: 3,
  'refused without a hint': 2,
  'refused for an hour': Number.POSITIVE_INFINITY,
};

const last = 'all of it is done';

/** A model that meets a fault at first. Then it calls the tool until it is told the result, and ends. */
export function modelWith(fault: ClientFault, dialect: Dialect, tool: ModelTool): ModelScript {
  return ({ body }, number) => {
    if (number < (timesOf[fault] ?? 1)) return answerOf(fault, dialect, tool);
    return hasResult.test(body) ? { text: last } : { text: 'I look again.', tool };
  };
}

const hasResult = /"type": ?"tool_result"|"role": ?"tool"|"function_call_output"|"functionResponse"/;

/** Whether a program has come to the last that the model says, which it may show in pieces. */
export const isDone = (output: string): boolean => new RegExp(last.replaceAll(' ', '[^]*')).test(output);

/** What the requests of a client look like. */
export const requestsOf: Readonly<
  Record<ClientKind, { readonly agent: string; readonly dialects: readonly Dialect[] }>
> = {
  claude: { agent: 'claude-cli/2.1.332 (external, sdk-cli)', dialects: ['messages'] },
  codex: { agent: 'codex_exec/0.171.0 (Debian 12; x86_64) unknown (codex_exec; 0.171.0)', dialects: ['responses'] },
  opencode: {
    agent: 'opencode/1.18.33 ai-sdk/provider-utils/4.0.23 runtime/bun/1.3.14',
    dialects: ['chat', 'messages', 'responses'],
  },
  gemini: { agent: 'GeminiCLI-tui/0.61.0/gemini-2.5-flash (linux; x64; terminal)', dialects: ['gemini'] },
  anthropic: { agent: 'Anthropic/JS 1.14.0', dialects: ['messages'] },
  sdk: { agent: 'OpenAI/JS 7.59.0', dialects: ['chat', 'messages', 'responses'] },
};

/** Where a client asks in a protocol. */
export const paths: Readonly<Record<Dialect, string>> = {
  messages: '/v1/messages',
  responses: '/v1/responses',
  chat: '/v1/chat/completions',
  gemini: '/v1beta/models/gemini-2.5-flash:streamGenerateContent?alt=sse',
};
