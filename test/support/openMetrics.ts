import { expect } from 'vitest';

export interface OpenMetricsFamily {
  readonly type: string;
  readonly samples: readonly {
    readonly name: string;
    readonly labels: Readonly<Record<string, string>>;
    readonly value: number;
  }[];
}

const suffixes: Readonly<Record<string, readonly string[]>> = {
  counter: ['_total', '_created'],
  gauge: [''],
  histogram: ['_bucket', '_count', '_sum', '_created'],
};
const sample = /^([a-zA-Z_:][\w:]*)(?:\{((?:[a-zA-Z_]\w*="(?:[^"\\\n]|\\["\\n])*",?)*)\})? (\S+)$/;
const label = /([a-zA-Z_]\w*)="((?:[^"\\\n]|\\["\\n])*)"/g;

/** Reads an exposition as strictly as OpenMetrics 1.0.0 asks of who reads one: what is wrong with it fails the test. */
export function parseOpenMetrics(text: string): Readonly<Record<string, OpenMetricsFamily>> {
  expect(text).toMatch(/# EOF\n$/);
  const families: Record<
    string,
    { type: string; samples: { name: string; labels: Record<string, string>; value: number }[] }
  > = {};
  const seen = new Set<string>();
  let name = '';
  const lines = text.slice(0, -'# EOF\n'.length).split('\n');
  expect(lines.pop()).toBe('');
  for (const line of lines) {
    const meta = /^# (TYPE|HELP|UNIT) (\S+) (.*)$/.exec(line);
    if (meta !== null) {
      const [, kind = '', family = '', said = ''] = meta;
      if (kind === 'TYPE') {
        expect(families).not.toHaveProperty([family]);
        expect(Object.keys(suffixes)).toContain(said);
        families[family] = { type: said, samples: [] };
        name = family;
      } else expect(family).toBe(name);
      continue;
    }
    const [, full = '', labels = '', value = ''] = sample.exec(line) ?? expect.fail(`No line of OpenMetrics: ${line}`);
    const family = families[name] ?? expect.fail(`A sample without a family: ${line}`);
    expect(suffixes[family.type]?.map((suffix) => name + suffix)).toContain(full);
    expect(seen.has(`${full} ${labels}`)).toBe(false);
    seen.add(`${full} ${labels}`);
    expect(Number.isNaN(Number(value))).toBe(false);
    const pairs = [...labels.matchAll(label)].map(([, key = '', text = '']) => [key, text]);
    family.samples.push({
      name: full,
      labels: Object.fromEntries(pairs) as Record<string, string>,
      value: Number(value),
    });
  }
  for (const [family, { type, samples }] of Object.entries(families))
    if (type === 'histogram') checkHistogram(family, samples);
  return families;
}

/** Buckets grow with their bounds up to the count. */
function checkHistogram(family: string, samples: OpenMetricsFamily['samples']): void {
  const series = new Map<string, { le: number; value: number }[]>();
  const counts = new Map<string, number>();
  for (const { name, labels, value } of samples) {
    const { le, ...rest } = labels;
    const key = JSON.stringify(rest);
    if (name === `${family}_bucket`)
      series.set(key, [...(series.get(key) ?? []), { le: le === '+Inf' ? Infinity : Number(le), value }]);
    else if (name === `${family}_count`) counts.set(key, value);
  }
  for (const [key, buckets] of series) {
    expect(buckets.map(({ le }) => le)).toEqual(buckets.map(({ le }) => le).toSorted((a, b) => a - b));
    expect(buckets.map(({ value }) => value)).toEqual(buckets.map(({ value }) => value).toSorted((a, b) => a - b));
    expect(buckets.at(-1)).toEqual({ le: Infinity, value: counts.get(key) });
  }
}
