import type { ApprovalHandler, ApprovalOptions, Approver } from '../integrations/approvals/approvals.ts';
import type { HookEvent, HookHandler, HookVerdict } from '../integrations/hooks/userHooks.ts';
import type { RunResult } from '../integrations/subprocess/agentRuns.ts';
import type { AttemptContext } from '../calls/operation.ts';
import type { Integration } from '../calls/integration.ts';
import type { HookCommand } from '../integrations/hooks/commandHook.ts';
import type { HttpIntegration } from '../integrations/http/httpIntegration.ts';
import type { HttpOptions, HttpParse } from '../integrations/http/httpOptions.ts';
import type { McpIntegration } from '../integrations/mcp/mcpIntegration.ts';
import type { AnyMcpOptions } from '../integrations/mcp/mcpServer.ts';
import { effects } from '../policy/effects.ts';
import type { FactOf, FactType, Told } from '../policy/facts/facts.ts';
import type { RateOptions } from '../calls/rates/integrationRates.ts';
import type { Inbox } from '../sessions/inbox.ts';
import type { ReportEntry } from '../policy/records/callReport.ts';
import type { MetricsBody } from '../policy/records/metricsText.ts';
import { choice, duration, type Given } from '../policy/options/optionKeys.ts';
import { policyKey } from '../policy/policyInput.ts';
import { reconcileKey } from '../policy/reconcileRule.ts';
import { toolsKey } from '../policy/toolOptions.ts';
import type { MetricsOptions } from '../runtime/ownMetrics.ts';
import type { IntegrationKind } from '../runtime/integrationKind.ts';
import type { ReportOptions } from '../runtime/reportOfRuntime.ts';
import type { ProcessGuardOptions } from '../runtime/processGuard.ts';
import type { GatewayOptions } from '../runtime/runtimeOptions.ts';
import type { Session } from '../sessions/session.ts';
import type { SessionOptions } from '../sessions/sessionOptions.ts';
import type { SessionWhy } from '../sessions/why.ts';
import type { Store } from '../store/store.ts';
import type { RunRequest, SubprocessOptions } from '../integrations/subprocess/subprocessOptions.ts';
import type { TreeNode } from '../supervisor/tree.ts';
import type { HookOptions } from '../integrations/hooks/superviseHook.ts';
import type { EventStream, StreamOptions } from '../telemetry/eventStream.ts';
import type { Listener } from '../telemetry/listener.ts';
import type { UntakenMessage } from './untaken.ts';
import type { WaitOptions } from '../telemetry/waitForFact.ts';

/** Options of a gateway, and the kinds of integrations it has beside its own. */
export interface CreateGatewayOptions<Kinds extends readonly IntegrationKind[] = readonly IntegrationKind[]>
  extends GatewayOptions {
  /** Each adds its methods to the gateway: `agentKind` of `unwedge/agents`, `codexKind` of `unwedge/codex`, `workflowKind` of `unwedge/workflow`. @defaultValue [] */
  readonly kinds?: Kinds | undefined;
}

/** The options of a function that do not depend on its input. */
export const functionKeys = {
  /** Its limits, retries and circuit breaker. @defaultValue preset `sdk` */
  policy: policyKey,
  /** Effect of its calls on the world, where neither the call nor the tool says. @defaultValue unspecified */
  effect: choice(effects),
  /** Per tool, when sessions call it as one: effect, limits and reconcile rule. */
  tools: toolsKey,
  /** Rule that finds out what became of a call whose answer was lost, where its tool has no rule of its own. @defaultValue nobody asks */
  reconcile: reconcileKey,
  /**
   * Time for which a call of a session goes on after a limit has ended it, in ms; 0 is none. The same call, made again by its session, joins it or gets its
   * answer. At most 32 at a time. For work that goes on by itself. @defaultValue 0
   */
  keepMs: duration({ zero: true, default: 0 }),
};

/** Options for supervising calls of a function. */
export interface FunctionOptions<I = never> extends Given<typeof functionKeys> {
  /**
   * Its rate limits: requests, tokens or other costs in a window. `{}` has those that the operation hears of in the headers of its answers
   * (`context.rateLimit`). @defaultValue none
   */
  readonly rate?: RateOptions<I> | undefined;
}

export const stopKeys = {
  /**
   * Time that running work may take to end by itself, in ms, at least 0; then the rest is cut. The gateway refuses new calls, messages and runs from the
   * beginning (`cancelled`, `stopped`). It still takes the calls of a running turn or workflow, and a call with the signal of a turn or an attempt. A session
   * begins no waiting message any more; a session that is kept has them at the next start. A call fails at once, with its last failure, when its next attempt
   * would come after the end.
   * @defaultValue 0
   */
  drainMs: duration({ zero: true, default: 0 }),
};

/** Options for stopping a gateway. */
export interface StopOptions extends Given<typeof stopKeys> {}

/** A gateway's supervision: declare what it uses, start it, and everything that is called through it ends. */
export interface Gateway {
  /**
   * A function as an integration: calls to it are supervised. Called by a session's `turn.tool`, it gets a `ToolRequest`. Its input is of the
   * type that the function says; of one that says none, anything, so that a program of JavaScript is one of TypeScript.
   * @throws TypeError or RangeError when an option is wrong or the name is taken.
   */
  // oxlint-disable-next-line typescript/no-explicit-any -- what JavaScript says of it
  integration<I = any, O = unknown>(
    name: string,
    options: FunctionOptions<NoInfer<I>>,
    // Written out: a mistake is told in these words, not in those of a type that the caller has not written.
    operation: (input: I, context: AttemptContext) => O | PromiseLike<O>,
  ): Integration<I, O>;
  /**
   * An HTTP API: each call is one request, tried again as the policy says. An answer of 400 and above is a failure that is classified by its status,
   * its headers and its body. Called by a session's `turn.tool`, it gets the input as its request, whatever the tool is called.
   * @throws TypeError or RangeError when an option is wrong or the name is taken.
   *
   * @example
   * const llm = gateway.http('llm', { baseUrl: 'https://llm.example/v1', headers: { authorization: `Bearer ${key}` } });
   * const outcome = await llm.call({ method: 'POST', path: '/chat', body: { messages } });
   * if (outcome.ok) console.log(outcome.value.body);
   */
  http<const P extends HttpParse = 'json'>(name: string, options: HttpOptions<P>): HttpIntegration<P>;
  /**
   * An MCP server, kept alive: one that is run as a process (`command`), one that is reached by HTTP (`url`), or one in this process (`connect`).
   *
   * @example
   * const search = gateway.mcpServer('search', { url: 'https://mcp.example/mcp', headers: { authorization: `Bearer ${key}` } });
   * const outcome = await search.call({ name: 'find', arguments: { text } });
   */
  mcpServer(name: string, options: AnyMcpOptions): McpIntegration;
  /** A command: each call is one run of it. Its stream gives the lines that it prints while it runs, and ends as the run does. */
  subprocess(name: string, options: SubprocessOptions): Integration<RunRequest, RunResult, string>;
  /**
   * Registers a hook for an event: a function, or a command that speaks the protocol of Claude Code's hooks. Either is supervised;
   * only a command cannot do harm later in a timer of its own.
   */
  hook(event: string, handler: HookHandler | HookCommand, options?: HookOptions): void;
  /** Runs the hooks of an event. Never rejects. While the gateway is not started each fails at once. */
  runHooks(event: HookEvent): Promise<HookVerdict>;
  /** Wraps what asks for approval: a timeout and a crash decline, with a record. Where an inbox is on the handler may be left out. */
  approval(name: string, handler?: ApprovalHandler, options?: ApprovalOptions): Approver;
  /**
   * Records errors of this process that nobody caught, until it is taken off or the gateway stops. Without `goOn` it only watches: the
   * process ends as it would have.
   * @returns how to take it off.
   */
  guardProcess(options?: ProcessGuardOptions): () => void;
  /**
   * The session of this id; made when there is none yet, with `options` or with what {@link Gateway.adoptSessions} gives for it.
   * @param id - at most 1,024 bytes of UTF-8, without NUL and lone surrogates.
   * @throws TypeError or RangeError when the id or an option is wrong, options are given for one that there is, or none for one that there is not.
   */
  session<Result = unknown>(id: string, options?: SessionOptions<Result>): Session<Result>;
  /**
   * Takes up sessions that have something to do and that no gateway on the store has: those of a gateway that was killed, here or on another machine,
   * and those that this gateway has not made since its start. They are looked for at the start, and then every 10 s (on PostgreSQL at half of the lease).
   * A session in memory has no other gateway. `gateway.session(id)` makes a session of the same options: one for each user, say.
   * @param optionsOf - gives the options of such a session by its id; undefined leaves it to others. A throw is logged, and leaves it too.
   * @throws TypeError when it is no function. @throws RangeError when sessions are adopted already.
   *
   * @example
   * gateway.adoptSessions((id) => (id.startsWith('customer:') ? { onMessage: answerCustomer } : undefined));
   */
  adoptSessions(optionsOf: (session: string) => SessionOptions | undefined): void;
  /**
   * Opens the store and starts what was declared, in order. What is declared later starts at once.
   * @throws Error with the code `UNWEDGE_STORE_UNAVAILABLE` when the `store` cannot be had, as no SQLite driver works, or the file or
   * the database cannot be used; nothing has started then, and it may be started again. Until that is tried sessions refuse messages (`stopped`).
   * Its message names the store and the fix.
   */
  start(): Promise<void>;
  /**
   * Ends every call, session and child, in reverse order; with `drainMs` only when what is under way had the time to end by itself. Always
   * resolves; afterwards nothing of it keeps the process alive. Called again it joins the first, and can shorten its `drainMs`: `stop()` ends it now.
   * An alert that is being delivered has up to 3 s from the beginning of the stop to arrive.
   * @throws TypeError or RangeError at once when an option is wrong.
   */
  stop(options?: StopOptions): Promise<void>;
  on<K extends FactType | '*'>(type: K, listener: Listener<K>): () => void;
  once<K extends FactType | '*'>(type: K, listener: Listener<K>): () => void;
  off<K extends FactType | '*'>(type: K, listener: Listener<K>): void;
  wait<K extends FactType>(type: K, options?: WaitOptions<K>): Promise<Told<FactOf<K>>>;
  events<K extends FactType = FactType>(options?: StreamOptions<K>): EventStream<Told<FactOf<K>>>;
  /** Questions to people; undefined where the option `inbox` is off. */
  readonly inbox: Inbox | undefined;
  /** The supervision tree as of now. */
  tree(): TreeNode;
  /**
   * Restarts an integration by its name, with its process, or a session by its id. It also ends a quarantine.
   * @throws RangeError that lists the known names when there is none of that one.
   */
  restart(name: string): void;
  /**
   * Tells what a session waits for, and which rule ends it when. For an integration its `state`, `breaker.state` and `stats` tell.
   * @throws TypeError or RangeError when there is no session of this id.
   */
  why(session: string): SessionWhy;
  /**
   * Sessions of which a message waits while nothing works on it, at most 10: those that this gateway has (`here`) first, and the longest wait first. A
   * readiness of your own should go by those that are `here`: the others are of no use to this gateway, nor it to them. A message behind a turn that is
   * under way is taken. On PostgreSQL these are the node's own sessions, and those for which other nodes have left messages that no owner has taken (as
   * of the last 5 s).
   */
  untaken(): readonly UntakenMessage[];
  /**
   * Reports how well each integration works, by name, with its tools: calls, success rate, kinds of failure, latencies. It covers all gateways that share the
   * store; without a file, this one since its start. @throws TypeError or RangeError for a wrong option (rejects with it).
   */
  report(options?: ReportOptions): Promise<readonly ReportEntry[]>;
  /**
   * The metrics of this gateway for Prometheus, as a route `/metrics` of your own server answers: its calls since it was made, its circuits, and what is
   * under way as of now. Without secrets. @throws TypeError or RangeError for a wrong option (rejects with it).
   *
   * @example
   * const { text, contentType } = await gateway.metrics({ accept: request.headers.accept });
   * response.setHeader('content-type', contentType).end(text);
   */
  metrics(options?: MetricsOptions): Promise<MetricsBody>;
  /** Store of final failures and facts, once started. */
  readonly store: Store | undefined;
}
