import type { ClientKind, ProxyAct } from './clients.ts';
import type { Dialect } from './route.ts';
import type { FailureFacts } from '../../src/policy/failures/face.ts';
import type { EventScanner } from './eventScanner.ts';
import { codexErrorOf } from './failedAnswer.ts';

/**
 * The last bytes of a stream that broke, for clients that understand them; undefined where the connection is cut instead. Never a clean end
 * alone, as half an answer would be taken for a whole one, but after a whole call to clients that make it at once and would make it twice.
 * @param bareCalls - indices of calls that have begun without arguments.
 */
export function lastWords(
  dialect: Dialect | undefined,
  does: ProxyAct,
  message: string,
  bareCalls: readonly unknown[] = [],
): string | undefined {
  if (does === 'good end') return bareCalls.length === 0 ? '' : spoilt(bareCalls);
  if (does !== 'error') return undefined;
  switch (dialect) {
    case 'responses':
      return failedResponse('server_error', message);
    case 'messages':
      return event('error', { type: 'error', error: { type: 'overloaded_error', message } });
    case 'chat':
      return `data: ${JSON.stringify({ error: { message, type: 'server_error', param: null, code: 'stream_broken' } })}\n\n`;
    // Its clients know none.
    case 'gemini':
    case undefined:
      return undefined;
  }
}

/** Gives calls of chat completions arguments that are none: at a good end clients would make them with `{}`, which the model has not said. */
function spoilt(indices: readonly unknown[]): string {
  const tool_calls = indices.map((index) => ({ index, function: { arguments: '{' } }));
  return `data: ${JSON.stringify({ choices: [{ index: 0, delta: { tool_calls } }] })}\n\n`;
}

/** The last event of an answer whose reason to end has come, and nothing after it. */
const lastEvents: Readonly<Record<Dialect, string>> = {
  messages: event('message_stop', { type: 'message_stop' }),
  chat: 'data: [DONE]\n\n',
  responses: '',
  gemini: '',
};

/** Makes the only event that Codex reads of an answer that failed. */
function failedResponse(code: string, message: string): string {
  const response = { id: 'resp_unwedge', object: 'response', status: 'failed', output: [] };
  return event('response.failed', { type: 'response.failed', response: { ...response, error: { code, message } } });
}

/** Begins on a line of its own, whatever was sent before. */
function event(type: string, data: object): string {
  return `event: ${type}\ndata: ${JSON.stringify(data)}\n\n`;
}

interface Closing {
  readonly client: ClientKind;
  readonly dialect: Dialect;
  /** True where its connection broke, or fell silent, in place of an end. */
  readonly isBroken: boolean;
  readonly failed: () => FailureFacts;
}

/** The text that the client is still to read of an answer that is over: the last event where the API has sent none, and the error that Codex knows. */
export function closingWords(scanner: EventScanner, { client, dialect, isBroken, failed }: Closing): string {
  if (!scanner.isBetweenEvents) return '';
  if (scanner.hasFailed) {
    if (client !== 'codex' || scanner.errorName === 'response.failed' || dialect !== 'responses') return '';
    const { code, message } = codexErrorOf(scanner.errorData, failed());
    return `\n\n${failedResponse(code, message)}`;
  }
  // The API says what belongs to a clean end, but clients of messages read it as half an answer.
  const isMissing = scanner.isFinished && !scanner.isOver && (isBroken || dialect === 'messages');
  return isMissing ? `\n\n${lastEvents[dialect]}` : '';
}
