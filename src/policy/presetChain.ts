import { checkName, checkObject } from './options.ts';
import type { IntegrationPolicy } from './policy.ts';
import {
  completePolicy,
  defaultPolicy,
  type PolicyInput,
  type PresetName,
  presetNameIn,
  presets,
  unknownPreset,
} from './presets.ts';

/** Presets by name: the built-in ones, as they were changed, and those of one's own. */
export type KnownPresets = Readonly<Record<PresetName, IntegrationPolicy>> &
  Readonly<Record<string, IntegrationPolicy>>;

/**
 * Completes presets of one's own along the ones they extend. One that extends its own name starts from the built-in preset of that name.
 * @param option - where they are given, for errors.
 * @throws TypeError or RangeError that names the option and its value, the nearest known preset, or the chain that leads back to its start.
 */
export function resolvePresets(option: string, given: Readonly<Record<string, PolicyInput>>): KnownPresets {
  checkObject(option, given);
  const inputs = new Map(Object.entries(given));
  const resolved = new Map<string, IntegrationPolicy>(Object.entries(presets));
  const done = new Set<string>();
  for (const name of inputs.keys()) complete(checkName(option, name), []);
  return Object.freeze(Object.fromEntries(resolved)) as KnownPresets;

  function complete(name: string, path: readonly string[]): IntegrationPolicy {
    const usual = Object.hasOwn(presets, name) ? presets[name as PresetName] : defaultPolicy;
    const input = inputs.get(name);
    const known = resolved.get(name);
    if (known !== undefined && (input === undefined || done.has(name))) return known;
    const own = `${option}.${name}`;
    checkObject(own, input);
    const named = presetNameIn(own, input ?? {});
    const chain = [...path, name];
    const base = named === undefined || isItself(named.name) ? usual : follow(named, chain);
    // What is extended is known by now; the rest is checked as of any policy.
    const policy = completePolicy(own, { ...input, extends: undefined, preset: undefined }, base, presets);
    resolved.set(name, policy);
    done.add(name);
    return policy;

    function isItself(extended: string): boolean {
      return extended === name && Object.hasOwn(presets, name);
    }
  }

  function follow(named: NonNullable<ReturnType<typeof presetNameIn>>, chain: readonly string[]): IntegrationPolicy {
    const { name } = named;
    const again = chain.indexOf(name);
    if (again >= 0) {
      const circle = [...chain.slice(again), name].join(' → ');
      throw new RangeError(`Expected \`${named.option}\` not to lead back to itself, got ${circle}`);
    }
    if (!inputs.has(name) && !resolved.has(name)) {
      throw unknownPreset(named, [...new Set([...resolved.keys(), ...inputs.keys()])]);
    }
    return complete(name, chain);
  }
}
