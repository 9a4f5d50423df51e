import type {
  SdkCanUseTool,
  SdkMessage,
  SdkQuery,
  SdkQueryFunction,
  SdkUserMessage,
} from '../../../agents/conversation/claude/agentSdkTypes.ts';

/** One query as it was started, to be played by the test. */
export interface PlayedQuery {
  readonly options: Record<string, unknown>;
  /** What was said to it. */
  readonly prompts: readonly SdkUserMessage[];
  readonly interrupts: number;
  readonly aborted: boolean;
  /** Gives messages, each with the session's id. */
  say(...messages: readonly SdkMessage[]): void;
  /** Answers the last prompt. */
  answer(text: string, more?: SdkMessage): void;
  /** The last prompt failed, as the API's status says. */
  refuse(status: number, message: string): void;
  throws(error: unknown): void;
  ends(): void;
  canUseTool: SdkCanUseTool;
}

export interface ScriptedQuery {
  readonly query: SdkQueryFunction;
  readonly queries: readonly PlayedQuery[];
  /** The n-th query, from 0. */
  at(index: number): PlayedQuery;
}

/** Behaves as the SDK was measured to: an order to interrupt ends the turn with a result, aborting throws. */
export function scriptedQuery(behaviour: { readonly obeys?: boolean } = {}): ScriptedQuery {
  const queries: PlayedQuery[] = [];
  return {
    queries,
    at(index) {
      const found = queries[index];
      if (found === undefined) throw new Error(`There was no query ${index}; ${queries.length} were started`);
      return found;
    },
    query({ prompt, options = {} }) {
      const { played, running } = play(queries.length, prompt, options, behaviour.obeys ?? true);
      queries.push(played);
      return running;
    },
  };
}

type Step = { readonly message: SdkMessage } | { readonly error: unknown } | 'end';

function play(index: number, prompt: AsyncIterable<SdkUserMessage>, options: Record<string, unknown>, obeys: boolean) {
  const session_id = typeof options['resume'] === 'string' ? options['resume'] : `session-${index + 1}`;
  const prompts: SdkUserMessage[] = [];
  const steps: Step[] = [];
  let wake: (() => void) | undefined;
  let interrupts = 0;
  let aborted = false;
  const step = (next: Step): void => {
    steps.push(next);
    wake?.();
  };
  const controller = options['abortController'] as AbortController;
  controller.signal.addEventListener('abort', () => {
    aborted = true;
    step({ error: new Error('Claude Code process aborted by user') });
  });
  void (async () => {
    for await (const message of prompt) prompts.push(message);
  })();

  const result = (fields: SdkMessage): void => {
    const last = prompts.at(-1)?.uuid;
    const base = { type: 'result', subtype: 'success', is_error: false, num_turns: 1, user_message_uuid: last };
    step({ message: { ...base, terminal_reason: 'completed', session_id, ...fields } });
  };
  async function* messages(): AsyncGenerator<SdkMessage, void, void> {
    for (;;) {
      const next = steps.shift();
      if (next === 'end') return;
      if (next === undefined) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      } else if ('error' in next) throw next.error;
      else yield next.message;
    }
  }
  const running: SdkQuery = {
    [Symbol.asyncIterator]: messages,
    interrupt() {
      interrupts++;
      if (obeys)
        result({ subtype: 'error_during_execution', is_error: true, terminal_reason: 'aborted_streaming', errors: [] });
      return Promise.resolve({ still_queued: [] });
    },
  };
  const played: PlayedQuery = {
    options,
    prompts,
    get interrupts() {
      return interrupts;
    },
    get aborted() {
      return aborted;
    },
    say(...given) {
      for (const message of given) step({ message: { session_id, ...message } });
    },
    answer: (text, more) => result({ result: text, usage: { input_tokens: 10, output_tokens: 5 }, ...more }),
    refuse: (status, message) =>
      result({ is_error: true, api_error_status: status, terminal_reason: 'api_error', result: message }),
    throws: (error) => step({ error }),
    ends: () => step('end'),
    canUseTool: options['canUseTool'] as SdkCanUseTool,
  };
  return { played, running };
}

/** Shapes of messages as they were recorded from the SDK. */
export const init: SdkMessage = { type: 'system', subtype: 'init', tools: [], model: 'claude-fake-1' };

export const delta = (text: string): SdkMessage => ({
  type: 'stream_event',
  event: { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } },
  parent_tool_use_id: null,
});

export const blockStart: SdkMessage = {
  type: 'stream_event',
  event: { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
  parent_tool_use_id: null,
};

export const assistant = (...content: readonly object[]): SdkMessage => ({
  type: 'assistant',
  message: { role: 'assistant', model: 'claude-fake-1', content },
  parent_tool_use_id: null,
});

export const text = (words: string): object => ({ type: 'text', text: words });

export const toolUse = (id: string, name: string, input: object = {}): object => ({
  type: 'tool_use',
  id,
  name,
  input,
});

export const toolResult = (id: string, more: SdkMessage = {}): SdkMessage => ({
  type: 'user',
  message: {
    role: 'user',
    content: [{ tool_use_id: id, type: 'tool_result', content: 'out', is_error: false, ...more }],
  },
  parent_tool_use_id: null,
});

export const apiRetry = (attempt: number): SdkMessage => ({
  type: 'system',
  subtype: 'api_retry',
  attempt,
  max_retries: 10,
  retry_delay_ms: 609,
  error_status: 529,
  error: 'overloaded',
});
