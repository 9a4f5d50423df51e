import { checkGatewayOptions } from '../gatewayOptions.ts';
import { checkPolicies, type PoliciesOptions } from '../policy/policies.ts';
import type { ConfigOptions } from './configTypes.ts';
import { contradiction, type Teller, valueAt, wrongValue } from './issues.ts';
import type { ConfigProblem } from './problems.ts';

/** Who tells of what is at a path. */
export type TellerOf = (path: Path) => Teller;

type Path = readonly (string | number)[];

/** What the checks of `createGateway` say of values that are right each on its own: all that can be known at once. */
export function contradictions(
  options: ConfigOptions,
  tellerOf: TellerOf,
  isDoubtful: (path: Path) => boolean,
): readonly ConfigProblem[] {
  const { policies, ...others } = options;
  const found = Object.entries(others).flatMap(([name, value]) => {
    // One at a time, so that one that is wrong hides no other.
    const error = thrownBy(() => checkGatewayOptions({ [name]: value }));
    return error === undefined ? [] : [{ error, base: [name] }];
  });
  return [...found, ...(policies === undefined ? [] : inPolicies(policies))]
    .map((each) => ({ ...each, path: pathIn(each) }))
    .filter(({ path }) => !isDoubtful(path))
    .map(({ error, base, path }) => {
      const text = error.message.replaceAll(`${base.join('.')}.`, '').replaceAll('`', '');
      return problemOf(text, path, valueAt(options, path), tellerOf(path));
    });
}

/** What a check threw, and the part that it checked. */
interface Thrown {
  readonly error: Error;
  readonly base: readonly string[];
}

function inPolicies({ presets = {}, integrations = {} }: PoliciesOptions): readonly Thrown[] {
  const found: Thrown[] = [];
  const good = new Map(Object.entries(presets));
  let error = thrownBy(() => checkPolicies({ presets }));
  while (error !== undefined) {
    const name = presetNamed(error, [...good.keys()]);
    if (name === undefined) return [...found, { error, base: ['policies', 'presets'] }];
    found.push({ error, base: ['policies', 'presets', name] });
    drop(good, name);
    error = thrownBy(() => checkPolicies({ presets: Object.fromEntries(good) }));
  }
  const dropped = new Set(Object.keys(presets).filter((name) => !good.has(name)));
  const usable = Object.fromEntries(good);
  for (const [name, settings] of Object.entries(integrations)) {
    if (dropped.has(settings.extends ?? settings.preset ?? '')) continue;
    const wrong = thrownBy(() => checkPolicies({ presets: usable, integrations: { [name]: settings } }));
    if (wrong !== undefined) found.push({ error: wrong, base: ['policies', 'integrations', name] });
  }
  return found;
}

/** The preset that an error is about; of names that begin alike the longest. */
function presetNamed({ message }: Error, names: readonly string[]): string | undefined {
  const said = names.filter(
    (name) => message.includes(`\`policies.presets.${name}.`) || message.includes(`\`policies.presets.${name}\``),
  );
  return said.sort((one, other) => other.length - one.length)[0];
}

/** Takes out a preset and all that start from it: what is said of them would not be true. */
function drop(presets: Map<string, NonNullable<PoliciesOptions['presets']>[string]>, name: string): void {
  presets.delete(name);
  for (const [other, policy] of presets) if ((policy.extends ?? policy.preset) === name) drop(presets, other);
}

/** The option that an error names first. */
function pathIn({ error, base }: Thrown): Path {
  const [, named = ''] = /`([^`]+)`/.exec(error.message) ?? [];
  const prefix = `${base.join('.')}.`;
  return named.startsWith(prefix) ? [...base, ...named.slice(prefix.length).split('.').flatMap(withIndex)] : base;
}

/** Reads `Expected path to be what, got value`; what is said in another way is told as it is. */
function problemOf(message: string, path: Path, value: unknown, teller: Teller): ConfigProblem {
  const [, what, got = ''] = /^Expected .*? to be (.+), got ([^,]*)$/s.exec(message) ?? [];
  if (what !== undefined) {
    const expected = what.startsWith('above ') ? `a value ${what}` : what;
    if (value !== undefined) return wrongValue(path, value, expected, teller);
    return contradiction(path, value, expected, `expected ${expected}, got ${got} by default`, teller);
  }
  const text = message.charAt(0).toLowerCase() + message.slice(1);
  return contradiction(path, value, text.replace(/^expected /, ''), text, teller);
}

/** `args[0]` */
function withIndex(key: string): Path {
  const [, name, index] = /^(.*)\[(\d+)\]$/.exec(key) ?? [];
  return name === undefined || index === undefined ? [key] : [name, Number(index)];
}

function thrownBy(check: () => unknown): Error | undefined {
  try {
    check();
    return undefined;
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}
