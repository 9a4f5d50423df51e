import { type McpServerSettings, checkMcpServer } from '../actors/mcp/mcpServerOptions.ts';
import { safeEnvironment } from '../actors/process/safeEnvironment.ts';
import type { Duration } from '../policy/duration.ts';
import { byName, choice, duration, type KeysOf, list, text } from '../policy/optionKeys.ts';
import { readOptions } from '../policy/readOptions.ts';
import type { IntegrationPolicy, Limits } from '../policy/policy.ts';
import type { RetryInput } from '../policy/policyInput.ts';
import { checkPolicies, type Policies, type WhenAlive, whenAliveChoices } from '../policy/policies.ts';
import { resolvePolicy } from '../policy/presetChain.ts';
import { toolLimits } from '../policy/toolOptions.ts';

/** When a request whose answer was lost is sent again. */
export type RetryMode = 'safe' | 'always' | 'never';

/** An MCP server behind a proxy. */
export interface McpProxyOptions {
  /** What its calls are recorded under, and how it is restarted by hand. */
  readonly name: string;
  /** Path, or name to look up on the PATH. Never goes through a shell. */
  readonly command: string;
  /** @defaultValue [] */
  readonly args?: readonly string[] | undefined;
  /** A call without an answer or progress for so long makes the server suspect, in ms above 0. @defaultValue 30000 */
  readonly idleMs?: Duration | undefined;
  /**
   * What becomes of a call without an answer or progress for `idleMs` while the server answers a ping: it goes on to its other limits
   * (`wait`), as it would without us, or ends. A server that does not answer is killed either way. @defaultValue 'wait'
   */
  readonly whenAlive?: WhenAlive | undefined;
  /** Limit on a call as a whole, in ms above 0. @defaultValue 5 min an attempt, 6 min in all */
  readonly overallMs?: Duration | undefined;
  /** By tool: one limit in place of both, in ms above 0. @defaultValue {} */
  readonly toolMs?: Readonly<Record<string, Duration>> | undefined;
  /** Limit on the start up to the end of the handshake, in ms above 0: the package may have to be fetched first. @defaultValue 180000 */
  readonly handshakeMs?: Duration | undefined;
  /** @defaultValue the policy's, which is 'safe' unless `retry.repeatAfter` is `lost` */
  readonly retry?: RetryMode | undefined;
  /** Variables the server gets besides those that are safe. @defaultValue the whole environment */
  readonly envAllow?: readonly string[] | undefined;
}

/** {@link McpProxyOptions}, checked. */
export interface ProxySettings {
  readonly name: string;
  /** Whether what a tool says of its effect counts for nothing. */
  readonly repeatsAlways: boolean;
  readonly whenAlive: WhenAlive;
  readonly policy: IntegrationPolicy;
  readonly server: McpServerSettings;
  /** The limits of a request. */
  readonly limitsOf: (method: string, tool: string | undefined) => Limits;
}

const retryModes: readonly RetryMode[] = ['safe', 'always', 'never'];

const retries: Readonly<Record<RetryMode, RetryInput>> = {
  safe: { repeatAfter: 'broken' },
  always: { repeatAfter: 'lost' },
  never: { maxAttempts: 1 },
};

/** Calls in flight at once; a client that has more does not wait for their answers. */
const mostInFlight = 1000;

const proxyKeys = {
  name: text({ required: true }),
  command: text({ required: true }),
  args: list(text({ empty: true }), { expected: 'an array of strings', default: [] }),
  idleMs: duration(),
  whenAlive: choice(whenAliveChoices),
  overallMs: duration(),
  toolMs: byName(duration(), { default: {} }),
  handshakeMs: duration({ default: 180_000 }),
  retry: choice(retryModes),
  envAllow: list(text({ empty: true }), { expected: 'an array of strings' }),
} satisfies KeysOf<McpProxyOptions>;

/**
 * What the options say wins over the policies.
 * @throws TypeError or RangeError that names the first option that is not as documented, and its value.
 */
export function checkMcpProxy(options: McpProxyOptions, policies: Policies = checkPolicies()): ProxySettings {
  const { name, command, args, idleMs, overallMs, toolMs, handshakeMs, retry, envAllow, ...own } = readOptions(
    '',
    options,
    proxyKeys,
  );
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
  const server = checkMcpServer({
    command,
    args,
    handshakeMs,
    ...(envAllow === undefined ? { envMode: 'extend' } : { envMode: 'safe', env: safeEnvironment(envAllow) }),
  });
  return {
    name,
    repeatsAlways: retry === 'always',
    whenAlive,
    policy,
    server,
    limitsOf(method, tool) {
      const own = tool !== undefined && Object.hasOwn(toolMs, tool) ? toolMs[tool] : undefined;
      if (own !== undefined) return all(own);
      if (method === 'initialize') return all(handshakeMs);
      // It is answered when the task is done, and says nothing until then.
      if (method === 'tasks/result') return { ...policy.limits, idleMs: policy.limits.attemptMs };
      return toolLimits(policy.limits, tool === undefined ? undefined : tools.get(tool));
    },
  };
}

const all = (ms: number): Limits => ({ idleMs: ms, attemptMs: ms, overallMs: ms });
