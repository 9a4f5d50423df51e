import { defineKind, type IntegrationKind } from '../../src/runtime/integrationKind.ts';
import { superviseAgent } from './agent.ts';
import type { Agent, AgentOptions } from './agentTypes.ts';

/** Methods that a gateway has with {@link agentKind}. */
export interface AgentMethods {
  /**
   * Claude (through its Agent SDK) or Codex through one interface: conversations whose turns are calls of an integration of this name.
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
    runtime.policies.refuseAbout(name, 'an agent', ['tools', 'reconcile', 'whenAlive']);
    return superviseAgent(runtime, name, options);
  },
}));
