import { allowedEnvironment, checkMcpServer, commandHandshakeMs, processTarget } from '../../src/actors/mcp/face.ts';
import { policyKey, resolvePolicy } from '../../src/policy/face.ts';
import { type Given, byName, choice, duration, list, readOptions, text } from '../../src/policy/options/face.ts';
import { limitsOf, ownLimits, spinningKey } from '../../src/policy/spinning/face.ts';
import { programForm } from '../../src/policy/text/face.ts';
import { agentOf } from '../../src/protocol/face.ts';
import type { Runtime } from '../../src/runtime/face.ts';

/** Prompts at once, over all sessions of a client. */
const mostInFlight = 1000;

const acpKeys = {
  /** Name that its prompts are recorded under, and by which it is restarted by hand. */
  name: text({ required: true }),
  /** Path, or name to look up on the PATH. Never goes through a shell. */
  command: text({ required: true, ...programForm }),
  /** @defaultValue [] */
  args: list(text({ empty: true }), { expected: 'an array of strings', default: [] }),
  /** Variables set for the agent, beside those it gets anyway. @defaultValue {} */
  env: byName(text({ empty: true, secret: true }), { expected: 'an object of strings', default: {} }),
  /** @defaultValue the working directory of the runtime */
  cwd: text(),
  /** Variables the agent gets besides those that are safe. @defaultValue the whole environment */
  envAllow: list(text({ empty: true }), { expected: 'an array of strings' }),
  /** The limits, retries and circuit breaker of its prompts. @defaultValue preset `acp` */
  policy: policyKey,
  /** Limit on a turn without progress, in ms above 0; while a person is asked it stands still. @defaultValue 900000 (15 min) */
  idleMs: duration(),
  /** The same while a tool of the turn is under way, in ms above 0; not below `idleMs`. @defaultValue 3600000 (1 h) */
  toolMs: duration({ default: 3_600_000 }),
  /** Time that the agent may take to end a turn that was cancelled, in ms above 0: then it is answered in its place. @defaultValue 5000 */
  cancelMs: duration({ default: 5000 }),
  /** Limit on the start of the agent, on its sessions being opened and loaded, each, in ms above 0. @defaultValue 180000 */
  startMs: duration({ default: commandHandshakeMs }),
  /** Step to which it goes against calls that repeat without progress. @defaultValue told of at 4; 20 equal failures in a turn end it (`spinning`) */
  spinning: spinningKey,
  /**
   * How a failed turn is told: by an error of JSON-RPC, or, to editors that show errors badly, by a last message of the agent and the stop reason
   * `max_turn_requests`. @defaultValue 'error'
   */
  errors: choice(['error', 'message'], { default: 'error' }),
};

/** An agent behind a proxy of the Agent Client Protocol. */
export interface AcpProxyOptions extends Given<typeof acpKeys> {}

/** {@link AcpProxyOptions}, checked. */
export type AcpSettings = ReturnType<typeof checkAcpProxy>;

/**
 * Checks options: what they say wins over the policies.
 * @throws TypeError or RangeError that names the first option that is not as documented, and its value.
 */
export function checkAcpProxy(
  options: AcpProxyOptions,
  { policies, agentProfiles }: Pick<Runtime, 'policies' | 'agentProfiles'>,
) {
  const {
    name,
    command,
    args,
    env,
    envAllow,
    cwd,
    idleMs,
    startMs,
    policy: given,
    spinning: chosen,
    ...own
  } = readOptions('', options, acpKeys);
  const policy = resolvePolicy(
    name,
    { limits: { idleMs }, maxInFlight: mostInFlight, maxAbandoned: mostInFlight },
    policies.policyOf(name, given, 'acp'),
  );
  const target = processTarget(
    checkMcpServer({ command, args, cwd, handshakeMs: startMs, ...allowedEnvironment(envAllow, env) }),
  );
  const spinning = limitsOf(chosen ?? policies.spinningOf(name, undefined), ownLimits);
  return { name, policy, target, spinning, startMs, profile: agentOf(command, args, agentProfiles), ...own };
}
