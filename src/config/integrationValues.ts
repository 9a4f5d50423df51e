import { checkPolicies, type IntegrationSettings } from '../policy/policies.ts';
import type { PolicyInput } from '../policy/policyInput.ts';
import { type KnownPresets, resolvePolicy } from '../policy/presetChain.ts';
import type { PresetName } from '../policy/presets.ts';
import type { ConfigOptions } from './configTypes.ts';
import { valueAt } from './issues.ts';
import { keyAt } from './keys.ts';
import { leafPaths } from './layers.ts';
import type { ConfigSource } from './problems.ts';

/** The presets an integration starts from by what it is, where nobody names one; the code decides. */
const kinds: readonly PresetName[] = ['mcp', 'sdk', 'subprocess', 'claudeCli', 'codex', 'acp'];

/** Kinds of other names, where they are known. */
const kindsByName: readonly (readonly [prefix: string, kinds: readonly PresetName[]])[] = [
  ['hook:', ['hook']],
  ['workflow:', ['workflow']],
  // The delivery of alerts has limits of its own.
  ['alert:', []],
];

/**
 * Lists the values that hold for the integrations that are configured, beside those that are said.
 * @param text - a value for people.
 */
export function integrationValues(
  { policies }: ConfigOptions,
  isSaid: IsSaid,
  text: (path: readonly string[], value: unknown) => string,
): readonly ImpliedValue[] {
  const { presets } = checkPolicies(policies);
  return Object.entries(policies?.integrations ?? {}).flatMap(([name, settings]) => {
    const base = ['policies', 'integrations', name];
    return [...figures(base, settings, presets, isSaid, text), ...tools(base, settings, isSaid)];
  });
}

/** Lists the values for the alerts of the integrations that have thresholds of their own, beside those. */
export function alertValues(
  { alerts }: ConfigOptions,
  isSaid: IsSaid,
  general: (key: string) => Pick<ImpliedValue, 'value' | 'source'>,
): readonly ImpliedValue[] {
  if (typeof alerts !== 'object') return [];
  return Object.entries(alerts.integrations ?? {})
    .filter(([, own]) => typeof own === 'object')
    .flatMap(([name]) =>
      alertKeys
        .map((key) => ({ path: ['alerts', 'integrations', name, key], ...general(key) }))
        .filter(({ path }) => !isSaid(path)),
    );
}

const alertKeys = ['failures', 'crashes', 'windowMs', 'quietMs'];

/** Settings beside a policy that have one value. */
const about = ['effect', 'whenAlive', 'keepMs', 'spinning', 'maxResult'];

function figures(
  base: readonly string[],
  {
    effect: _effect,
    tools: _tools,
    whenAlive: _whenAlive,
    keepMs: _keepMs,
    spinning: _spinning,
    maxResult: _maxResult,
    ...input
  }: IntegrationSettings,
  presets: KnownPresets,
  isSaid: IsSaid,
  text: (path: readonly string[], value: unknown) => string,
): readonly ImpliedValue[] {
  const [, , name = ''] = base;
  const named = presetOf(input);
  const possible = kindsByName.find(([prefix]) => name.startsWith(prefix))?.[1] ?? kinds;
  const starts = named === undefined ? possible : [named.preset as PresetName];
  const policies = starts.map((kind) => ({ kind, policy: completed(input, kind, presets) }));
  const [first] = policies;
  if (first === undefined) return usual(base, ['extends', ...about], isSaid);
  const only = starts.length === 1 ? first.kind : undefined;
  const rows = unsaidKeys(base, first.policy, isSaid).map((key): ImpliedValue => {
    const path = [...base, ...key];
    const value = valueAt(first.policy, key);
    const source = named ?? ({ from: 'code or preset', preset: only } as const);
    if (policies.every(({ policy }) => text(path, valueAt(policy, key)) === text(path, value)))
      return { path, value, source };
    return { path, value: undefined, usually: byKind(policies, (policy) => text(path, valueAt(policy, key))), source };
  });
  return [...usual(base, only === undefined ? ['extends', ...about] : about, isSaid), ...rows];
}

function completed(input: PolicyInput, kind: PresetName, presets: KnownPresets) {
  return resolvePolicy(kind, { ...input, extends: undefined }, presets[kind], presets);
}

/** `30s (mcp), 2m (sdk, claudeCli)` */
function byKind<P>(policies: readonly { kind: string; policy: P }[], text: (policy: P) => string): string {
  const grouped = new Map<string, string[]>();
  for (const { kind, policy } of policies) grouped.set(text(policy), [...(grouped.get(text(policy)) ?? []), kind]);
  return [...grouped].map(([value, of]) => `${value} (${of.join(', ')})`).join(', ');
}

function tools(base: readonly string[], settings: IntegrationSettings, isSaid: IsSaid): readonly ImpliedValue[] {
  return Object.keys(settings.tools ?? {}).flatMap((tool) =>
    usual([...base, 'tools', tool], ['effect', 'idleMs', 'attemptMs'], isSaid),
  );
}

/** Keys whose default is told in words. */
function usual(base: readonly string[], keys: readonly string[], isSaid: IsSaid): readonly ImpliedValue[] {
  return keys
    .map((key) => [...base, key])
    .filter((path) => !isSaid(path))
    .map((path) => ({ path, value: undefined, usually: keyAt(path)?.usually, source: { from: 'default' } }));
}

/**
 * Source of a figure of a policy that nobody set there: the preset it extends; where it extends none the code that declares the integration, else the preset
 * of its kind, without a name where the code decides that too.
 */
export type PresetSource =
  | { readonly from: 'preset'; readonly preset: string }
  | { readonly from: 'code or preset'; readonly preset: string | undefined };

/** A value that holds beside those that are said. */
export interface ImpliedValue {
  readonly path: readonly string[];
  readonly value: unknown;
  /** Said in place of a value that depends on something. */
  readonly usually?: string | undefined;
  readonly source: ConfigSource | PresetSource;
}

/** Tells whether there is a value at a path already. */
type IsSaid = (path: readonly string[]) => boolean;

/** The long forms of figures that a policy may give in a short one. */
const shortForms: Readonly<Record<string, string>> = {
  'limits.attemptMs': 'attemptMs',
  'limits.idleMs': 'idleMs',
  'limits.overallMs': 'overallMs',
  'retry.maxAttempts': 'maxAttempts',
};

/** Lists the values that the configured presets come to, beside those that are said. */
export function presetValues({ policies }: ConfigOptions, isSaid: IsSaid): readonly ImpliedValue[] {
  const resolved = checkPolicies(policies).presets;
  return Object.entries(policies?.presets ?? {}).flatMap(([name, input]) => {
    const base = ['policies', 'presets', name];
    const policy = resolved[name] ?? {};
    return unsaidKeys(base, policy, isSaid).map((key) => ({
      path: [...base, ...key],
      value: valueAt(policy, key),
      source: presetOf(input, name) ?? { from: 'default' },
    }));
  });
}

/** The preset that a policy starts from, but for itself. */
function presetOf({ extends: preset }: PolicyInput, self?: string): PresetSource | undefined {
  return preset === undefined || preset === self ? undefined : { from: 'preset', preset };
}

/** The figures of a policy that are said neither in their long form nor in a short one. */
function unsaidKeys(base: readonly string[], policy: object, isSaid: IsSaid): readonly (readonly string[])[] {
  const inPlace = base.reduceRight<object>((inner, key) => ({ [key]: inner }), policy);
  return leafPaths(inPlace)
    .map((path) => path.slice(base.length))
    .filter((key) => {
      const short = shortForms[key.join('.')];
      return !isSaid([...base, ...key]) && (short === undefined || !isSaid([...base, short]));
    });
}
