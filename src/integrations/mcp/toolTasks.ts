import type { CallToolResult } from '@modelcontextprotocol/client';
import { followTask, type TaskReply } from '../../actors/mcp/followTask.ts';
import { isServerError } from '../../actors/mcp/mcpCall.ts';
import type { McpConnection, McpRequestContext } from '../../actors/mcp/mcpClient.ts';
import type { Clock } from '../../policy/clock.ts';
import { AttemptError } from '../../policy/failures/failure.ts';
import { fieldsOf, type McpParams } from '../../protocol/mcp/message.ts';
import { type McpTask, takesTasks, taskIn, type TaskTools, withTasks } from '../../protocol/mcp/tasks.ts';
import { rpcErrorFacts } from '../../protocol/mcp/toolFailure.ts';
import type { McpToolRequest } from './mcpIntegration.ts';

interface ToolTasksParts {
  readonly clock: Clock;
  readonly tools: TaskTools;
  /** True where a server may go on with a task when the connection to it has ended. */
  readonly mayGoOn: boolean;
  readonly connection: () => McpConnection | undefined;
  /** Asks the server for its tools, where it has not listed them yet. */
  readonly supportOf: (tool: string, connection: McpConnection, context: McpRequestContext) => Promise<unknown>;
  /** Time for which the result of a task of this tool is wanted, in ms. */
  readonly ttlMs: (tool: string) => number;
}

type Context = McpRequestContext & { readonly call: object };

/** Calls of tools that the server carries out as tasks, for callers that hear of the result alone. */
export class ToolTasks {
  readonly #parts: ToolTasksParts;
  /** By call: its task, while another attempt may ask for it. */
  readonly #open = new WeakMap<object, McpTask>();

  constructor(parts: ToolTasksParts) {
    this.#parts = parts;
  }

  /** Tells whether another attempt of a call goes on with the task that it has, and begins none. */
  goesOn(call: object): boolean {
    return this.#parts.mayGoOn && this.#open.has(call);
  }

  /** Calls a tool, as a task where it has to be. @returns its result. @throws {@link AttemptError} of any failure but the tool's own. */
  async call(connection: McpConnection, request: McpToolRequest, context: Context): Promise<CallToolResult> {
    const { clock, tools, supportOf } = this.#parts;
    const { modern, capabilities } = connection;
    let task = this.#open.get(context.call);
    if (task === undefined) {
      const isOffered = modern || takesTasks(capabilities);
      const support = isOffered && !modern ? await supportOf(request.name, connection, context) : undefined;
      const wants = isOffered && tools.wants(request.name, modern, support);
      const asked = wants ? this.#begin(connection, request, context) : connection.callTool(request, context);
      const result = await asked.catch((error: unknown) => {
        if (wants || !modern || !tools.refused(request.name, serverErrorIn(error))) throw error;
        return this.#begin(connection, request, context);
      });
      task = taskIn(result);
      if (task === undefined) return result;
      this.#open.set(context.call, task);
    }
    const isGone = (): boolean => this.#parts.connection() !== connection;
    const ask = async (method: string, params: McpParams): Promise<TaskReply> => {
      try {
        const given = modern ? { ...params, _meta: withTasks({}) } : params;
        return { result: await connection.request(method, given), error: undefined };
      } catch (error) {
        const said = serverErrorIn(error);
        if (said === undefined) throw error;
        return { result: undefined, error: said };
      }
    };
    try {
      return resultOf(await followTask(task, { clock, modern, context, isGone, ask }));
    } finally {
      // After the loss of the connection alone there is something left to ask for.
      if (!isGone()) this.#open.delete(context.call);
    }
  }

  #begin(connection: McpConnection, request: McpToolRequest, context: Context): Promise<CallToolResult> {
    const { name, arguments: given = {}, _meta: meta } = request;
    const ofEra = connection.modern
      ? { _meta: withTasks({ ...meta }) }
      : { _meta: meta, task: { ttl: this.#parts.ttlMs(name) } };
    return connection.request('tools/call', { name, arguments: given, ...ofEra }, context) as Promise<CallToolResult>;
  }
}

/** The error that a server answered; undefined where it did not. */
function serverErrorIn(error: unknown): McpParams | undefined {
  const cause = error instanceof AttemptError ? error.facts.cause : undefined;
  return isServerError(cause) ? { code: cause.code, message: (error as Error).message, data: cause.data } : undefined;
}

function resultOf({ result, error }: TaskReply): CallToolResult {
  if (error !== undefined) {
    const message = String(error['message']);
    throw new AttemptError({ ...rpcErrorFacts(error['code'], message), message, code: error['code'] as number });
  }
  if (Array.isArray(fieldsOf(result)['content'])) return result as CallToolResult;
  const isAsking = result?.['resultType'] === 'input_required';
  const why = isAsking
    ? 'asks its client for something that nobody can answer here'
    : 'ended without a result of a tool';
  throw new AttemptError({ kind: isAsking ? 'permanent' : 'protocol', message: `The task ${why}`, outcome: 'unknown' });
}
