import { deliveryNames } from './alerts.ts';
import { type Effect, effects } from './effects.ts';
import { nearest } from './text/nearest.ts';
import { byName, choice, duration, type GivenValues, type Given, integer, section } from './options/optionKeys.ts';
import { pathText } from './options/optionProblem.ts';
import type { IntegrationPolicy, Limits } from './policy.ts';
import { type PolicyInput, policyKeys } from './policyInput.ts';
import {
  type TellPolicy,
  isCertain,
  type KnownPresets,
  resolvePolicy,
  resolvePresets,
  startFrom,
  thrower,
} from './presetChain.ts';
import { defaultPolicy, type PresetName } from './presets.ts';
import { reconcileKey, type ReconcileOptions } from './reconcileRule.ts';
import { readGiven } from './options/readOptions.ts';
import { type SpinningChoice, spinningKey } from './spinning/spinningRule.ts';
import { ByPattern } from './byPattern.ts';
import {
  readTools,
  type ToolOptions,
  type ToolAccessOptions,
  toolAccessKeys,
  type ToolSettings,
  toolsKey,
} from './toolOptions.ts';
import { judgeNames, type ToolTable } from './toolRules.ts';

/** Fate of a silent call of a server that answers a ping: it ends at its idle limit, or goes on to its attempt limit. */
export type WhenAlive = 'end' | 'wait';

/** All of them. */
export const whenAliveChoices = ['end', 'wait'] as const satisfies readonly WhenAlive[];

/** Settings beside a policy, which not every integration has. */
type AboutKey = (typeof allAbout)[number];

/** Largest result that is told whole. */
export const maxResultKey = integer({
  ...{ min: 1000, unit: 'bytes', usually: 'what the code says; else any result is told whole' },
  help: 'Of an MCP server: a result with more text is told as head and tail, and the whole is kept, to be read in pages.',
});

const ownIntegrationKeys = {
  /** Effect of its calls on the world, where neither the call nor the tool says. @defaultValue as declared */
  effect: choice(effects, { usually: 'what the code says', help: 'What its calls may do to the world.' }),
  /**
   * Per tool, by name or pattern: effect, limits, name. What is given here wins, the rest is as declared; but that `attemptMs` here also takes the place of a
   * `longRunningMs` there.
   */
  tools: toolsKey,
  /** Rule that finds out what became of a call whose answer was lost, where its tool has no rule of its own. @defaultValue as declared */
  reconcile: reconcileKey,
  /** Fate of a silent call of an MCP server while it answers a ping. @defaultValue as declared */
  whenAlive: choice(whenAliveChoices, {
    given: {} as WhenAlive,
    usually: 'what the code says; `wait` for `unwedge mcp`',
    help: 'Of an MCP server: whether a call that is silent for its idle limit ends, or goes on to its attempt limit, while the server answers a ping.',
  }),
  /** Time for which a session's call, or one of a client, goes on after a limit has ended it, in ms; 0 is none. @defaultValue as declared */
  keepMs: duration({
    zero: true,
    usually: 'what the code says; 600000 for `unwedge mcp`',
    help: 'How long a call goes on after a limit ended it: the same call, made again, joins it. 0: it is ended.',
  }),
  /** Largest result of an MCP server's tool that is told whole, in bytes. @defaultValue as declared */
  maxResult: maxResultKey,
  /** Step to which it goes against calls that repeat without progress. @defaultValue as declared */
  spinning: spinningKey,
};

const integrationKeys = { ...policyKeys, ...toolAccessKeys, ...ownIntegrationKeys };

/** Settings of one integration: they win over what the code that declares the integration says. */
export interface IntegrationSettings extends PolicyInput, ToolAccessOptions, Given<typeof ownIntegrationKeys> {}

/** Policies by name, and what holds for single integrations. */
export const policiesKeys = {
  /**
   * Policies by name. A policy with the name of a built-in preset changes that preset for every integration that uses it; what the policy
   * leaves out stays as built in. Any other name is a preset of the user, for `extends`; without an `extends` of its own it starts from the
   * defaults of R-1. `toolCall` holds the retries of sessions' tool calls, where `toolCallRetry` does not; the limits of a tool call are those
   * of its integration.
   */
  presets: byName(section(policyKeys, { id: 'policy', help: 'A policy: what is to differ from another.' }), {
    given: {} as Readonly<Record<string, PolicyInput>>,
    help: 'Policies by name, to be extended by others; the name of a built-in one changes it for all that use it.',
  }),
  /**
   * By name of the integration; that of a hook begins with `hook:`. With `extends` the policy starts from that preset, and the one
   * in code counts no longer.
   */
  integrations: byName(
    section(integrationKeys, {
      id: 'integration',
      help: 'What holds for an integration, whatever the code declares for it.',
    }),
    {
      given: {} as Readonly<Record<string, IntegrationSettings>>,
      help: 'By the name of the integration; wins over what the code declares for it.',
    },
  ),
};

/**
 * Policies given from outside the code that declares the integrations, as a configuration does. Of what is said of one figure in several
 * places the first of these holds: the option of a single call, the tool's settings here, the tool's options in code, the integration's
 * settings here, its `policy` in code, the preset.
 */
export interface PoliciesOptions extends Given<typeof policiesKeys> {}

type ReadSettings = GivenValues<typeof integrationKeys>;

/** Tells what is wrong with policies whose values are right each on its own; the first, where `tell` throws. */
export function judgePolicies(
  { presets: inputs = {}, integrations = {} }: GivenValues<typeof policiesKeys>,
  tell: TellPolicy,
): KnownPresets {
  const { presets, unsound } = resolvePresets(inputs, (path, complaint) => tell(['presets', ...path], complaint));
  for (const [name, read] of Object.entries(integrations)) {
    if (read === undefined) continue;
    let isBaseless = read.extends !== undefined && unsound.has(read.extends);
    // Before anything is declared by that name: a mistake is found where it was made.
    startFrom(read, defaultPolicy, presets, (path, complaint) => {
      const isBase = path[0] === 'extends';
      if (isBase || isCertain(complaint) || !isBaseless) tell(['integrations', name, ...path], complaint);
      isBaseless ||= isBase;
    });
    judgeNames(Object.entries(read.tools ?? {}), (pattern, says) =>
      tell(['integrations', name, 'tools', pattern, 'rename'], { says }),
    );
  }
  for (const name of Object.values(deliveryNames)) {
    refuseAbout(name, integrations[name], 'the delivery of alerts', allAbout, tell);
  }
  return presets;
}

/** @throws TypeError or RangeError that names the first option that is wrong, and its value. */
export function checkPolicies(options: PoliciesOptions = {}): Policies {
  return policiesFrom(readGiven('policies', options, policiesKeys));
}

/** The policies of one runtime. */
export type Policies = ReturnType<typeof policiesFrom>;

/** The policies that were read. @throws RangeError that names the first thing that does not go together. */
export function policiesFrom(read: GivenValues<typeof policiesKeys>) {
  const presets = judgePolicies(read, thrower('policies'));
  const configured = new Map<string, ReadSettings | undefined>(Object.entries(read.integrations ?? {}));
  const nameOf = (integration: string): string => pathText(['policies', 'integrations', integration]);
  return {
    /** The presets by name, those of one's own among them. */
    presets,
    /** True where one of them has a budget. */
    hasBudget: Object.values({ ...read.presets, ...read.integrations }).some((own) => own?.budget !== undefined),
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
      integration = name,
    ): IntegrationPolicy {
      const inCode = resolvePolicy(name, input, typeof base === 'string' ? presets[base] : base, presets);
      const own = configured.get(integration);
      return own === undefined ? inCode : startFrom(own, inCode, presets, thrower(nameOf(integration)));
    },
    /** The limit of that name that is configured for an integration outright, not by a preset. */
    limitOf(integration: string, limit: keyof Limits): number | undefined {
      const own = configured.get(integration);
      return own?.[limit] ?? own?.limits?.[limit];
    },
    /** The effect of an integration's calls, of what the code says and what is configured. */
    effectOf: (integration: string, declared: Effect | undefined) => configured.get(integration)?.effect ?? declared,
    /** The same for its tools. @throws TypeError or RangeError that names the tool, the option and its value. */
    toolsOf(
      integration: string,
      declared: Readonly<Record<string, ToolOptions>> | undefined,
    ): ToolTable & { readonly size: number } {
      const inCode = readTools(integration, declared);
      const own = configured.get(integration)?.tools ?? {};
      const written = new Map(Object.entries(overlaid(inCode, own)));
      const under = new ByPattern(Object.entries(inCode), overlay);
      const over = new ByPattern(Object.entries(own), overlay);
      const isPlain = ![...written.keys()].some((name) => name.includes('*'));
      return {
        get: (name) => (isPlain ? written.get(name) : overlay(under.get(name), over.get(name))),
        entries: () => written.entries(),
        size: written.size,
      };
    },
    /** Gives what is configured of which tools an integration has. */
    toolRulesOf: (integration: string): ToolAccessOptions => configured.get(integration) ?? {},
    /** Picks the rule that finds out what became of a lost call, where its tool does not say, of what the code says and what is configured. */
    reconcileOf: (integration: string, declared: ReconcileOptions | undefined) =>
      configured.get(integration)?.reconcile ?? declared,
    /** Tells what becomes of a silent call of an MCP server that answers, as far as it is configured. */
    whenAliveOf: (integration: string): WhenAlive | undefined => configured.get(integration)?.whenAlive,
    /** Step to which it goes against calls that repeat, of what the code says and what is configured. */
    keepMsOf: (integration: string): number | undefined => configured.get(integration)?.keepMs,
    maxResultOf: (integration: string): number | undefined => configured.get(integration)?.maxResult,
    spinningOf: (integration: string, declared: SpinningChoice | undefined): SpinningChoice | undefined =>
      configured.get(integration)?.spinning ?? declared,
    /** @throws RangeError when one of these is configured for an integration that has none. */
    refuseAbout(integration: string, what: string, keys: readonly AboutKey[]): void {
      refuseAbout(integration, configured.get(integration), what, keys, thrower('policies'));
    },
    /** Lists what is configured for integrations that are not among the `declared`, with the name that may have been meant. */
    unused: (declared: readonly string[]) =>
      [...configured.keys()]
        .filter((integration) => !declared.includes(integration))
        .map((integration) => ({ integration, nearest: nearest(integration, declared) })),
  };
}

/** Tells what is configured for an integration that has none. */
function refuseAbout(
  integration: string,
  own: ReadSettings | undefined,
  what: string,
  keys: readonly AboutKey[],
  tell: TellPolicy,
): void {
  // Whatever else it has: only tools of an MCP server are listed, and so can be read on.
  for (const key of [...keys, 'maxResult' as const].filter((each) => own?.[each] !== undefined)) {
    tell(['integrations', integration, key], { says: `to be left out: ${integration} is ${what}, which has none` });
  }
}

const allAbout = ['effect', 'tools', 'reconcile', 'whenAlive', 'keepMs', 'spinning', 'allow', 'deny'] as const;

/** Both, tool by tool; of the same setting that of `over`. */
function overlaid(
  under: Readonly<Record<string, ToolSettings>>,
  over: Readonly<Record<string, ToolSettings>>,
): Readonly<Record<string, ToolSettings>> {
  const names = [...new Set([...Object.keys(under), ...Object.keys(over)])];
  return Object.fromEntries(names.map((name) => [name, overlay(under[name], over[name]) ?? {}]));
}

function overlay(under: ToolSettings, over: ToolSettings): ToolSettings;
function overlay(under: ToolSettings | undefined, over: ToolSettings | undefined): ToolSettings | undefined;
function overlay(under: ToolSettings | undefined, over: ToolSettings | undefined): ToolSettings | undefined {
  if (under === undefined || over === undefined) return over ?? under;
  const { longRunningMs, ...declared } = under;
  // It would have the limit on attempts that is given here count for nothing.
  const kept = over.attemptMs === undefined && longRunningMs !== undefined ? { longRunningMs } : {};
  return { ...declared, ...kept, ...over };
}
