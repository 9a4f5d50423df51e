import { ourNames } from './foreignNames.ts';
import { nearest } from './nearest.ts';
import type { KeyData, Keys } from './optionKeys.ts';

/** A known option, and where it is from the object in which another name was not known. */
type Place = readonly string[];

/** So far below an object its options are looked for. */
const mostSteps = 3;

/**
 * The options that an unknown name may have meant: of the same name in an inner object, what is called so elsewhere, what is written
 * almost so.
 * @returns none when nothing is like it, several where it is in several places.
 */
export function placesOf(name: string, keys: Keys): readonly Place[] {
  const places = placesIn(keys);
  const called = (word: string): readonly Place[] =>
    nearestOnes(places.filter((place) => place.at(-1)?.toLowerCase() === word.toLowerCase()));
  const same = called(name);
  const own = ourNames(name)
    .map(called)
    .find((found) => found.length > 0);
  // As near as one of the same name is what is called so elsewhere: `timeoutMs` is the limit of an attempt, not that of a probe.
  if (own !== undefined && (same.length === 0 || stepsTo(own) <= stepsTo(same))) return own;
  if (same.length > 0) return same;
  for (let steps = 1; steps <= mostSteps; steps += 1) {
    const close = nearest(
      name,
      places.filter((place) => place.length === steps).map((place) => place.at(-1) as string),
    );
    if (close !== undefined) return called(close);
  }
  return [];
}

/** Picks those with the fewest steps. */
function nearestOnes(places: readonly Place[]): readonly Place[] {
  const least = stepsTo(places);
  return places.filter((place) => place.length === least);
}

function stepsTo(places: readonly Place[]): number {
  return Math.min(...places.map((place) => place.length));
}

/** Every option within reach, but those under names that users choose. */
function placesIn(keys: Keys, above: Place = []): readonly Place[] {
  return Object.entries<KeyData>(keys).flatMap(([name, key]) => {
    const place = [...above, name];
    const inner = place.length < mostSteps ? tablesOf(key) : [];
    return [place, ...inner.flatMap((table) => placesIn(table, place))];
  });
}

function tablesOf(key: KeyData): readonly Keys[] {
  if (key.kind === 'object') return [key.keys];
  if (key.kind === 'variants') return [keysOfAll(key)];
  if (key.kind === 'either') return key.of.flatMap(tablesOf);
  return key.table === undefined ? [] : [key.table];
}

/** The keys of all variants, as if they were one table. */
export function keysOfAll({ of }: Extract<KeyData, { kind: 'variants' }>): Keys {
  return Object.fromEntries(Object.values(of).flatMap((keys) => Object.entries(keys)));
}
