import { onTestFinished } from 'vitest';
import { superviseAgent } from '../../../agents/conversation/agent.ts';
import type {
  Agent,
  AgentEvent,
  AgentOptions,
  AgentTurn,
  Conversation,
} from '../../../agents/conversation/agentTypes.ts';
import { checkGatewayOptions } from '../../../src/runtime/runtimeOptions.ts';
import type { Fact, FactOf, FactType } from '../../../src/policy/facts/facts.ts';
import { unwrap } from '../../../src/policy/failures/failure.ts';
import type { PolicyInput } from '../../../src/policy/policyInput.ts';
import { Registry } from '../../../src/runtime/registry.ts';
import { SimulatedClock } from '../../../testing/simulatedClock.ts';
import { scriptedQuery } from './scriptedQuery.ts';

/** Waits of exactly 1, 2 and 4 s. */
export const exact: PolicyInput = {
  retry: {
    backoff: { kind: 'exponential', initialMs: 1000, factor: 2, maxMs: 8000, jitter: { kind: 'none' } },
  },
};

/** Claude over a scripted query, on simulated time. */
export async function startAgent(
  options: Partial<AgentOptions> = {},
  behaviour: { readonly obeys?: boolean; readonly name?: string } = {},
) {
  const clock = new SimulatedClock();
  const registry = new Registry(checkGatewayOptions({ clock, random: () => 0.5 }));
  const { runtime } = registry;
  const facts: Fact[] = [];
  runtime.bus.on('*', (fact) => facts.push(fact));
  const sdk = scriptedQuery(behaviour);
  const { name = 'coder' } = behaviour;
  const agent = superviseAgent(runtime, name, {
    backend: 'claude',
    policy: exact,
    ...options,
    claude: { query: sdk.query, ...options.claude },
  });
  await registry.start();
  const stop = async (): Promise<void> => {
    const stopped = Promise.all([agent.stop(), registry.stop()]);
    await clock.advance(20_000);
    await stopped;
  };
  onTestFinished(stop);
  return {
    clock,
    registry,
    agent,
    sdk,
    stop,
    of: <T extends FactType>(type: T) => facts.filter((fact): fact is FactOf<T> => fact.type === type),
    converse: () => begin(agent),
  };
}

export async function begin(agent: Agent, id?: string): Promise<Conversation> {
  return unwrap(await (id === undefined ? agent.start() : agent.resume(id)));
}

/** Everything that is told of a turn, once it has ended. */
export async function eventsOf(turn: AgentTurn): Promise<readonly AgentEvent[]> {
  const events: AgentEvent[] = [];
  for await (const event of turn) events.push(event);
  return events;
}
