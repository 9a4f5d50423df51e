import { type RemoteServerOptions, remoteServerKeys } from '../../src/actors/mcp/http/face.ts';
import {
  type ServerTarget,
  allowedEnvironment,
  checkMcpServer,
  commandHandshakeMs,
  processTarget,
  remoteHandshakeMs,
} from '../../src/actors/mcp/face.ts';
import { type ProbePort, type RequestForms, mcpForms, reconciledTools } from '../../src/calls/reconcile/face.ts';
import type { KeepRule } from '../../src/calls/face.ts';
import { type Duration, programForm } from '../../src/policy/text/face.ts';
import {
  type Given,
  type Tell,
  type Values,
  boolean,
  byName,
  choice,
  duration,
  list,
  readOptions,
  section,
  text,
} from '../../src/policy/options/face.ts';
import {
  ByPattern,
  type Limits,
  type ReconcileOptions,
  type RetryInput,
  ToolRules,
  type Tools,
  type WhenAlive,
  maxResultKey,
  resolvePolicy,
  toolLimits,
  toolAccessKeys,
  whenAliveChoices,
} from '../../src/policy/face.ts';
import { limitsOf, passingLimits, repeatRule, spinningKey } from '../../src/policy/spinning/face.ts';
import { type McpAnswer, type TaskChoice, fieldsOf, taskChoices } from '../../src/protocol/mcp/face.ts';
import { type Runtime, remoteServer } from '../../src/runtime/face.ts';
import type { ClientCall } from './clientCall.ts';
import { ToolNames } from './toolNames.ts';

/** Cases in which a request whose answer was lost is sent again. */
type RetryMode = 'safe' | 'always' | 'never';

type ProxyWorld = Pick<Runtime, 'policies' | 'clock' | 'random' | 'secrets'>;

/** {@link McpProxyOptions}, checked. */
export type ProxySettings = ReturnType<typeof checkMcpProxy>;

const retryModes: readonly RetryMode[] = ['safe', 'always', 'never'];

const retries: Readonly<Record<RetryMode, RetryInput>> = {
  safe: { repeatAfter: 'broken' },
  always: { repeatAfter: 'lost' },
  never: { maxAttempts: 1 },
};

/** Calls in flight at once; a client that has more does not wait for their answers. */
const mostInFlight = 1000;

/** Time for which a call is kept where nobody says, in ms. */
const usualKeepMs = 600_000;

/** Keys that a remote server is told apart from others by, and shown. */
const { url, headers, auth, transport } = remoteServerKeys;

const proxyKeys = {
  /** Name that its calls are recorded under, and by which it is restarted by hand. */
  name: text({ required: true }),
  /** Path, or name to look up on the PATH. Never goes through a shell. Either this or `remote`. */
  command: text(programForm),
  /** A server that is reached by HTTP, and what it is shown. Without `auth` and an authorization it is shown what somebody signed in to. */
  remote: section(
    { url, headers, auth, transport },
    { given: {} as Pick<RemoteServerOptions, 'url' | 'headers' | 'auth' | 'transport'> },
  ),
  /** @defaultValue [] */
  args: list(text({ empty: true }), { expected: 'an array of strings', default: [] }),
  /** Variables set for the server, beside those it gets anyway. @defaultValue {} */
  env: byName(text({ empty: true, secret: true }), { expected: 'an object of strings', default: {} }),
  /** @defaultValue the working directory of the runtime */
  cwd: text(),
  /** A call without an answer or progress for so long makes the server suspect, in ms above 0. @defaultValue 30000 */
  idleMs: duration(),
  /**
   * Fate of a call without an answer or progress for `idleMs` while the server answers a ping: it goes on to its other limits (`wait`), as it would without
   * us, or ends. A server that does not answer is killed either way. @defaultValue 'wait'
   */
  whenAlive: choice(whenAliveChoices, { given: {} as WhenAlive }),
  /** Calls that are tasks at the server, unseen by the client, as of `gateway.mcpServer`. @defaultValue 'required' */
  tasks: choice(taskChoices, { given: {} as TaskChoice, default: 'required' }),
  /**
   * Time for which a call goes on after a limit has ended it, ours or the client's own, in ms, while the server lives; 0 is none. The same call of that client, made again,
   * joins it or gets its answer. At most 32 at a time. @defaultValue 600000, ten minutes
   */
  keepMs: duration({ zero: true }),
  /** Largest result of a tool that is told whole, in bytes of its text. @defaultValue any */
  maxResult: maxResultKey,
  /** How far it goes against repetition in the calls of a client. @defaultValue a notice, and a word on equal failures */
  spinning: spinningKey,
  /** Limit on a call as a whole, in ms above 0. @defaultValue 5 min an attempt, 6 min in all */
  overallMs: duration(),
  ...toolAccessKeys,
  /** By tool or pattern: limit on its calls as a whole and on each attempt, in ms above 0; `idleMs` holds as before. @defaultValue {} */
  toolMs: byName(duration(), { given: {} as Readonly<Record<string, Duration>>, default: {} }),
  /**
   * Limit on the start up to the end of the handshake, in ms above 0: the package of a command may have to be fetched first.
   * @defaultValue 180000, and 30000 of a remote server
   */
  handshakeMs: duration(),
  /** @defaultValue the policy's, which is 'safe' unless `retry.repeatAfter` is `lost` */
  retry: choice(retryModes),
  /** Variables the server gets besides those that are safe. @defaultValue the whole environment */
  envAllow: list(text({ empty: true }), { expected: 'an array of strings' }),
  /** True where `toolMs` is for several servers, each of which may lack a tool of it. @defaultValue false */
  isOneOfSeveral: boolean({ default: false }),
};

/** An MCP server behind a proxy. */
export interface McpProxyOptions extends Given<typeof proxyKeys> {}

/**
 * Checks options: what they say wins over the policies.
 * @throws TypeError or RangeError that names the first option that is not as documented, and its value.
 */
export function checkMcpProxy(options: McpProxyOptions, world: ProxyWorld) {
  const { policies } = world;
  const { name, idleMs, overallMs, toolMs, retry, ...own } = readOptions('', options, proxyKeys, needServer);
  const whenAlive = own.whenAlive ?? policies.whenAliveOf(name) ?? 'wait';
  const policy = resolvePolicy(
    name,
    {
      limits: { idleMs, attemptMs: overallMs, overallMs },
      retry: retry === undefined ? undefined : retries[retry],
      maxInFlight: mostInFlight,
      maxAbandoned: mostInFlight,
    },
    policies.policyOf(name, undefined, 'mcp'),
  );
  const tools = policies.toolsOf(name, undefined);
  const reconcile = policies.reconcileOf(name, undefined);
  for (const rule of [reconcile, ...[...tools.entries()].map(([, tool]) => tool.reconcile)]) refuseOthers(name, rule);
  const toolsBy = (port: ProbePort): Tools => reconciledTools(name, tools, reconcile, proxyForms, port);
  // A rule that cannot be followed is found out now, and not with the first client.
  toolsBy(nobody);
  const server = targetOf(own, world);
  const places = [policies.toolRulesOf(name), own];
  const rules = (): ToolRules => new ToolRules(name, places, tools);
  // The same: two tools of one name.
  rules();
  const toolLimit = new ByPattern(Object.entries(toolMs), (_, exact) => exact);
  return {
    name,
    /** The name without the number of a client. */
    declaredAs: name,
    /** True where equal calls of some tool are one. */
    joins: [...tools.entries()].some(([, { join }]) => join === true),
    /** True where tools that changed or are new are held. */
    pin: own.pin ?? policies.toolRulesOf(name).pin ?? false,
    /** True where a tool's own word that repeating it does harm counts for nothing. */
    repeatsAlways: retry === 'always',
    whenAlive,
    tasks: own.tasks,
    /** Counts by which repetition is judged; undefined where it is not. */
    spinning: limitsOf(own.spinning ?? policies.spinningOf(name, undefined), passingLimits),
    /** The rule by which calls of a tool are kept; undefined where they are not. */
    keepOf: (tool: string): KeepRule | undefined => {
      const ms = tools.get(tool)?.keepMs ?? own.keepMs ?? policies.keepMsOf(name) ?? usualKeepMs;
      return ms === 0 ? undefined : { ms, about: proxyForms.about };
    },
    maxResult: own.maxResult ?? policies.maxResultOf(name),
    repeatRuleOf: (tool: string) => repeatRule(tools.get(tool)),
    policy,
    server,
    /** True where it is elsewhere, and no process of ours. */
    isRemote: own.remote !== undefined,
    /** Effect that the configuration gives to calls of tools that it names no effect of. */
    effect: policies.effectOf(name, undefined),
    /** Names that are written of tools, held against those that there are. */
    toolNames: new ToolNames({ name, tools, reconcile, limited: own.isOneOfSeveral ? [] : Object.keys(toolMs) }),
    /** The rules on which tools its client sees: one for each client. */
    rules,
    /** The configured tools, their reconcile rules bound to this port. */
    toolsBy,
    limitsOf: (method: string, tool: string | undefined): Limits => {
      if (method === 'initialize') return all(server.handshakeMs);
      // It is answered when the task is done, and says nothing until then.
      if (method === 'tasks/result') return { ...policy.limits, idleMs: policy.limits.attemptMs };
      const limits = toolLimits(policy.limits, tool === undefined ? undefined : tools.get(tool));
      const own = tool === undefined ? undefined : toolLimit.get(tool);
      // Its idle limit stays: without that nobody asks a server that hangs for a sign of life.
      return own === undefined ? limits : { ...limits, attemptMs: own, overallMs: own };
    },
  };
}

/** A proxy reaches the tools of its own server alone. */
function refuseOthers(name: string, rule: ReconcileOptions | undefined): void {
  const other = rule !== undefined && 'tool' in rule ? rule.integration : undefined;
  if (other === undefined || other === name) return;
  throw new RangeError(
    `Expected \`integration\` of a reconcile rule of ${name} to be left out, got ${other}: a proxy asks its own server`,
  );
}

/** For rules that are only looked at. */
const nobody: ProbePort = {
  call: () => Promise.reject(new Error('There is no server yet')),
  read: () => undefined,
  beside: () => undefined,
  effect: () => undefined,
};

function needServer({ command, remote }: Values<typeof proxyKeys>, tell: Tell): void {
  if ((command === undefined) === (remote === undefined)) tell('command', { says: 'or `remote`, one of them' });
}

function targetOf(
  {
    command = '',
    args,
    env,
    cwd,
    remote,
    handshakeMs,
    envAllow,
  }: Pick<Values<typeof proxyKeys>, 'command' | 'args' | 'env' | 'cwd' | 'remote' | 'handshakeMs' | 'envAllow'>,
  world: ProxyWorld,
): ServerTarget {
  if (remote !== undefined) {
    const limits = { handshakeMs: handshakeMs ?? remoteHandshakeMs };
    return remoteServer(world, readOptions('', { ...remote, ...limits }, remoteServerKeys), true);
  }
  return processTarget(
    checkMcpServer({
      command,
      args,
      handshakeMs: handshakeMs ?? commandHandshakeMs,
      cwd,
      ...allowedEnvironment(envAllow, env),
    }),
  );
}

const all = (ms: number): Limits => ({ idleMs: ms, attemptMs: ms, overallMs: ms });

/** Forms of the calls and answers of a proxy, for reconcile rules. A call takes its key into the line that is written. */
const proxyForms: RequestForms = {
  about(call) {
    const { tool, request, input } = call as ClientCall;
    return { tool, input: request.params['arguments'] ?? {}, exact: input ?? {} };
  },
  answer: (result): McpAnswer => ({
    kind: 'answer',
    key: undefined,
    result: fieldsOf(mcpForms.answer(result)),
    error: undefined,
    flaw: undefined,
  }),
  keysIn: mcpForms.keysIn,
  keyed(call, place, key) {
    (call as ClientCall).takeKey(place, key);
    return call;
  },
};
