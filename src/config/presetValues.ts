import { checkPolicies } from '../policy/policies.ts';
import type { PolicyInput } from '../policy/policyInput.ts';
import type { ConfigOptions } from './configTypes.ts';
import { valueAt } from './issues.ts';
import { leafPaths } from './layers.ts';
import type { ConfigSource } from './problems.ts';

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
export type IsSaid = (path: readonly string[]) => boolean;

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
export function presetOf({ extends: preset }: PolicyInput, self?: string): PresetSource | undefined {
  return preset === undefined || preset === self ? undefined : { from: 'preset', preset };
}

/** The figures of a policy that are said neither in their long form nor in a short one. */
export function unsaidKeys(base: readonly string[], policy: object, isSaid: IsSaid): readonly (readonly string[])[] {
  const inPlace = base.reduceRight<object>((inner, key) => ({ [key]: inner }), policy);
  return leafPaths(inPlace)
    .map((path) => path.slice(base.length))
    .filter((key) => {
      const short = shortForms[key.join('.')];
      return !isSaid([...base, ...key]) && (short === undefined || !isSaid([...base, short]));
    });
}
