import type { Suite } from './harness/suite.ts';

/** Loaded when asked for, so that a suite needs its peers only when it runs. */
const suites: Readonly<Record<string, () => Promise<Suite>>> = {
  calls: async () => (await import('./calls/suite.ts')).loadCallsSuite(),
  open: async () => (await import('./open/suite.ts')).loadOpenSuite(),
  concurrent: async () => (await import('./concurrent/suite.ts')).loadConcurrentSuite(),
  'parent-signal': async () => (await import('./parentSignal/suite.ts')).loadParentSignalSuite(),
  failures: async () => (await import('./failures/suite.ts')).loadFailuresSuite(),
  idle: async () => (await import('./idle/suite.ts')).idleSuite,
  import: async () => (await import('./import/suite.ts')).loadImportSuite(),
  features: async () => (await import('./features/suite.ts')).featuresSuite,
  supervisor: async () => (await import('./supervisor/suite.ts')).supervisorSuite,
  ledger: async () => (await import('./ledger/suite.ts')).ledgerSuite,
  events: async () => (await import('./events/suite.ts')).eventsSuite,
  statistics: async () => (await import('./statistics/suite.ts')).statisticsSuite,
  otel: async () => (await import('./otel/suite.ts')).otelSuite,
  dashboard: async () => (await import('./dashboard/suite.ts')).loadDashboardSuite(),
  spinning: async () => (await import('./spinning/suite.ts')).spinningSuite,
  streams: async () => (await import('./streams/suite.ts')).streamsSuite,
  cli: async () => (await import('./cli/suite.ts')).cliSuite,
  api: async () => (await import('./api/suite.ts')).apiSuite,
  claude: async () => (await import('./claude/suite.ts')).claudeSuite,
  mcp: async () => (await import('./mcp/suite.ts')).mcpSuite,
  bridges: async () => (await import('./bridges/suite.ts')).bridgesSuite,
  acp: async () => (await import('./acp/suite.ts')).acpSuite,
  cluster: async () => (await import('./cluster/suite.ts')).loadClusterSuite(),
};

/** Names of all suites, in the order they run. */
export const suiteNames: readonly string[] = Object.keys(suites);

/** @throws RangeError when there is none of this name */
export function loadSuite(name: string): Promise<Suite> {
  const load = suites[name];
  if (load === undefined) throw new RangeError(`Unknown suite ${JSON.stringify(name)}`);
  return load();
}
