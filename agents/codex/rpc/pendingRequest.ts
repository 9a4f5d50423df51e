import { formatDuration } from '../../../src/policy/text/face.ts';
import type { Clock, Timer } from '../../../src/policy/face.ts';
import { AttemptError, type FailureFacts } from '../../../src/policy/failures/face.ts';
import type { RpcError, RpcId } from '../../../src/protocol/face.ts';

export interface RequestOptions {
  /** In ms. @defaultValue none: the answer or the end of the connection */
  readonly limitMs?: number | undefined;
  /** Gives the request up; its answer is dropped. The other side is told nothing. */
  readonly signal?: AbortSignal | undefined;
  /** Sent however many wait and whatever the other side writes: it ends something. @defaultValue false */
  readonly urgent?: boolean | undefined;
}

/** End of a request of ours. */
export interface RequestEnd {
  readonly id: number;
  readonly method: string;
  readonly elapsedMs: number;
  readonly how: 'answered' | 'failed' | 'timeout' | 'given_up' | 'lost';
  /** The limit it had, in ms. */
  readonly limitMs?: number | undefined;
  /** Why it was not answered. */
  readonly facts?: FailureFacts | undefined;
}

/** A request of ours from its sending to its end, which comes once. */
export type PendingRequest = ReturnType<typeof pendingRequest>;

/** @param ended - told of its end before the caller is. Must not throw. */
export function pendingRequest(
  { id, method, limitMs }: Pick<RequestEnd, 'id' | 'method' | 'limitMs'>,
  signal: AbortSignal | undefined,
  clock: Clock,
  ended: (end: RequestEnd) => void,
) {
  const startedAt = clock.now();
  let isOver = false;
  let timer: Timer | undefined;
  let resolve: (value: unknown) => void = () => undefined;
  let reject: (error: AttemptError) => void = () => undefined;
  const answer = new Promise<unknown>((...settle) => {
    [resolve, reject] = settle;
  });
  const end = (how: RequestEnd['how'], facts?: FailureFacts): boolean => {
    if (isOver) return false;
    isOver = true;
    clock.clearTimeout(timer);
    signal?.removeEventListener('abort', giveUp);
    ended({ id, method, elapsedMs: clock.now() - startedAt, how, limitMs, facts });
    return true;
  };
  const fail = (how: Exclude<RequestEnd['how'], 'answered'>, facts: FailureFacts): void => {
    if (end(how, facts)) reject(new AttemptError(facts));
  };
  const giveUp = (): void => fail('given_up', cancelled(method, signal?.reason));
  if (limitMs !== undefined) {
    // An answer that was in the pipe while the event loop was blocked is read in the turn after the late timer.
    const expire = (): void => fail('timeout', timedOut(method, limitMs));
    timer = clock.setTimeout(() => clock.nextTurn(expire), limitMs, { running: true });
  }
  signal?.addEventListener('abort', giveUp, { once: true });
  return {
    id,
    method,
    /** Rejects with an {@link AttemptError} whose facts say what is known. */
    answer,
    answered(value: unknown): void {
      if (end('answered')) resolve(value);
    },
    fail,
  };
}

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
function cancelled(method: string, reason: unknown): FailureFacts {
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
