import { fieldsOf, type McpAnswer, type McpParams } from './message.ts';

/** Name of the extension that tasks of the stateless era are (2026-07-28). */
export const tasksExtension = 'io.modelcontextprotocol/tasks';
/** Place in the params where a request of that era says that its client knows tasks. */
export const tasksPath = ['_meta', 'io.modelcontextprotocol/clientCapabilities', 'extensions', tasksExtension] as const;

/** The `_meta` of a request of that era whose client knows tasks. */
export function withTasks(meta: McpParams): McpParams {
  const capabilities = fieldsOf(meta[tasksPath[1]]);
  const extensions = { ...fieldsOf(capabilities['extensions']), [tasksExtension]: {} };
  return { ...meta, [tasksPath[1]]: { ...capabilities, extensions } };
}

/** Calls that are tasks for callers that know none: of tools that take no others, of those that allow it as well, none. */
export const taskChoices = ['required', 'optional', 'never'] as const;
export type TaskChoice = (typeof taskChoices)[number];

/** A task as its server has told it; times in ms. */
export interface McpTask {
  readonly id: string;
  readonly status: 'working' | 'input_required' | 'completed' | 'failed' | 'cancelled';
  readonly message?: string | undefined;
  /** From 100 to 60,000; 1000 where the server says nothing. */
  readonly pollMs: number;
  /** Infinity where the server says none. */
  readonly ttlMs: number;
  readonly told: McpParams;
}

/** Finds the task that a result is or holds, in either era; undefined when it is none. */
export function taskIn(result: McpParams | undefined): McpTask | undefined {
  const held = fieldsOf(result?.['task']);
  const told = typeof held['taskId'] === 'string' ? held : fieldsOf(result);
  const { taskId: id, status, statusMessage, pollIntervalMs, pollInterval, ttlMs, ttl } = told;
  if (typeof id !== 'string' || typeof status !== 'string') return undefined;
  const ms = (value: unknown, other: number): number => (typeof value === 'number' && value > 0 ? value : other);
  const times = {
    pollMs: Math.min(Math.max(ms(pollIntervalMs ?? pollInterval, 1000), 100), 60_000),
    ttlMs: ms(ttlMs ?? ttl, Number.POSITIVE_INFINITY),
  };
  const message = typeof statusMessage === 'string' ? statusMessage : undefined;
  return { id, status: status as McpTask['status'], message, told, ...times };
}

/** Tells whether a server with a handshake takes calls of tools as tasks. */
export function takesTasks(capabilities: unknown): boolean {
  return valueAt(capabilities, ['tasks', 'requests', 'tools', 'call']) !== undefined;
}

/** A client may make up names of tools for ever. */
const mostTools = 1000;
const missingCapability = -32_021;

/** The tools of a server that are called as tasks for callers that know none. */
export class TaskTools {
  readonly #choice: TaskChoice;
  /** Tools that a server of the stateless era serves as tasks alone. */
  readonly #required = new Set<string>();

  constructor(choice: TaskChoice) {
    this.#choice = choice;
  }

  /** Tells whether a call is to be a task. @param support - what its tool says of tasks; none does in the stateless era. */
  wants(tool: string, modern: boolean, support: unknown): boolean {
    if (this.#choice === 'never' || (modern && this.#required.has(tool))) return this.#choice !== 'never';
    return support === 'required' || (this.#choice === 'optional' && (modern || support === 'optional'));
  }

  /** Tells whether a server did nothing, as the call came of a client that knows no tasks: it is made once more. */
  refused(tool: string, error: McpAnswer['error']): boolean {
    const wanted = valueAt(error, ['data', 'requiredCapabilities', 'extensions', tasksExtension]);
    if (error?.['code'] !== missingCapability || wanted === undefined || this.#required.size > mostTools) return false;
    this.#required.add(tool);
    return this.#choice !== 'never';
  }
}

/** The value that these names lead to; undefined where there is none. */
export function valueAt(value: unknown, names: readonly string[]): unknown {
  return names.reduce<unknown>((found, name) => fieldsOf(found)[name], value);
}
