// The Grafana dashboard in docs/grafana-dashboard.json, from the names of the metrics: prints it, or with --write puts it there.
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const file = new URL('../docs/grafana-dashboard.json', import.meta.url);
const chosen = 'integration=~"$integration"';
const datasource = { type: 'prometheus', uid: '${datasource}' };

/**
 * @param {readonly string[]} names - of all metrics there are.
 * @throws {RangeError} when a panel would ask for another one.
 */
export function grafanaDashboard(names) {
  const metric = (name, ...labels) => {
    const known = name.replace(/_(bucket|sum|count)$/, '');
    if (!names.includes(known)) throw new RangeError(`There is no metric ${known}`);
    return `${name}{${[chosen, ...labels].join(',')}}`;
  };
  const rate = (name, ...labels) => `rate(${metric(name, ...labels)}[$__rate_interval])`;
  const quantile = (q, name, by) =>
    `histogram_quantile(${q}, sum by (${[...by, 'le'].join(', ')}) (${rate(`${name}_bucket`)}))`;
  const successOver = (of, by) =>
    `sum${by} (${of('unwedge_calls_total', 'result="success"')}) / sum${by} (${of('unwedge_calls_total', 'result!="cancelled"')})`;
  const overall = (name, ...labels) => `increase(${metric(name, ...labels)}[$__range])`;
  const latency = (of, name) => [0.5, 0.95, 0.99].map((q) => target(quantile(q, name, []), `p${q * 100} ${of}`));

  return {
    title: 'unwedge',
    uid: 'unwedge',
    description: 'Whether the calls of gateways and proxies succeed, how long they take, and what is stuck.',
    tags: ['unwedge'],
    schemaVersion: 39,
    version: 1,
    editable: true,
    refresh: '30s',
    time: { from: 'now-6h', to: 'now' },
    templating: {
      list: [
        { name: 'datasource', label: 'Prometheus', type: 'datasource', query: 'prometheus' },
        {
          ...{ name: 'integration', label: 'Integration', type: 'query', datasource, refresh: 2, sort: 1 },
          ...{ multi: true, includeAll: true, current: { text: 'All', value: '$__all' }, allValue: '.*' },
          query: { query: 'label_values(unwedge_circuit_state, integration)', refId: 'integration' },
        },
      ],
    },
    panels: placed([
      [
        stat('Success', [target(successOver(overall, ''))], 'percentunit', [
          { color: 'red', value: null },
          { color: 'yellow', value: 0.9 },
          { color: 'green', value: 0.99 },
        ]),
        stat('Circuits that are not closed', [
          target(
            `sum(${metric('unwedge_circuit_state', 'state!="closed"')}) + (sum(${metric('unwedge_tool_circuit_state')}) or vector(0))`,
          ),
        ]),
        stat('Open alerts', [target(`sum(${metric('unwedge_alert_open')}) or vector(0)`)]),
        stat('Calls past half of a limit', [target(`sum(${metric('unwedge_calls_pending_long')}) or vector(0)`)]),
      ],
      [
        series('Success', [target(successOver(rate, ' by (integration)'), '{{integration}}')], 'percentunit'),
        series('Calls by result', [target(`sum by (result) (${rate('unwedge_calls_total')})`, '{{result}}')], 'cps'),
      ],
      [
        series('Duration of successful calls', latency('of calls', 'unwedge_call_duration_seconds'), 's'),
        series('First chunk of streams', latency('to the first chunk', 'unwedge_first_chunk_seconds'), 's'),
      ],
      [
        series(
          'p95 by integration',
          [target(quantile(0.95, 'unwedge_call_duration_seconds', ['integration']), '{{integration}}')],
          's',
        ),
        series(
          'Retries, refusals, fallbacks, restarts',
          ['retries', 'refusals', 'fallbacks', 'restarts'].map((what) =>
            target(`sum(${rate(`unwedge_${what}_total`)})`, what),
          ),
          'cps',
        ),
      ],
      [
        {
          ...panel('Circuits', 'state-timeline', [
            target(`${metric('unwedge_circuit_state')} == 1`, '{{integration}}: {{state}}'),
          ]),
          fieldConfig: { defaults: { color: { mode: 'palette-classic' } }, overrides: [] },
        },
        series(
          'Under way',
          [
            target(`sum(${metric('unwedge_calls_in_flight')})`, 'in flight'),
            target(`sum(${metric('unwedge_calls_waiting')})`, 'waiting'),
            target(`sum(${metric('unwedge_calls_pending_long')})`, 'past half of a limit'),
          ],
          'short',
        ),
      ],
      [
        series(
          'Failures of tools',
          [
            target(
              `topk(10, sum by (integration, tool, result) (${rate('unwedge_tool_calls_total', 'result!="success"')}))`,
              '{{integration}}: {{tool}} ({{result}})',
            ),
          ],
          'cps',
        ),
        series(
          'p95 of the slowest tools',
          [
            target(
              `topk(10, ${quantile(0.95, 'unwedge_tool_call_duration_seconds', ['integration', 'tool'])})`,
              '{{integration}}: {{tool}}',
            ),
          ],
          's',
        ),
      ],
    ]),
  };
}

/** The file as it is, and as it should be. */
export function dashboardFile(names) {
  return { is: readFileSync(file, 'utf8'), shouldBe: textOf(names) };
}

function target(expr, legendFormat = '') {
  return { expr, legendFormat };
}

function panel(title, type, targets) {
  const lettered = targets.map((each, index) => ({ refId: String.fromCodePoint(65 + index), datasource, ...each }));
  return { title, type, datasource, targets: lettered };
}

function stat(
  title,
  targets,
  unit = 'short',
  steps = [
    { color: 'green', value: null },
    { color: 'red', value: 1 },
  ],
) {
  const defaults = { unit, thresholds: { mode: 'absolute', steps } };
  const options = { reduceOptions: { calcs: ['lastNotNull'] }, colorMode: 'background', graphMode: 'none' };
  return { ...panel(title, 'stat', targets), fieldConfig: { defaults, overrides: [] }, options };
}

function series(title, targets, unit) {
  const defaults = { unit, min: 0, custom: { fillOpacity: 5, showPoints: 'never' } };
  const options = { legend: { displayMode: 'list', placement: 'bottom' }, tooltip: { mode: 'multi', sort: 'desc' } };
  return { ...panel(title, 'timeseries', targets), fieldConfig: { defaults, overrides: [] }, options };
}

/** Rows of panels that share the width of 24. */
function placed(rows) {
  let y = 0;
  let id = 0;
  return rows.flatMap((row) => {
    const h = row[0].type === 'stat' ? 4 : 8;
    const w = 24 / row.length;
    const made = row.map((each, index) => ({ id: ++id, ...each, gridPos: { x: index * w, y, w, h } }));
    y += h;
    return made;
  });
}

function textOf(names) {
  return `${JSON.stringify(grafanaDashboard(names), null, 1)}\n`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { importSource } = await import('../test/support/sourceModule.mjs');
  const { metricNames } = await importSource('src/policy/records/metrics.ts');
  if (process.argv.includes('--write')) writeFileSync(file, textOf(metricNames));
  else process.stdout.write(textOf(metricNames));
}
