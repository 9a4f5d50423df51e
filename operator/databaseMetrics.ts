import { type LiveStatus, readStatusAnswer } from '../src/control/face.ts';
import { type MetricFamily, metricsOf, renamed } from '../src/policy/records/face.ts';
import { createShownNames } from '../src/redaction/face.ts';
import type { StoreReader } from '../reader/storeReader.ts';
import { type AskedRuntime, askRuntimes } from './askRuntimes.ts';
import { runtimesOf } from './unlisted.ts';
import { type IntegrationView, openToolsOf, viewOf } from './integrationView.ts';

/** The metrics of all runtimes on a database. */
interface DatabaseMetrics {
  readonly path: string;
  readonly families: readonly MetricFamily[];
  /** Each runtime that the database lists, and what it said. */
  readonly asked: readonly AskedRuntime<LiveStatus>[];
}

/**
 * The calls of all time that a database was told of, circuits and alerts, and of the live runtimes what is under way. Without secrets.
 * @param read - reads from the database, which is opened for it; what it rejects with comes out.
 */
export async function databaseMetrics(
  read: <T>(work: (reader: StoreReader) => Promise<T>) => Promise<T>,
  now: () => number,
): Promise<DatabaseMetrics> {
  const { path, rows, totals, status } = await read(async (reader) => ({
    path: reader.path,
    rows: await runtimesOf(reader, now()),
    totals: await reader.totals(),
    status: await reader.status(now()),
  }));
  const asked = await askRuntimes(rows, { now }, 'status', readStatusAnswer);
  const integrations = viewOf(status.integrations, asked).map((view) => ({ ...view, ...liveFigures(view) }));
  const answers = asked.flatMap(({ answer }) => answer ?? []);
  const outages = answers.flatMap(({ store }) => store ?? []);
  const waiting = outages.reduce((sum, each) => sum + each.waiting, 0);
  const stores = answers.length === 0 ? undefined : { degraded: outages.length, waiting };
  const source = renamed({ totals, integrations, stores, openAlerts: status.alerts.open }, createShownNames());
  return { path, families: metricsOf(source), asked };
}

function liveFigures({ live }: IntegrationView) {
  if (live.length === 0) return {};
  const sum = (figure: 'inFlight' | 'waiting' | 'pendingLong'): number =>
    live.reduce((total, each) => total + (each[figure] ?? 0), 0);
  return {
    inFlight: sum('inFlight'),
    waiting: sum('waiting'),
    pendingLong: sum('pendingLong'),
    tools: openToolsOf({ live }),
  };
}
