import { readStatusAnswer } from '../control/answers.ts';
import { type MetricFamily, metricsOf, metricsText } from '../policy/metrics.ts';
import { createTextRedactor } from '../store/secrets.ts';
import { defineCommand } from './command.ts';
import { readDatabase } from './database.ts';
import { type IntegrationView, viewOf } from '../runtime/integrationView.ts';
import { askRuntimes } from '../runtime/askRuntimes.ts';
import { problemLines } from './liveRuntimes.ts';
import { toJson } from './sanitize.ts';

export const metrics = defineCommand({
  name: 'metrics',
  summary: 'figures of every integration as Prometheus reads them',
  usage: 'metrics [--json] [--db FILE]',
  details: [
    'In the text format 0.0.4: calls by result, retries, refusals, restarts, durations and times to the first chunk as histograms, circuits, open',
    'alerts, and of live gateways and proxies the calls in flight, waiting and pending past half of a limit. Counters are of all calls that the',
    'database was told of since it was made, whatever was deleted from it since, and reach it within 10 s. For node_exporter, write it to a file',
    'of its textfile collector.',
  ].join('\n'),
  options: {},
  async run(args, io) {
    const now = io.now();
    const { path, rows, totals, status } = await readDatabase(args.db, io, async (reader) => ({
      path: reader.path,
      rows: await reader.runtimes(),
      totals: await reader.totals(),
      status: await reader.status(now),
    }));
    const asked = await askRuntimes(rows, io, 'status', readStatusAnswer);
    const integrations = viewOf(status.integrations, asked).map((view) => ({ ...view, ...liveFigures(view) }));
    const families = metricsOf({ totals, integrations, openAlerts: status.alerts.open }).map(redactedFamily);
    io.stdout.write(args.json ? toJson({ database: path, metrics: families }) : metricsText(families));
    io.stderr.write(problemLines(asked, now));
    return 0;
  },
});

function liveFigures({ live }: IntegrationView) {
  if (live.length === 0) return {};
  const sum = (figure: 'inFlight' | 'waiting' | 'pendingLong'): number =>
    live.reduce((total, each) => total + (each[figure] ?? 0), 0);
  return { inFlight: sum('inFlight'), waiting: sum('waiting'), pendingLong: sum('pendingLong') };
}

const redactor = createTextRedactor();

/** Names of tools are what callers and servers made them. */
function redactedFamily(family: MetricFamily): MetricFamily {
  const samples = family.samples.map((sample) => ({
    ...sample,
    labels: Object.fromEntries(Object.entries(sample.labels).map(([name, value]) => [name, redactor.text(value)])),
  }));
  return { ...family, samples };
}
