import { read } from '../policy/errorChain.ts';
import type { Failure } from '../policy/failure.ts';
import {
  checkBoolean,
  checkDuration,
  checkFunction,
  checkKeys,
  checkName,
  checkOneOf,
  checkVariables,
  show,
} from '../policy/options.ts';
import type { AgentName } from '../protocol/agentReport.ts';
import type { Runtime } from '../runtime.ts';
import type { AgentBackend, SupervisedBackend } from './agentBackend.ts';
import type { Agent, AgentOptions, Conversation, AgentStartOptions } from './agentTypes.ts';
import { superviseClaude } from './claudeAgent.ts';
import { superviseCodexAgent } from './codexAgent.ts';

/** An agent, and the integration behind it. */
export interface SupervisedAgent extends Pick<SupervisedBackend, 'path'> {
  readonly agent: Agent;
}

const optionNames: readonly (keyof AgentOptions)[] = [
  'backend',
  'model',
  'cwd',
  'env',
  'envMode',
  'policy',
  'approve',
  'approvalTimeoutMs',
  'fallback',
  'fallBackAfterEffects',
  'claude',
  'codex',
];

const backends: readonly AgentName[] = ['claude', 'codex'];

/**
 * Puts an agent under a runtime.
 * @throws TypeError or RangeError that names the first wrong option and its value.
 */
export function superviseAgent(
  runtime: Runtime,
  name: string,
  options: AgentOptions,
  isRunning: () => boolean,
): SupervisedAgent {
  checkName('name', name);
  checkAgentOptions(name, options);
  const supervise = options.backend === 'claude' ? superviseClaude : superviseCodexAgent;
  const { backend, path } = supervise(runtime, name, options, isRunning);
  return { path, agent: agentOver(runtime, name, options, backend) };
}

function agentOver(
  { bus, clock }: Pick<Runtime, 'bus' | 'clock'>,
  name: string,
  { fallback, fallBackAfterEffects = false }: AgentOptions,
  backend: AgentBackend,
): Agent {
  const conversations = new Set<Conversation>();
  let stopping: Promise<void> | undefined;

  async function open(
    id: string | undefined,
    options: AgentStartOptions,
  ): Promise<Awaited<ReturnType<Agent['start']>>> {
    if (stopping !== undefined) return { ok: false, failure: stopped(name) };
    const loaded = await load(id, options).catch((error: unknown) => notLoaded(name, error));
    if ('ok' in loaded) return loaded;
    const { createConversation, opened } = loaded;
    if (stopping !== undefined) {
      if (opened.ok) await opened.value.stop();
      return { ok: false, failure: stopped(name) };
    }
    if (!opened.ok) return opened;
    const conversation = createConversation({
      agent: name,
      backend: opened.value,
      clock,
      facts: bus,
      fallback,
      fallBackAfterEffects,
      stopped: () => conversations.delete(conversation),
    });
    conversations.add(conversation);
    return { ok: true, value: conversation };
  }

  /** Loaded now: most gateways have no agent. */
  async function load(id: string | undefined, options: AgentStartOptions) {
    const { createConversation } = await import('./agentConversation.ts');
    return { createConversation, opened: await backend.open(id, options) };
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
  checkName('id', id);
  if (id.startsWith('-'))
    throw new RangeError(`Expected \`id\` to begin with another character than -, got ${show(id)}`);
}

/** @throws TypeError or RangeError that names the option and its value. */
export function checkStart(options: AgentStartOptions): void {
  checkKeys('options', options, ['signal']);
  if (options.signal !== undefined && !(options.signal instanceof AbortSignal)) {
    throw new TypeError('Expected `options.signal` to be an AbortSignal');
  }
}

function checkAgentOptions(name: string, options: AgentOptions): void {
  checkKeys(name, options, optionNames);
  const { backend, model, cwd, env, envMode, approve, approvalTimeoutMs, fallback, fallBackAfterEffects } = options;
  checkOneOf(`${name}.backend`, backend, backends);
  if (model !== undefined) checkName(`${name}.model`, model);
  if (cwd !== undefined) checkName(`${name}.cwd`, cwd);
  if (env !== undefined) checkVariables(`${name}.env`, env);
  if (envMode !== undefined) checkOneOf(`${name}.envMode`, envMode, ['extend', 'safe']);
  if (approve !== undefined) checkFunction(`${name}.approve`, approve);
  if (approvalTimeoutMs !== undefined) checkDuration(`${name}.approvalTimeoutMs`, approvalTimeoutMs);
  if (fallback !== undefined && typeof read(fallback, 'start') !== 'function') {
    throw new TypeError(`Expected \`${name}.fallback\` to be an agent`);
  }
  if (fallBackAfterEffects !== undefined) checkBoolean(`${name}.fallBackAfterEffects`, fallBackAfterEffects);
  const others = backends.filter((each) => each !== backend && options[each] !== undefined);
  for (const each of others) {
    throw new RangeError(`Expected \`${name}.${each}\` to be left out with the backend ${backend}`);
  }
}

function notLoaded(name: string, error: unknown): { readonly ok: false; readonly failure: Failure } {
  const why = error instanceof Error ? error.message : String(error);
  const message = `${name} could not be loaded: ${why}`;
  return { ok: false, failure: { ...stopped(name), kind: 'crash', reason: 'startup_failed', message, cause: error } };
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
