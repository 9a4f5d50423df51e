import { durationText } from '../../src/policy/text/duration.ts';
import { anyName, type ConfigKey, configKeys, defaultOf, isSwitch, unitOf } from '../../src/config/keys.ts';
import { expectedOf, type KeyData, type Keys } from '../../src/policy/options/optionKeys.ts';
import type { IntegrationPolicy } from '../../src/policy/policy.ts';
import { presets } from '../../src/policy/presets.ts';

/** The table of the options of a function, for its page. @param source - the source of table and interface, whose comments say what each is. */
export function optionTable(keys: Keys, source: string): string {
  const told = commentsOf(source);
  const rows = Object.entries<KeyData>(keys).map(([name, key]) => {
    const { help, usually } = told.get(name) ?? {};
    return {
      path: [name],
      key: { ...key, help, usually: key.required === true ? 'required' : usually },
      variable: undefined,
    };
  });
  return keyTable(rows, false);
}

/** Reads what the comments say of keys and members, and of their defaults. */
function commentsOf(
  source: string,
): ReadonlyMap<string, { readonly help: string; readonly usually?: string | undefined }> {
  const members = source.matchAll(/^ {2}\/\*\*([^]*?)\*\/\n {2}(?:readonly )?(\w+)\??:/gm);
  return new Map(
    [...members].map(([, comment = '', name = '']) => {
      const words = comment
        .replace(/\n\s*\*/g, ' ')
        .replace(/\s+/g, ' ')
        .trim();
      const [help = '', usually] = words.split(' @defaultValue ');
      return [name, { help, usually }];
    }),
  );
}

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
    'keys of a reconcile rule': keyTable(
      own.filter(({ path }) => path.join('.') === 'reconcile').flatMap(({ key }) => keysWithin(key)),
      false,
    ),
    'keys of an agent': keyTable(below('agentProfiles', anyName), false),
    'keys of a rule': keyTable(
      below('agentProfiles', anyName, 'output', 'stream', 'rules').flatMap(({ key }) =>
        key.kind === 'list' ? keysWithin(key.of) : [],
      ),
      false,
    ),
    presets: presetTable(),
  };
}

/** The keys of what is one value to the configuration. */
function keysWithin(key: KeyData, path: readonly string[] = []): ConfigKey[] {
  if (key.kind !== 'object') return [{ path, key, variable: undefined }];
  const inFile = Object.entries<KeyData>(key.keys).filter(([, inner]) => inner.codeOnly !== true);
  return inFile.flatMap(([name, inner]) => keysWithin(inner, [...path, name]));
}

function keyTable(keys: readonly ConfigKey[], withVariable: boolean): string {
  const titles = ['key', 'unit', 'default', 'bounds', ...(withVariable ? ['environment'] : []), 'what'];
  const rows = keys.map(({ path, key, variable }) => [
    code(path.map((step) => (step === anyName ? 'NAME' : step)).join('.')),
    unitOf(key) ?? '',
    shownDefault(key),
    boundsOf(key),
    ...(withVariable ? [variable === undefined ? '' : code(variable)] : []),
    key.help ?? '',
  ]);
  return table(titles, rows);
}

function table(titles: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |\n`;
  return [line(titles), `|${'---|'.repeat(titles.length)}\n`, ...rows.map(line)].join('');
}

const code = (text: string): string => `\`${text}\``;

function shownDefault(key: KeyData): string {
  const value = defaultOf(key);
  return value === undefined ? (key.usually ?? '') : code(valueText(value, unitOf(key)));
}

function valueText(value: unknown, unit: ReturnType<typeof unitOf>): string {
  if (Array.isArray(value)) return `[${value.map((each: unknown) => valueText(each, unit)).join(', ')}]`;
  if (unit === 'ms' && typeof value === 'number') return durationText(value);
  if (isBackoff(value)) return waitsText(value);
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function boundsOf(key: KeyData): string {
  if (isSwitch(key)) return '`false`';
  switch (key.kind) {
    case 'boolean':
      return '`true`, `false`';
    case 'choice':
      return key.choices.map(code).join(', ');
    case 'text':
      return key.expected?.replace(/^an? /, '') ?? 'not empty';
    case 'duration':
      return `${key.zero ? '0 or more' : 'above 0'}${key.infinite ? ', or `"infinity"`' : ''}`;
    case 'number':
      return key.max === undefined ? `${key.min} or more` : `${key.min} to ${key.max}`;
    case 'list':
    case 'names':
    case 'object':
    case 'variants':
    case 'either':
    case 'methods':
    case 'off':
    case 'test':
      return expectedOf(key).replace(/^an? /, '');
  }
}

type Backoff = IntegrationPolicy['retry']['backoff'];

const isBackoff = (value: unknown): value is Backoff =>
  typeof value === 'object' && value !== null && 'kind' in value && 'jitter' in value;

/** `1s doubling to 8s, ±0.2` */
function waitsText(backoff: Backoff): string {
  const spread = backoff.jitter.kind === 'factor' ? `, ±${backoff.jitter.factor}` : '';
  switch (backoff.kind) {
    case 'exponential':
      return `${durationText(backoff.initialMs)} ×${backoff.factor} up to ${durationText(backoff.maxMs)}${spread}`;
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
