import { formatDuration } from '../../../src/policy/duration.ts';
import type { FailureFacts } from '../../../src/policy/failure.ts';
import type { RpcError, RpcId } from '../../../src/protocol/jsonRpc.ts';

/** An error response of the other side. */
export class RpcResponseError extends Error {
  override readonly name = 'RpcResponseError';
  readonly code: number;
  readonly data: unknown;
  readonly method: string;
  readonly requestId: RpcId;
  constructor(error: RpcError, method: string, requestId: RpcId) {
    super(error.message);
    this.code = error.code;
    this.data = error.data;
    this.method = method;
    this.requestId = requestId;
  }
}

/** No answer came in time; what became of the request is not known. */
export function timedOut(method: string, limitMs: number): FailureFacts {
  return {
    kind: 'timeout',
    reason: 'attempt_timeout',
    message: `No answer to ${method} within ${formatDuration(limitMs)}`,
    outcome: 'unknown',
  };
}

/** Its caller does not wait for the answer any more. */
export function cancelled(method: string, reason: unknown): FailureFacts {
  return { kind: 'cancelled', message: `${method} was given up`, outcome: 'cancelled', cause: reason };
}

/** Gives the facts of an answer that is none. */
export function unreadable(method: string): FailureFacts {
  return { kind: 'protocol', message: `The answer to ${method} cannot be read`, outcome: 'unknown' };
}

/** It did not reach the other side. */
export function unsent(method: string): FailureFacts {
  return {
    kind: 'crash',
    reason: 'connection_lost',
    message: `${method} could not be sent: the other side reads no more`,
    outcome: 'not_started',
  };
}

/** It is the mistake of its caller. */
export function unwritable(method: string, error: unknown): FailureFacts {
  const message = `The parameters of ${method} cannot be written as JSON`;
  return { kind: 'permanent', message, outcome: 'not_started', cause: error };
}
