import { parser } from '@prometheus-io/lezer-promql';
import { describe, expect, it } from 'vitest';
import { dashboardFile, grafanaDashboard } from '../../scripts/grafanaDashboard.mjs';
import { type CallTotals, noFigures } from '../../src/policy/records/callFigures.ts';
import { metricNames, metricsOf } from '../../src/policy/records/metrics.ts';

const counted: CallTotals = {
  ...noFigures,
  ...{ integration: 'search', tool: undefined, succeeded: 1, failed: { timeout: 1 }, took: [1, 1], firstChunk: [1, 1] },
};
/** All that can be told of, each with a sample. */
const families = metricsOf({
  totals: [counted, { ...counted, tool: 'find' }],
  integrations: [
    {
      ...{ integration: 'search', circuit: 'closed', inFlight: 0, waiting: 0, pendingLong: 0 },
      tools: [{ tool: 'find', circuit: 'open' }],
    },
  ],
  openAlerts: [{ integration: 'search', because: 'rate' }],
  stores: { degraded: 0, waiting: 0 },
});
/** The labels of each series, by its name. */
const labels = new Map(
  families.flatMap(({ name, samples }) =>
    samples.map((sample) => [`${name}${sample.suffix ?? ''}`, Object.keys(sample.labels)] as const),
  ),
);

const { panels, templating } = grafanaDashboard(metricNames);
const targets = panels.flatMap(({ title, targets: all }) => all.map((target) => ({ title, ...target })));

/** What an expression asks for; undefined when it is no PromQL. */
function read(expr: string): { readonly metrics: readonly string[]; readonly labels: readonly string[] } | undefined {
  const text = expr.replaceAll('$__rate_interval', '5m').replaceAll('$__range', '6h');
  const metrics: string[] = [];
  const named: string[] = [];
  let isWrong = false;
  parser.parse(text).iterate({
    enter({ type, from, to, node }) {
      if (type.isError) isWrong = true;
      const word = text.slice(from, to);
      if (type.name === 'Identifier' && node.parent?.type.name === 'VectorSelector') metrics.push(word);
      if (type.name === 'LabelName') named.push(word);
    },
  });
  return isWrong ? undefined : { metrics, labels: named };
}

describe('the Grafana dashboard', () => {
  it('[O-12] is what the names of the metrics make; else: node scripts/grafanaDashboard.mjs --write', () => {
    const { is, shouldBe } = dashboardFile(metricNames);
    expect(is).toBe(shouldBe);
    expect(families.map(({ name }) => name).toSorted()).toEqual([...metricNames].toSorted());
  });

  it('[O-12] is refused names that there are not', () => {
    expect(() => grafanaDashboard(metricNames.slice(1))).toThrow('There is no metric unwedge_calls_total');
    expect(read('sum(rate(x[5m])')).toBeUndefined();
  });

  it.each(targets)(
    '[O-12] asks for series and labels that there are: $title, $legendFormat',
    ({ expr, legendFormat }) => {
      const asked = read(expr);
      expect(asked).toBeDefined();
      const { metrics = [], labels: named = [] } = asked ?? {};
      expect(metrics.length).toBeGreaterThan(0);
      expect(metrics.filter((metric) => !labels.has(metric))).toEqual([]);
      const known = metrics.map((metric) => labels.get(metric) ?? []);
      const shown = [...legendFormat.matchAll(/\{\{(\w+)\}\}/g)].map(([, label = '']) => label);
      expect(named).toContain('integration');
      for (const label of [...named, ...shown]) for (const of of known) expect(of).toContain(label);
    },
  );

  it('[O-12] offers the integrations that there are', () => {
    const [, { query } = { query: undefined }] = templating.list;
    expect(query).toMatchObject({ query: 'label_values(unwedge_circuit_state, integration)' });
    expect(labels.get('unwedge_circuit_state')).toContain('integration');
  });

  it('[O-12] has its panels side by side, and none above another', () => {
    const taken = new Set<string>();
    for (const { gridPos } of panels) {
      expect(gridPos.x + gridPos.w).toBeLessThanOrEqual(24);
      for (let x = gridPos.x; x < gridPos.x + gridPos.w; x++)
        for (let y = gridPos.y; y < gridPos.y + gridPos.h; y++) {
          expect(taken.has(`${x},${y}`)).toBe(false);
          taken.add(`${x},${y}`);
        }
    }
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
  });
});
