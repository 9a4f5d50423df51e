import { agentKind } from '../../agents/conversation/agent.ts';
import { presetOf } from '../../agents/conversation/agentTypes.ts';
import { type Gateway, createGateway } from '../../src/gateway/face.ts';
import type { McpIntegration } from '../../src/integrations/mcp/face.ts';
import { messageOf } from '../../src/policy/failures/face.ts';
import { type GatewayOptions, registryOf, systemClock } from '../../src/runtime/face.ts';
import { AgentTurns } from './agentTurns.ts';
import { waitingForPlaces } from './places.ts';
import { type Served, type ServedHook, servedHookEvents } from './serveTypes.ts';

/** @throws TypeError or RangeError that names the server, the option and its value. */
export function declareServers(
  gateway: Pick<Gateway, 'mcpServer'>,
  servers: Served['servers'],
): Map<string, McpIntegration> {
  const integrations = new Map<string, McpIntegration>();
  for (const [name, server] of Object.entries(servers)) {
    const served = { ...server, policy: waitingForPlaces(server.policy) };
    integrations.set(name, gateway.mcpServer(name, served as typeof server));
  }
  return integrations;
}

/** @throws TypeError or RangeError that names the event, or the option and its value. */
export function declareHooks(gateway: Pick<Gateway, 'hook'>, hooks: Served['hooks']): void {
  for (const [event, list] of Object.entries(hooks)) {
    if (!servedHookEvents.some((each) => each === event))
      throw new RangeError(`Expected hooks of ${servedHookEvents.join(', ')}, got \`${event}\``);
    for (const hook of list) declareHook(gateway, event, hook);
  }
}

function declareHook(
  gateway: Pick<Gateway, 'hook'>,
  event: string,
  { name, onFailure, overallMs, ...command }: ServedHook,
): void {
  gateway.hook(event, command, { name, onFailure, overallMs, policy: waitingForPlaces(undefined) });
}

const silent = { debug() {}, info() {}, warn() {}, error() {} };

/**
 * Declares all of it on a gateway that is never started and keeps nothing: what does not go together, as two of one name, is found by
 * those who would refuse it.
 * @returns what is wrong.
 */
export function undeclarable(options: GatewayOptions, { servers, agents, hooks }: Served): string | undefined {
  const tried = { ...options, store: ':memory:', control: false, logger: silent };
  try {
    const gateway = createGateway({ ...tried, kinds: [agentKind] });
    const runtime = registryOf(gateway)?.runtime;
    declareServers(gateway, servers);
    new AgentTurns(
      gateway,
      agents,
      options.clock ?? systemClock,
      (name, { backend, policy }) => (runtime ?? unregistered()).policies.policyOf(name, policy, presetOf(backend)),
      () => undefined,
      (fact) => fact,
    );
    declareHooks(gateway, hooks);
    return undefined;
  } catch (error) {
    if (error instanceof TypeError || error instanceof RangeError) return messageOf(error);
    throw error;
  }
}

function unregistered(): never {
  throw new Error('A gateway has a registry');
}
