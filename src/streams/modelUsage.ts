import { read, readInteger } from '../policy/errorChain.ts';
import type { Costs } from '../policy/rateLimit.ts';
import type { ServerSentEvent } from './serverSentEvents.ts';

/** Events that hold the usage of a stream by Anthropic. */
const anthropicHolders: ReadonlySet<string | undefined> = new Set(['message_start', 'message_delta']);
/** Events of the Responses API of OpenAI. Chunks of Chat Completions have no type. */
const openAiHolders: ReadonlySet<string | undefined> = new Set([
  'response.completed',
  'response.incomplete',
  'response.failed',
]);

/** Reads what events of the Messages API say of tokens. Tokens that were read from the cache do not count toward its limits. */
export function anthropicUsage({ event, data }: ServerSentEvent, soFar: Costs): Costs | undefined {
  if (!anthropicHolders.has(event)) return undefined;
  const body: unknown = JSON.parse(data);
  const usage = read(body, 'usage') ?? read(read(body, 'message'), 'usage');
  const asked = readInteger(usage, 'input_tokens');
  const input = asked === undefined ? undefined : asked + (readInteger(usage, 'cache_creation_input_tokens') ?? 0);
  return costsOf(input ?? soFar['inputTokens'], readInteger(usage, 'output_tokens') ?? soFar['outputTokens']);
}

/** Reads what events of the Responses and the Chat Completions API say of tokens. */
export function openAiUsage({ event, data }: ServerSentEvent): Costs | undefined {
  const isHolder = event === undefined ? /"usage":\s*\{/.test(data) : openAiHolders.has(event);
  if (!isHolder) return undefined;
  const body: unknown = JSON.parse(data);
  const usage = read(read(body, 'response'), 'usage') ?? read(body, 'usage');
  const input = readInteger(usage, 'input_tokens') ?? readInteger(usage, 'prompt_tokens');
  return costsOf(input, readInteger(usage, 'output_tokens') ?? readInteger(usage, 'completion_tokens'));
}

function costsOf(inputTokens: number | undefined, outputTokens: number | undefined): Costs | undefined {
  if (inputTokens === undefined && outputTokens === undefined) return undefined;
  const [input, output] = [inputTokens ?? 0, outputTokens ?? 0];
  return { inputTokens: input, outputTokens: output, tokens: input + output };
}
