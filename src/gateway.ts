import type { ApprovalHandler } from './actors/approvalHandler.ts';
import { UserHooks, type HookEvent, type HookHandler, type HookVerdict } from './actors/userHooks.ts';
import type { RunResult } from './agentRuns.ts';
import { superviseAgent } from './agents/agent.ts';
import type { Agent, AgentOptions } from './agents/agentTypes.ts';
import { superviseCodex } from './agents/codex.ts';
import type { CodexOptions } from './agents/codexOptions.ts';
import type { Codex } from './agents/codexTypes.ts';
import { type ApprovalOptions, type Approver, superviseApproval } from './approvals.ts';
import type { Operation } from './calls/call.ts';
import type { CallPath } from './calls/callPath.ts';
import { Integration } from './calls/integration.ts';
import type { HookCommand } from './commandHook.ts';
import { type GatewayOptions, checkGatewayOptions } from './gatewayOptions.ts';
import { createInspection, withInspection } from './inspection.ts';
import { createKeptSessions } from './keptSessions.ts';
import { createLiveRuntime, liveStatus, nameIn, seeRuns, sessionIn } from './liveRuntime.ts';
import { sessionMachine, type SessionRef } from './machines/session.ts';
import type { McpIntegration } from './mcpIntegration.ts';
import { type McpIntegrationOptions, superviseMcp } from './mcpServer.ts';
import { type Effect, effects } from './policy/effects.ts';
import type { FactOf, FactType, Told } from './policy/facts.ts';
import { say } from './policy/logger.ts';
import { checkFunction, checkKeys, checkName, checkObject, checkOneOf } from './policy/options.ts';
import type { Policies } from './policy/policies.ts';
import type { PolicyInput } from './policy/presets.ts';
import type { ToolOptions, Tools } from './policy/toolOptions.ts';
import { guardProcess, type ProcessGuardOptions } from './processGuard.ts';
import { superviseAlerts } from './superviseAlerts.ts';
import { restartNamed } from './restartNamed.ts';
import { createRuntime } from './runtime.ts';
import { Session } from './sessions/session.ts';
import { withSessionDefaults } from './sessions/sessionDefaults.ts';
import type { SessionOptions } from './sessions/sessionOptions.ts';
import type { SessionWhy } from './sessions/why.ts';
import type { Store } from './store/store.ts';
import { superviseSubprocess } from './subprocess.ts';
import type { RunRequest, SubprocessOptions } from './subprocessOptions.ts';
import type { TreeNode } from './supervisor/tree.ts';
import { checkHook, type HookOptions, superviseHook } from './superviseHook.ts';
import { superviseIntegration } from './superviseIntegration.ts';
import type { EventStream, StreamOptions } from './telemetry/eventStream.ts';
import type { Listener } from './telemetry/listener.ts';
import type { WaitOptions } from './telemetry/waitForFact.ts';
import { createToolPort, type ToolTarget } from './toolPort.ts';
import { type SupervisedWorkflow, superviseWorkflow } from './workflow/workflow.ts';
import type { Workflow, WorkflowOptions } from './workflow/workflowTypes.ts';

export interface FunctionOptions {
  /** @defaultValue preset `sdk` */
  readonly policy?: PolicyInput | undefined;
  /** What its calls may do to the world, where neither the call nor the tool says. @defaultValue unspecified */
  readonly effect?: Effect | undefined;
  /** Per tool, when sessions call it as one: effect and limits. */
  readonly tools?: Readonly<Record<string, ToolOptions>> | undefined;
}

/** A request as a function integration gets it from `turn.tool`. */
export interface ToolRequest {
  readonly tool: string;
  readonly input: unknown;
}

/** A gateway's supervision: declare what it uses, start it, and everything that is called through it ends. */
export interface Gateway {
  /**
   * A function as an integration: calls to it are supervised. Called by a session's `turn.tool`, it gets a {@link ToolRequest}.
   * @throws TypeError or RangeError when an option is wrong or the name is taken.
   */
  integration<I, O>(name: string, options: FunctionOptions, operation: Operation<I, O>): Integration<I, O>;
  /** An MCP server over stdio, kept alive. */
  mcpServer(name: string, options: McpIntegrationOptions): McpIntegration;
  /** A command: each call is one run of it. */
  subprocess(name: string, options: SubprocessOptions): Integration<RunRequest, RunResult>;
  /** Codex's app-server, started by the first thread that needs it: each turn is a call. */
  codex(name: string, options?: CodexOptions): Codex;
  /**
   * Claude (through its Agent SDK) or Codex through one interface: conversations whose turns are calls of an integration of this name.
   * @throws TypeError or RangeError when an option is wrong or the name is taken.
   */
  agent(name: string, options: AgentOptions): Agent;
  /**
   * Work that is planned and done in items by the first of its backends that can: where one fails the next takes over, with what is done.
   * @throws TypeError or RangeError when an option is wrong or the name is taken.
   */
  workflow<I, R, S = undefined>(name: string, options: WorkflowOptions<I, R, S>): Workflow<I, R, S>;
  /**
   * Registers a hook for an event: a function, or a command that speaks the protocol of Claude Code's hooks. Either is supervised;
   * only a command cannot do harm later in a timer of its own.
   */
  hook(event: string, handler: HookHandler | HookCommand, options?: HookOptions): void;
  /** Runs the hooks of an event. Never rejects. While the gateway is not started each fails at once. */
  runHooks(event: HookEvent): Promise<HookVerdict>;
  /** Wraps what asks for approval: a timeout and a crash decline, with a record. */
  approval(name: string, handler: ApprovalHandler, options?: ApprovalOptions): Approver;
  /**
   * Records errors of this process that nobody caught, until it is taken off or the gateway stops. Without `goOn` it only watches: the
   * process ends as it would have.
   * @returns how to take it off.
   */
  guardProcess(options?: ProcessGuardOptions): () => void;
  /** The session of this id; made with `options` when there is none yet. */
  session(id: string, options?: SessionOptions): Session;
  /** Opens the store and starts what was declared, in order. What is declared later starts at once. */
  start(): Promise<void>;
  /** Ends every call, session and child, in reverse order. Always resolves; afterwards nothing of it keeps the process alive. */
  stop(): Promise<void>;
  on<K extends FactType | '*'>(type: K, listener: Listener<K>): () => void;
  once<K extends FactType | '*'>(type: K, listener: Listener<K>): () => void;
  off<K extends FactType | '*'>(type: K, listener: Listener<K>): void;
  wait<K extends FactType>(type: K, options?: WaitOptions<K>): Promise<Told<FactOf<K>>>;
  events<K extends FactType = FactType>(options?: StreamOptions<K>): EventStream<Told<FactOf<K>>>;
  /** The supervision tree as of now. */
  tree(): TreeNode;
  /**
   * Restarts what is behind an integration, or a session by its id; it also leaves quarantine.
   * @throws RangeError that lists the known names when there is none of that one.
   */
  restart(name: string): void;
  /** What a session waits for, and which rule ends it when. @throws RangeError when there is none of this id. */
  why(session: string): SessionWhy;
  /** Where final failures and facts are kept, once started. */
  readonly store: Store | undefined;
}

/**
 * Makes a gateway. Nothing runs until {@link Gateway.start}; two in one process share nothing.
 * @throws TypeError or RangeError when an option is wrong.
 *
 * @example
 * const gateway = createGateway({ store: 'gateway.sqlite' });
 * const search = gateway.integration('search', { effect: 'readOnly' }, async (query: string, { signal }) => {
 *   const response = await fetch(url(query), { signal });
 *   if (response.ok) return response.json();
 *   throw Object.assign(new Error(response.statusText), { status: response.status, headers: response.headers });
 * });
 * await gateway.start();
 * const outcome = await search.call('supervision trees');
 * await gateway.stop();
 */
export function createGateway(options: GatewayOptions = {}): Gateway {
  const checked = checkGatewayOptions(options);
  const owner = createRuntime(checked, { retention: checked.retention ?? false });
  const { runtime } = owner;
  const { clock, bus, root, policies } = runtime;
  const paths = new Map<string, Pick<CallPath<unknown, unknown>, 'name' | 'link' | 'stats' | 'reset' | 'stop'>>();
  const targets = new Map<string, ToolTarget>();
  const sessions = new Map<string, Session>();
  const hooks = new UserHooks(bus, () => owner.running || owner.stopped);
  const agents = new Set<Agent>();
  const workflows = new Map<
    string,
    Pick<SupervisedWorkflow<unknown, unknown, unknown>, 'loaded' | 'started' | 'stop'>
  >();
  const approvals = new Set<string>();
  const unguards = new Set<() => void>();
  const tools = createToolPort(targets, checked.toolCallRetry, clock);
  const kept = createKeptSessions({
    clock,
    facts: bus,
    store: () => runtime.store(),
    seeWorld: () => seeRuns(clock, runtime.store()?.runtimes.pids() ?? []),
    takenOver: () => owner.reap(),
  });
  const inspection = createInspection(runtime);
  const alerts = checked.alerts === undefined ? undefined : superviseAlerts(runtime, checked.alerts);
  for (const path of alerts?.paths ?? []) paths.set(path.name, path);
  const live = createLiveRuntime(runtime, checked, {
    tree: () => checked.redactAnswer(tree()),
    status: () => liveStatus(paths.values(), sessions.values(), clock),
    restart: (params) => restart(nameIn(params)),
    why: (params) => checked.redactAnswer(why(sessionIn(params))),
    inspect: () => inspection.open(),
  });

  function tree(): TreeNode {
    // Who reads a state has its machine follow the calls at once.
    for (const path of paths.values()) void path.link.state;
    return root.tree();
  }

  function why(id: string): SessionWhy {
    const session = sessions.get(id);
    if (session === undefined) throw new RangeError(`No session \`${id}\`; known: ${[...sessions.keys()].join(', ')}`);
    return session.why();
  }

  function declare(name: string): void {
    checkName('name', name);
    if (owner.stopped) throw new Error('The gateway is stopped');
    if (paths.has(name)) throw new RangeError(`The name \`${name}\` is taken by another integration`);
  }

  function add<I, O>(
    path: CallPath<I, O>,
    { effect, tools }: AboutTools,
    request: ToolTarget['request'],
    toolName?: (input: I) => string,
  ): Integration<I, O> {
    register(path, { effect, tools }, request);
    const toolOf = toolName === undefined || tools.size === 0 ? undefined : (input: I) => tools.get(toolName(input));
    return new Integration(path, effect, toolOf);
  }

  function register<I, O>(
    path: CallPath<I, O>,
    { effect, tools }: AboutTools,
    request: ToolTarget['request'],
    behind?: ToolTarget['behind'],
  ): void {
    paths.set(path.name, path);
    targets.set(path.name, { path: path as CallPath<unknown, unknown>, effect, tools, request, behind });
  }

  /** A name that was mistyped would be configured for nothing, without a word. */
  function tellUnused(): void {
    for (const { integration, nearest } of policies.unused([...paths.keys()])) {
      const guess = nearest === undefined ? '' : `; did you mean ${nearest}?`;
      say(checked.logger, 'warn', `Configured for ${integration}, which no integration is declared as${guess}`);
      bus.tell({ type: 'config.unused', integration, nearest });
    }
  }

  function restart(name: string): void {
    restartNamed(name, { root, paths, sessions });
  }

  return withInspection<Gateway>(inspection, {
    integration(name, functionOptions, operation) {
      declare(name);
      if (typeof functionOptions === 'function') {
        throw new TypeError(`Expected options of \`${name}\` before its operation ({} for none), got a function`);
      }
      checkKeys(name, functionOptions, ['policy', 'effect', 'tools']);
      const about = aboutTools(policies, name, functionOptions);
      checkFunction(`${name}.operation`, operation);
      const policy = policies.policyOf(name, functionOptions.policy, 'sdk');
      const path = superviseIntegration(runtime, { name, policy, operation });
      return add(
        path,
        about,
        (tool, input): ToolRequest => ({ tool, input }),
        (input) => (input as Partial<ToolRequest> | undefined)?.tool ?? '',
      );
    },
    mcpServer(name, mcpOptions) {
      declare(name);
      checkObject(name, mcpOptions);
      const { effect, tools: declared } = aboutTools(policies, name, mcpOptions);
      const { integration, path, tools, behind } = superviseMcp(runtime, name, { ...mcpOptions, effect }, declared);
      const request = (tool: string, input: unknown): object => ({ name: tool, arguments: input ?? {} });
      register(path, { effect, tools }, request, behind);
      return integration;
    },
    subprocess(name, subprocessOptions) {
      declare(name);
      const about = aboutTools(policies, name, {});
      const path = superviseSubprocess(runtime, name, subprocessOptions);
      return add(path, about, (_tool, input) => input ?? {});
    },
    codex(name, codexOptions = {}) {
      declare(name);
      policies.refuseAbout(name, 'Codex', ['tools']);
      const parts = { isRunning: () => owner.running, logger: checked.logger };
      const { codex, path } = superviseCodex(runtime, name, codexOptions, parts);
      paths.set(name, path);
      return codex;
    },
    agent(name, agentOptions) {
      declare(name);
      policies.refuseAbout(name, 'an agent', ['tools']);
      const { agent, path } = superviseAgent(runtime, name, agentOptions, () => owner.running);
      paths.set(name, path);
      agents.add(agent);
      return agent;
    },
    workflow(name, workflowOptions) {
      declare(name);
      if (workflows.has(name)) throw new RangeError(`The name \`${name}\` is taken by another workflow`);
      const redact = checked.redactAnswer;
      const parts = { isRunning: () => owner.running, isStopped: () => owner.stopped, declare, redact };
      const supervised = superviseWorkflow(runtime, name, workflowOptions, parts);
      for (const path of supervised.paths) paths.set(path.name, path);
      workflows.set(name, supervised);
      return supervised.workflow;
    },
    hook(event, handler, hookOptions = {}) {
      const checked = checkHook(event, handler, hookOptions, paths.size + 1, policies);
      declare(`hook:${checked.name}`);
      const hook = superviseHook(runtime, checked);
      paths.set(hook.path.name, hook.path);
      hooks.add(hook);
    },
    runHooks: (event) => hooks.run(event),
    approval(name, handler, approvalOptions) {
      if (approvals.has(name)) throw new RangeError(`The name \`${name}\` is taken by another approval`);
      const approver = superviseApproval(runtime, () => owner.running, name, handler, approvalOptions);
      approvals.add(name);
      return approver;
    },
    guardProcess(guardOptions) {
      const unguard = guardProcess({ facts: bus, flush: () => void runtime.store()?.flush() }, guardOptions);
      unguards.add(unguard);
      return unguard;
    },
    session(id, sessionOptions) {
      const known = sessions.get(id);
      if (known !== undefined && sessionOptions === undefined) return known;
      if (known !== undefined) throw new RangeError(`There is a session \`${id}\` already`);
      if (sessionOptions === undefined) throw new RangeError(`No session \`${id}\`; give it an onMessage to make it`);
      if (owner.stopped) throw new Error('The gateway is stopped');
      const parts = { id, clock, deadlines: runtime.deadlines, facts: bus, tools, kept: checked.store !== ':memory:' };
      const session = new Session(parts, withSessionDefaults(sessionOptions, checked.sessions));
      sessions.set(id, session);
      kept.add(session);
      runtime.supervise({
        id: `session:${id}`,
        logic: sessionMachine,
        input: { session: id, ...session.limits },
        shutdown: session.limits.releaseMs + 1000,
        onStart: (ref, incarnation) => session.attach(ref as SessionRef, incarnation),
        details: () => ({ waiting: session.waiting }),
      });
      return session;
    },
    async start() {
      await owner.start();
      await Promise.all([...workflows.values()].map((workflow) => workflow.loaded()));
      for (const workflow of workflows.values()) workflow.started();
      alerts?.start();
      tellUnused();
      await kept.start(await live.start());
    },
    stop: () =>
      owner.stop({
        first() {
          alerts?.stop();
          for (const unguard of unguards) unguard();
          for (const session of sessions.values()) session.close();
          for (const workflow of workflows.values()) workflow.stop();
          for (const path of paths.values()) path.stop();
          for (const agent of agents) void agent.stop();
        },
        ended() {
          for (const session of sessions.values()) void session.ended();
          kept.stop();
          live.stop();
          inspection.close();
        },
      }),
    on: bus.on,
    once: bus.once,
    off: bus.off,
    wait: bus.wait,
    events: bus.events,
    tree,
    restart,
    why,
    get store() {
      return runtime.store();
    },
  });
}

interface AboutTools {
  readonly effect: Effect | undefined;
  readonly tools: Tools;
}

/** What an integration says about its calls, and what is configured for it; checked before anything of it is started. */
function aboutTools(
  policies: Policies,
  name: string,
  { effect, tools }: Pick<FunctionOptions, 'effect' | 'tools'>,
): AboutTools {
  if (effect !== undefined) checkOneOf(`${name}.effect`, effect, effects);
  return { effect: policies.effectOf(name, effect), tools: policies.toolsOf(name, tools) };
}
