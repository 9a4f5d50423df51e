import type { Suite } from './harness/suite.ts';

/** The time of a suite where nobody says how many rounds it has, in s on 2 cores; and how it is loaded: when it is asked for, as it needs its peers only when it runs. */
const suites: Readonly<Record<string, readonly [seconds: number, load: () => Promise<Suite>]>> = {
  calls: [60, async () => (await import('./calls/suite.ts')).loadCallsSuite()],
  open: [10, async () => (await import('./open/suite.ts')).loadOpenSuite()],
  concurrent: [70, async () => (await import('./concurrent/suite.ts')).loadConcurrentSuite()],
  'parent-signal': [40, async () => (await import('./parentSignal/suite.ts')).loadParentSignalSuite()],
  failures: [40, async () => (await import('./failures/suite.ts')).loadFailuresSuite()],
  idle: [20, async () => (await import('./idle/suite.ts')).idleSuite],
  import: [30, async () => (await import('./import/suite.ts')).loadImportSuite()],
  features: [40, async () => (await import('./features/suite.ts')).featuresSuite],
  supervisor: [60, async () => (await import('./supervisor/suite.ts')).supervisorSuite],
  ledger: [90, async () => (await import('./ledger/suite.ts')).ledgerSuite],
  events: [30, async () => (await import('./events/suite.ts')).eventsSuite],
  statistics: [20, async () => (await import('./statistics/suite.ts')).statisticsSuite],
  otel: [20, async () => (await import('./otel/suite.ts')).otelSuite],
  dashboard: [30, async () => (await import('./dashboard/suite.ts')).loadDashboardSuite()],
  spinning: [30, async () => (await import('./spinning/suite.ts')).spinningSuite],
  streams: [25, async () => (await import('./streams/suite.ts')).streamsSuite],
  cli: [60, async () => (await import('./cli/suite.ts')).cliSuite],
  api: [80, async () => (await import('./api/suite.ts')).apiSuite],
  claude: [30, async () => (await import('./claude/suite.ts')).claudeSuite],
  mcp: [120, async () => (await import('./mcp/suite.ts')).mcpSuite],
  bridges: [70, async () => (await import('./bridges/suite.ts')).bridgesSuite],
  acp: [45, async () => (await import('./acp/suite.ts')).acpSuite],
  cluster: [120, async () => (await import('./cluster/suite.ts')).loadClusterSuite()],
};

/** Names of all suites, in the order they run. */
export const suiteNames: readonly string[] = Object.keys(suites);

/** The time of a suite, in s. @throws RangeError when there is none of this name */
export const secondsOf = (name: string): number => rowOf(name)[0];

/** @throws RangeError when there is none of this name */
export const loadSuite = (name: string): Promise<Suite> => rowOf(name)[1]();

function rowOf(name: string): readonly [number, () => Promise<Suite>] {
  const row = suites[name];
  if (row === undefined) throw new RangeError(`Unknown suite ${JSON.stringify(name)}`);
  return row;
}
