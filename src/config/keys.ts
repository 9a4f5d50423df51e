import { type SchemaNode, schemaTree } from './schemaTree.ts';

/** A key of the configuration. */
export interface ConfigKey {
  /** `*` stands for a name that users choose. */
  readonly path: readonly string[];
  readonly node: SchemaNode;
  /** Its environment variable; undefined for a list and for what is below a name that users choose. */
  readonly variable: string | undefined;
}

/** Stands for a name that users choose, in the path of a key. */
export const anyName = '*';

const root = schemaTree();

/** Every key with a value of its own, in the order of the schema; what `false` switches off is one too. */
export const configKeys: readonly ConfigKey[] = keysOf(root, []).filter(({ path }) => path[0] !== '$schema');

const byVariable = new Map(configKeys.flatMap((key) => (key.variable === undefined ? [] : [[key.variable, key]])));

/** The variables that set a key. */
export const variableNames: readonly string[] = [...byVariable.keys()];

export function keyOfVariable(variable: string): ConfigKey | undefined {
  return byVariable.get(variable);
}

/** The variable of the key at a path. */
export function variableAt(path: readonly string[]): string | undefined {
  return configKeys.find((key) => key.path.join('\n') === path.join('\n'))?.variable;
}

/** Every variable by its name, and by the one that the usual rule would give it. */
export const variablesByGuess: ReadonlyMap<string, string> = new Map(
  configKeys.flatMap(({ path, variable }) =>
    variable === undefined ? [] : [variableOf(path), variable].map((name) => [name, variable] as const),
  ),
);

function keysOf(node: SchemaNode, path: readonly string[]): ConfigKey[] {
  const inner = objectIn(node);
  // What is replaced as a whole, and the variables of a program, are one value each.
  if (inner === undefined || node.whole === true || isTextMap(inner)) return [keyOf(node, path)];
  const own = inner === node ? [] : [keyOf(node, path)];
  const named = typeof inner.additionalProperties === 'object' ? [[anyName, inner.additionalProperties] as const] : [];
  const children = [...Object.entries(inner.properties ?? {}), ...named];
  return [...own, ...children.flatMap(([key, child]) => keysOf(child, [...path, key]))];
}

function keyOf(node: SchemaNode, path: readonly string[]): ConfigKey {
  const isFixed = !path.includes(anyName) && node.type !== 'array' && !isTextMap(node);
  return { path, node, variable: isFixed ? (node.variable ?? variableOf(path)) : undefined };
}

/** `alerts.windowMs` is `UNWEDGE_ALERTS_WINDOW`: a duration says its unit in its value. */
function variableOf(path: readonly string[]): string {
  const words = path
    .join('_')
    .replace(/Ms$/, '')
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2');
  return `UNWEDGE_${words.toUpperCase()}`;
}

function isTextMap({ additionalProperties }: SchemaNode): boolean {
  return typeof additionalProperties === 'object' && additionalProperties.type === 'string';
}

/** The object that a node takes, where `false` or nothing else is the other choice. */
function objectIn(node: SchemaNode): SchemaNode | undefined {
  if (node.type === 'object') return node;
  return node.anyOf?.find(({ type }) => type === 'object');
}

/** What the schema says of a path; undefined where there is no such key. Within a choice of objects, the first that has it. */
export function nodeAt(path: readonly (string | number)[]): SchemaNode | undefined {
  let nodes: readonly SchemaNode[] = [root];
  for (const key of path) {
    nodes = nodes.flatMap(choicesOf).flatMap((node) => childOf(node, key) ?? []);
  }
  return nodes[0];
}

/** The keys that an object at a path may have. */
export function knownKeysAt(path: readonly (string | number)[]): readonly string[] {
  const node = nodeAt(path);
  return node === undefined ? [] : choicesOf(node).flatMap(({ properties = {} }) => Object.keys(properties));
}

/** Whether what is at the path is replaced as a whole, or no object of known parts. */
export function isWhole(path: readonly string[]): boolean {
  const node = nodeAt(path);
  return node === undefined || node.whole === true || objectIn(node) === undefined;
}

/** Whether a value at the path is never shown: a secret, or what stands where an object of secrets belongs. */
export function isSecret(path: readonly (string | number)[]): boolean {
  const node = nodeAt(path);
  if (node === undefined) return false;
  // A webhook that is given as its address alone is the likeliest mistake.
  return holdsSecret(node) || Object.values(objectIn(node)?.properties ?? {}).some(holdsSecret);
}

function holdsSecret(node: SchemaNode): boolean {
  return node.secret === true || (isTextMap(node) && (node.additionalProperties as SchemaNode).secret === true);
}

function choicesOf(node: SchemaNode): readonly SchemaNode[] {
  const choices = node.anyOf ?? node.oneOf;
  return choices === undefined ? [node] : choices.flatMap(choicesOf);
}

function childOf(
  { properties = {}, additionalProperties, items }: SchemaNode,
  key: string | number,
): SchemaNode | undefined {
  if (typeof key === 'number') return items;
  if (Object.hasOwn(properties, key)) return properties[key];
  return typeof additionalProperties === 'object' ? additionalProperties : undefined;
}
