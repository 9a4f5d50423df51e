import type { Clock } from '../../../policy/clock.ts';
import type { FailureFacts } from '../../../policy/failures/failure.ts';
import { inTime } from '../../../policy/inTime.ts';
import { rpcErrors } from '../../../protocol/jsonRpc.ts';
import { readMessage } from '../../../protocol/mcp/message.ts';
import type { OpenRequests } from './openRequests.ts';
import type { PostExchange } from './postExchange.ts';
import { namesSession, type Refusal } from './sessionDoubt.ts';

/** The server cannot go on with the versions it was connected to with. */
const unsupportedVersion = -32_022;

/**
 * The end of a link whose session is gone. What was refused for it was never begun.
 * @param isExpected - whether it counts as no failure: servers forget sessions.
 */
export function sessionGone(how: string, status: number | undefined, isExpected: boolean): FailureFacts {
  return {
    kind: 'crash',
    reason: 'connection_closed',
    message: `The server does not know the session any more (${how})`,
    outcome: 'not_started',
    status,
    ...(isExpected && { breaker: 'ignored' as const }),
  };
}

/** Gives the facts for a request that found out. It may have begun: nothing said of it told that it was refused for its session. */
export function lostWithSession(how: string, status: number | undefined): FailureFacts {
  const message = `The server does not know the session any more: ${how}`;
  return { kind: 'crash', reason: 'connection_lost', message, outcome: 'unknown', status, breaker: 'ignored' };
}

const greetings: ReadonlySet<string> = new Set([
  'initialize',
  'server/discover',
  'ping',
  'tools/list',
  'prompts/list',
  'resources/list',
  'resources/templates/list',
  'logging/setLevel',
]);

/** Tells whether a request is one of those with which a session begins: a bridge answers them whose server is dead. */
export function isOfGreeting(method: string): boolean {
  return greetings.has(method);
}

/** Statuses of a request that was not carried out, where they are said of its session. */
const refusing: ReadonlySet<number | undefined> = new Set([400, 401, 404, 409, 410, 422]);

/** Tells whether a request of a session that is gone was refused for that: it was never begun. */
export function isRefusedFor({ status, text }: Refusal): boolean {
  return refusing.has(status) && (status === 404 || namesSession(text));
}

/** Tells whether the status alone says that the session is gone: 404, unless the body says that it is the method that is not known. */
export function isSessionRefusal(status: number, text: string, session: string | undefined): boolean {
  if (session === undefined || status !== 404) return false;
  const message = readMessage(text);
  const isAnswer = message.kind === 'answer' && message.error !== undefined;
  return !(isAnswer && message.error?.['code'] === rpcErrors.methodNotFound);
}

/** Gives the facts when a server of the stateless era refuses a request like one that is none any more; undefined when it does not. */
export function eraGone(status: number, text: string, requests: OpenRequests): FailureFacts | undefined {
  // A text that is too long, say, concerns one request.
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
