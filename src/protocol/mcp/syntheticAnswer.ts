import { rpcErrors } from '../jsonRpc.ts';
import type { Failure } from '../../policy/failure.ts';
import { syntheticResult } from '../../policy/syntheticResult.ts';
import type { McpId } from './message.ts';

/** Where an answer of ours says what is known, for programs. */
const detailsField = 'unwedge/failure';

/** A request that is answered in place of its server. */
export interface Unanswered {
  readonly id: McpId;
  readonly method: string;
  /** Whether it is of the era without a handshake. */
  readonly modern: boolean;
  /** Whether it asked for a task, which a result of a tool is no answer to. */
  readonly asTask: boolean;
}

/**
 * The answer to a request that its server did not answer, as one line: a result with `isError` to a call of a tool, which the agent
 * reads, and a JSON-RPC error to any other.
 * @param stderr - what the server said last, on one line; empty when it is of no interest.
 */
export function answerOfFailure(request: Unanswered, failure: Failure, elapsedMs: number, stderr: string): string {
  const { id, method, modern, asTask } = request;
  const { error, kind, outcome, attempts, retryable, retryAfterMs } = syntheticResult(failure, Math.round(elapsedMs));
  const text = stderr === '' ? error : `${error} Last lines of the server on stderr: ${stderr}`;
  const details = {
    kind,
    reason: failure.reason,
    outcome,
    elapsedMs: Math.round(elapsedMs),
    attempts,
    retryable,
    retryAfterMs,
  };
  if (method !== 'tools/call' || asTask) return errorAnswer(id, rpcErrors.internal, text, { [detailsField]: details });
  return resultAnswer(id, {
    ...(modern && { resultType: 'complete' }),
    content: [{ type: 'text', text }],
    isError: true,
    _meta: { [detailsField]: details },
  });
}

export function resultAnswer(id: McpId, result: object): string {
  return line({ id, result });
}

/** @param id - null when it is not known which request it answers. */
export function errorAnswer(id: McpId | null, code: number, message: string, data?: object): string {
  return line({ id, error: { code, message, data } });
}

export function requestLine(id: McpId, method: string, params: object | undefined): string {
  return line({ id, method, params });
}

export function notificationLine(method: string, params?: object): string {
  return line({ method, params });
}

/** What ends a request of either side. */
export function cancelledLine(requestId: McpId, reason: string): string {
  return notificationLine('notifications/cancelled', { requestId, reason });
}

// JSON has no bare line breaks: a message is always one line.
function line(message: object): string {
  return `${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`;
}
