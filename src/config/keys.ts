import { type KeyData, type Keys, text } from '../policy/options/optionKeys.ts';
import { holdsSecret, type Path } from '../policy/options/optionProblem.ts';
import { gatewayKeys } from '../runtime/runtimeOptions.ts';

const { help, variable } = gatewayKeys.store;

const inFiles = Object.entries<KeyData>(gatewayKeys).filter(([, { codeOnly }]) => codeOnly !== true);

const keys: Keys = {
  $schema: text({ help: 'Where the JSON schema is, for editors.' }),
  ...Object.fromEntries(inFiles),
  store: text({ default: ':memory:', help, variable }),
};

/** The whole configuration: the options of a gateway, but for those that only code can give. */
export const configTable: Extract<KeyData, { kind: 'object' }> = {
  kind: 'object',
  keys,
  help: 'The configuration of unwedge.',
};

/** A key of the configuration. */
export interface ConfigKey {
  /** `*` stands for a name that users choose. */
  readonly path: readonly string[];
  readonly key: KeyData;
  /** Its environment variable; undefined for a list and for what is below a name that users choose. */
  readonly variable: string | undefined;
}

/** Stands for a name that users choose, in the path of a key. */
export const anyName = '*';

/** Every key with a value of its own, in the order of the table; what `false` switches off is one too. */
export const configKeys: readonly ConfigKey[] = keysOf(configTable, []).filter(({ path }) => path[0] !== '$schema');

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

function keysOf(key: KeyData, path: readonly string[]): ConfigKey[] {
  const inner = objectIn(key);
  // A value that is replaced as a whole, and the variables of a program, are one value each.
  if (inner === undefined || key.whole === true || isTextMap(inner)) return [keyOf(key, path)];
  const own = inner === key ? [] : [keyOf(key, path)];
  const children = inner.kind === 'object' ? Object.entries<KeyData>(inner.keys) : [[anyName, inner.of] as const];
  return [...own, ...children.flatMap(([name, child]) => keysOf(child, [...path, name]))];
}

function keyOf(key: KeyData, path: readonly string[]): ConfigKey {
  const isFixed = !path.includes(anyName) && key.kind !== 'list' && !isTextMap(key);
  return { path, key, variable: isFixed ? (key.variable ?? variableOf(path)) : undefined };
}

/** `alerts.windowMs` is `UNWEDGE_ALERTS_WINDOW`: a duration says its unit in its value. */
function variableOf(path: readonly string[]): string {
  const words = path
    .join('_')
    .replace(/Ms$/, '')
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2');
  return `UNWEDGE_${words.toUpperCase()}`;
}

function isTextMap(key: KeyData): boolean {
  return key.kind === 'names' && key.of.kind === 'text';
}

/** The object that a key takes, where `false` or nothing else is the other choice. */
function objectIn(key: KeyData): Extract<KeyData, { kind: 'object' | 'names' }> | undefined {
  return choicesOf(key).find((each) => each.kind === 'object' || each.kind === 'names');
}

/** Returns the data of the table for a path; undefined where there is no such key. Within a choice of objects, the first that has it. */
export function keyAt(path: Path): KeyData | undefined {
  let keys: readonly KeyData[] = [configTable];
  for (const step of path) keys = keys.flatMap(choicesOf).flatMap((key) => childOf(key, step) ?? []);
  return keys[0];
}

/** Tells whether the value at the path is replaced as a whole, or no object of known parts. */
export function isWhole(path: readonly string[]): boolean {
  const key = keyAt(path);
  return key === undefined || key.whole === true || objectIn(key) === undefined;
}

/** Tells whether a value at the path is never shown: a secret, or one in place of an object of secrets. */
export function isSecret(path: Path): boolean {
  const key = keyAt(path);
  return key !== undefined && holdsSecret(key);
}

/** Tells whether `false` switches off the value at a key. */
export function isSwitch(key: KeyData): boolean {
  return choicesOf(key).some(({ kind }) => kind === 'off');
}

/** The forms a key may have. */
export function choicesOf(key: KeyData): readonly KeyData[] {
  return key.kind === 'either' ? key.of.flatMap(choicesOf) : [key];
}

/** The value that holds where a key is left out; undefined for an object, whose keys have their own. */
export function defaultOf(key: KeyData): unknown {
  if (key.inherited !== undefined) return key.inherited;
  return key.kind === 'object' || key.kind === 'either' ? undefined : key.default;
}

/** Returns the unit of a number. */
export function unitOf(key: KeyData): 'ms' | 'bytes' | undefined {
  if (key.kind === 'list') return unitOf(key.of);
  if (key.kind === 'duration') return 'ms';
  return key.kind === 'number' ? key.unit : undefined;
}

function childOf(key: KeyData, step: string | number): KeyData | undefined {
  if (key.kind === 'list') return typeof step === 'number' ? key.of : undefined;
  if (key.kind === 'names') return key.of;
  const all = key.kind === 'object' ? [key.keys] : key.kind === 'variants' ? Object.values(key.of) : [];
  return all.find((keys) => Object.hasOwn(keys, step))?.[step];
}
