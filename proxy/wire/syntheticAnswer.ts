import { errorAnswer, notificationLine, rpcErrors, rpcLine } from '../../src/protocol/face.ts';
import { type Failure, syntheticResult } from '../../src/policy/failures/face.ts';
import { type McpAnswer, type McpId, fieldsOf } from '../../src/protocol/mcp/face.ts';

/** Field in which an answer of ours says what is known, for programs. */
const detailsField = 'unwedge/failure';

/** Field in which an answer that its server did not give to its request says how it is known. */
const reconciledField = 'unwedge/reconciled';

/** A request that is answered in place of its server. */
interface Unanswered {
  readonly id: McpId;
  readonly method: string;
  /** True where it is of the era without a handshake. */
  readonly modern: boolean;
  /** True where it asked for a task, which a result of a tool is no answer to. */
  readonly asTask: boolean;
}

/**
 * The answer to a request that its server did not answer, as one line: a result with `isError` to a call of a tool, which the agent
 * reads, and a JSON-RPC error to any other.
 * @param stderr - what the server said last, on one line; empty when it is of no interest.
 */
export function answerOfFailure(request: Unanswered, failure: Failure, elapsedMs: number, stderr: string): string {
  const { id, method, modern, asTask } = request;
  const { error, kind, outcome, how, attempts, retryable, retryAfterMs, keptUntil } = syntheticResult(
    failure,
    Math.round(elapsedMs),
  );
  // The error that ended its start has its last words already.
  const text =
    stderr === '' || error.includes(stderr) ? error : `${error} Last lines of the server on stderr: ${stderr}`;
  const details = {
    kind,
    reason: failure.reason,
    outcome,
    how,
    elapsedMs: Math.round(elapsedMs),
    attempts,
    retryable,
    retryAfterMs,
    keptUntil,
  };
  if (method !== 'tools/call' || asTask) return errorAnswer(id, rpcErrors.internal, text, { [detailsField]: details });
  return resultAnswer(id, {
    ...(modern && { resultType: 'complete' }),
    content: [{ type: 'text', text }],
    isError: true,
    _meta: { [detailsField]: details },
  });
}

/** Tells whether an error that stands for the answer of a server says that to try again does not help. */
export function isHopeless(error: McpAnswer['error']): boolean {
  return fieldsOf(fieldsOf(error?.['data'])[detailsField])['retryable'] === false;
}

/** An answer as one line, to another request than the one that it was given to. @param how - it is known, in words. */
export function answerWith(
  { id, modern }: Pick<Unanswered, 'id' | 'modern'>,
  { result, error }: McpAnswer,
  how: string | undefined,
): string {
  if (error !== undefined) return rpcLine({ id, error });
  const { _meta, ...own } = fieldsOf(result);
  const meta = { ...fieldsOf(_meta), ...(how !== undefined && { [reconciledField]: how }) };
  return resultAnswer(id, { ...(modern && { resultType: 'complete' }), ...own, _meta: meta });
}

/** An error of a server with a sentence of ours, and what it says for programs, as one line. */
export function withNote(id: McpId, { result, error }: McpAnswer, note: string, details: object): string {
  if (error !== undefined)
    return rpcLine({ id, error: { ...error, message: `${String(error['message'])} (${note})` } });
  const { content, _meta, ...own } = fieldsOf(result);
  const texts: readonly unknown[] = Array.isArray(content) ? content : [];
  return resultAnswer(id, {
    ...own,
    content: [...texts, { type: 'text', text: note }],
    _meta: { ...fieldsOf(_meta), [detailsField]: details },
  });
}

export function resultAnswer(id: McpId, result: object): string {
  return rpcLine({ id, result });
}

/** An error as a server has written it. */
export function errorAnswerOf(id: McpId, error: object): string {
  return rpcLine({ id, error });
}

/** Writes what ends a request of either side. */
export function cancelledLine(requestId: McpId, reason: string): string {
  return notificationLine('notifications/cancelled', { requestId, reason });
}
