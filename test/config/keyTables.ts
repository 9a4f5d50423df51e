import { durationText } from '../../src/config/durationText.ts';
import { anyName, type ConfigKey, configKeys } from '../../src/config/keys.ts';
import type { SchemaNode } from '../../src/config/schemaTree.ts';
import type { IntegrationPolicy } from '../../src/policy/policy.ts';
import { presets } from '../../src/policy/presets.ts';

/** The tables of docs/configuration.md, by the names of their markers. */
export function keyTables(): Readonly<Record<string, string>> {
  const below = (...prefix: readonly string[]) =>
    configKeys
      .filter(({ path }) => prefix.every((part, index) => path[index] === part))
      .map((key) => ({ ...key, path: key.path.slice(prefix.length) }));
  const policy = below('policies', 'presets', anyName);
  const names = new Set(policy.map(({ path }) => path.join('.')));
  const own = below('policies', 'integrations', anyName).filter(({ path }) => !names.has(path.join('.')));
  return {
    keys: keyTable(
      configKeys.filter(({ path }) => !path.includes(anyName)),
      true,
    ),
    'keys of a policy': keyTable(policy, false),
    'keys of an integration': keyTable(own, false),
    presets: presetTable(),
  };
}

function keyTable(keys: readonly ConfigKey[], withVariable: boolean): string {
  const titles = ['key', 'unit', 'default', 'bounds', ...(withVariable ? ['environment'] : []), 'what'];
  const rows = keys.map(({ path, node, variable }) => [
    code(path.map((key) => (key === anyName ? 'NAME' : key)).join('.')),
    node.unit ?? '',
    defaultOf(node),
    boundsOf(node),
    ...(withVariable ? [variable === undefined ? '' : code(variable)] : []),
    node.description ?? '',
  ]);
  return table(titles, rows);
}

function table(titles: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |\n`;
  return [line(titles), `|${'---|'.repeat(titles.length)}\n`, ...rows.map(line)].join('');
}

const code = (text: string): string => `\`${text}\``;

function defaultOf({ default: value, usually, unit }: SchemaNode): string {
  if (value === undefined) return usually ?? '';
  return code(valueText(value, unit));
}

function valueText(value: unknown, unit: SchemaNode['unit']): string {
  if (Array.isArray(value)) return `[${value.map((each: unknown) => valueText(each, unit)).join(', ')}]`;
  if (unit === 'ms' && typeof value === 'number') return durationText(value);
  if (isBackoff(value)) return waitsText(value);
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function boundsOf(node: SchemaNode): string {
  const choices = node.anyOf ?? [node];
  if (node.type === 'boolean') return '`true`, `false`';
  if (choices.some((choice) => choice.const === false)) return '`false`';
  const values = choices.find((choice) => choice.enum !== undefined)?.enum;
  if (values !== undefined) return values.map((value) => code(String(value))).join(', ');
  const figures = choices.find(({ type }) => type === 'number' || type === 'integer');
  if (figures === undefined) return node.type === 'string' ? 'not empty' : (node.expected ?? '').replace(/^an? /, '');
  const { minimum, maximum, exclusiveMinimum } = figures;
  const range =
    exclusiveMinimum !== undefined
      ? `above ${exclusiveMinimum}`
      : maximum === undefined
        ? `${minimum} or more`
        : `${minimum} to ${maximum}`;
  return choices.some((choice) => choice.const === 'infinity') ? `${range}, or \`"infinity"\`` : range;
}

type Backoff = IntegrationPolicy['retry']['backoff'];

const isBackoff = (value: unknown): value is Backoff =>
  typeof value === 'object' && value !== null && 'backoff' in value && 'jitter' in value;

/** `1s doubling to 8s, ±0.2` */
function waitsText({ backoff, jitter }: Backoff): string {
  const spread = jitter.kind === 'factor' ? `, ±${jitter.factor}` : '';
  switch (backoff.kind) {
    case 'exponential':
      return `${durationText(backoff.baseMs)} ×${backoff.factor ?? 2} up to ${durationText(backoff.capMs)}${spread}`;
    case 'list':
      return `${backoff.delaysMs.map(durationText).join(', ')}${spread}`;
    case 'constant':
      return `${durationText(backoff.delayMs)}${spread}`;
  }
}

/** The figures in which the presets differ. */
function presetTable(): string {
  const figures: readonly (readonly [string, (policy: IntegrationPolicy) => string])[] = [
    ['retry.maxAttempts', ({ retry }) => String(retry.maxAttempts)],
    ['retry.backoff', ({ retry }) => waitsText(retry.backoff)],
    ['retry.maxTotalWaitMs', ({ retry }) => durationText(retry.maxTotalWaitMs)],
    ['retry.repeatAfter', ({ retry }) => retry.repeatAfter],
    ['retry.retryUnknown', ({ retry }) => String(retry.retryUnknown)],
    ['limits.idleMs', ({ limits }) => durationText(limits.idleMs)],
    ['limits.attemptMs', ({ limits }) => durationText(limits.attemptMs)],
    ['limits.overallMs', ({ limits }) => durationText(limits.overallMs)],
    ['breaker.consecutiveFailures', ({ breaker }) => String(breaker.consecutiveFailures)],
  ];
  const rows = Object.entries(presets).map(([name, policy]) => [code(name), ...figures.map(([, of]) => of(policy))]);
  return table(['preset', ...figures.map(([figure]) => code(figure))], rows);
}
