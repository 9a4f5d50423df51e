import type { Failure } from '../../src/policy/failure.ts';
import { name as anyName, type Tell, type Values } from '../../src/policy/optionKeys.ts';
import { readOptions, readValue } from '../../src/policy/readOptions.ts';
import { show } from '../../src/policy/showValue.ts';
import type { AgentName } from '../../src/protocol/agentReport.ts';
import type { Runtime } from '../../src/runtime/runtime.ts';
import type { AgentBackend } from './agentBackend.ts';
import type { AgentScope } from './agentConversation.ts';
import {
  type Agent,
  agentBackends,
  agentKeys,
  type AgentOptions,
  type AgentStartOptions,
  type Conversation,
  startKeys,
} from './agentTypes.ts';
import { superviseClaude } from './claude/claudeAgent.ts';
import { superviseCodexAgent } from './codex/codexAgent.ts';
import { messageOf } from '../../src/policy/thrown.ts';
import { lateModule, loadFailure } from '../../src/actors/process/lateModule.ts';

const conversationModule = lateModule(() => import('./agentConversation.ts'));

/** {@link AgentOptions}, checked but for what is its backend's own. */
type CheckedAgent = Values<typeof agentKeys>;

/**
 * Puts an agent under a runtime, which stops it.
 * @throws TypeError or RangeError that names the first wrong option and its value.
 */
export function superviseAgent(runtime: Runtime, name: string, options: AgentOptions): Agent {
  readValue('name', name, anyName);
  const checked = readOptions(name, options, agentKeys, backendRule);
  const supervise = checked.backend === 'claude' ? superviseClaude : superviseCodexAgent;
  const agent = agentOver(runtime, name, checked, supervise(runtime, name, checked));
  runtime.join({ afterCalls: () => void agent.stop() });
  return agent;
}

function agentOver(
  { bus, clock }: Pick<Runtime, 'bus' | 'clock'>,
  name: string,
  { fallback, fallBackAfterEffects }: CheckedAgent,
  backend: AgentBackend,
): Agent {
  const scope: AgentScope = { agent: name, clock, facts: bus, fallback, fallBackAfterEffects };
  const conversations = new Set<Conversation>();
  let stopping: Promise<void> | undefined;

  async function open(
    id: string | undefined,
    options: AgentStartOptions,
  ): Promise<Awaited<ReturnType<Agent['start']>>> {
    if (stopping !== undefined) return { ok: false, failure: stopped(name) };
    const loaded = await load(id, options).catch((error: unknown) => notLoaded(name, error));
    if ('ok' in loaded) return loaded;
    const { AgentConversation, opened } = loaded;
    if (stopping !== undefined) {
      if (opened.ok) await opened.value.stop();
      return { ok: false, failure: stopped(name) };
    }
    if (!opened.ok) return opened;
    const conversation = new AgentConversation(scope, opened.value, (ended) => conversations.delete(ended));
    conversations.add(conversation);
    return { ok: true, value: conversation };
  }

  /** Loaded now: most gateways have no agent. */
  async function load(id: string | undefined, options: AgentStartOptions) {
    const { AgentConversation } = await conversationModule();
    return { AgentConversation, opened: await backend.open(id, options) };
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
  }
}

/** @throws TypeError or RangeError when it is no id of a conversation; on a command line it must not pass for an option. */
export function checkId(id: string): void {
  readValue('id', id, anyName);
  if (id.startsWith('-'))
    throw new RangeError(`Expected \`id\` to begin with another character than -, got ${show(id)}`);
}

/** @throws TypeError or RangeError that names the option and its value. */
export function checkStart(options: AgentStartOptions): void {
  readOptions('options', options, startKeys);
}

/** A backend has nothing to say to the options of another. */
export function backendRule(
  { backend, ...options }: Pick<AgentOptions, 'backend'> & { readonly [Each in AgentName]?: unknown },
  tell: Tell,
): void {
  const others = agentBackends.filter((each) => each !== backend && options[each] !== undefined);
  for (const each of others) tell(each, { says: `to be left out with the backend ${backend}` });
}

function notLoaded(name: string, error: unknown): { readonly ok: false; readonly failure: Failure } {
  const why = messageOf(error);
  const message = `${name} could not be loaded: ${why}`;
  const facts = loadFailure(message, error);
  return { ok: false, failure: { ...stopped(name), ...facts, retryable: facts.kind === 'transient' } };
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
