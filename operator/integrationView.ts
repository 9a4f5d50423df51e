import type { OpenToolCircuit } from '../src/calls/circuit/face.ts';
import type { LiveIntegration, LiveStatus } from '../src/control/face.ts';
import type { ReportLine } from '../src/policy/records/face.ts';
import { type ShownName, withShownNames } from '../src/redaction/face.ts';
import type { IntegrationStatus } from '../reader/storeReader.ts';
import type { AskedRuntime } from './askRuntimes.ts';

/** An integration as the records and the live runtimes together show it. */
export interface IntegrationView extends Omit<IntegrationStatus, 'circuit'> {
  /** Circuit that lets the least through of several live runtimes; without any, as it was last kept. */
  readonly circuit: LiveIntegration['circuit'];
  /** Views of each live runtime that has it. */
  readonly live: readonly LiveView[];
  /** Calls of the last 24 h that ended after something was sent; undefined where none is on record. */
  readonly calls24h?: number | undefined;
  /** Rate over those that were not cancelled by their callers, from 0 to 1. */
  readonly successRate24h?: number | undefined;
  /** Time that 95 % of the successful ones took at most. */
  readonly p95Ms24h?: number | undefined;
}

/** An integration as one live runtime has it. */
interface LiveView extends Omit<LiveIntegration, 'integration'> {
  /** The id of the runtime. */
  readonly runtime: string;
  readonly pid: number;
}

/** Counts of an integration that nothing went wrong with. */
const noFailures = { failures10m: 0, failures24h: 0, crashes10m: 0, crashes24h: 0, runtimes: [] } as const;

/** The circuits that let through the least first. */
const severity: readonly LiveIntegration['circuit'][] = ['isolated', 'open', 'half-open', 'crashed', 'closed'];

/** The circuits of its tools that are not closed, by tool: of several live runtimes the one that lets the least through. */
export function openToolsOf({ live }: Pick<IntegrationView, 'live'>): readonly OpenToolCircuit[] {
  const worst = new Map<string, OpenToolCircuit>();
  for (const each of live.flatMap(({ tools = [] }) => tools)) {
    const known = worst.get(each.tool);
    const isWorse = known === undefined || severity.indexOf(each.circuit) < severity.indexOf(known.circuit);
    if (isWorse) worst.set(each.tool, each);
  }
  return [...worst.values()];
}

/** Names one of several runtimes to tell it apart, in what is shown and in what is restarted. */
export function instanceName(name: string, pid: number): string {
  return `${name}@${pid}`;
}

/** An integration that several live runtimes have, as each of them has it; empty when none or one does. */
export function instancesOf({ integration, live, runtimes }: IntegrationView): readonly IntegrationView[] {
  if (live.length < 2) return [];
  return live.map((each) => {
    const figures = runtimes.find(({ pid }) => pid === each.pid) ?? noFailures;
    const name = instanceName(integration, each.pid);
    return { ...figures, integration: name, circuit: each.circuit, live: [each], runtimes: [] };
  });
}

/** The same under names without secrets. Events hold no other: what is on record under the name itself and under that one is told as one. */
export function shownViewOf(
  recorded: readonly IntegrationStatus[],
  asked: readonly AskedRuntime<LiveStatus>[],
  reported: readonly ReportLine[],
  shown: ShownName,
): readonly IntegrationView[] {
  const byName = new Map<string, IntegrationStatus>();
  for (const each of withShownNames(recorded, shown)) {
    const other = byName.get(each.integration);
    byName.set(each.integration, other === undefined ? each : together(other, each));
  }
  return viewOf([...byName.values()], withShownNames(asked, shown), withShownNames(reported, shown));
}

function together(one: IntegrationStatus, other: IntegrationStatus): IntegrationStatus {
  const [kept, told] = one.breaker === undefined ? [other, one] : [one, other];
  const lastError = [one, other]
    .flatMap((each) => each.lastError ?? [])
    .reduce<IntegrationStatus['lastError']>(
      (last, each) => (last === undefined || each.at > last.at ? each : last),
      undefined,
    );
  return {
    ...kept,
    failures10m: kept.failures10m + told.failures10m,
    failures24h: kept.failures24h + told.failures24h,
    crashes10m: kept.crashes10m + told.crashes10m,
    crashes24h: kept.crashes24h + told.crashes24h,
    runtimes: [...kept.runtimes, ...told.runtimes],
    ...(lastError !== undefined && { lastError }),
  };
}

/** Every integration that is on record, was called or is known to a live runtime, by name. */
export function viewOf(
  recorded: readonly IntegrationStatus[],
  asked: readonly AskedRuntime<LiveStatus>[],
  reported: readonly ReportLine[] = [],
): readonly IntegrationView[] {
  const live = asked.flatMap(({ runtime, answer }) =>
    (answer?.integrations ?? []).map(({ integration, ...each }) => ({
      integration,
      each: { ...each, runtime: runtime.id, pid: runtime.pid },
    })),
  );
  const names = new Set([...recorded, ...live, ...reported].map(({ integration }) => integration));
  return [...names].sort().map((name) => {
    const onRecord = recorded.find(({ integration }) => integration === name);
    const known = live.filter(({ integration }) => integration === name).map(({ each }) => each);
    const circuit = severity.find((each) => known.some((one) => one.circuit === each));
    const base: IntegrationStatus = onRecord ?? { integration: name, ...noFailures, circuit: 'closed' };
    const line = reported.find(({ integration }) => integration === name);
    const figures = line && { calls24h: line.calls, successRate24h: line.successRate, p95Ms24h: line.took?.p95Ms };
    return { ...base, circuit: circuit ?? base.circuit, live: known, ...figures };
  });
}
