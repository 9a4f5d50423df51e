import { describe, expect, it } from 'vitest';
import { type CallTotals, noFigures } from '../../../src/policy/records/callFigures.ts';
import { parseOpenMetrics } from '../../support/openMetrics.ts';
import { parsePrometheus } from '../../support/prometheusText.ts';
import { Latencies } from '../../../src/policy/records/latencies.ts';
import { metricsOf, type MetricsSource, renamed } from '../../../src/policy/records/metrics.ts';
import { metricsBody, metricsText, openMetricsText } from '../../../src/policy/records/metricsText.ts';

function textOf(source: Partial<MetricsSource>): string {
  return metricsText(metricsOf({ totals: [], integrations: [], openAlerts: [], ...source }));
}

const parsed = (source: Partial<MetricsSource>) => parsePrometheus(textOf(source));

const search: CallTotals = { ...noFigures, integration: 'search', tool: undefined };

function took(...times: readonly number[]) {
  const latencies = new Latencies();
  for (const ms of times) latencies.add(ms);
  return latencies.take();
}

describe('the Prometheus text', () => {
  it('[O-12] has calls by result, retries, refusals, fallbacks and restarts as counters', () => {
    const totals = [
      { ...search, succeeded: 90, failed: { timeout: 7, auth: 3 }, fellBack: 2, refused: 4, retries: 11, restarts: 1 },
    ];
    const families = parsed({ totals });
    expect(families['unwedge_calls_total']).toMatchObject({
      type: 'COUNTER',
      metrics: [
        { value: '90', labels: { integration: 'search', result: 'success' } },
        { value: '7', labels: { integration: 'search', result: 'timeout' } },
        { value: '3', labels: { integration: 'search', result: 'auth' } },
      ],
    });
    const values = ['fallbacks', 'refusals', 'retries', 'restarts'].map(
      (name) => families[`unwedge_${name}_total`]?.metrics[0]?.value,
    );
    expect(values).toEqual(['2', '4', '11', '1']);
  });

  it('[O-12] has durations as histograms in seconds, whose buckets hold all that is below', () => {
    const source = { totals: [{ ...search, took: took(0.5, 3, 3, 100, 7_200_000) }] };
    const { unwedge_call_duration_seconds: family } = parsed(source);
    const { buckets = {} } = family?.metrics[0] ?? {};
    expect(family?.type).toBe('HISTOGRAM');
    expect([buckets['0.001'], buckets['0.002'], buckets['0.004'], buckets['0.064'], buckets['0.128']]).toEqual([
      '1',
      '1',
      '3',
      '3',
      '4',
    ]);
    expect([buckets['1048.576'], buckets['+Inf']]).toEqual(['4', '5']);
    // The parser keeps the buckets alone.
    const text = textOf(source);
    expect(text).toContain('unwedge_call_duration_seconds_count{integration="search"} 5\n');
    expect(Number(/_sum\{.*\} (.*)/.exec(text)?.[1]) / 7200.1065).toBeCloseTo(1, 1);
    const counts = Object.values(buckets).map(Number);
    expect(counts).toEqual(counts.toSorted((first, second) => first - second));
  });

  it('[O-12] has the tools apart, so that no sum counts a call twice', () => {
    const families = parsed({
      totals: [
        { ...search, succeeded: 3 },
        { ...search, tool: 'read', succeeded: 3 },
      ],
    });
    expect(families['unwedge_calls_total']?.metrics).toHaveLength(1);
    expect(families['unwedge_tool_calls_total']?.metrics).toEqual([
      { value: '3', labels: { integration: 'search', tool: 'read', result: 'success' } },
    ]);
    expect(families['unwedge_tool_restarts_total']).toBeUndefined();
  });

  it('[O-12] has circuits, open alerts, and what live runtimes have in hand', () => {
    const families = parsed({
      integrations: [
        { integration: 'search', circuit: 'open', inFlight: 3, waiting: 2, pendingLong: 1 },
        { integration: 'kept', circuit: 'closed' },
      ],
      openAlerts: [{ integration: 'search', because: 'rate' }],
    });
    const states = families['unwedge_circuit_state']?.metrics.filter(({ value }) => value === '1');
    expect(states?.map(({ labels }) => [labels?.['integration'], labels?.['state']])).toEqual([
      ['search', 'open'],
      ['kept', 'closed'],
    ]);
    expect(families['unwedge_circuit_state']?.metrics).toHaveLength(10);
    expect(families['unwedge_calls_pending_long']?.metrics).toEqual([
      { value: '1', labels: { integration: 'search' } },
    ]);
    expect(families['unwedge_alert_open']?.metrics[0]?.labels).toEqual({ integration: 'search', because: 'rate' });
  });

  it('[M-15] has the circuits of tools that are not closed, and of no others', () => {
    const source: MetricsSource = {
      ...{ totals: [], openAlerts: [] },
      integrations: [
        { integration: 'bank', circuit: 'closed', tools: [{ tool: 'charge', circuit: 'open' }] },
        { integration: 'kb', circuit: 'closed', tools: [] },
      ],
    };
    const { metrics } = parsed(source)['unwedge_tool_circuit_state'] ?? {};
    expect(metrics).toEqual(
      ['open', 'half-open', 'isolated'].map((state) => ({
        value: state === 'open' ? '1' : '0',
        labels: { integration: 'bank', tool: 'charge', state },
      })),
    );
    expect(renamed(source, (name) => `${name}-`).integrations[0]?.tools).toEqual([
      { tool: 'charge-', circuit: 'open' },
    ]);
    expect(parsed({ integrations: [] })['unwedge_tool_circuit_state']).toBeUndefined();
  });

  it('[O-12] escapes label values', () => {
    const name = 'a "quoted"\\path\nline';
    const text = textOf({ totals: [{ ...search, integration: name, succeeded: 1 }] });
    expect(text).toContain('unwedge_calls_total{integration="a \\"quoted\\"\\\\path\\nline",result="success"} 1\n');
    expect(parsePrometheus(text)['unwedge_calls_total']?.metrics[0]?.labels?.['integration']).toBe(name);
  });

  it('[O-12] names its metrics as Prometheus asks, each once, and ends with a line', () => {
    const totals = [{ ...search, succeeded: 1, took: took(1), firstChunk: took(1) }];
    const text = textOf({
      totals,
      integrations: [{ integration: 'search', circuit: 'closed', inFlight: 0, waiting: 0, pendingLong: 0 }],
    });
    const named = [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name = '', type = '']) => ({ name, type }));
    expect(new Set(named.map(({ name }) => name)).size).toBe(named.length);
    for (const { name, type } of named) expect(name.endsWith('_total')).toBe(type === 'counter');
    expect(text.endsWith('\n')).toBe(true);
    expect(textOf({})).toBe('');
  });
});

describe('OpenMetrics', () => {
  const totals = [
    { ...search, succeeded: 3, failed: { timeout: 7 }, took: took(1, 5, 70_000), firstChunk: took(2) },
    { ...search, tool: 'a "quoted" \\ tool\nof two lines', succeeded: 1, took: took(3) },
  ];
  const integrations = [{ integration: 'search', circuit: 'open' as const, inFlight: 2, waiting: 1, pendingLong: 1 }];
  const openAlerts = [{ integration: 'search', because: 'failures' }];
  const families = metricsOf({ totals, integrations, openAlerts });

  it('[O-12] has the same figures under the same names, and an end', () => {
    const open = parseOpenMetrics(openMetricsText(families));
    const plain = parsePrometheus(metricsText(families));
    expect(Object.keys(open).map((name) => (open[name]?.type === 'counter' ? `${name}_total` : name))).toEqual(
      Object.keys(plain),
    );
    expect(open['unwedge_calls']?.samples).toContainEqual({
      name: 'unwedge_calls_total',
      labels: { integration: 'search', result: 'timeout' },
      value: 7,
    });
    expect(open['unwedge_calls_pending_long']?.samples).toMatchObject([{ value: 1 }]);
    expect(open['unwedge_tool_calls']?.samples[0]?.labels['tool']).toBe(String.raw`a \"quoted\" \\ tool\nof two lines`);
  });

  it('[O-12] is empty but for its end where nothing was counted', () => {
    expect(openMetricsText([])).toBe('# EOF\n');
  });

  const plain = 'text/plain; version=0.0.4; charset=utf-8';
  const open = 'application/openmetrics-text; version=1.0.0; charset=utf-8';
  it.each([
    [undefined, plain],
    ['*/*', plain],
    ['text/html', plain],
    ['application/openmetrics-text', open],
    ['Application/OpenMetrics-Text; version=1.0.0', open],
    ['application/openmetrics-text;q=0', plain],
    ['application/openmetrics-text;q=0.2,text/plain;q=0.9', plain],
    ['application/openmetrics-text;q=nonsense', plain],
    [
      'application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.5,application/openmetrics-text;version=0.0.1;q=0.4,text/plain;version=1.0.0;q=0.3,*/*;q=0.2',
      open,
    ],
  ])('[O-12] is given where it is asked for: %s', (accept, type) => {
    const body = metricsBody(families, accept);
    expect(body.contentType).toBe(type);
    expect(body.text.endsWith('# EOF\n')).toBe(type === open);
  });

  it('[O-12] [O-8] has each series once, also where names were hidden alike', () => {
    const keys = ['one', 'two'].map((tool) => ({ ...search, tool, succeeded: 2, took: took(1) }));
    const several = ['a', 'b'].map((integration) => ({ integration, circuit: 'closed' as const }));
    const alerts = ['a', 'b'].map((integration) => ({ integration, because: 'rate' }));
    const hidden = renamed({ totals: keys, integrations: several, openAlerts: alerts }, () => '[redacted]');
    const found = parseOpenMetrics(openMetricsText(metricsOf(hidden)));
    expect(found['unwedge_tool_calls']?.samples).toMatchObject([{ labels: { tool: '[redacted]' }, value: 4 }]);
    expect(found['unwedge_tool_call_duration_seconds']?.samples.at(-1)).toMatchObject({ value: 2 });
  });
});
