import type { Clock } from '../../policy/clock.ts';
import { AttemptError, type FailureFacts } from '../../policy/failures/failure.ts';
import { inTime } from '../../policy/inTime.ts';
import { rpcErrors } from '../../protocol/jsonRpc.ts';
import { fieldsOf, type McpAnswer, type McpParams } from '../../protocol/mcp/message.ts';
import { type McpTask, taskIn } from '../../protocol/mcp/tasks.ts';
import type { McpRequestContext } from './mcpClient.ts';

export type TaskReply = Pick<McpAnswer, 'result' | 'error'>;

/** Way to the server of a task, and to whom waits for it. */
export interface TaskPort {
  readonly clock: Clock;
  /** True in the era without a handshake, where the result is part of the task. */
  readonly modern: boolean;
  readonly context: McpRequestContext;
  /** Asks the server. Rejects with an {@link AttemptError} when no answer came. */
  ask(method: string, params: McpParams): Promise<TaskReply>;
  /** Tells whether the connection is gone, over which nobody can be told to cancel. */
  isGone(): boolean;
}

/** Questions in a row that may stay without an answer. */
const mostUnanswered = 3;

/**
 * Follows a task to its end. A change of its status or its words is a sign of life; when nobody waits any more the server is told to cancel it.
 * @param answered - keys of what it asked that were answered already.
 * @returns the answer to the call that began it, or what it asks (`input_required`) of a client of the stateless era; the other is asked by requests.
 * @throws {@link AttemptError} when it is lost, was cancelled by its server, or outlived its time.
 */
export async function followTask(begun: McpTask, port: TaskPort, answered: readonly string[] = []): Promise<TaskReply> {
  const { context, clock, modern } = port;
  const { signal } = context;
  const params = { taskId: begun.id };
  const since = clock.now();
  let task = begun;
  let unanswered = 0;
  let restMs = 0;
  /** A server may send what it asks with the question for the result alone. */
  let result: Promise<TaskReply | 'none'> | undefined;

  const ask = async (method: string): Promise<TaskReply | 'none'> => {
    try {
      const reply = await port.ask(method, params);
      unanswered = 0;
      return reply;
    } catch (error) {
      if (!(error instanceof AttemptError) || ++unanswered >= mostUnanswered) throw error;
      restMs = error.facts.retryAfterMs ?? 0;
      return 'none';
    }
  };
  const cancel = (): void => {
    if (!port.isGone()) port.ask('tasks/cancel', params).catch(() => undefined);
  };
  signal.addEventListener('abort', cancel, { once: true });
  if (signal.aborted) cancel();
  context.touch();
  try {
    while (!signal.aborted) {
      const { status, message, told, pollMs, ttlMs } = task;
      if (status === 'cancelled')
        throw lost('permanent', `The server cancelled the task: ${message ?? 'no reason given'}`);
      if (modern) {
        const inputRequests = fieldsOf(told['inputRequests']);
        if (status === 'completed') return { result: fieldsOf(told['result']), error: undefined };
        if (status === 'failed') return { result: undefined, error: fieldsOf(told['error']) };
        if (Object.keys(inputRequests).some((key) => !answered.includes(key)))
          return { result: { resultType: 'input_required', inputRequests }, error: undefined };
      } else if (status !== 'working' && result === undefined) {
        result = ask('tasks/result');
        result.catch(() => undefined);
      }
      if (clock.now() - since > ttlMs)
        throw lost('timeout', `The task did not end within its time to live of ${ttlMs} ms`);
      // Nobody answers a promise of its own: one that lasts would keep all that ever waited for it.
      const open = result ?? new Promise<undefined>(() => undefined);
      const reply = await inTime(open, { clock, signal, limitMs: Math.max(pollMs, restMs) });
      restMs = 0;
      if (reply === 'none') result = undefined;
      else if (reply !== undefined) return withWords(task, reply);
      const state = signal.aborted ? 'none' : await ask('tasks/get');
      if (state === 'none') continue;
      if (state.error?.['code'] === rpcErrors.invalidParams)
        throw lost(
          'crash',
          `The server does not know the task of this call any more: ${String(state.error['message'])}`,
        );
      task = taskIn(state.result) ?? task;
      if (task.status !== status || task.message !== message) context.touch();
    }
    throw lost('cancelled', 'given up');
  } finally {
    signal.removeEventListener('abort', cancel);
  }
}

function lost(kind: FailureFacts['kind'], message: string): AttemptError {
  const ofCrash: Partial<FailureFacts> = kind === 'crash' ? { reason: 'connection_lost', breaker: 'ignored' } : {};
  return new AttemptError({ kind, message, outcome: 'unknown', ...ofCrash });
}

/** Adds the words of a failed task to its error: servers of the official SDK say there only that nothing is stored. */
function withWords({ status, message }: McpTask, { result, error }: TaskReply): TaskReply {
  if (error === undefined || status !== 'failed' || message === undefined) return { result, error };
  return { result, error: { ...error, message: `${String(error['message'])} (the task says: ${message})` } };
}
