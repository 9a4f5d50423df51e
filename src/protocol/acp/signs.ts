import { type McpParams, fieldsOf } from '../mcp/message.ts';

/**
 * What agents tell of a turn in a form of their own, as measured of goose 1.52, codex-acp 2.6, Copilot 1.0.102 and gemini 0.61: the protocol has no word for
 * a failure, nor for a request that is made again. Each is so particular that it is looked for whatever agent it is.
 */

/** Messages of an agent on its own work, each told as one piece of the answer: no part of it. */
const notices: readonly RegExp[] = [
  /^Info: (?:Request failed|Response was interrupted) due to [^\n]{1,200}Retrying\.\.\.\s*$/,
  /^Warning: Model metadata for [^\n]{1,200} not found\b/,
];
/** Those after which the answer begins anew. */
const asksAgain = /^Info: .*Retrying\.\.\.\s*$/;

/** Beginning and end of pieces that end an answer as a failure, whatever was said before. Two patterns: one would search every pair of places. */
const failed =
  /^\s*(?:Network error|Ran into this error): |^Error: Failed to get response from the AI model; retried \d+ times\b/;
const asksPerson = /Please re(?:send your message|try if you think)/;

/** Texts with which an answer begins that is an error and nothing else, whatever agent says it, if it says which kind of failure it is. */
const errorTexts: readonly RegExp[] = [
  /^\s*(?:[\w-]{1,30} )?(?:API )?(?:Error|error|ERROR)\b/,
  /^\s*Ran into this error\b/,
  /^\s*(?:Network error|The model returned an empty response)\b/,
];

/** Tells whether a piece of an answer is none. */
export const isNotice = (text: string): boolean => notices.some((each) => each.test(text));

/** Tells whether the answer begins anew after this piece. */
export const isAsked = (text: string): boolean => asksAgain.test(text);

/** Tells whether a piece ends an answer as a failure. */
export const endsBadly = (text: string): boolean =>
  failed.test(text) &&
  (text.startsWith('Error: ') || asksPerson.test(text.slice(text.trimEnd().lastIndexOf('\n') + 1)));

/** Tells whether an answer that is all of a turn may be an error. */
export const looksFailed = (text: string): boolean => errorTexts.some((each) => each.test(text));

/** What an update says of the turn as a whole (codex-acp): that it failed, that it goes on, that a request is made again. */
export function threadSign(update: McpParams): 'failed' | 'active' | 'again' | undefined {
  if (update['sessionUpdate'] !== 'session_info_update') return undefined;
  const { threadStatus, error } = fieldsOf(fieldsOf(update['_meta'])['codex']);
  const { type } = fieldsOf(threadStatus);
  if (type === 'systemError') return 'failed';
  const { message } = fieldsOf(error);
  if (typeof message === 'string' && message.startsWith('Reconnecting...')) return 'again';
  return type === 'active' ? 'active' : undefined;
}
