import type { Clock } from '../../../policy/clock.ts';
import type { FailureFacts } from '../../../policy/failure.ts';
import { inTime } from '../../../policy/inTime.ts';
import { rpcErrors } from '../../../protocol/jsonRpc.ts';
import { readMessage } from '../../../protocol/mcp/message.ts';
import type { OpenRequests } from './openRequests.ts';
import type { PostExchange } from './postExchange.ts';

/** The server cannot go on with the versions it was connected to with. */
const unsupportedVersion = -32_022;

/** An end that is to be expected: servers forget sessions. What was refused for it was never begun. */
export function sessionGone(status: number): FailureFacts {
  return {
    kind: 'crash',
    reason: 'connection_closed',
    message: `The server does not know the session any more (HTTP ${status})`,
    outcome: 'not_started',
    status,
    breaker: 'ignored',
  };
}

/**
 * Whether the server refused a request because it does not know its session: 404, or 400 that names the session, where one was sent. A server
 * also answers 404 to methods that it does not know, and says so in the body.
 */
export function isSessionRefusal(status: number, text: string, session: string | undefined): boolean {
  if (session === undefined || (status !== 404 && status !== 400)) return false;
  const message = readMessage(text);
  const isAnswer = message.kind === 'answer' && message.error !== undefined;
  if (isAnswer && message.error?.['code'] === rpcErrors.methodNotFound) return false;
  return status === 404 || /session/i.test(text);
}

/** What it means when a server of the stateless era refuses a request like one that is none any more; undefined when it does not. */
export function eraGone(status: number, text: string, requests: OpenRequests): FailureFacts | undefined {
  // What is too long, say, concerns one request.
  if (![400, 404, 405].includes(status)) return undefined;
  const message = readMessage(text);
  const isAnswer = message.kind === 'answer' && message.error !== undefined;
  const names = isAnswer && message.key !== undefined && requests.has(message.key);
  if (names && message.error?.['code'] !== unsupportedVersion) return undefined;
  return {
    kind: 'crash',
    reason: 'connection_closed',
    message: 'The server does not speak the version of the protocol any more that it was connected to with',
    outcome: 'not_started',
    breaker: 'ignored',
  };
}

/** Resolves when every exchange is known to be refused or taken, at most after `limitMs`. */
export async function afterLoss(
  clock: Clock,
  limitMs: number,
  exchanges: () => readonly PostExchange[],
): Promise<void> {
  const heard = Promise.all(exchanges().map((each) => each.headers));
  await inTime(heard, { clock, limitMs });
}
