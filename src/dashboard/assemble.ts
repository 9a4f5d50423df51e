import { basename } from 'node:path';
import type { LiveStatus } from '../control/answers.ts';
import type { CallFiguresRow } from '../policy/callFigures.ts';
import { type ReportEntry, reportOf } from '../policy/callReport.ts';
import type { AskedRuntime } from '../runtime/askRuntimes.ts';
import { type IntegrationView, viewOf } from '../runtime/integrationView.ts';
import type { SessionWhy } from '../sessions/why.ts';
import type { AlertView, StoreStatus } from '../store/storeReader.ts';
import type { TreeNode } from '../supervisor/tree.ts';
import type { AlertLine, IntegrationLine, RuntimeLine, SessionLine } from './snapshot.ts';
import type { Look } from './source.ts';
import type { SteadyTimes } from './steadyTimes.ts';
import { waitsOf } from './waits.ts';

/** What was found out at one look. Times are wall time in ms since the epoch. */
export interface Found {
  readonly at: number;
  readonly spanMs: number;
  readonly database: string;
  readonly status: StoreStatus;
  readonly alerts: AlertView;
  readonly asked: readonly AskedRuntime<LiveStatus>[];
  readonly trees: readonly AskedRuntime<TreeNode>[];
  readonly whys: readonly SessionWhy[];
  readonly figures: readonly CallFiguresRow[];
  /** When the figures were read. */
  readonly figuresAt: number;
  readonly times: SteadyTimes;
}

/** The steps of the figures begin with the minute, so that what has not changed is the same at the next look. */
const minuteMs = 60_000;

/** Puts together what is shown. */
export function assemble(found: Found): Look {
  const { at, spanMs, database, status, asked, figures, figuresAt, times } = found;
  const until = Math.ceil(figuresAt / minuteMs) * minuteMs;
  const span = { from: until - spanMs, until };
  const reports = new Map(reportOf(figures, span).map((each) => [each.integration, each]));
  const [total] = reportOf(
    figures.filter(({ tool }) => tool === undefined).map((row) => ({ ...row, integration: '' })),
    span,
  );
  const live = asked.filter(({ answer }) => answer !== undefined);
  const names = new Set(live.map(({ runtime }) => runtime.name));
  const [name = basename(database)] = names;
  const views = viewOf(status.integrations, asked);
  const known = new Set(views.map(({ integration }) => integration));
  // Of short-lived runs there are figures and no more.
  const counted = [...reports.values()].filter(({ integration }) => !known.has(integration));
  const integrations = [
    ...views.map((view) => integrationLine(view, reports.get(view.integration), found)),
    ...counted.map((report) => countedLine(report)),
  ];
  const alerts = alertLines(found.alerts);
  return {
    at,
    title: names.size > 1 ? `${live.length} gateways` : name,
    database,
    spanMs,
    total,
    runtimes: asked.filter(({ runtime }) => runtime.liveness !== 'dead').map(runtimeLine),
    integrations,
    sessions: sessionLines(found),
    waits: waitsOf({ ...found, integrations, alerts, trees: found.trees, times }),
    alerts,
  };
}

export function runtimeLine({ runtime, problem }: AskedRuntime<unknown>): RuntimeLine {
  const { id, name, pid, startedAt, liveness } = runtime;
  return { key: id, name, pid, startedAt, liveness, problem };
}

function integrationLine(view: IntegrationView, report: ReportEntry | undefined, found: Found): IntegrationLine {
  const { integration, circuit, live, breaker, failures10m, crashes10m, lastError } = view;
  const states = live.map(({ state }) => state);
  const probes = live.flatMap(({ probeInMs }) => probeInMs ?? []);
  const pauses = live.flatMap(({ pausedForMs }) => pausedForMs ?? []);
  const isOpen = circuit === 'open' || circuit === 'half-open';
  const kept = breaker === undefined ? 0 : breaker.openUntil;
  const probe = probes.length > 0 ? found.at + Math.min(...probes) : kept;
  return {
    key: integration,
    circuit,
    state: states.find((each) => each !== 'idle') ?? states[0],
    inFlight: sum(live.map((each) => each.inFlight)),
    waiting: sum(live.map((each) => each.waiting)),
    runtimes: live.map(({ runtime }) => runtime),
    ...(circuit !== 'closed' && breaker !== undefined && breaker.openedAt > 0 && { openedAt: breaker.openedAt }),
    ...(circuit === 'open' && { probeAt: found.times.of(`probe ${integration}`, probe) }),
    ...(pauses.length > 0 && { pausedUntil: found.times.of(`pause ${integration}`, found.at + Math.max(...pauses)) }),
    ...(isOpen && breaker?.cause !== undefined && { cause: breaker.cause }),
    failures10m,
    crashes10m,
    lastError,
    report,
  };
}

function countedLine(report: ReportEntry): IntegrationLine {
  const { integration: key } = report;
  const none = { inFlight: 0, waiting: 0, runtimes: [], failures10m: 0, crashes10m: 0 };
  return { key, circuit: 'closed', ...none, report };
}

function sessionLines({ status, asked }: Found): readonly SessionLine[] {
  const live = new Map(asked.flatMap(({ answer }) => (answer?.sessions ?? []).map((each) => [each.session, each])));
  const known = new Map(status.sessions.map((each) => [each.session, each]));
  return [...new Set([...live.keys(), ...known.keys()])].sort().map((key) => ({
    key,
    state: live.get(key)?.state,
    waiting: live.get(key)?.waiting ?? 0,
    lastSeenAt: known.get(key)?.lastSeenAt,
    failedTurns24h: known.get(key)?.failedTurns24h ?? 0,
    lastError: known.get(key)?.lastError,
  }));
}

function alertLines({ open, unwatched, cleared }: AlertView): readonly AlertLine[] {
  const text = ({ because, kind, message }: AlertView['unwatched'][number] | AlertView['open'][number]): string =>
    `${because === 'crashes' ? 'keeps crashing' : (kind ?? 'failure')}: ${message}`;
  return [
    ...open.map((each) => ({
      ...{ key: each.id, integration: each.integration, state: 'open' as const, raisedAt: each.raisedAt },
      ...{ failures: each.failures, crashes: each.crashes, lastFailureAt: each.lastFailureAt, text: text(each) },
    })),
    ...unwatched.map((each) => ({
      ...{ key: `unwatched ${each.integration}`, integration: each.integration, state: 'unwatched' as const },
      ...{ failures: each.failures, crashes: each.crashes, lastFailureAt: each.lastFailureAt, text: text(each) },
    })),
    ...cleared.map((each) => ({
      ...{ key: each.id, integration: each.integration, state: 'cleared' as const, raisedAt: each.raisedAt },
      ...{ clearedAt: each.clearedAt, failures: each.failures, crashes: each.crashes },
      ...{ lastFailureAt: each.lastFailureAt, text: text(each) },
    })),
  ];
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, each) => total + each, 0);
