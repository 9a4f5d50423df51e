import type { ClientKind, Dialect } from './route.ts';

/**
 * The last bytes of a stream that broke, for clients that understand them; undefined where the connection is cut instead. Never a clean end
 * alone: half an answer would be taken for a whole one. Claude Code asks again as a stream after a cut only; Codex shows the message of
 * `response.failed`; the official clients throw what an error event says.
 */
export function lastWords(dialect: Dialect | undefined, client: ClientKind, message: string): string | undefined {
  if (client === 'claude') return undefined;
  if (dialect === 'responses') return event('response.failed', failedResponse(message));
  if (client === 'codex') return undefined;
  switch (dialect) {
    case 'messages':
      return event('error', { type: 'error', error: { type: 'overloaded_error', message } });
    case 'chat':
      return `data: ${JSON.stringify({ error: { message, type: 'server_error', param: null, code: 'stream_broken' } })}\n\n`;
    case undefined:
      return undefined;
  }
}

function failedResponse(message: string): object {
  const response = { id: 'resp_unwedge', object: 'response', status: 'failed', output: [] };
  return { type: 'response.failed', response: { ...response, error: { code: 'server_error', message } } };
}

/** Begins on a line of its own, whatever was sent before. */
function event(type: string, data: object): string {
  return `event: ${type}\ndata: ${JSON.stringify(data)}\n\n`;
}
