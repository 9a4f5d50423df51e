import { existsSync } from 'node:fs';
import type { LiveGroup, LiveStatus } from '../src/control/face.ts';
import { commandAbout, formatDuration, formatLatency, isPostgresUrl, wrapWords } from '../src/policy/text/face.ts';
import { rateWaitText } from '../src/policy/face.ts';
import type { SessionStatus } from '../reader/storeReader.ts';
import { alertTable } from './alerts.ts';
import { attentionText, bySeverity, type Matter, mattersOf } from './attention.ts';
import { type Args, defineCommand, flag } from './command.ts';
import { ago, counted, createStyle, isCommand, type Style } from './text.ts';
import { CommandError, UsageError } from './errors.ts';
import { instancesOf, type IntegrationView, openToolsOf } from '../operator/integrationView.ts';
import type { Io } from './io.ts';
import type { AskedRuntime } from '../operator/askRuntimes.ts';
import { runtimesElsewhere } from '../operator/unlisted.ts';
import { elsewhereText, othersText, problemLines, runtimeText, stoppingText } from './liveRuntimes.ts';
import { type Look, lookAround, type StatusView } from './lookAround.ts';
import { nextTryOf } from '../operator/nextTry.ts';
import { rateCell } from './report.ts';
import { quoted, sanitize, toJson } from './sanitize.ts';
import { type Cell, figure, tableOf } from './table.ts';
import { told, typed } from './ownCommand.ts';

export const command = defineCommand({
  usage: 'status [--tree] [--all] [--watch [INTERVAL]] [--json] [--db FILE]',
  details: [
    'FAILED counts what alerts count: final failures of calls, and failures of hooks, that say something of the integration (not',
    'permanent, cancelled or refused ones). CRASHED counts losses of what is behind it and restarts that failed, whatever became of its',
    'calls. The last error is of any kind. A failed turn (!) is told until a later turn of its session goes well, or for 24 hours. A',
    'session is told above the table once its call is tried again, waits, or shows no sign of life for 10s; `unwedge why` tells all',
    'that wait. SUCCESS and P95 are of the calls of the last 24 hours, as `unwedge report` has them; a narrow terminal leaves columns',
    'out, and --json has them all. Sessions are of the last 24 hours, with their FAILED TURNS, and CALLS of theirs that failed; more than',
    'five that are idle and without a failure are one line, and --all shows them. Circuits, calls in flight and waiting calls come from the',
    'gateways and proxies that run on the database; without one, circuits are shown as they were last kept. What several of them have is',
    'shown once in all, and once for each as NAME@PID. With --tree it exits 1 when no running gateway answers.',
    'With --watch it shows the same again and again, every 2s unless INTERVAL says otherwise, until Ctrl-C (exit 130): in place on a',
    'terminal, below each other elsewhere, with --json as one object a line.',
  ].join('\n'),
  options: {
    tree: flag('the supervision tree of each gateway that runs on the database'),
    watch: flag('again and again', 'w'),
    all: flag('each idle session, too'),
  },
  operands: ['[INTERVAL]'],
  async run(args, io) {
    const show = args.tree ? (await import('./statusTree.ts')).showTrees : showStatus;
    const [interval] = args.operands;
    if (args.watch) return (await import('./watch.ts')).watch((on) => show(args, on), interval, args.json, io);
    if (interval !== undefined)
      throw new UsageError(`Unexpected argument ${quoted(interval)}; an interval goes with --watch`);
    return show(args, io);
  },
});

async function showStatus(args: Pick<Args, 'db' | 'json'> & { readonly all: boolean }, io: Io): Promise<number> {
  const { now, view, asked, watched } = await lookWithHint(args.db, io);
  const matters = mattersOf(watched, now, args.db).map(({ what, next }) => ({ what, next: typed(next, io) }));
  // A caller who named a database asks for that one.
  const others = args.db === undefined ? await runtimesElsewhere(view.database) : undefined;
  if (args.json) {
    const runtimes = asked.map(runtimeData);
    const deadLetters = watched.letters.length;
    io.stdout.write(toJson({ ...view, deadLetters, attention: matters, runtimes, otherRuntimes: others }));
  } else {
    io.stdout.write(describe(view, asked, { now, matters, showsAll: args.all }, io));
    if (others !== undefined && others.length > 0) io.stdout.write(`\n${othersText(others, now, io)}`);
    io.stderr.write(
      problemLines(
        // Runtimes that stand still or are gone lead all that is shown.
        asked.filter(
          ({ runtime, frozen, elsewhere }) =>
            frozen === undefined && elsewhere === undefined && runtime.liveness !== 'dead',
        ),
        now,
      ),
    );
  }
  return 0;
}

/** The look; where there is no database at the usual place, the error names those that gateways run on. */
async function lookWithHint(db: string | undefined, io: Io): Promise<Look> {
  try {
    return await lookAround(db, io);
  } catch (error) {
    const others = db === undefined && error instanceof CommandError ? await runtimesElsewhere('') : [];
    if (others.length > 0) io.stderr.write(othersText(others, io.now(), io));
    throw error;
  }
}

function runtimeData({ runtime, answer, problem, frozen, elsewhere }: AskedRuntime<LiveStatus>) {
  const { sessions, groups, stopping, store } = answer ?? {};
  return { ...runtime, answered: answer !== undefined, problem, frozen, elsewhere, sessions, groups, stopping, store };
}

interface Shown {
  readonly now: number;
  readonly matters: readonly Matter[];
  readonly showsAll: boolean;
}

function describe(
  view: StatusView,
  asked: readonly AskedRuntime<LiveStatus>[],
  { now, matters, showsAll }: Shown,
  io: Io,
): string {
  const style = createStyle(io);
  const prose = (text: string): string => `${wrapWords(text, io.columns).join('\n')}\n`;
  const attention = attentionText(matters, {
    width: io.columns,
    style,
    // The table has the other part of the screen.
    ...(io.page !== undefined && { mostLines: Math.floor(io.page / 3) }),
  });
  const live = asked.filter(({ answer }) => answer !== undefined);
  const elsewhere = asked.filter((each) => each.elsewhere !== undefined && each.runtime.liveness !== 'dead');
  const events = counted(view.events, 'event');
  const here = asked.filter((each) => each.elsewhere === undefined);
  const running =
    live.length === 0
      ? prose(unansweredText(here, elsewhere.length > 0))
      : live
          .map(({ runtime, answer }) => prose(`Live: ${runtimeText(runtime, now)}${stoppingText(answer?.stopping)}`))
          .join('');
  const there = elsewhere.map((each) => prose(`Live: ${elsewhereText(each, now)}`)).join('');
  const isNothing = !isPostgresUrl(view.database) && !existsSync(view.database);
  const parts = [
    ...(attention === '' ? [] : [attention]),
    isNothing
      ? prose(`Nothing is recorded yet: ${sanitize(view.database)} is not there.`)
      : `${style.bold(sanitize(view.database))}: ${events}\n${there}${running}`,
  ];
  const hasFailed = view.sessions.some(({ failedTurns24h }) => failedTurns24h > 0);
  if (view.integrations.length === 0 && !hasFailed) parts.push(prose(told(emptyText, io)));
  else if (view.integrations.length > 0)
    parts.push(integrationTable(view.integrations, live.length > 0, now, io, style));
  for (const lineOf of [rateLine, abandonedLine, keptLine]) {
    const lines = view.integrations.flatMap(({ integration, live: each }) => lineOf(integration, each));
    if (lines.length > 0) parts.push(lines.map(prose).join(''));
  }
  const groups = live.flatMap(({ runtime, answer }) =>
    (answer?.groups ?? []).map((each) => told(groupLine(each, runtime.pid), io)),
  );
  if (groups.length > 0) parts.push(groups.join(''));
  const { open, unwatched } = view.alerts;
  if (open.length + unwatched.length > 0) parts.push(alertTable(view.alerts, now, io));
  if (view.sessions.length > 0) parts.push(sessionsText(view, live, { now, showsAll }, io));
  const [first] = matters;
  // Below the tables stands what is typed; words are read where they belong.
  if (first !== undefined && isCommand(first.next)) parts.push(`${style.dim('next:')} ${first.next}\n`);
  return parts.join('\n');
}

/** Writes all that is known without a word of a live runtime. */
function unansweredText(asked: readonly AskedRuntime<unknown>[], isElsewhere: boolean): string {
  const silent = asked.filter(({ runtime }) => runtime.liveness !== 'dead');
  const known = 'circuits are as they were last kept, calls in flight and waiting are not known.';
  if (silent.length === 0) return `No gateway ${isElsewhere ? 'of this machine ' : ''}runs on it: ${known}`;
  const pids = silent.map(({ runtime }) => `pid ${runtime.pid}`).join(', ');
  return `${pids} ${silent.length === 1 ? 'runs and does' : 'run and do'} not answer; what follows is from the database: ${known}`;
}

const emptyText =
  'No failures and no circuits are on record: gateways, proxies (`unwedge mcp`, `acp`, `api`) and `unwedge run` with this database record them.';

function integrationTable(
  integrations: readonly IntegrationView[],
  isLive: boolean,
  now: number,
  io: Io,
  style: Style,
): string {
  const wereCalled = integrations.some(({ successRate24h }) => successRate24h !== undefined);
  const isNone = (...figures: readonly Figure[]): boolean =>
    integrations.every((each) => figures.every((figure) => each[figure] === 0));
  // Figures that are not zero stay longest: in a crash loop that survives every call, nothing else says so.
  const onlyCrashes = isNone('failures10m', 'failures24h') && !isNone('crashes10m', 'crashes24h');
  const ofFailures = onlyCrashes ? ([8, 9] as const) : ([2, 7] as const);
  const ofCrashes = isNone('crashes10m', 'crashes24h')
    ? ([8, 9] as const)
    : onlyCrashes
      ? ([2, 7] as const)
      : ([4, 7.5] as const);
  const rows = bySeverity(integrations).flatMap((each) => [each, ...instancesOf(each)]);
  return tableOf(rows, io.columns, [
    { title: 'INTEGRATION', hasNames: true, cell: ({ integration }) => integration },
    { title: 'CIRCUIT', cell: (each) => circuitCell(each, now, style) },
    wereCalled && { title: 'SUCCESS', align: 'right', rank: 1, cell: (each) => successCell(each, style) },
    wereCalled && figure('P95', p95Cell, 6),
    isLive && figure('IN FLIGHT', ({ live }) => sum(live, 'inFlight'), 3),
    isLive && figure('WAITING', ({ live }) => sum(live, 'waiting'), 5),
    // A title of 24H says nothing without the column before it.
    figure('FAILED 10M', ({ failures10m }) => failures10m, ofFailures[0]),
    figure('24H', ({ failures24h }) => failures24h, ofFailures[1]),
    figure('CRASHED 10M', ({ crashes10m }) => crashes10m, ofCrashes[0]),
    figure('24H', ({ crashes24h }) => crashes24h, ofCrashes[1]),
    { title: 'LAST ERROR', stacks: 'first', cell: (each) => lastError(each, now) },
  ]);
}

/** Shows the success rate; past success says nothing of calls that are refused now. */
function successCell(view: IntegrationView, style: Style): Cell {
  const { circuit, successRate24h } = view;
  return (circuit === 'open' || circuit === 'isolated') && (successRate24h ?? 1) === 1
    ? { text: 'refused', paint: style.red }
    : rateCell(successRate24h, style);
}

type Figure = 'failures10m' | 'failures24h' | 'crashes10m' | 'crashes24h';

function p95Cell({ p95Ms24h }: IntegrationView): string {
  return p95Ms24h === undefined ? '' : formatLatency(p95Ms24h);
}

function rateLine(integration: string, live: IntegrationView['live']): readonly string[] {
  const rate = live.find((each) => each.rate !== undefined)?.rate;
  return rate === undefined ? [] : [`${sanitize(integration)} ${sanitize(rateWaitText(rate))}`];
}

/** Work that ignores its signal goes on unseen otherwise: it is in flight no more. */
function abandonedLine(integration: string, live: IntegrationView['live']): readonly string[] {
  const count = live.reduce((sum, { abandoned = 0 }) => sum + abandoned, 0);
  if (count === 0) return [];
  const [runs, is] = count === 1 ? ['runs', 'it ignores its'] : ['run', 'they ignore their'];
  return [`${counted(count, 'abandoned attempt')} of ${sanitize(integration)} still ${runs}: ${is} signal`];
}

/** What is kept for the next equal call is in flight no more, either. */
function keptLine(integration: string, live: IntegrationView['live']): readonly string[] {
  const all = live.flatMap(({ kept }) => kept ?? []);
  if (all.length === 0) return [];
  const of = (which: 'pending' | 'finished') => all.reduce((count, each) => count + each[which], 0);
  const counts = (['finished', 'pending'] as const).filter((which) => of(which) > 0);
  const told = counts.map((which) => counted(of(which), `${which} late answer`)).join(' and ');
  const until = new Date(Math.max(...all.map((each) => each.until))).toISOString().slice(11, 19);
  const are = of('pending') + of('finished') === 1 ? 'is' : 'are';
  return [`${told} of ${sanitize(integration)} ${are} kept until ${until} UTC: the same call gets it`];
}

function groupLine({ group, integrations }: LiveGroup, pid: number): string {
  const name = sanitize(group);
  if (integrations.length === 0) return `${name} (pid ${pid}) has no clients at the moment.\n`;
  const names = integrations.map(sanitize).join(', ');
  return `${name} (pid ${pid}) is ${names}; \`${commandAbout('restart', group, '')}\` restarts all of it.\n`;
}

/** Empty where no live runtime knows the integration: that is not the same as none. */
function sum(live: IntegrationView['live'], figure: 'inFlight' | 'waiting'): string {
  return live.length === 0 ? '' : String(live.reduce((total, each) => total + each[figure], 0));
}

function lastError({ lastError: last }: Pick<IntegrationView, 'lastError'>, now: number): string {
  return last === undefined
    ? ''
    : `${ago(last.at, now)}: ${last.kind === undefined ? '' : `${last.kind}: `}${last.error}`;
}

function circuitCell(view: IntegrationView, now: number, style: Style): Cell {
  const { circuit } = view;
  const tools = openToolsOf(view).length;
  const { inMs, isAsked } = nextTryOf(view, now);
  if (isAsked && circuit !== 'isolated' && circuit !== 'crashed')
    return { text: `${circuit}, paused for ${formatDuration(inMs)}`, paint: style.yellow };
  if (circuit === 'closed' && tools > 0)
    return { text: `closed, ${counted(tools, 'tool')} refused`, paint: style.yellow };
  if (circuit === 'closed') return { text: circuit, paint: style.green };
  if (circuit !== 'open') return { text: circuit, paint: circuit === 'half-open' ? style.yellow : style.red };
  const text = inMs > 0 ? `open, probe in ${formatDuration(inMs)}` : 'open, probe due';
  return { text, paint: style.red };
}

function moreText(moreSessions: number): string {
  return moreSessions === 0
    ? ''
    : `… and ${counted(moreSessions, 'session')} of the last 24h that were seen before these\n`;
}

/** From so many idle sessions on they are told by their number. */
const mostIdle = 5;

/** The sessions with something to say; those that are idle, and of which nothing failed, are one line where they are many. */
function sessionsText(
  { sessions, moreSessions }: StatusView,
  live: readonly AskedRuntime<LiveStatus>[],
  { now, showsAll }: { readonly now: number; readonly showsAll: boolean },
  io: Io,
): string {
  const states = new Map(live.flatMap(({ answer }) => (answer?.sessions ?? []).map((each) => [each.session, each])));
  const isIdle = ({ session, failedTurns24h, failedCalls24h = 0 }: SessionStatus): boolean => {
    const { state = 'idle', waiting = 0 } = states.get(session) ?? {};
    return state.startsWith('idle') && waiting === 0 && failedTurns24h === 0 && failedCalls24h === 0;
  };
  const idle = sessions.filter(isIdle).length;
  if (showsAll || idle <= mostIdle) return sessionTable(sessions, now, io) + moreText(moreSessions);
  const others = sessions.filter((each) => !isIdle(each));
  const which = others.length === 0 ? counted(idle, 'session') : counted(idle, 'other session');
  const folded = wrapWords(`${which} of the last 24h: idle, and nothing of them failed; --all shows them`, io.columns);
  const table = others.length === 0 ? '' : sessionTable(others, now, io);
  return `${table}${folded.join('\n')}\n${moreText(moreSessions)}`;
}

function sessionTable(sessions: readonly SessionStatus[], now: number, io: Io): string {
  const hasFailedCalls = sessions.some(({ failedCalls24h = 0 }) => failedCalls24h > 0);
  return tableOf(sessions, io.columns, [
    { title: 'SESSION', hasIds: true, cell: ({ session }) => session },
    { title: 'LAST EVENT', rank: 2, cell: ({ lastSeenAt }) => ago(lastSeenAt, now) },
    figure('FAILED TURNS 24H', ({ failedTurns24h }) => failedTurns24h, 1),
    hasFailedCalls && figure('CALLS', ({ failedCalls24h = 0 }) => failedCalls24h, 1.5),
    { title: 'LAST ERROR', stacks: true, cell: (each) => lastError(each, now) },
  ]);
}
