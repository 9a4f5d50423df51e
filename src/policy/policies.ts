import { deliveryNames } from './alerts.ts';
import { type Effect, effects } from './effects.ts';
import { nearest } from './nearest.ts';
import { checkKeys, checkName, checkObject, checkOneOf } from './options.ts';
import type { IntegrationPolicy } from './policy.ts';
import {
  completePolicy,
  defaultPolicy,
  type PolicyInput,
  policyKeys,
  type PresetName,
  resolvePolicy,
} from './presets.ts';
import { type KnownPresets, resolvePresets } from './presetChain.ts';
import { checkTools, type ToolOptions, type Tools } from './toolOptions.ts';

/** Whether a silent call of a server that answers a ping ends at its idle limit, or goes on to its attempt limit. */
export type WhenAlive = 'end' | 'wait';

/** All of them. */
export const whenAliveChoices = ['end', 'wait'] as const satisfies readonly WhenAlive[];

/** What is configured for one integration: it wins over what the code that declares the integration says. */
export interface IntegrationSettings extends PolicyInput {
  /** What its calls may do to the world, where neither the call nor the tool says. @defaultValue as declared */
  readonly effect?: Effect | undefined;
  /**
   * Per tool: effect and limits. What is given here wins, the rest is as declared; but that `attemptMs` here also takes the place of a
   * `longRunningMs` there.
   */
  readonly tools?: Readonly<Record<string, ToolOptions>> | undefined;
  /** Of an MCP server: what becomes of a silent call while it answers a ping. @defaultValue as declared */
  readonly whenAlive?: WhenAlive | undefined;
}

/** What is configured beside a policy, which not every integration has. */
type AboutKey = 'effect' | 'tools' | 'whenAlive';

/**
 * Policies given from outside the code that declares the integrations, as a configuration does. Of what is said of one figure in several
 * places the first of these holds: the option of a single call, the tool's settings here, the tool's options in code, the integration's
 * settings here, its `policy` in code, the preset.
 */
export interface PoliciesOptions {
  /**
   * Policies by name. The name of a built-in preset changes it for all that use it, by default or by name; what it does not say stays as it
   * is built in. Any other name is a preset of one's own for `extends`, which starts from the defaults of R-1 where it extends none.
   * `toolCall` says how sessions' tool calls are tried again, where `toolCallRetry` does not; they have the limits of their integration.
   */
  readonly presets?: Readonly<Record<string, PolicyInput>> | undefined;
  /**
   * By name of the integration; that of a hook begins with `hook:`. With `extends` the policy starts from that preset, and the one
   * in code counts no longer.
   */
  readonly integrations?: Readonly<Record<string, IntegrationSettings>> | undefined;
}

/** The policies of one runtime. */
export interface Policies {
  /** The presets by name, those of one's own among them. */
  readonly presets: KnownPresets;
  /**
   * The policy of an integration.
   * @param input - what the code says of it.
   * @param base - the preset for what it is.
   * @param integration - under which name it is configured. @defaultValue `name`
   * @throws TypeError or RangeError that names the option and its value.
   */
  policyOf(
    name: string,
    input: PolicyInput | undefined,
    base: PresetName | IntegrationPolicy,
    integration?: string,
  ): IntegrationPolicy;
  /** The limit of that name that is configured for an integration outright, not by a preset. */
  limitOf(integration: string, limit: 'idleMs'): number | undefined;
  /** The effect of an integration's calls, of what the code says and what is configured. */
  effectOf(integration: string, declared: Effect | undefined): Effect | undefined;
  /** The same for its tools. @throws TypeError or RangeError that names the tool, the option and its value. */
  toolsOf(integration: string, declared: Readonly<Record<string, ToolOptions>> | undefined): Tools;
  /** What becomes of a silent call of an MCP server that answers, as far as it is configured. */
  whenAliveOf(integration: string): WhenAlive | undefined;
  /** @throws RangeError when one of these is configured for an integration that has none. */
  refuseAbout(integration: string, what: string, keys: readonly AboutKey[]): void;
  /** What is configured for integrations that are not among the `declared`, with the name that may have been meant. */
  unused(declared: readonly string[]): readonly UnusedSettings[];
}

interface UnusedSettings {
  readonly integration: string;
  readonly nearest: string | undefined;
}

interface CheckedSettings {
  readonly option: string;
  readonly policy: PolicyInput;
  readonly effect: Effect | undefined;
  readonly tools: Readonly<Record<string, ToolOptions>> | undefined;
  readonly whenAlive: WhenAlive | undefined;
}

/** @throws TypeError or RangeError that names the first option that is wrong, and its value. */
export function checkPolicies(options: PoliciesOptions = {}): Policies {
  checkKeys('policies', options, ['presets', 'integrations']);
  const presets = resolvePresets('policies.presets', options.presets ?? {});
  const configured = checkSettings('policies.integrations', options.integrations ?? {}, presets);
  for (const name of Object.values(deliveryNames)) refuseAbout(name, 'the delivery of alerts', allAbout);
  return {
    presets,
    policyOf(name, input, base, integration = name) {
      const inCode = resolvePolicy(name, input, typeof base === 'string' ? presets[base] : base, presets);
      const own = configured.get(integration);
      return own === undefined ? inCode : completePolicy(own.option, own.policy, inCode, presets);
    },
    limitOf(integration, limit) {
      const policy = configured.get(integration)?.policy;
      return policy?.[limit] ?? policy?.limits?.[limit];
    },
    effectOf: (integration, declared) => configured.get(integration)?.effect ?? declared,
    toolsOf(integration, declared) {
      const inCode = checkTools(`${integration}.tools`, declared);
      const own = configured.get(integration);
      return own?.tools === undefined ? inCode : checkTools(`${own.option}.tools`, overlaid(declared ?? {}, own.tools));
    },
    whenAliveOf: (integration) => configured.get(integration)?.whenAlive,
    refuseAbout,
    unused: (declared) =>
      [...configured.keys()]
        .filter((integration) => !declared.includes(integration))
        .map((integration) => ({ integration, nearest: nearest(integration, declared) })),
  };

  function refuseAbout(integration: string, what: string, keys: readonly AboutKey[]): void {
    const own = configured.get(integration);
    const key = keys.find((each) => own?.[each] !== undefined);
    if (own === undefined || key === undefined) return;
    throw new RangeError(`Expected \`${own.option}.${key}\` to be left out: ${integration} is ${what}, which has none`);
  }
}

function checkSettings(
  option: string,
  integrations: Readonly<Record<string, IntegrationSettings>>,
  presets: KnownPresets,
): ReadonlyMap<string, CheckedSettings> {
  checkObject(option, integrations);
  const checked = new Map<string, CheckedSettings>();
  for (const [name, settings] of Object.entries(integrations)) {
    checkName(option, name);
    const own = `${option}.${name}`;
    checkKeys(own, settings, [...policyKeys, ...allAbout]);
    const { effect, tools, whenAlive, ...policy } = settings;
    if (effect !== undefined) checkOneOf(`${own}.effect`, effect, effects);
    if (whenAlive !== undefined) checkOneOf(`${own}.whenAlive`, whenAlive, whenAliveChoices);
    checkTools(`${own}.tools`, tools);
    // Before anything is declared by that name: a mistake is found where it was made.
    completePolicy(own, policy, defaultPolicy, presets);
    checked.set(name, { option: own, policy, effect, tools, whenAlive });
  }
  return checked;
}

const allAbout = ['effect', 'tools', 'whenAlive'] as const satisfies readonly AboutKey[];

/** Both, tool by tool; of the same setting that of `over`. */
function overlaid(
  under: Readonly<Record<string, ToolOptions>>,
  over: Readonly<Record<string, ToolOptions>>,
): Readonly<Record<string, ToolOptions>> {
  const tools = new Map(Object.entries(under));
  for (const [tool, settings] of Object.entries(over)) {
    const said = Object.entries(settings).filter(([, value]) => value !== undefined);
    const { longRunningMs, ...declared } = tools.get(tool) ?? {};
    // It would have the limit on attempts that is given here count for nothing.
    const kept = settings.attemptMs === undefined && longRunningMs !== undefined ? { longRunningMs } : {};
    tools.set(tool, { ...declared, ...kept, ...Object.fromEntries(said) });
  }
  return Object.fromEntries(tools);
}
