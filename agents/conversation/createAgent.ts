import { checkGatewayOptions, type GatewayOptions } from '../../src/runtime/runtimeOptions.ts';
import { checkObject } from '../../src/policy/options.ts';
import { Registry } from '../../src/runtime/registry.ts';
import { withRegistry } from '../../src/runtime/registryOf.ts';
import { logToHost } from '../../src/telemetry/hostLog.ts';
import { checkId, checkStart, superviseAgent } from './agent.ts';
import type { Agent, AgentOptions } from './agentTypes.ts';

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
  const { name = options.backend, store, clock, random, logger, ...own } = options;
  const checked = checkGatewayOptions({ store, clock, random, logger, control: false });
  const registry = new Registry(checked);
  const { runtime } = registry;
  logToHost(runtime.bus, runtime.clock, checked.logger);
  const agent = superviseAgent(runtime, name, own);
  let starting: Promise<void> | undefined;
  let stopping: Promise<void> | undefined;

  async function started<T>(work: () => Promise<T>): Promise<T> {
    if (stopping === undefined) await (starting ??= registry.start());
    return work();
  }

  return withRegistry(registry, {
    name: agent.name,
    backend: agent.backend,
    start(startOptions = {}) {
      checkStart(startOptions);
      return started(() => agent.start(startOptions));
    },
    resume(id, startOptions = {}) {
      checkId(id);
      checkStart(startOptions);
      return started(() => agent.resume(id, startOptions));
    },
    stop() {
      stopping ??= stop();
      return stopping;
    },
  });

  async function stop(): Promise<void> {
    await agent.stop();
    await registry.stop();
  }
}
