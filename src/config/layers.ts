import { infinity } from '../policy/text/duration.ts';
import { choicesOf, isWhole, keyAt } from './keys.ts';
import type { ConfigSource } from './problems.ts';

/** Content of one source. */
export interface Layer {
  readonly source: ConfigSource;
  readonly value: Readonly<Record<string, unknown>>;
}

interface Leaf {
  readonly value: unknown;
  readonly source: ConfigSource;
}

interface Branch {
  leaf: Leaf | undefined;
  readonly children: Map<string, Branch>;
}

/** Sum of all sources. */
interface Merged {
  readonly value: Readonly<Record<string, unknown>>;
  /** Every value that was set, with its source. */
  readonly set: readonly { readonly path: readonly string[]; readonly source: ConfigSource }[];
  /** The source of what is at a path, or of its nearest neighbour. */
  sourceOf(path: readonly (string | number)[]): ConfigSource;
}

/** Puts layers together, key by key; the later ones win. */
export function mergeLayers(layers: readonly Layer[]): Merged {
  const root = emptyBranch();
  for (const { source, value } of layers) {
    for (const leaf of leavesOf(value, [])) put(root, leaf.path, { value: leaf.value, source });
  }
  const set = setIn(root, []);
  return {
    value: (valueOf(root) ?? {}) as Readonly<Record<string, unknown>>,
    set,
    sourceOf(path) {
      let branch = root;
      for (const key of path) branch = branch.children.get(String(key)) ?? branch;
      return firstIn(branch)?.source ?? { from: 'default' };
    },
  };
}

/** The paths of all values of a configuration. */
export function leafPaths(value: object): readonly (readonly string[])[] {
  return [...leavesOf(value, [])].map(({ path }) => path);
}

/** A layer that says one thing. */
export function layerOf(source: ConfigSource, path: readonly string[], value: unknown): Layer {
  const nested = path.reduceRight<unknown>((inner, key) => ({ [key]: inner }), value);
  return { source, value: nested as Layer['value'] };
}

export function isPlainObject(value: unknown): value is Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  // An object of another realm has a prototype of its own without one.
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

function* leavesOf(value: unknown, path: readonly string[]): Generator<{ path: readonly string[]; value: unknown }> {
  if (!isPlainObject(value) || (path.length > 0 && isWhole(path))) {
    yield { path, value: value === Number.POSITIVE_INFINITY && isDuration(path) ? infinity : value };
    return;
  }
  const entries = Object.entries(value).filter(([, each]) => each !== undefined);
  if (entries.length === 0 && path.length > 0) yield { path, value: {} };
  for (const [key, each] of entries) yield* leavesOf(each, [...path, key]);
}

/** Tells whether a duration may stand at the path: of a text the word would be one. */
function isDuration(path: readonly string[]): boolean {
  const key = keyAt(path);
  return key !== undefined && choicesOf(key).some(({ kind }) => kind === 'duration');
}

const emptyBranch = (): Branch => ({ leaf: undefined, children: new Map() });

function put(root: Branch, path: readonly string[], leaf: Leaf): void {
  let branch = root;
  for (const key of path) {
    branch.leaf = undefined;
    const next = branch.children.get(key) ?? emptyBranch();
    branch.children.set(key, next);
    branch = next;
  }
  // An object without keys takes nothing away.
  if (isPlainObject(leaf.value) && Object.keys(leaf.value).length === 0 && branch.children.size > 0) return;
  branch.children.clear();
  branch.leaf = leaf;
}

function valueOf({ leaf, children }: Branch): unknown {
  if (leaf !== undefined) return leaf.value;
  return Object.fromEntries([...children].map(([key, child]) => [key, valueOf(child)]));
}

function firstIn({ leaf, children }: Branch): Leaf | undefined {
  if (leaf !== undefined) return leaf;
  for (const child of children.values()) return firstIn(child);
  return undefined;
}

function setIn({ leaf, children }: Branch, path: readonly string[]): Merged['set'] {
  if (leaf !== undefined) return [{ path, source: leaf.source }];
  return [...children].flatMap(([key, child]) => setIn(child, [...path, key]));
}
