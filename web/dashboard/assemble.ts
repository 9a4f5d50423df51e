import { basename } from 'node:path';
import type { LiveStatus, WatchedAlert } from '../../src/control/face.ts';
import { troubleText } from '../../operator/troubleText.ts';
import { type CallFiguresRow, type ReportEntry, reportOf } from '../../src/policy/records/face.ts';
import type { AskedRuntime } from '../../operator/askRuntimes.ts';
import { gatewaysOf } from '../../operator/needs.ts';
import { type IntegrationView, viewOf } from '../../operator/integrationView.ts';
import type { NotedAlerts } from '../../reader/alertNote.ts';
import { judgedOutside } from '../../operator/judgedOutside.ts';
import type { AlertView, StoreStatus } from '../../reader/storeReader.ts';
import type { AlertLine, IntegrationLine, Look, RuntimeLine, SessionLine } from './snapshot.ts';
import { waitsOf, type WaitSources } from './waits.ts';

/** Findings of one look; names in them are not all as they may be shown. */
interface Found extends Omit<WaitSources, 'integrations' | 'alerts' | 'runtimes' | 'dead'> {
  readonly spanMs: number;
  readonly database: string;
  readonly status: StoreStatus;
  readonly alerts: NotedAlerts & Pick<AlertView, 'cleared'>;
  readonly asked: readonly AskedRuntime<LiveStatus>[];
  readonly figures: readonly CallFiguresRow[];
  /** Time at which the figures were read. */
  readonly figuresAt: number;
  /** As events have a name that is shown so. */
  readonly recorded: (shown: string) => string;
  /** The alerts that live gateways watch, by integration. */
  readonly watched: ReadonlyMap<string, WatchedAlert>;
}

/** The steps of the figures begin with the minute, so that what has not changed is the same at the next look. */
const minuteMs = 60_000;

/** Puts together what is shown. */
export function assemble(all: Found): Look {
  const found = withoutAliases(all);
  const { at, spanMs, database, status, asked, figures, figuresAt } = found;
  const until = Math.ceil(figuresAt / minuteMs) * minuteMs;
  const span = { from: until - spanMs, until };
  const reports = new Map(reportOf(figures, span).map((each) => [each.integration, each]));
  const [total] = reportOf(
    figures.filter(({ tool }) => tool === undefined).map((row) => ({ ...row, integration: '' })),
    span,
  );
  const live = asked.filter(({ answer }) => answer !== undefined);
  const running = asked.filter(({ answer, frozen }) => answer !== undefined || frozen !== undefined);
  const names = new Set(running.map(({ runtime }) => found.shown(runtime.name)));
  const [name = basename(database)] = names;
  const views = viewOf(status.integrations, asked);
  const known = new Set(views.map(({ integration }) => integration));
  // Short-lived runs have figures and no more.
  const counted = [...reports.values()].filter(({ integration }) => !known.has(integration));
  const integrations = [
    ...views.map((view) => integrationLine(view, reports.get(view.integration), found)),
    ...counted.map((report) => countedLine(report, found)),
  ];
  const unwatched = judgedOutside(found.alerts.unwatched, status.integrations, asked, found.shown);
  const alerts = alertLines({ ...found.alerts, unwatched }, { ...found, isWatched: live.length > 0 });
  const runtimes = asked
    .filter(({ runtime }) => runtime.liveness !== 'dead')
    .map((each) => runtimeLine(each, found.shown));
  return {
    at,
    title: names.size > 1 ? `${running.length} gateways` : name,
    database,
    spanMs,
    total,
    letters: found.letters.length,
    runtimes,
    integrations,
    sessions: sessionLines(found),
    waits: waitsOf({ ...found, integrations, alerts, runtimes, dead: deadLines(found) }),
    alerts,
  };
}

/** Events have names without their secrets: what is on record under such a name alone is told under the name that it is shown by. */
function withoutAliases(found: Found): Found {
  const { status, asked, figures, shown } = found;
  const live = asked.flatMap(({ answer }) => [...(answer?.integrations ?? []), ...(answer?.sessions ?? [])]);
  const names = [...status.integrations, ...figures, ...live].map((each) =>
    'session' in each ? each.session : each.integration,
  );
  const changed = names.filter((name) => shown(name) !== name);
  if (changed.length === 0) return found;
  const aliases = new Set(changed.map((name) => found.recorded(shown(name))));
  const integrations = status.integrations.filter(({ integration }) => !aliases.has(integration));
  const sessions = status.sessions.filter(({ session }) => !aliases.has(session));
  return { ...found, status: { ...status, integrations, sessions } };
}

/** Gateways that ended without a word. */
function deadLines({ asked, shown }: Found): WaitSources['dead'] {
  const keys = new Set(gatewaysOf(asked).dead.map(({ key }) => key));
  return asked
    .filter(({ runtime }) => keys.has(runtime.id))
    .map(({ runtime: { id, name, pid, lastSignAt, renewedAt } }) => {
      return { key: id, name: shown(name), pid, lastSignAt: lastSignAt ?? renewedAt };
    });
}

export function runtimeLine({ runtime, problem, frozen }: AskedRuntime<unknown>, shown: Found['shown']): RuntimeLine {
  const { id, name, pid, startedAt, liveness } = runtime;
  return {
    key: id,
    name: shown(name),
    pid,
    startedAt,
    liveness,
    problem,
    ...(frozen !== undefined && { isFrozen: true }),
  };
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
    key: found.shown(integration),
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

function countedLine(report: ReportEntry, { shown }: Found): IntegrationLine {
  const key = shown(report.integration);
  const none = { inFlight: 0, waiting: 0, runtimes: [], failures10m: 0, crashes10m: 0 };
  return { key, circuit: 'closed', ...none, report };
}

function sessionLines({ status, asked, shown }: Found): readonly SessionLine[] {
  const live = new Map(asked.flatMap(({ answer }) => (answer?.sessions ?? []).map((each) => [each.session, each])));
  const known = new Map(status.sessions.map((each) => [each.session, each]));
  return [...new Set([...live.keys(), ...known.keys()])].sort().map((key) => ({
    key: shown(key),
    state: live.get(key)?.state,
    waiting: live.get(key)?.waiting ?? 0,
    lastSeenAt: known.get(key)?.lastSeenAt,
    failedTurns24h: known.get(key)?.failedTurns24h ?? 0,
    lastError: known.get(key)?.lastError,
  }));
}

interface Watched extends Pick<Found, 'shown' | 'watched'> {
  /** True where a gateway runs that could watch. */
  readonly isWatched: boolean;
}

function alertLines({ open, unwatched, cleared }: Found['alerts'], watched: Watched): readonly AlertLine[] {
  const { shown } = watched;
  const counted = (each: (typeof open | typeof unwatched | typeof cleared)[number]) => {
    const { integration, failures, crashes, lastFailureAt } = each;
    return { integration: shown(integration), failures, crashes, lastFailureAt };
  };
  const noted = ({ note }: Pick<AlertLine, 'note'>) => (note === undefined ? {} : { note });
  return [
    ...open.map((each): AlertLine => {
      const own = { key: each.id, state: 'open', raisedAt: each.raisedAt, text: troubleText(each) } as const;
      return { ...own, ...counted(each), ...clearing(each, watched), ...noted(each) };
    }),
    ...unwatched.map((each): AlertLine => {
      const own = { key: `unwatched ${shown(each.integration)}`, state: 'unwatched', rule: watchedAgain } as const;
      return { ...own, text: troubleText(each), ...counted(each), ...noted(each) };
    }),
    ...cleared.map((each): AlertLine => {
      const { id: key, raisedAt, clearedAt } = each;
      return { key, state: 'cleared', raisedAt, clearedAt, text: troubleText(each, true), ...counted(each) };
    }),
  ];
}

/** Nobody clears an alert while no gateway runs. */
const watchedAgain = 'Looked at again when a gateway runs';

/** Finds what clears an alert, and when. */
function clearing(
  { integration, because, lastFailureAt }: AlertView['open'][number],
  { isWatched, watched }: Watched,
): Pick<AlertLine, 'rule' | 'endsAt'> {
  if (!isWatched) return { rule: watchedAgain };
  const { quietMs: quiet, once, isLow = false } = watched.get(integration) ?? {};
  if (once !== undefined) return { rule: `All clear once ${once}, or nobody calls it` };
  if (because === 'rate' || isLow) return { rule: 'All clear when enough calls succeed' };
  if (quiet === undefined) return { rule: 'All clear after a time without a failure' };
  return { rule: 'All clear without a failure', endsAt: lastFailureAt + quiet };
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, each) => total + each, 0);
