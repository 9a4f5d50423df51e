import type { CallToolResult, Tool } from '@modelcontextprotocol/client';
import type { KnownTools, ToolList } from '../../actors/mcp/mcpTools.ts';
import type { CallPath } from '../../calls/callPath.ts';
import type { CallOptions } from '../../calls/callOptions.ts';
import { CallableIntegration, type Integration } from '../../calls/integration.ts';
import type { Tools } from '../../policy/toolOptions.ts';
import type { Effect } from '../../policy/effects.ts';
import { duration, type KeysOf, signal } from '../../policy/options/optionKeys.ts';
import { readGiven } from '../../policy/options/readOptions.ts';
import type { Outcome } from '../../policy/failures/failure.ts';

/** Marks a request of ours. */
export const byOwnName = Symbol('by its own name');

/** A call of one tool. */
export interface McpToolRequest {
  readonly name: string;
  readonly arguments?: Record<string, unknown> | undefined;
  /** Goes with the request as its `_meta`. @defaultValue none */
  readonly _meta?: Record<string, unknown> | undefined;
  /** True where the name is that of the server, whatever callers call it by: of what we ask ourselves. */
  readonly [byOwnName]?: true;
}

/** Request to the server over its one call path: a call of a tool, or the question which there are. */
export type McpRequest = McpToolRequest | typeof whichTools;
export type McpAnswer = CallToolResult | readonly Tool[];

/** Asks for the list of tools. */
export const whichTools = Symbol('tools/list');

/** Options of one question for the list of tools. */
export type ToolsOptions = Pick<CallOptions<never, never>, 'signal' | 'overallMs'>;

const listKeys = { signal, overallMs: duration() } satisfies KeysOf<ToolsOptions>;

interface McpIntegrationParts {
  readonly path: CallPath<McpRequest, McpAnswer>;
  readonly list: ToolList;
  readonly tools: Tools;
  readonly effect: Effect | undefined;
  /** Counts those of all connections so far. */
  readonly lateAnswers: () => number;
}

/** An MCP server that is kept alive: its tools can be called, and are known also while it is down. */
export interface McpIntegration extends Integration<McpToolRequest, CallToolResult> {
  /** The tools as last listed, which may be by an incarnation that is gone; undefined until the server has listed them once. */
  readonly knownTools: KnownTools | undefined;
  /** Answers that came after their call had ended. They were dropped. */
  readonly lateAnswers: number;
  /**
   * The tools of the server as of now: at once where it has listed them, else it is asked, and waited for while it restarts. Never
   * rejects.
   * @throws TypeError or RangeError at once when an option is wrong.
   */
  tools(options?: ToolsOptions): Promise<Outcome<readonly Tool[]>>;
}

/** An MCP server over its call path. */
export class CallableMcpServer extends CallableIntegration<McpToolRequest, CallToolResult> implements McpIntegration {
  readonly #questions: Integration<McpRequest, McpAnswer>;
  readonly #list: ToolList;
  readonly #lateAnswers: () => number;

  constructor({ path, list, tools, effect, lateAnswers }: McpIntegrationParts) {
    // A call of a tool is answered by the result of one.
    super(path as CallPath<McpToolRequest, CallToolResult>, effect, (input) => tools.get(nameIn(input)));
    this.#questions = new CallableIntegration(path, 'readOnly');
    this.#list = list;
    this.#lateAnswers = lateAnswers;
  }

  get knownTools(): KnownTools | undefined {
    return this.#list.known;
  }

  get lateAnswers(): number {
    return this.#lateAnswers();
  }

  tools(options: ToolsOptions = {}): Promise<Outcome<readonly Tool[]>> {
    readGiven('options', options, listKeys);
    const { known } = this.#list;
    if (known?.current === true) return Promise.resolve({ ok: true, value: known.tools });
    // The question is answered by a list, never by the result of a tool.
    return this.#questions.call(whichTools, { ...options, label: 'tools/list' }) as Promise<Outcome<readonly Tool[]>>;
  }
}

function nameIn(request: unknown): string {
  const { name } = (request ?? {}) as Partial<McpToolRequest>;
  return typeof name === 'string' ? name : '';
}
