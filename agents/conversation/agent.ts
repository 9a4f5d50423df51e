import {
  type GatewayOptions,
  type IntegrationKind,
  Registry,
  type Runtime,
  checkGatewayOptions,
  defineKind,
  withRegistry,
} from '../../src/runtime/face.ts';
import type { Failure, Outcome } from '../../src/policy/failures/face.ts';
import {
  type Tell,
  type Values,
  checkObject,
  name as anyName,
  readOptions,
  readValue,
} from '../../src/policy/options/face.ts';
import { show } from '../../src/policy/text/face.ts';
import { limitsOf, ownLimits } from '../../src/policy/spinning/face.ts';
import type { BackendName } from './agentTypes.ts';
import { logToHost } from '../../src/telemetry/face.ts';
import type { AgentBackend } from './agentBackend.ts';
import { AgentConversation, type AgentScope } from './agentConversation.ts';
import {
  type Agent,
  agentBackends,
  agentKeys,
  type AgentOptions,
  type AgentStartOptions,
  type Conversation,
  startKeys,
} from './agentTypes.ts';
import { superviseAcpAgent } from './acp/acpAgent.ts';
import { superviseClaude } from './claude/claudeAgent.ts';
import { superviseCodexAgent } from './codex/codexAgent.ts';

const backends = { claude: superviseClaude, codex: superviseCodexAgent, acp: superviseAcpAgent } as const;

/** {@link AgentOptions}, checked but for what is its backend's own. */
type CheckedAgent = Values<typeof agentKeys>;

/** Work of a host around that of its agent. Neither rejects. */
interface AgentHost {
  /** Asked before each conversation. */
  readonly begin?: () => Promise<unknown>;
  readonly end?: () => Promise<void>;
}

/**
 * Puts an agent under a runtime, which stops it.
 * @throws TypeError or RangeError that names the first wrong option and its value.
 */
export function superviseAgent(runtime: Runtime, name: string, options: AgentOptions, host: AgentHost = {}): Agent {
  readValue('name', name, anyName);
  const checked = readOptions(name, options, agentKeys, backendRule);
  const supervise = backends[checked.backend ?? 'acp'];
  const agent = agentOver(runtime, name, checked, supervise(runtime, name, checked), host);
  runtime.join({ afterCalls: () => void agent.stop() });
  return agent;
}

function agentOver(
  { bus, clock, policies, budgets }: Pick<Runtime, 'bus' | 'clock' | 'policies' | 'budgets'>,
  name: string,
  { fallback, fallBackAfterEffects, spinning: chosen }: CheckedAgent,
  backend: AgentBackend,
  { begin, end }: AgentHost,
): Agent {
  const spinning = limitsOf(policies.spinningOf(name, chosen), ownLimits);
  const budget = budgets.accounts.get(`${budgets.are ?? 'integration'}:${name}`);
  const scope: AgentScope = { agent: name, clock, facts: bus, fallback, fallBackAfterEffects, spinning, budget };
  const conversations = new Set<Conversation>();
  let stopping: Promise<void> | undefined;

  async function open(id: string | undefined, options: AgentStartOptions): Promise<Outcome<Conversation>> {
    if (stopping !== undefined) return { ok: false, failure: stopped(name) };
    if (begin !== undefined) await begin();
    if (stopping !== undefined) return { ok: false, failure: stopped(name) };
    const opened = await backend.open(id, options);
    // Before what the backend says: it may have been stopped first.
    if (stopping !== undefined) {
      if (opened.ok) await opened.value.stop();
      return { ok: false, failure: stopped(name) };
    }
    if (!opened.ok) return opened;
    const conversation = new AgentConversation(scope, opened.value, (ended) => conversations.delete(ended));
    conversations.add(conversation);
    return { ok: true, value: conversation };
  }

  return {
    name,
    backend: backend.name,
    start(options = {}) {
      checkStart(options);
      return open(undefined, options);
    },
    resume(id, options = {}) {
      checkId(id);
      checkStart(options);
      return open(id, options);
    },
    stop() {
      stopping ??= stop();
      return stopping;
    },
  };

  async function stop(): Promise<void> {
    await Promise.all([...conversations].map((conversation) => conversation.stop()));
    await backend.stop();
    await end?.();
  }
}

/** @throws TypeError or RangeError when it is no id of a conversation; on a command line it must not pass for an option. */
function checkId(id: string): void {
  readValue('id', id, anyName);
  if (id.startsWith('-'))
    throw new RangeError(`Expected \`id\` to begin with another character than -, got ${show(id)}`);
}

/** @throws TypeError or RangeError that names the option and its value. */
function checkStart(options: AgentStartOptions): void {
  readOptions('options', options, startKeys);
}

/** A backend has nothing to say to the options of another. */
export function backendRule(
  { backend, ...options }: Pick<AgentOptions, 'backend' | 'model'> & { readonly [Each in BackendName]?: unknown },
  tell: Tell,
): void {
  const own = backend ?? (options.acp === undefined ? undefined : 'acp');
  if (own === undefined) tell('backend', { expected: `one of ${agentBackends.join(', ')}`, value: backend });
  const others = agentBackends.filter((each) => each !== own && options[each] !== undefined);
  if (own !== undefined) for (const each of others) tell(each, { says: `to be left out with the backend ${own}` });
  if (own === 'acp' && options.model !== undefined)
    tell('model', { says: 'to be left out with the backend acp: the agent has its own' });
  if (own === 'acp' && options.acp === undefined) tell('acp', { says: 'with the `command` of the agent' });
}

function stopped(name: string): Failure {
  return {
    kind: 'unavailable',
    reason: 'stopped',
    message: `${name} is stopped`,
    outcome: 'not_started',
    integration: name,
    attempts: 0,
    retryable: false,
  };
}

/** Methods that a gateway has with {@link agentKind}. */
export interface AgentMethods {
  /**
   * Claude (through its Agent SDK), Codex, or any agent of the Agent Client Protocol through one interface: conversations whose turns are calls of an integration of this name.
   * @throws TypeError or RangeError when an option is wrong or the name is taken.
   */
  agent(name: string, options: AgentOptions): Agent;
}

/**
 * Agents as integrations of a gateway.
 *
 * @example
 * const gateway = createGateway({ store: 'gateway.sqlite', kinds: [agentKind] });
 * const claude = gateway.agent('claude', { backend: 'claude' });
 */
export const agentKind: IntegrationKind<AgentMethods> = defineKind('agents', (runtime) => ({
  agent(name: string, options: AgentOptions): Agent {
    runtime.declare(name);
    runtime.policies.refuseAbout(name, 'an agent', ['tools', 'reconcile', 'whenAlive', 'allow', 'deny']);
    return superviseAgent(runtime, name, options);
  },
}));

/** An agent of one's own, without a gateway. */
export interface CreateAgentOptions
  extends AgentOptions,
    Pick<GatewayOptions, 'store' | 'clock' | 'random' | 'logger'> {
  /** Name of its integration, in records. @defaultValue that of the backend */
  readonly name?: string | undefined;
}

/**
 * An agent under a runtime of its own, which starts with the first conversation and ends with `stop()`.
 * @throws TypeError or RangeError that names the first wrong option and its value.
 *
 * @example
 * const agent = createAgent({ backend: 'claude', claude: { options: { allowedTools: ['Read'] } } });
 * const conversation = unwrap(await agent.start());
 * const turn = conversation.send('What does this project do?');
 * for await (const event of turn) if (event.type === 'text') process.stdout.write(event.text);
 * const outcome = await turn.outcome;
 * await agent.stop();
 */
export function createAgent(options: CreateAgentOptions): Agent {
  checkObject('options', options);
  const { name = options.backend ?? 'acp', store, clock, random, logger, ...own } = options;
  const checked = checkGatewayOptions({ store, clock, random, logger, control: false });
  const registry = new Registry(checked);
  const { runtime } = registry;
  logToHost(runtime.bus, runtime.clock, checked.logger);
  let starting: Promise<void> | undefined;
  const begin = (): Promise<void> => (starting ??= registry.start());
  return withRegistry(registry, superviseAgent(runtime, name, own, { begin, end: () => registry.stop() }));
}
