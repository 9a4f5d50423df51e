import { parsedJson } from '../policy/text/parsedJson.ts';
import { read, readInteger, readString } from '../policy/failures/errorChain.ts';
import type { FailureFacts } from '../policy/failures/failure.ts';
import { callback, either, type Key, list, section, text, type Given } from '../policy/options/optionKeys.ts';
import type { Costs } from '../policy/rateLimit.ts';
import { isModelContent } from './modelContent.ts';
import type { ServerSentEvent } from './serverSentEvents.ts';
import { statusOf, toldError } from './toldError.ts';

const names = list(text(), { expected: 'an array of strings' });
/** At least one: with none every stream would be half of one. */
const lastNames = list(text(), { least: 1, expected: 'an array of at least one string' });

const ruleKeys = {
  /**
   * The last event of a whole stream: by its type or its whole data, such as `message_stop` or `[DONE]`, at least one, or a function. A stream that ends without
   * it is a failure (`transient`, `connection_lost`), and one that has it has ended, though its connection stays open.
   * @defaultValue none: a stream ends with its body
   */
  endsWith: either<readonly string[] | ((event: ServerSentEvent) => boolean)>(
    [lastNames, callback()],
    (value) => [Array.isArray(value), typeof value === 'function'].indexOf(true),
    'an array of at least one string, or a function',
  ),
  /**
   * The failure that an event tells of, which ends the stream in place of the event: its facts, or an error, which is classified like one that was
   * thrown. `isFirst` while no event was handed on.
   * @defaultValue none: every event is handed on
   */
  failedEvent: callback<(event: ServerSentEvent, isFirst: boolean) => FailureFacts | Error | undefined>(),
  /** The types of events that say nothing but that the server lives, such as `ping`: they are not handed on. @defaultValue [] */
  signsOfLife: names,
  /**
   * Tells whether an event that is handed on holds something of an answer. `firstContentMs` and `contentMs` are limits on the time without one that does:
   * frames and empty deltas say no more than a ping. A throw says yes.
   * @defaultValue each does
   */
  isContent: callback<(event: ServerSentEvent) => boolean>(),
  /**
   * Tells what the stream costs by now, by an event: tokens as a number, or any costs by name, each in all. It corrects what `rate.cost` had estimated. Asked
   * of every event; `soFar` is what those before it said. A throw or another value corrects nothing.
   * @defaultValue as estimated
   */
  spent: callback<(event: ServerSentEvent, soFar: Costs) => number | Costs | undefined>(),
};

/** Meaning of the events of an API for the stream that they come in. */
export interface EventRules extends Given<typeof ruleKeys> {
  /**
   * Tells by an event whose stream it is: the rules it gives take the place of these, from that event on. Asked for each event until it gives any.
   * @defaultValue none: these rules hold to the end
   */
  readonly recognise?: ((event: ServerSentEvent) => EventRules | undefined) | undefined;
}

/** The option of {@link EventRules}. */
export const eventsKey: Key<EventRules | undefined> = section({
  ...ruleKeys,
  recognise: callback<NonNullable<EventRules['recognise']>>(),
});

/** The events of the Messages API of Anthropic, and of those that speak like it. */
export const anthropicEvents = {
  endsWith: ['message_stop'],
  failedEvent: modelError,
  signsOfLife: ['ping'],
  isContent: hasContent,
  spent: anthropicUsage,
} as const satisfies EventRules;

/** The events of the Responses and the Chat Completions API of OpenAI, and of those that speak like them. */
export const openAiEvents = {
  endsWith: ['response.completed', 'response.incomplete', '[DONE]'],
  failedEvent: modelError,
  signsOfLife: ['keepalive'],
  isContent: hasContent,
  spent: openAiUsage,
} as const satisfies EventRules;

/**
 * The rules of a stream that nobody gave rules for. It is told by what it says whether it comes from one of these APIs: `message_start`, `response.created`, chunks of a chat
 * completion. Then {@link anthropicEvents} or {@link openAiEvents} hold from there on. Of any other stream an event of type `error` and an error object of a model API are
 * failures, and all else is left as it is.
 */
export const modelEvents = {
  failedEvent: firstError,
  isContent: hasContent,
  recognise: rulesOf,
} as const satisfies EventRules;

function hasContent({ event, data }: ServerSentEvent): boolean {
  return isModelContent(event, data);
}

/** Characters of a chunk that are looked into for what kind it is: that stands before what a model says. */
const longestHead = 2000;

function rulesOf({ event, data }: ServerSentEvent): EventRules | undefined {
  switch (event) {
    case 'message_start':
      return anthropicEvents;
    case 'response.created':
    case 'response.in_progress':
      return openAiEvents;
    case 'ping':
    case 'keepalive':
      // Before the first word of an API; in a stream of anybody else's it may be content.
      if (read(parsedJson(data), 'type') !== event) return undefined;
      return event === 'ping' ? anthropicEvents : openAiEvents;
    case undefined:
      // A text that quotes it has a backslash before each quote.
      return /"object"\s*:\s*"chat\.completion\.chunk"/.test(data.slice(0, longestHead)) ? openAiEvents : undefined;
    default:
      return undefined;
  }
}

/**
 * Judges an object with an error, which may be content of a stream that is not known: it is a failure where it stands in the place of an answer, as the first
 * event, and later where it looks like that of a model API in full.
 */
function firstError(event: ServerSentEvent, isFirst: boolean): Error | undefined {
  if (event.event !== undefined) return modelError(event);
  const body = parsedJson(event.data);
  // An error that JSON-RPC tells of one request is no end of the stream.
  if (read(body, 'jsonrpc') !== undefined) return undefined;
  const error = modelError(event) ?? (isFirst ? toldAtOnce(body) : undefined);
  if (error === undefined || isFirst) return error;
  const told = read(body, 'error');
  const name = readString(told, 'type') ?? readString(told, 'code') ?? readString(told, 'status') ?? statusOf(told);
  return name !== undefined && name !== '' && readString(told, 'message') ? error : undefined;
}

/** Reads what stands in the place of an answer, in forms that could be content anywhere else. */
function toldAtOnce(body: unknown): Error | undefined {
  const errors = read(body, 'errors');
  if (Array.isArray(errors) && errors.length > 0 && (read(body, 'data') ?? undefined) === undefined) {
    return toldBy(errors[0]);
  }
  const hasCode = statusOf(body) !== undefined && typeof (read(body, 'message') ?? read(body, 'detail')) === 'string';
  return hasCode || read(body, 'object') === 'error' ? toldBy(body) : undefined;
}

/** Characters that are shown of an error that is text. */
const longestText = 1000;

const failedTypes: ReadonlySet<unknown> = new Set(['error', 'response.failed']);

/**
 * Reads what an event tells of an error: of type `error` or `response.failed`, by its name or its data, or without a type and with an `error` in its data.
 */
function modelError({ event, data }: ServerSentEvent): Error | undefined {
  const isError = failedTypes.has(event);
  // A text that quotes the word has a backslash before the second quote.
  if (!isError && (event !== undefined || !/"(?:error|response\.failed)"/.test(data))) return undefined;
  const body = parsedJson(data);
  const told = read(body, 'error') ?? read(read(body, 'response'), 'error') ?? undefined;
  const isTold = told !== undefined && told !== '' && told !== false;
  if (!isError && !failedTypes.has(read(body, 'type')) && !(isTold && read(body, 'error') === told)) return undefined;
  return toldBy(isTold ? told : (body ?? data));
}

/** @param error - what tells of it: an object with a message, a code, a type, or text. */
function toldBy(error: unknown): Error {
  const { status, code, type, message: words, details } = toldError(error);
  const message = typeof error === 'string' ? words?.slice(0, longestText) : words;
  const said = [message, code ?? type, readString(error, 'status')].filter((word) => word !== undefined && word !== '');
  return Object.assign(new Error(`The stream told of an error${said.length === 0 ? '' : `: ${said.join(' - ')}`}`), {
    ...(status !== undefined && { status }),
    error: { code, type, message, ...(details !== undefined && { details }) },
  });
}

/** Events that hold the usage of a stream by Anthropic. */
const anthropicHolders: ReadonlySet<string | undefined> = new Set(['message_start', 'message_delta']);
/** Events of the Responses API of OpenAI. Chunks of Chat Completions have no type. */
const openAiHolders: ReadonlySet<string | undefined> = new Set([
  'response.completed',
  'response.incomplete',
  'response.failed',
]);

/** Reads what events of the Messages API say of tokens. Tokens that were read from the cache do not count toward its limits. */
function anthropicUsage({ event, data }: ServerSentEvent, soFar: Costs): Costs | undefined {
  if (!anthropicHolders.has(event)) return undefined;
  const body: unknown = JSON.parse(data);
  const usage = read(body, 'usage') ?? read(read(body, 'message'), 'usage');
  const asked = readInteger(usage, 'input_tokens');
  const input = asked === undefined ? undefined : asked + (readInteger(usage, 'cache_creation_input_tokens') ?? 0);
  return costsOf(input ?? soFar['inputTokens'], readInteger(usage, 'output_tokens') ?? soFar['outputTokens']);
}

/** Reads what events of the Responses and the Chat Completions API say of tokens. */
function openAiUsage({ event, data }: ServerSentEvent): Costs | undefined {
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
