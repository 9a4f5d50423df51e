import { read, readString } from '../policy/errorChain.ts';
import type { FailureFacts } from '../policy/failure.ts';
import { callback, either, type Key, type KeysOf, list, section, text } from '../policy/optionKeys.ts';
import type { Costs } from '../policy/rateLimit.ts';
import { anthropicUsage, openAiUsage } from './modelUsage.ts';
import type { ServerSentEvent } from './serverSentEvents.ts';

/** What the events of an API mean for the stream that they come in. */
export interface EventRules {
  /**
   * The last event of a whole stream: by its type or its whole data, such as `message_stop` or `[DONE]`, at least one, or a function. A stream that ends without
   * it is a failure (`transient`, `connection_lost`), and one that has it has ended, though its connection stays open.
   * @defaultValue none: a stream ends with its body
   */
  readonly endsWith?: readonly string[] | ((event: ServerSentEvent) => boolean) | undefined;
  /**
   * The failure that an event tells of, which ends the stream in place of the event: its facts, or an error, which is classified like one that was
   * thrown.
   * @defaultValue none: every event is handed on
   */
  readonly failedEvent?: ((event: ServerSentEvent) => FailureFacts | Error | undefined) | undefined;
  /** The types of events that say nothing but that the server lives, such as `ping`: they are not handed on. @defaultValue [] */
  readonly signsOfLife?: readonly string[] | undefined;
  /**
   * Tells by an event whose stream it is: the rules it gives take the place of these, from that event on. Asked for each event until it gives any.
   * @defaultValue none: these rules hold to the end
   */
  readonly recognise?: ((event: ServerSentEvent) => EventRules | undefined) | undefined;
  /**
   * What the stream costs by now, as an event tells: tokens as a number, or any costs by name, each in all. It corrects what `rate.cost` had
   * estimated. Asked of every event; `soFar` is what those before it said. What throws or returns another thing corrects nothing.
   * @defaultValue as estimated
   */
  readonly spent?: ((event: ServerSentEvent, soFar: Costs) => number | Costs | undefined) | undefined;
}

const names = list(text(), { expected: 'an array of strings' });
/** Of none every stream would be half of one. */
const lastNames = list(text(), { least: 1, expected: 'an array of at least one string' });

/** The option of {@link EventRules}. */
export const eventsKey: Key<EventRules | undefined> = section({
  endsWith: either<EventRules['endsWith']>(
    [lastNames, callback()],
    (value) => [Array.isArray(value), typeof value === 'function'].indexOf(true),
    'an array of at least one string, or a function',
  ),
  failedEvent: callback<NonNullable<EventRules['failedEvent']>>(),
  signsOfLife: names,
  recognise: callback<NonNullable<EventRules['recognise']>>(),
  spent: callback<NonNullable<EventRules['spent']>>(),
} satisfies KeysOf<EventRules>);

/** The events of the Messages API of Anthropic, and of those that speak like it. */
export const anthropicEvents = {
  endsWith: ['message_stop'],
  failedEvent: modelError,
  signsOfLife: ['ping'],
  spent: anthropicUsage,
} as const satisfies EventRules;

/** The events of the Responses and the Chat Completions API of OpenAI, and of those that speak like them. */
export const openAiEvents = {
  endsWith: ['response.completed', 'response.incomplete', '[DONE]'],
  failedEvent: modelError,
  signsOfLife: ['keepalive'],
  spent: openAiUsage,
} as const satisfies EventRules;

/**
 * The rules of a stream that nobody gave rules for. It is told by what it says whether it comes from one of these APIs: `message_start`, `response.created`, chunks of a chat
 * completion. Then {@link anthropicEvents} or {@link openAiEvents} hold from there on. Of any other stream an event of type `error` and an error object of a model API are
 * failures, and all else is left as it is.
 */
export const modelEvents = {
  failedEvent: firstError,
  recognise: rulesOf,
} as const satisfies EventRules;

/** How far a chunk is looked into for what kind it is, in characters: that stands before what a model says. */
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
      if (read(parsed(data), 'type') !== event) return undefined;
      return event === 'ping' ? anthropicEvents : openAiEvents;
    case undefined:
      // A text that quotes it has a backslash before each quote.
      return /"object"\s*:\s*"chat\.completion\.chunk"/.test(data.slice(0, longestHead)) ? openAiEvents : undefined;
    default:
      return undefined;
  }
}

/** What may be content of a stream that is not known is an error only where it looks like that of a model API in full. */
function firstError(event: ServerSentEvent): Error | undefined {
  const error = modelError(event);
  if (event.event !== undefined || error === undefined) return error;
  const told = read(parsed(event.data), 'error');
  const isTold = [readString(told, 'type') ?? readString(told, 'code'), readString(told, 'message')].every(Boolean);
  return isTold ? error : undefined;
}

/** What is shown of an error that is text, in characters. */
const longestText = 1000;

/** What an event tells of an error: of type `error` or `response.failed`, or without a type and with an `error` in its data. */
function modelError({ event, data }: ServerSentEvent): Error | undefined {
  const isError = event === 'error' || event === 'response.failed';
  // A text that quotes the word has a backslash before the second quote.
  if (!isError && (event !== undefined || !data.includes('"error"'))) return undefined;
  const body = parsed(data);
  const told = read(body, 'error') ?? read(read(body, 'response'), 'error') ?? undefined;
  if (!isError && told === undefined) return undefined;
  const error = told ?? body ?? data;
  const message = readString(error, 'message') ?? (typeof error === 'string' ? error.slice(0, longestText) : undefined);
  const [code, type] = [readString(error, 'code'), readString(error, 'type')];
  const words = [message, code ?? type].filter((word) => word !== undefined && word !== '').join(' - ');
  return Object.assign(new Error(`The stream told of an error${words === '' ? '' : `: ${words}`}`), {
    error: { code, type, message },
  });
}

function parsed(data: string): unknown {
  try {
    return JSON.parse(data);
  } catch {
    return undefined;
  }
}
