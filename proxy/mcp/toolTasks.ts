import { followTask, type TaskReply } from '../../src/actors/mcp/face.ts';
import type { AttemptContext } from '../../src/calls/face.ts';
import * as mcp from '../../src/protocol/mcp/face.ts';
import { withParamText } from '../wire/rewrite.ts';
import { answerWith } from '../wire/syntheticAnswer.ts';
import type { ClientCall } from './clientCall.ts';
import { textOf } from './outlet.ts';
import type { ProxyScope } from './proxyScope.ts';
import type { Wire } from './wire.ts';

/** Begins the state that a client brings back with its answers to what a task asked. */
const statePrefix = 'unwedge-task:';

/** Calls of tools that the server carries out as tasks, for a client that does not know them: it hears of the result alone. */
export class ToolTasks {
  readonly #scope: ProxyScope;
  readonly #tools: mcp.TaskTools;

  constructor(scope: ProxyScope) {
    this.#scope = scope;
    this.#tools = new mcp.TaskTools(scope.settings.tasks);
  }

  /** Tells whether another attempt of a call goes on with the task that it has, and begins none. */
  goesOn(call: ClientCall): boolean {
    return this.#scope.settings.server.mayGoOn && call.task !== undefined;
  }

  /** Finds the task that a call goes on with: its own, or the one whose question it brings the answers to. */
  open(call: ClientCall): mcp.McpTask | undefined {
    const { requestState: state, inputResponses } = call.request.params;
    if (this.goesOn(call)) return call.task;
    if (typeof state !== 'string' || !state.startsWith(statePrefix)) return undefined;
    call.inputs = mcp.fieldsOf(inputResponses);
    const times = { pollMs: 0, ttlMs: Number.POSITIVE_INFINITY };
    return (call.task = { id: state.slice(statePrefix.length), status: 'working', told: {}, ...times });
  }

  /** Returns the line that a call is written in: as the client wrote it, or as a task. */
  lineOf(call: ClientCall, line: Uint8Array): Uint8Array {
    const { settings, record } = this.#scope;
    const { tool, modern, asTask, inBatch, request } = call;
    const mayBe = modern ? !knowsTasks(call) : mcp.takesTasks(record.handshake?.['capabilities']);
    if (tool === undefined || asTask || inBatch || !mayBe) return line;
    call.ownTask = this.#tools.wants(tool, modern, record.tools.taskSupportOf(tool));
    if (!call.ownTask) return line;
    if (modern) return Buffer.from(withParamText(textOf(line), mcp.tasksPath, {}));
    const ttl = settings.limitsOf(request.method, tool).overallMs;
    return Buffer.from(withParamText(textOf(line), ['task'], { ttl }));
  }

  /** Tells what follows from an answer: nothing, as it is the client's; the call is written once more, as a task; or it is one now. */
  after(call: ClientCall, { result, error }: mcp.McpAnswer): mcp.McpTask | 'again' | undefined {
    const { tool, modern, ownTask, inBatch } = call;
    if (ownTask) return (call.task = mcp.taskIn(result));
    const mayBe = modern && tool !== undefined && !inBatch && !knowsTasks(call);
    return mayBe && this.#tools.refused(tool, error) ? 'again' : undefined;
  }

  /** Follows the task of a call to its end, and answers the client. Rejects when it is lost. */
  async follow(call: ClientCall, task: mcp.McpTask, wire: Wire, context: AttemptContext): Promise<mcp.McpAnswer> {
    const { modern, inputs, request } = call;
    const { clock } = this.#scope;
    const isGone = (): boolean => this.#scope.wire !== wire;
    // With what the call said of its client.
    const { progressToken: _, ...meta } = mcp.fieldsOf(request.params['_meta']);
    const own = modern ? { _meta: mcp.withTasks(meta) } : {};
    const ask = (method: string, params: object): Promise<TaskReply> => wire.reply(method, { ...params, ...own });
    try {
      const keys = Object.keys(inputs);
      const update = { taskId: task.id, inputResponses: inputs };
      // Sent again after a loss: the server leaves aside what was answered.
      const updated = keys.length > 0 ? await ask('tasks/update', update) : undefined;
      const port = { clock, modern, context, isGone, ask };
      const { result, error } = updated?.error === undefined ? await followTask(task, port, keys) : updated;
      const isAsking = result?.['resultType'] === 'input_required';
      const told = isAsking ? { ...result, requestState: `${statePrefix}${task.id}` } : result;
      const answer = { kind: 'answer', key: undefined, result: told, error, flaw: undefined } as const;
      call.deliver(answerWith({ id: request.id, modern }, answer, undefined), answer);
      return answer;
    } finally {
      // After the loss of the server alone there is something left to ask for.
      if (!isGone()) call.task = undefined;
    }
  }
}

/** Tells whether the client of a request of the stateless era says that it knows tasks. */
export function knowsTasks({ request }: ClientCall): boolean {
  return mcp.valueAt(request.params, mcp.tasksPath) !== undefined;
}
