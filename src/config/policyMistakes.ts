import { checkPolicies, type IntegrationSettings, type PoliciesOptions } from '../policy/policies.ts';

type Path = readonly (string | number)[];

/** What a check threw, and the part of the configuration that it checked. */
export interface Thrown {
  readonly error: Error;
  readonly base: readonly string[];
  /** Whether it is true whatever is wrong beside it. */
  readonly isCertain?: boolean | undefined;
}

/** Everything that is wrong with policies whose values are right each on its own. */
export function policyMistakes({ presets = {}, integrations = {} }: PoliciesOptions): readonly Thrown[] {
  const given = new Map<string, IntegrationSettings>(Object.entries(presets));
  const usable = new Map(given);
  const changed = new Set<string>();

  /** Whether figures come from a preset that something was taken out of. */
  function isShaky({ extends: base, preset }: IntegrationSettings): boolean {
    const seen = new Set<string>();
    for (let name = base ?? preset; name !== undefined && !seen.has(name); ) {
      if (changed.has(name)) return true;
      seen.add(name);
      const above = given.get(name);
      name = above?.extends ?? above?.preset;
    }
    return false;
  }

  /** Finds one thing after another, each taken out so that it hides no other. */
  function findIn(kind: 'presets' | 'integrations', rest: Map<string, IntegrationSettings>, check: () => unknown) {
    const found: Thrown[] = [];
    const touched = new Set<string>();
    for (let error = thrownBy(check); error !== undefined; error = thrownBy(check)) {
      const name = nameIn(error, kind, [...rest.keys()]);
      const settings = name === undefined ? undefined : rest.get(name);
      if (name === undefined || settings === undefined) return [...found, { error, base: ['policies', kind] }];
      const thrown = { error, base: ['policies', kind, name] };
      const key = pathIn(thrown).slice(thrown.base.length);
      const [group, isBase] = groupOf(String(key[0]));
      const isCertain = isBase || /(?:the same, got both|to be left out:.*)$/s.test(error.message);
      const isTouched = touched.has(name) || touched.has(`${name}\n${group}`);
      // Figures that stand on what is wrong would be told of as they are not meant.
      if (isCertain || !(isTouched || isShaky(settings))) found.push({ ...thrown, isCertain });
      touched.add(isBase ? name : `${name}\n${group}`);
      if (kind === 'presets') changed.add(name);
      const fewer = without(settings, key);
      if (fewer === undefined) rest.delete(name);
      else rest.set(name, fewer);
    }
    return found;
  }

  const inPresets = findIn('presets', usable, () => checkPolicies({ presets: Object.fromEntries(usable) }));
  const known = Object.fromEntries(usable);
  const inIntegrations = Object.entries(integrations).flatMap(([name, settings]) => {
    const rest = new Map([[name, settings]]);
    return findIn('integrations', rest, () =>
      checkPolicies({ presets: known, integrations: Object.fromEntries(rest) }),
    );
  });
  return [...inPresets, ...inIntegrations];
}

/** Which figures a key of a policy belongs to, and whether all the others start from it. */
function groupOf(key: string): [group: string, isBase: boolean] {
  const short: Readonly<Record<string, string>> = {
    maxAttempts: 'retry',
    timeoutMs: 'limits',
    idleMs: 'limits',
    overallMs: 'limits',
  };
  return [short[key] ?? key, key === 'extends' || key === 'preset'];
}

/** The part that an error is about; of names that begin alike the longest. */
function nameIn({ message }: Error, kind: string, names: readonly string[]): string | undefined {
  const said = names.filter((name) => {
    const path = `\`policies.${kind}.${name}`;
    return message.includes(`${path}.`) || message.includes(`${path}\``);
  });
  return said.sort((one, other) => other.length - one.length)[0];
}

/** Settings with less in them; undefined when nothing was left. */
function without(settings: IntegrationSettings, [key = '', tool = '']: Path): IntegrationSettings | undefined {
  const { tools = {}, ...others } = settings;
  if (key === 'tools' && Object.hasOwn(tools, tool)) return { ...others, tools: omit(tools, String(tool)) };
  if (Object.hasOwn(settings, key)) return omit(settings, String(key));
  return Object.keys(settings).length === 0 ? undefined : {};
}

function omit<T extends object>(values: T, key: string): T {
  return Object.fromEntries(Object.entries(values).filter(([name]) => name !== key)) as T;
}

/** The option that an error names first. */
export function pathIn({ error, base }: Thrown): Path {
  const [, named = ''] = /`([^`]+)`/.exec(error.message) ?? [];
  const prefix = `${base.join('.')}.`;
  return named.startsWith(prefix) ? [...base, ...named.slice(prefix.length).split('.').flatMap(withIndex)] : base;
}

/** `args[0]` */
function withIndex(key: string): Path {
  const [, name, index] = /^(.*)\[(\d+)\]$/.exec(key) ?? [];
  return name === undefined || index === undefined ? [key] : [name, Number(index)];
}

/** What a check throws; undefined when it does not. */
export function thrownBy(check: () => unknown): Error | undefined {
  try {
    check();
    return undefined;
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}
