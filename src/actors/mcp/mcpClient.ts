import {
  type CallToolResult,
  Client,
  type Implementation,
  type JSONRPCMessage,
  type Progress,
  parseJSONRPCMessage,
  type RequestOptions,
  type StandardSchemaV1,
  type Tool,
} from '@modelcontextprotocol/client';
import type { TraceContext } from '../../calls/tracing.ts';
import type { Clock } from '../../policy/clock.ts';
import { AttemptError, type FailureFacts } from '../../policy/failures/failure.ts';
import { fieldsOf } from '../../protocol/mcp/message.ts';
import { ProgressMark } from '../../protocol/mcp/methods.ts';
import { callFacts, lostRequestIn, plain, unlimitedMs } from './mcpCall.ts';

/** Context of a request: it hears its caller, and tells it. */
export interface McpRequestContext {
  /** Ends the request: the server gets `notifications/cancelled`, a late answer is dropped. */
  readonly signal: AbortSignal;
  /** Called for every sign of life of this request. */
  touch(): void;
  /** Gives it so much longer, in ms, while a person is waited for. */
  readonly extend?: ((ms: number) => void) | undefined;
  /** The call that it is an attempt of. */
  readonly call?: object | undefined;
  /** Goes with the request in its `_meta`, so that what the server does belongs to the same trace. */
  readonly traceContext?: TraceContext | undefined;
}

/**
 * A connection to an MCP server whose handshake is over, until it is lost. Its requests have no limit of their own, and
 * reject with an {@link AttemptError} whose facts say what is known.
 */
export interface McpConnection {
  /** Pid of the server's process; undefined when it is none of ours. */
  readonly pid: number | undefined;
  readonly server: { readonly name: string; readonly version: string } | undefined;
  /** Instructions of the server for its callers. */
  readonly instructions?: string | undefined;
  /** Answers that came when nobody waited for them any more; they were dropped. */
  readonly lateAnswers: number;
  /** True where it is of the era without a handshake. */
  readonly modern: boolean;
  readonly capabilities: unknown;
  /** The result as the tool gave it, its own errors (`isError`) included. */
  callTool(
    params: {
      readonly name: string;
      readonly arguments?: Record<string, unknown> | undefined;
      readonly _meta?: Record<string, unknown> | undefined;
    },
    context: McpRequestContext,
  ): Promise<CallToolResult>;
  listTools(context?: McpRequestContext): Promise<Tool[]>;
  /** Has `listener` told, in place of the one before, when the server says that its tools have changed. It must not throw. */
  onToolsChanged(listener: () => void): void;
  /** Tells whether the server answers, with anything. @param timeoutMs - above 0; by default the server's `pingMs`. Never rejects. */
  ping(timeoutMs?: number): Promise<boolean>;
  /** Any request of the protocol. */
  request(
    method: string,
    params: Record<string, unknown> | undefined,
    context?: McpRequestContext,
  ): Promise<Record<string, unknown>>;
  /** Ends the connection and the server at once, for this reason. */
  kill(reason: FailureFacts): void;
}

interface McpConnectionParts {
  readonly pid: number | undefined;
  readonly client: Client;
  /** Calls of tools that have no answer. @defaultValue known to nobody else */
  readonly calls?: Set<McpRequestContext> | undefined;
  readonly clock: Clock;
  readonly pingMs: number;
  /** Why the connection ended, once it has. */
  readonly lost: () => FailureFacts | undefined;
  readonly lateAnswers: () => number;
  readonly kill: (reason: FailureFacts) => void;
  /** Has `listener` told the method of each notification of the server. */
  readonly onNotice: (listener: (method: string) => void) => void;
}

const mostPages = 1000;

/**
 * A client of the SDK that is not connected yet.
 * @param info - our name and version, for the server.
 * @param asksEra - whether it asks the server for its era first, and takes the handshake where it knows of none.
 * @param elicits - whether it has people to ask.
 */
export function createSdkClient(info: Implementation, asksEra = false, elicits = false): Client {
  const capabilities = elicits ? { elicitation: {} } : {};
  return new Client(info, { capabilities, ...(asksEra && { versionNegotiation: { mode: 'auto' } }) });
}

/** The message that a value is, undefined when it is none. A task, which the client takes for no result, is the member `task` of one. */
export function readMessage(value: unknown): JSONRPCMessage | undefined {
  const task = fieldsOf(fieldsOf(value)['result']);
  const isTask = task['resultType'] === 'task';
  try {
    return parseJSONRPCMessage(
      isTask ? { ...fieldsOf(value), result: { resultType: 'complete', content: [], task } } : value,
    );
  } catch {
    return undefined;
  }
}

/** Takes a result as it is: a caller that asks for a method by its name knows what it gives. */
const anyResult: StandardSchemaV1<unknown, Record<string, unknown>> = {
  '~standard': { version: 1, vendor: 'unwedge', validate: (value) => ({ value: value as Record<string, unknown> }) },
};

export function createMcpConnection(parts: McpConnectionParts): McpConnection {
  const { client, clock, lost, kill, calls = new Set() } = parts;
  // On stdio what is logged names no request: of one call alone it is a sign of life, of several it says nothing.
  parts.onNotice((method) => {
    if (method === 'notifications/message' && calls.size === 1) for (const call of calls) call.touch();
  });

  /** Runs one request of the client; `context` ends it and hears of its progress. */
  const run = async <T>(
    context: McpRequestContext | undefined,
    request: (options: Required<Pick<RequestOptions, 'signal' | 'timeout' | 'onprogress'>>) => Promise<T>,
  ): Promise<T> => {
    // The client tells the server the reason as it stands: an error would be told with its class.
    const own = new AbortController();
    const mark = new ProgressMark();
    const onprogress = (progress: Progress): void => {
      if (mark.moves({ ...progress })) context?.touch();
    };
    const abort = (): void => own.abort(plain(context?.signal.reason ?? 'cancelled'));
    if (context?.signal.aborted === true) throw new AttemptError(notStarted(context.signal.reason));
    context?.signal.addEventListener('abort', abort, { once: true });
    try {
      return await request({ signal: own.signal, timeout: unlimitedMs, onprogress });
    } catch (error) {
      throw new AttemptError(callFacts(error, { aborted: own.signal.aborted, lost: lost() }));
    } finally {
      context?.signal.removeEventListener('abort', abort);
    }
  };

  return {
    pid: parts.pid,
    server: client.getServerVersion(),
    instructions: client.getInstructions(),
    get lateAnswers() {
      return parts.lateAnswers();
    },
    modern: client.getProtocolEra() === 'modern',
    capabilities: client.getServerCapabilities(),
    async callTool({ name, arguments: given, _meta: meta }, context) {
      const asked = given === undefined ? { name } : { name, arguments: given };
      const params = meta === undefined ? asked : { ...asked, _meta: meta };
      calls.add(context);
      try {
        const traced = withTrace(params, context);
        return await run(context, (options) => client.request({ method: 'tools/call', params: traced }, options));
      } finally {
        calls.delete(context);
      }
    },
    async listTools(context) {
      const tools: Tool[] = [];
      let cursor: string | undefined;
      for (let page = 0; page < mostPages; page++) {
        const params = withTrace(cursor === undefined ? {} : { cursor }, context);
        const result = await run(context, (options) => client.request({ method: 'tools/list', params }, options));
        tools.push(...result.tools);
        cursor = result.nextCursor;
        if (cursor === undefined) return tools;
      }
      throw new AttemptError({
        kind: 'protocol',
        message: `The list of tools does not end after ${mostPages} pages`,
        outcome: 'failed',
      });
    },
    onToolsChanged(listener) {
      client.setNotificationHandler('notifications/tools/list_changed', listener);
    },
    ping(timeoutMs = parts.pingMs) {
      const own = new AbortController();
      return new Promise((resolve) => {
        let open = true;
        const settle = (answer: boolean): void => {
          if (!open) return;
          open = false;
          clock.clearTimeout(timer);
          resolve(answer);
          if (!answer) own.abort('no answer in time');
        };
        // An answer that was in the pipe while the event loop was blocked is read in the turn after the late timer.
        const timer = clock.setTimeout(() => clock.nextTurn(() => settle(false)), timeoutMs, { running: true });
        void answers(client, own.signal, lost).then(settle);
      });
    },
    request(method, params, context) {
      const message = params === undefined ? { method } : { method, params: withTrace(params, context) };
      return run(context, (options) => client.request(message, anyResult, options));
    },
    kill,
  };
}

/** Tells whether the server answers a ping. A refusal is an answer: a server need not know the method to be alive. */
async function answers(client: Client, signal: AbortSignal, lost: () => FailureFacts | undefined): Promise<boolean> {
  try {
    // The stateless era has no ping.
    if (client.getProtocolEra() === 'modern') await client.discover({ signal, timeout: unlimitedMs });
    else await client.request({ method: 'ping' }, { signal, timeout: unlimitedMs });
    return true;
  } catch (error) {
    if (signal.aborted || lost() !== undefined) return false;
    // A status is an answer as well.
    const unanswered = lostRequestIn(error);
    return unanswered === undefined || unanswered.status !== undefined;
  }
}

function notStarted(reason: unknown): FailureFacts {
  return { kind: 'cancelled', message: `Cancelled: ${plain(reason)}`, outcome: 'not_started', cause: reason };
}

/** The params of a request with its trace context, unprefixed (SEP-414). */
function withTrace<P extends object>(params: P, context: McpRequestContext | undefined): P {
  const traceContext = context?.traceContext;
  if (traceContext === undefined) return params;
  const { _meta: meta } = params as { readonly _meta?: object };
  return { ...params, _meta: { ...meta, ...traceContext } };
}
