import type { McpAnswer, McpRequest } from '../../src/protocol/mcp/face.ts';
import { answerOfFailure, isHopeless } from '../wire/syntheticAnswer.ts';

/**
 * The answer to a request that was not passed on, as its server did not take the handshake: whatever it would have done, it has not.
 * @param error - what the server said to the handshake, or its proxy in its place; undefined while it has said nothing.
 */
export function notPassedOn(
  { id, method, params }: McpRequest,
  server: string,
  error: McpAnswer['error'],
  elapsedMs: number,
): string {
  // Words of its proxy on the handshake, and its advice about it, are not about this request.
  const said = String(error?.['message']).split(/: it (?:failed|was not started)/, 1)[0];
  const why = error === undefined ? 'it is still starting' : said;
  const failure = {
    kind: 'unavailable',
    message: `${server} has not come up (${why})`,
    outcome: 'not_started',
    integration: server,
    attempts: 0,
    // A program that is not there is not there for this request either.
    retryable: !isHopeless(error),
  } as const;
  return answerOfFailure({ id, method, modern: false, asTask: params['task'] !== undefined }, failure, elapsedMs, '');
}
