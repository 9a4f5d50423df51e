import { globFits } from './text/glob.ts';

/** Names for which what fits them is remembered; a client may make up more. */
const mostNames = 1000;

/** Values written for names and patterns (`read_*`; `*` stands for any characters), merged for each name. */
export class ByPattern<T> {
  /** Patterns with what is written for them, the least exact first. */
  readonly #patterns: readonly (readonly [pattern: string, value: T])[];
  readonly #names: ReadonlyMap<string, T>;
  readonly #merge: (under: T, over: T) => T;
  readonly #known = new Map<string, T | undefined>();

  /** @param merge - of two that fit a name, the second more exact: the name itself, then more characters beside `*`, then what was written first. */
  constructor(entries: readonly (readonly [pattern: string, value: T])[], merge: (under: T, over: T) => T) {
    const isPattern = ([pattern]: readonly [string, T]): boolean => pattern.includes('*');
    this.#names = new Map(entries.filter((entry) => !isPattern(entry)));
    this.#patterns = entries.filter(isPattern).toReversed().toSorted(byExactness);
    this.#merge = merge;
  }

  /** Returns what holds for a name; undefined where nothing is written that fits it. */
  get(name: string): T | undefined {
    if (this.#patterns.length === 0) return this.#names.get(name);
    if (this.#known.has(name)) return this.#known.get(name);
    const own = this.#names.get(name);
    const fitting = this.#patterns.filter(([pattern]) => globFits(pattern, name)).map(([, value]) => value);
    const all = own === undefined ? fitting : [...fitting, own];
    const made = all.length === 0 ? undefined : all.reduce(this.#merge);
    if (this.#known.size < mostNames) this.#known.set(name, made);
    return made;
  }
}

function byExactness([one]: readonly [string, unknown], [other]: readonly [string, unknown]): number {
  const exactness = (pattern: string): number => pattern.replaceAll('*', '').length;
  return exactness(one) - exactness(other);
}
