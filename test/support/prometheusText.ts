export interface PrometheusFamily {
  readonly name: string;
  readonly type: string;
  readonly help: string;
  readonly metrics: readonly {
    readonly value?: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly buckets?: Readonly<Record<string, string>>;
  }[];
}

const metricName = '[a-zA-Z_:][a-zA-Z0-9_:]*';
const heading = new RegExp(`^# (HELP|TYPE) (${metricName}) (.*)$`);
const sample = new RegExp(`^(${metricName})(?:\\{(.*)\\})? (NaN|[+-]?Inf|[+-]?[0-9.eE+-]+)$`);
const label = /([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\["\\n])*)"(?:,|$)/y;

/**
 * The families of a text in the format 0.0.4, by name; the buckets of a histogram are one metric for each of its other labels.
 * @throws for a line that is none of the format, a family that is told of twice or in pieces, and a sample of no family.
 */
export function parsePrometheus(text: string): Readonly<Record<string, PrometheusFamily>> {
  if (text === '') return {};
  if (!text.endsWith('\n')) throw new Error('The last line has no end');
  const families = new Map<string, { type: string; help: string; metrics: Map<string, Record<string, unknown>> }>();
  let current = '';
  for (const line of text.slice(0, -1).split('\n')) {
    const [, word, name = '', rest = ''] = heading.exec(line) ?? [];
    if (word !== undefined) {
      if (word === 'HELP' && families.has(name)) throw new Error(`${name} is told of twice`);
      const family = families.get(name) ?? { type: '', help: '', metrics: new Map() };
      families.set(name, { ...family, [word.toLowerCase()]: word === 'TYPE' ? rest.toUpperCase() : unescaped(rest) });
      current = name;
      continue;
    }
    const [, full = '', inBraces = '', value = ''] = sample.exec(line) ?? [];
    const family = families.get(current);
    const suffix = full.slice(current.length);
    const isHistogram = family?.type === 'HISTOGRAM';
    if (family === undefined || !full.startsWith(current) || (suffix !== '' && !isHistogram))
      throw new Error(`No line of the format, or of no family: ${line}`);
    const { le, ...labels } = labelsIn(inBraces);
    const key = JSON.stringify(labels);
    const metric = family.metrics.get(key) ?? (Object.keys(labels).length === 0 ? {} : { labels });
    if (!isHistogram) metric['value'] = value;
    else if (suffix === '_bucket') metric['buckets'] = { ...(metric['buckets'] as object), [String(le)]: value };
    else metric[suffix.slice(1)] = value;
    family.metrics.set(key, metric);
  }
  return Object.fromEntries(
    [...families].map(([name, { metrics, ...about }]) => [name, { name, ...about, metrics: [...metrics.values()] }]),
  );
}

function labelsIn(text: string): Readonly<Record<string, string>> {
  const labels: Record<string, string> = {};
  label.lastIndex = 0;
  while (label.lastIndex < text.length) {
    const [whole, name = '', value = ''] = label.exec(text) ?? [];
    if (whole === undefined || Object.hasOwn(labels, name)) throw new Error(`No labels of the format: ${text}`);
    labels[name] = unescaped(value);
  }
  return labels;
}

const unescaped = (text: string): string =>
  text.replace(/\\(["\\n])/g, (_, sign: string) => (sign === 'n' ? '\n' : sign));
