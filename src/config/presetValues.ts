import { checkPolicies } from '../policy/policies.ts';
import type { ConfigOptions } from './configTypes.ts';
import { valueAt } from './issues.ts';
import { leafPaths } from './layers.ts';

/** The long forms of figures that a policy may give in a short one. */
const shortForms: Readonly<Record<string, string>> = {
  'limits.attemptMs': 'timeoutMs',
  'limits.idleMs': 'idleMs',
  'limits.overallMs': 'overallMs',
  'retry.maxAttempts': 'maxAttempts',
};

/**
 * What the presets that are configured come to, beside what is said of them.
 * @param isSaid - whether there is a value at a path already.
 */
export function presetValues(
  { policies }: ConfigOptions,
  isSaid: (path: readonly string[]) => boolean,
): readonly { readonly path: readonly string[]; readonly value: unknown }[] {
  const resolved = Object.entries(checkPolicies(policies).presets);
  return resolved
    .filter(([name]) => policies?.presets?.[name] !== undefined)
    .flatMap(([name, policy]) => {
      const base = ['policies', 'presets', name];
      const paths = leafPaths({ policies: { presets: { [name]: policy } } });
      return paths
        .map((path) => ({ path, key: path.slice(base.length) }))
        .filter(({ path, key }) => {
          const short = shortForms[key.join('.')];
          return !isSaid(path) && (short === undefined || !isSaid([...base, short]));
        })
        .map(({ path, key }) => ({ path, value: valueAt(policy, key) }));
    });
}
