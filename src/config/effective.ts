import { durationText } from '../policy/text/duration.ts';
import { pathText } from '../policy/options/optionProblem.ts';
import { checkPolicies } from '../policy/policies.ts';
import type { ConfigOptions, LoadedConfig } from './configTypes.ts';
import {
  alertValues,
  type ImpliedValue,
  integrationValues,
  type PresetSource,
  presetValues,
} from './integrationValues.ts';
import { valueAt } from './issues.ts';
import { anyName, choicesOf, configKeys, defaultOf, isSecret, keyAt, unitOf, variableAt } from './keys.ts';
import { leafPaths } from './layers.ts';
import type { ConfigSource } from './problems.ts';

/** Value that holds for one key, and the reason. */
export interface EffectiveValue {
  readonly path: string;
  /** Durations in ms; undefined where the default depends on something, of which `usually` tells. */
  readonly value: unknown;
  readonly unit: ReturnType<typeof unitOf>;
  readonly usually: string | undefined;
  readonly source: ConfigSource | PresetSource;
  /** The environment variable that sets it. */
  readonly variable: string | undefined;
  readonly isSecret: boolean;
}

/** Every value of a configuration: what was set, in the order of the schema, then the defaults of what was not. */
export function effectiveValues({
  options,
  origins,
}: Pick<LoadedConfig, 'options' | 'origins'>): readonly EffectiveValue[] {
  const placeOf = (path: readonly string[]): number => configKeys.findIndex((key) => leadsTo(key.path, path));
  const given = [...leafPaths(options)].sort((one, other) => placeOf(one) - placeOf(other));
  const taken = new Set(given.map((path) => path.join('\n')));
  const derived = derivedDefaults(options);
  const defaults = configKeys.filter(
    ({ path, key }) =>
      !path.includes(anyName) &&
      !taken.has(path.join('\n')) &&
      isThere(path, options) &&
      (defaultOf(key) !== undefined || key.usually !== undefined),
  );
  const implied = [
    ...alertValues(options, isSaid, ofAll),
    ...presetValues(options, isSaid),
    ...integrationValues(options, isSaid, textAt),
  ];
  return [
    ...given.map((path) => row(path, valueAt(options, path), origins[pathText(path)] ?? { from: 'default' })),
    ...defaults.map(({ path, key }) => row(path, derived.get(pathText(path)) ?? defaultOf(key), { from: 'default' })),
    ...implied.map(({ path, value, usually, source }) => ({
      ...row(path, value, source),
      ...(usually !== undefined && { usually }),
    })),
  ];

  /** The threshold that holds for all integrations. */
  function ofAll(key: string): Pick<ImpliedValue, 'value' | 'source'> {
    const path = ['alerts', key];
    return {
      value: valueAt(options, path) ?? keyAt(path)?.default,
      source: origins[pathText(path)] ?? { from: 'default' },
    };
  }

  function isSaid(path: readonly string[]): boolean {
    return taken.has(path.join('\n'));
  }
}

function textAt(path: readonly string[], value: unknown): string {
  const key = keyAt(path);
  return plainText(value, key === undefined ? undefined : unitOf(key));
}

/** Tells whether a key is the path, or above it. */
function leadsTo(key: readonly string[], path: readonly string[]): boolean {
  // A key that can be switched off is above its own keys.
  if (key.length === 1 && path.length > 1) return false;
  return key.every((part, index) => part === anyName || part === path[index]);
}

/** Tells whether the owner of the key is neither switched off nor left out. */
function isThere(path: readonly string[], options: LoadedConfig['options']): boolean {
  return path.every((_, depth) => {
    const above = path.slice(0, depth);
    const value = depth === 0 ? options : valueAt(options, above);
    return value === undefined ? !asksForSomething(above) : value !== false;
  });
}

/** Tells whether an object needs keys that nothing else says. */
function asksForSomething(path: readonly string[]): boolean {
  const key = keyAt(path);
  const choices = key === undefined ? [] : choicesOf(key);
  return choices.some((each) => each.kind === 'object' && Object.values(each.keys).some(({ required }) => required));
}

function row(path: readonly string[], value: unknown, source: EffectiveValue['source']): EffectiveValue {
  const key = keyAt(path);
  const unit = key === undefined ? undefined : unitOf(key);
  return {
    path: pathText(path),
    value,
    unit,
    usually: value === undefined ? key?.usually : undefined,
    source,
    variable: variableAt(path),
    isSecret: !isImplied(source) && isSecret(path),
  };
}

/** Tells whether nobody set what comes from there. */
export function isImplied(source: EffectiveValue['source']): source is PresetSource | { readonly from: 'default' } {
  return source.from === 'default' || source.from === 'preset' || source.from === 'code or preset';
}

/** A value for people: `10m`, `1 GB`, text as it is; of a secret nothing. */
export function valueText({
  value,
  unit,
  usually,
  isSecret: secret,
}: Omit<EffectiveValue, 'path' | 'source' | 'variable'>): string {
  if (secret) return '(not shown)';
  if (value === undefined) return usually ?? '';
  if (Array.isArray(value)) return `[${value.map((each: unknown) => plainText(each, unit)).join(', ')}]`;
  return plainText(value, unit);
}

/** Tells whether a value tests texts. */
export function isPattern(value: unknown): boolean {
  return typeof (value as { readonly test?: unknown } | null)?.test === 'function';
}

function plainText(value: unknown, unit: ReturnType<typeof unitOf>): string {
  if (typeof value === 'number' && unit === 'ms') return durationText(value);
  if (typeof value === 'number' && unit === 'bytes') return bytesText(value);
  if (typeof value === 'string') return value;
  // A pattern writes itself; the waits between attempts are data.
  return typeof value === 'object' && !isPattern(value) ? JSON.stringify(value) : String(value);
}

function bytesText(bytes: number): string {
  const [unit, size] = (
    [
      ['GB', 1e9],
      ['MB', 1e6],
      ['kB', 1e3],
    ] as const
  ).find(([, each]) => bytes % each === 0) ?? ['B', 1];
  return `${bytes / size} ${unit}`;
}

/** The defaults that depend on what was set. */
function derivedDefaults({ store, policies }: ConfigOptions): ReadonlyMap<string, unknown> {
  const { maxAttempts, backoff } = checkPolicies(policies).presets.toolCall.retry;
  return new Map<string, unknown>([
    ['control', store !== undefined && store !== ':memory:'],
    ['toolCallRetry.maxAttempts', maxAttempts],
    ['toolCallRetry.backoffMs', backoff.kind === 'list' ? backoff.delaysMs : undefined],
  ]);
}
