import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import { UserHooks, type HookEvent, type HookHandler, type HookVerdict } from './actors/userHooks.ts';
import type { Operation } from './calls/call.ts';
import type { CallPath } from './calls/callPath.ts';
import { DeadlineQueue } from './calls/deadlineQueue.ts';
import { Integration } from './calls/integration.ts';
import { SignalFanout } from './calls/signalFanout.ts';
import { checkTools, type ToolOptions, type Tools } from './calls/toolOptions.ts';
import { type GatewayOptions, checkGatewayOptions } from './gatewayOptions.ts';
import { sessionMachine, type SessionRef } from './machines/session.ts';
import type { ProcessExit } from './machines/subprocess.ts';
import { type McpIntegrationOptions, type McpToolRequest, superviseMcpServer } from './mcpServer.ts';
import { type Effect, effects } from './policy/effects.ts';
import type { FactOf, FactType, Told } from './policy/facts.ts';
import { checkFunction, checkKeys, checkName, checkOneOf } from './policy/options.ts';
import { type PolicyInput, presets, resolvePolicy } from './policy/presets.ts';
import type { Runtime } from './runtime.ts';
import { Session, type SessionOptions } from './sessions/session.ts';
import { openStore, type Store } from './store/store.ts';
import { storedTypes } from './store/record.ts';
import { type RunRequest, type SubprocessOptions, superviseSubprocess } from './subprocess.ts';
import type { ChildSpec } from './supervisor/childSpec.ts';
import { createRootSupervisor } from './supervisor/supervisor.ts';
import type { TreeNode } from './supervisor/tree.ts';
import { superviseIntegration } from './superviseIntegration.ts';
import { createBus } from './telemetry/bus.ts';
import type { EventStream, StreamOptions } from './telemetry/eventStream.ts';
import type { Listener } from './telemetry/listener.ts';
import type { WaitOptions } from './telemetry/waitForFact.ts';
import { createToolPort, type ToolTarget } from './toolPort.ts';

export interface FunctionOptions {
  readonly policy?: PolicyInput | undefined;
  /** What its calls may do to the world, where neither the call nor the tool says. @defaultValue unspecified */
  readonly effect?: Effect | undefined;
  /** Per tool, when sessions call it as one: effect and limits. */
  readonly tools?: Readonly<Record<string, ToolOptions>> | undefined;
}

export interface HookOptions {
  /** @defaultValue the event's name and a number */
  readonly name?: string | undefined;
  /** What a hook that throws, rejects or hangs means for the main operation: it goes on, or is declined. @defaultValue 'continue' */
  readonly onFailure?: 'continue' | 'block' | undefined;
  /** @defaultValue preset `hook`: one attempt of at most 10 s */
  readonly policy?: PolicyInput | undefined;
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
  mcpServer(name: string, options: McpIntegrationOptions): Integration<McpToolRequest, CallToolResult>;
  /** A command: each call is one run of it. */
  subprocess(name: string, options: SubprocessOptions): Integration<RunRequest, ProcessExit>;
  /** Registers a hook for an event. */
  hook(event: string, handler: HookHandler, options?: HookOptions): void;
  /** Runs the hooks of an event. Never rejects. */
  runHooks(event: HookEvent): Promise<HookVerdict>;
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
  /** Restarts what is behind an integration; it also leaves quarantine. @throws RangeError when there is none of that name. */
  restart(name: string): void;
  /** Where final failures and facts are kept, once started. */
  readonly store: Store | undefined;
}

/**
 * Makes a gateway. Nothing runs until {@link Gateway.start}; two in one process share nothing.
 * @throws TypeError or RangeError when an option is wrong.
 *
 * @example
 * const gateway = createGateway({ store: 'gateway.sqlite' });
 * const search = gateway.integration('search', { effect: 'readOnly' }, (query: string, { signal }) => fetch(url(query), { signal }));
 * await gateway.start();
 * const outcome = await search.call('supervision trees');
 * await gateway.stop();
 */
export function createGateway(options: GatewayOptions = {}): Gateway {
  const { clock, random, logger, store: storePath, synchronous, supervisor } = checkGatewayOptions(options);
  const bus = createBus({ clock, logger });
  const root = createRootSupervisor({ ...supervisor, clock, random, facts: bus });
  const paths = new Map<string, Pick<CallPath<unknown, unknown>, 'name' | 'reset' | 'stop'>>();
  const targets = new Map<string, ToolTarget>();
  const sessions = new Map<string, Session>();
  const hooks = new UserHooks(bus);
  const pending: ChildSpec[] = [];
  let state: 'new' | 'starting' | 'running' | 'stopped' = 'new';
  let opening: Promise<Store> | undefined;
  let store: Store | undefined;
  let stopping: Promise<void> | undefined;

  const runtime: Runtime = {
    clock,
    random,
    bus,
    deadlines: new DeadlineQueue(clock),
    signals: new SignalFanout(),
    root,
    store: () => store,
    supervise(spec) {
      if (state === 'running') root.startChild(spec);
      else pending.push(spec);
    },
  };
  const tools = createToolPort(targets, presets.toolCall.retry);

  function declare(name: string): void {
    checkName('name', name);
    if (state === 'stopped') throw new Error('The gateway is stopped');
    if (paths.has(name)) throw new RangeError(`The name \`${name}\` is taken by another integration`);
  }

  function add<I, O>(
    path: CallPath<I, O>,
    { effect, tools }: AboutTools,
    request: ToolTarget['request'],
    toolName?: (input: I) => string,
  ): Integration<I, O> {
    paths.set(path.name, path);
    targets.set(path.name, { path: path as CallPath<unknown, unknown>, effect, tools, request });
    const toolOf = toolName === undefined || tools.size === 0 ? undefined : (input: I) => tools.get(toolName(input));
    return new Integration(path, effect, toolOf);
  }

  return {
    integration(name, functionOptions, operation) {
      declare(name);
      checkKeys(name, functionOptions, ['policy', 'effect', 'tools']);
      const about = checkAbout(name, functionOptions);
      checkFunction(`${name}.operation`, operation);
      const policy = resolvePolicy(name, functionOptions.policy);
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
      const about = checkAbout(name, mcpOptions);
      const path = superviseMcpServer(runtime, name, mcpOptions);
      return add(
        path,
        about,
        (tool, input) => ({ name: tool, arguments: input ?? {} }),
        (input) => (input as Partial<McpToolRequest> | undefined)?.name ?? '',
      );
    },
    subprocess(name, subprocessOptions) {
      declare(name);
      const path = superviseSubprocess(runtime, name, subprocessOptions);
      return add(path, { effect: undefined, tools: new Map() }, (_tool, input) => input ?? {});
    },
    hook(event, handler, hookOptions = {}) {
      checkName('event', event);
      checkFunction('handler', handler);
      checkKeys('options', hookOptions, ['name', 'onFailure', 'policy']);
      const name = hookOptions.name ?? `${event}-${paths.size + 1}`;
      declare(`hook:${name}`);
      const onFailure = checkOneOf('options.onFailure', hookOptions.onFailure ?? 'continue', ['continue', 'block']);
      const policy = resolvePolicy(name, hookOptions.policy, presets.hook);
      const path = superviseIntegration<HookEvent, unknown>(runtime, {
        name: `hook:${name}`,
        policy,
        operation: handler,
      });
      paths.set(path.name, path);
      hooks.add({ name, event, onFailure, path, settings: hookSettings(policy) });
    },
    runHooks: (event) => hooks.run(event),
    session(id, sessionOptions) {
      const known = sessions.get(id);
      if (known !== undefined && sessionOptions === undefined) return known;
      if (known !== undefined) throw new RangeError(`There is a session \`${id}\` already`);
      if (sessionOptions === undefined) throw new RangeError(`No session \`${id}\`; give it an onMessage to make it`);
      if (state === 'stopped') throw new Error('The gateway is stopped');
      const session = new Session({ id, clock, deadlines: runtime.deadlines, facts: bus, tools }, sessionOptions);
      sessions.set(id, session);
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
      if (state !== 'new') throw new Error(`The gateway ${state === 'stopped' ? 'is stopped' : 'was started already'}`);
      state = 'starting';
      opening = openStore({ path: storePath, clock, facts: bus, logger, synchronous });
      const opened = await opening;
      // Stopped while the store was opening: stop() closes it.
      if (stopping !== undefined) return;
      store = opened;
      for (const type of storedTypes) bus.on(type, (fact) => opened.record(fact));
      state = 'running';
      root.start();
      for (const spec of pending.splice(0)) root.startChild(spec);
    },
    stop() {
      stopping ??= stop();
      return stopping;
    },
    on: bus.on,
    once: bus.once,
    off: bus.off,
    wait: bus.wait,
    events: bus.events,
    tree: () => root.tree(),
    restart(name) {
      const path = paths.get(name);
      if (path === undefined)
        throw new RangeError(`No integration \`${name}\`; known: ${[...paths.keys()].join(', ')}`);
      const hasChild =
        root.ref(`mcp:${name}`) !== undefined || root.tree().children?.some(({ id }) => id === `mcp:${name}`);
      if (hasChild === true) root.restartChild(`mcp:${name}`);
      else path.reset();
    },
    get store() {
      return store;
    },
  };

  async function stop(): Promise<void> {
    state = 'stopped';
    for (const session of sessions.values()) session.close();
    for (const path of paths.values()) path.stop();
    await root.stop();
    for (const session of sessions.values()) session.ended();
    const opened = await opening?.catch(() => undefined);
    await opened?.close();
    bus.close();
  }
}

interface AboutTools {
  readonly effect: Effect | undefined;
  readonly tools: Tools;
}

/** What an integration says about its calls; checked before anything of it is started. */
function checkAbout(name: string, { effect, tools }: Pick<FunctionOptions, 'effect' | 'tools'>): AboutTools {
  if (effect !== undefined) checkOneOf(`${name}.effect`, effect, effects);
  return { effect, tools: checkTools(`${name}.tools`, tools) };
}

function hookSettings(policy: ReturnType<typeof resolvePolicy>) {
  return {
    ...policy.limits,
    retry: policy.retry,
    effect: undefined,
    label: undefined,
    session: undefined,
    signal: undefined,
    fallback: undefined,
  };
}
