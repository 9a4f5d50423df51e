import type { Tool } from '@modelcontextprotocol/client';
import { type Call, toolName } from '../../calls/call.ts';
import { type McpConnection, mcpChildOf } from '../../actors/mcp/mcpConnection.ts';
import { remoteServerKeys, type RemoteServerOptions } from '../../actors/mcp/http/remoteOptions.ts';
import { processTarget } from '../../actors/mcp/mcpProcess.ts';
import { mcpServerKeys, type McpServerOptions } from '../../actors/mcp/mcpServerOptions.ts';
import type { ServerTarget } from '../../actors/mcp/serverLink.ts';
import { type McpTransportOptions, transportKeys, transportTarget } from '../../actors/mcp/transportLink.ts';
import { StartLimit } from '../../actors/mcp/startLimit.ts';
import { createHangWatch } from '../../actors/mcp/hangWatch.ts';
import { toolResult } from '../../actors/mcp/mcpCall.ts';
import { createToolList, type ToolChanges, type ToolList } from '../../actors/mcp/mcpTools.ts';
import { reconcileKey } from '../../policy/reconcileRule.ts';
import { type ToolAccessOptions, toolAccessKeys, toolLimits, type Tools, toolsKey } from '../../policy/toolOptions.ts';
import type { ToolRules } from '../../policy/toolRules.ts';
import type { McpRequestContext } from '../../actors/mcp/mcpClient.ts';
import type { Incarnations } from '../../calls/callPathOptions.ts';
import { restarted } from '../../calls/refusal.ts';
import type { ConnectionEmitted } from '../../machines/connection.ts';
import {
  byOwnName,
  CallableMcpServer,
  type McpAnswer,
  type McpRequest,
  type McpToolRequest,
  whichTools,
} from './mcpIntegration.ts';
import { effects } from '../../policy/effects.ts';
import type { CallFact } from '../../policy/facts/callFacts.ts';
import { AttemptError, type Failure, type FailureFacts } from '../../policy/failures/failure.ts';
import { boolean, choice, duration, type Given, type Values } from '../../policy/options/optionKeys.ts';
import { readOptions } from '../../policy/options/readOptions.ts';
import { show } from '../../policy/text/showValue.ts';
import { maxResultKey, whenAliveChoices, type WhenAlive } from '../../policy/policies.ts';
import { policyKey } from '../../policy/policyInput.ts';
import { longestMessage } from '../../protocol/mcp/toolFailure.ts';
import { readResultTool, sizeCharsOf } from '../../protocol/mcp/largeResult.ts';
import { fieldsOf } from '../../protocol/mcp/message.ts';
import { annotatedEffect } from '../../protocol/mcp/methods.ts';
import { type TaskChoice, taskChoices, TaskTools } from '../../protocol/mcp/tasks.ts';
import { elicitedIn } from './elicitation.ts';
import { LargeResults } from './largeResults.ts';
import { JoinedCalls } from './joinedCalls.ts';
import { ToolTasks } from './toolTasks.ts';
import type { Runtime } from '../../runtime/runtime.ts';
import { ToolDefinitions } from '../../runtime/toolDefinitions.ts';
import { lateRemoteServer } from '../../runtime/lateRemoteServer.ts';
import type { TargetWhy } from '../../sessions/why.ts';
import { superviseIntegration } from '../../runtime/superviseIntegration.ts';

/** An MCP server that is run as a process. */
export interface McpIntegrationOptions extends McpCallingOptions, McpServerOptions {}

/** An MCP server that is reached by HTTP. */
export interface RemoteMcpOptions extends McpCallingOptions, RemoteServerOptions {}

/** An MCP server that is reached by a transport of one's own: in this process, as `fakeMcpServer` of `unwedge/testing` is. */
export interface TransportMcpOptions extends McpCallingOptions, McpTransportOptions {}

/** An MCP server, wherever it is. */
export type AnyMcpOptions = McpIntegrationOptions | RemoteMcpOptions | TransportMcpOptions;

/** Time for which calls are kept, in ms, where nobody says. */
export const mcpKeepMs = 600_000;

const ownCallingKeys = {
  /** @defaultValue preset `mcp` */
  policy: policyKey,
  /** Effect of its calls on the world, where a tool does not say. @defaultValue unspecified */
  effect: choice(effects),
  /** Per tool, by the name that its server gives it or a pattern (`read_*`): effect, limits, reconcile rule, the name and description that it is listed with. */
  tools: toolsKey,
  /** Rule that finds out what became of a call whose answer was lost, where its tool has no rule of its own. @defaultValue nobody asks */
  reconcile: reconcileKey,
  /**
   * Takes the server's own annotations of a tool (`readOnlyHint`, `idempotentHint`, `destructiveHint`) for its effect, where neither the call, nor `tools`,
   * nor `effect` says. A tool that may change things is then never repeated after its answer was lost. @defaultValue true
   */
  trustAnnotations: boolean({ default: true }),
  /**
   * Fate of a call without an answer or progress for its idle limit (`limits.idleMs`) while the server answers a ping: it ends (`end`), or goes on to its
   * attempt limit (`limits.attemptMs`; `wait`). A server that does not answer is killed either way.
   * @defaultValue 'end'
   */
  whenAlive: choice(whenAliveChoices, { given: {} as WhenAlive, default: 'end' }),
  /**
   * Time for which a call of a session goes on after a limit has ended it, in ms, while the server lives; 0 is none. The same call, made again by its session,
   * joins it or gets its answer. At most 32 at a time. @defaultValue 600000, ten minutes
   */
  keepMs: duration({ zero: true, default: mcpKeepMs }),
  /** Largest result of a tool that is told whole, in bytes of its text: of a larger one head and tail, and a handle. @defaultValue any */
  maxResult: maxResultKey,
  /**
   * Calls that are tasks at the server, unseen by the caller: of tools that take no others (`required`), of those that allow it as well (`optional`), none (`never`).
   * @defaultValue 'required'
   */
  tasks: choice(taskChoices, { given: {} as TaskChoice, default: 'required' }),
};

const callingKeys = { ...toolAccessKeys, ...ownCallingKeys };

/** Options of any MCP server, wherever it is. */
interface McpCallingOptions extends ToolAccessOptions, Given<typeof ownCallingKeys> {}

/** The options of an MCP server that is run as a process. */
const mcpKeys = { ...mcpServerKeys, ...callingKeys };

/** The options of a remote MCP server. */
const remoteMcpKeys = { ...remoteServerKeys, ...callingKeys };

/** The options of an MCP server that is reached by a transport. */
const transportMcpKeys = { ...transportKeys, ...callingKeys };

/** The table that options are read by: those of a remote server have a `url`. */
export function mcpKeysFor(options: AnyMcpOptions): typeof mcpKeys | typeof remoteMcpKeys | typeof transportMcpKeys {
  return isRemote(options) ? remoteMcpKeys : isConnected(options) ? transportMcpKeys : mcpKeys;
}

function isRemote(options: AnyMcpOptions): options is RemoteMcpOptions {
  return typeof options === 'object' && options !== null && 'url' in options;
}

function isConnected(options: AnyMcpOptions): options is TransportMcpOptions {
  return typeof options === 'object' && options !== null && 'connect' in options;
}

/**
 * An MCP server under a runtime, and what sessions need of it.
 * An integration over an MCP server that this runtime keeps alive: one connection at a time, a permanent child of the root
 * supervisor, which restarts it as long as the gateway runs. One breaker for the server, and one for each tool that passes its limits while the server answers.
 * @param declared - its tools as the options have them.
 * @param rules - of the operator on which tools there are.
 */
export function superviseMcp(
  runtime: Runtime,
  name: string,
  options: AnyMcpOptions,
  declared: Tools,
  rules: ToolRules,
) {
  const { target, ...calling } = readServer(runtime, name, options);
  const { policy: policyInput, effect, trustAnnotations, whenAlive, tasks: choice } = calling;
  const maxResult = runtime.policies.maxResultOf(name) ?? calling.maxResult;
  const results = maxResult === undefined ? undefined : new LargeResults(runtime, name, maxResult);
  const nobody = crypto.randomUUID();
  const policy = runtime.policies.policyOf(name, policyInput, 'mcp');
  const childId = `mcp:${name}`;
  let connection: McpConnection | undefined;
  /** Line that the server printed last outside the protocol. */
  let lastLine: string | undefined;
  /** The process that said it has ended. */
  let isOfEarlier = false;
  /** Late answers of connections that are gone. */
  let lateAnswers = 0;
  /** Processes of the server, numbered as they become ready; up to which of them all have ended, with what they started. */
  let lastReady = 0;
  let lastEnded = 0;
  const incarnations: Incarnations = {
    get current() {
      return connection === undefined ? undefined : lastReady;
    },
    isGone: (incarnation) => incarnation !== undefined && incarnation <= lastEnded,
  };
  const hangWatch = createHangWatch({ connection: () => connection, isRemote: target.eras !== undefined });
  const pin = runtime.policies.toolRulesOf(name).pin ?? calling.pin ?? false;
  const say = (line: string): void => runtime.logger?.warn(line);
  const accepted = (): void => list.showAgain();
  const definitions = new ToolDefinitions({ runtime, server: name, integration: name, pin, say, accepted });
  runtime.join({ beforeCalls: () => definitions.end() });
  const seen = (tools: readonly Tool[]): Promise<void> | undefined => {
    const compared = definitions.seen(tools, true);
    return pin ? compared : undefined;
  };
  const list = createToolList({
    clock: runtime.clock,
    limitMs: policy.limits.idleMs,
    changed: tellChanges,
    seen,
    shown,
  });

  // It has a tool of that name itself, and so cuts its results.
  const readsItself = (): boolean => list.find(readResultTool.name) !== undefined;

  const child = mcpChildOf(target, {
    clock: runtime.clock,
    register: runtime.register,
    elicit: runtime.inbox && elicitedIn(runtime.inbox, name, runtime, Math.min(5000, policy.limits.idleMs / 3)),
    onReady(ready) {
      connection = ready;
      lastReady++;
      startLimit.worked();
      // Before the calls that wait, so that what they may do is known when one of them fails.
      list.ready(ready);
      path.restarted();
    },
    onLost(facts: FailureFacts) {
      lateAnswers += connection?.lateAnswers ?? 0;
      connection = undefined;
      isOfEarlier = true;
      startLimit.lost(facts);
      list.lost();
      // A gateway that stops has ended its calls before its servers.
      // That a server forgets a session is to be expected: nobody need hear of it.
      path.crashed(facts.reason === 'stopped' ? restarted(name) : facts, facts.breaker === 'ignored');
    },
    onStray(stream, line) {
      lastLine = line;
      isOfEarlier = false;
      runtime.bus.tell({ type: 'process.stray_output', process: childId, stream, line });
    },
  });

  const joins = new JoinedCalls(declared);
  const startLimit = new StartLimit(runtime.clock, target.handshakeMs);

  const tasks = new ToolTasks({
    clock: runtime.clock,
    tools: new TaskTools(choice),
    mayGoOn: target.mayGoOn,
    connection: () => connection,
    supportOf: async (tool, asked, context) => {
      if (list.known === undefined) await list.ask(asked, context).catch(() => undefined);
      return list.find(tool)?.execution?.taskSupport;
    },
    ttlMs: (tool) => toolLimits(policy.limits, declared.get(tool)).overallMs,
  });

  const toolOf = (request: McpRequest): string | undefined => (request === whichTools ? undefined : request.name);

  const path = superviseIntegration<McpRequest, McpAnswer>(runtime, {
    name,
    about: { type: 'mcp' },
    failed: tellToolError,
    policy,
    toolOf,
    isCounted: (request) => request !== whichTools,
    operation: async (request, context) => {
      const { session: owner = nobody } = (context.call as Call<McpRequest, McpAnswer>).settings;
      const cuts = readsItself() ? undefined : results;
      if (cuts !== undefined && toolName({ toolOf }, request) === readResultTool.name)
        return toolResult(cuts.read(fieldsOf(request), owner));
      if (request !== whichTools) await beforeName(request, context);
      const own = request === whichTools ? request : ownRequest(request);
      if (connection === undefined) throw notConnected(name);
      if (own === whichTools) return list.ask(connection, context);
      if (pin && list.known?.current !== true) await list.ask(connection, context);
      const held = definitions.refusal(own.name);
      if (held !== undefined) throw new AttemptError(held);
      const server = connection;
      const isRead = (declared.get(own.name)?.effect ?? effect) === 'readOnly';
      const result = await joins.call(own, context, isRead, (each) => tasks.call(server, own, each));
      runtime.root.markStable(childId);
      // More of an error no failure holds.
      const chars = result.isError === true ? longestMessage : sizeCharsOf(list.find(own.name));
      return toolResult(cuts?.told(result, owner, own.name, chars) ?? result);
    },
    probe: async () => {
      if (connection === undefined || !(await connection.ping())) throw notConnected(name);
    },
    startsDown: () => connection === undefined,
    goesOn: (_, call) => tasks.goesOn(call),
    incarnation: target.mayGoOn ? undefined : incarnations,
    restartInMs: () => runtime.root.node(childId)?.nextRestartInMs,
    isQuarantined: () => runtime.root.state(childId) === 'quarantined',
    // A server that does not answer a ping either is hung, and is killed to be restarted.
    onSilence: async () => (await hangWatch.suspect()) === 'alive',
    whenAlive: runtime.policies.whenAliveOf(name) ?? whenAlive,
  });

  runtime.supervise({
    id: childId,
    ...child,
    input: { ...child.input, handshakeMs: () => startLimit.begins() },
    // A server that is killed twice a second must still answer in between, and is never given up for good.
    backoff: { firstImmediate: true, baseMs: 250, factor: 2, maxMs: 5000, jitter: 0.2, resetAfterMs: 10_000 },
    intensity: Number.POSITIVE_INFINITY,
    // A server that ends at every call is over the limits of the root: it is told, and has its longest wait.
    quarantineMs: 5000,
    shutdown: 9000,
    ...(isRemote(options) && { details: () => ({ url: target.command }) }),
    onStart: (ref) => {
      ref.on('*', (event: unknown) => {
        const told = event as ConnectionEmitted;
        if (told.type === 'process.exited') processEnded();
        runtime.bus.tell({ ...told, process: childId });
      });
    },
  });

  const ofServer = trustAnnotations ? annotatedTools(declared, list) : declared;
  const tools: Tools = { get: (tool) => ofServer.get(ownName(tool) ?? tool), size: ofServer.size };
  const late = (): number => lateAnswers + (connection?.lateAnswers ?? 0);
  return {
    integration: new CallableMcpServer({ path, list, tools, effect, lateAnswers: late }),
    path,
    tools,
    /** Tells whether the server, as far as it has listed its tools, has none of this name of its own. */
    lacks: (tool: string): boolean => list.known?.current === true && list.find(tool) === undefined,
    /** The server's process as of now, and what it printed last outside the protocol. */
    // The last words of an earlier process say why there is none, and nothing of the one that is there now.
    behind: (): TargetWhy['process'] => ({
      pid: connection?.pid,
      lastLine: isOfEarlier && connection !== undefined ? undefined : lastLine,
    }),
  };

  /** Its tools as callers see them. */
  function shown(listed: readonly Tool[]): readonly Tool[] {
    const ours: readonly Tool[] =
      results === undefined || listed.some((tool) => tool.name === readResultTool.name) ? [] : [readResultTool];
    const standing = listed.flatMap((tool) => definitions.shown(tool) ?? []);
    if (rules.isEmpty) return [...standing, ...ours];
    rules.begin();
    const about = { type: 'mcp.left_out', integration: name, what: 'tool', reason: 'taken' } as const;
    const named = standing.flatMap((tool) => {
      const as = rules.enter(tool.name, (line, taken, of) => {
        runtime.logger?.warn(line);
        runtime.bus.tell({ ...about, name: tool.name, as: taken, of });
      });
      return as === undefined ? [] : [{ ...tool, name: as.name, ...(as.description !== undefined && as) }];
    });
    return [...named, ...ours];
  }

  /** Asks for the list that decides which tool a name is for. */
  async function beforeName(request: McpToolRequest, context: McpRequestContext): Promise<void> {
    checkRequest(request);
    if (request[byOwnName] === true || list.known?.current === true || !rules.needsList(request.name)) return;
    if (connection === undefined) throw notConnected(name);
    await list.ask(connection, context);
  }

  function ownName(tool: string): string | undefined {
    const own = rules.isEmpty ? tool : rules.called(tool);
    return typeof own === 'string' ? own : undefined;
  }

  /** The request by the name that the server gives its tool. @throws AttemptError for one that nothing could answer, or that a rule refuses. */
  function ownRequest(request: McpToolRequest): McpToolRequest {
    if (rules.isEmpty || request[byOwnName] === true) return request;
    const own = rules.called(request.name);
    if (typeof own !== 'string') throw new AttemptError(own);
    return { ...request, name: own };
  }

  /** It is told when nothing is left of it: what it had not done it will not do. */
  function processEnded(): void {
    lastEnded = lastReady;
    path.incarnationEnded();
  }

  function tellToolError(
    request: McpRequest,
    { kind, reason, message, attempts }: Failure,
    { call, session }: CallFact,
  ): void {
    // A call that its caller ended is no error of the tool.
    const tool = toolName({ toolOf }, request);
    if (request === whichTools || tool === undefined || kind === 'cancelled') return;
    const { arguments: input } = request;
    const retries = Math.max(0, attempts - 1);
    runtime.bus.tell({
      type: 'mcp.tool_failed',
      integration: name,
      tool,
      input,
      error: message,
      kind,
      reason,
      retries,
      call,
      session,
    });
  }

  function tellChanges({ added, removed, changed }: ToolChanges): void {
    const few = (names: readonly string[]): readonly string[] => names.slice(0, mostNames);
    const changes = { added: few(added), removed: few(removed), changed: few(changed) };
    runtime.bus.tell({ type: 'mcp.tools_changed', integration: name, ...changes });
  }
}

/** The server to connect to, and what is said of its calls; its secrets are learnt. */
function readServer(
  runtime: Runtime,
  name: string,
  options: AnyMcpOptions,
): Pick<Values<typeof mcpKeys>, keyof typeof callingKeys> & { readonly target: ServerTarget } {
  if (isConnected(options)) {
    const settings = readOptions(name, options, transportMcpKeys);
    return { ...settings, target: transportTarget(settings) };
  }
  if (!isRemote(options)) {
    const settings = readOptions(name, options, mcpKeys);
    runtime.secrets.learn(settings.env);
    return { ...settings, target: processTarget(settings) };
  }
  const settings = readOptions(name, options, remoteMcpKeys);
  return { ...settings, target: lateRemoteServer(runtime, settings) };
}

/** Names in one fact: a server decides how many tools it lists. */
const mostNames = 100;

/** The tools as declared here; where nobody has said what they do, as the server says when it is asked. */
function annotatedTools(declared: Tools, list: ToolList): Tools {
  return {
    get: (name) => ({ ...declared.get(name), learnedEffect: () => annotatedEffect(list.find(name)?.annotations) }),
    size: 1,
  };
}

/** A request that no server could answer is the caller's mistake, and says nothing about the server. */
function checkRequest(request: McpToolRequest): void {
  const { name, arguments: given } = (request ?? {}) as Partial<McpToolRequest>;
  const wrong =
    typeof name !== 'string' || name === ''
      ? `Expected \`name\` to be the name of a tool, got ${show(name)}`
      : given !== undefined && (typeof given !== 'object' || given === null || Array.isArray(given))
        ? `Expected \`arguments\` to be an object, got ${show(given)}`
        : undefined;
  if (wrong !== undefined) throw new AttemptError({ kind: 'permanent', message: wrong, outcome: 'not_started' });
}

function notConnected(name: string): AttemptError {
  return new AttemptError({
    kind: 'crash',
    reason: 'connection_lost',
    message: `${name} is not connected`,
    outcome: 'not_started',
  });
}
