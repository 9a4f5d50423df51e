import { breakerRuleNote } from '../src/policy/face.ts';
import { integrationOfRun } from '../src/runtime/face.ts';
import type { LiveIntegration, LiveStatus } from '../src/control/face.ts';
import {
  commandAbout,
  dbWords,
  formatDuration,
  formatSeconds,
  optionWords,
  wrapWords,
} from '../src/policy/text/face.ts';
import type { OpenAlert, Question } from '../src/policy/records/face.ts';
import { type AskedRuntime, remedyOf } from '../operator/askRuntimes.ts';
import { deadRuntimes, hurtText, isOfClient, type Need } from '../operator/needs.ts';
import { type IntegrationView, openToolsOf } from '../operator/integrationView.ts';
import type {
  DeadLetterRecord,
  LostLogRecord,
  SessionRecords,
  SessionStatus,
  UnwatchedAlert,
} from '../reader/storeReader.ts';
import { type AlertNote, isPutAway, type Noted, type NotedAlerts } from '../reader/alertNote.ts';
import { noteText } from './alertStanding.ts';
import { counted, nextLines, ago, type Style } from './text.ts';
import { inSeconds, nextTryOf, nextTryText } from '../operator/nextTry.ts';
import type { SessionStanding } from './failedTurns.ts';
import { sanitize } from './sanitize.ts';
import type { StuckSession } from './stuckSessions.ts';
import { told } from './ownCommand.ts';

/** Matters that may need somebody to look. */
export interface Watched {
  readonly integrations: readonly IntegrationView[];
  readonly alerts: NotedAlerts;
  readonly sessions: readonly SessionStanding[];
  /** Sessions that wait for something. */
  readonly stuck: readonly StuckSession[];
  readonly letters: readonly DeadLetterRecord[];
  readonly runtimes: readonly AskedRuntime<Pick<LiveStatus, 'store'>>[];
  /** The one list of what needs a person. @defaultValue not known */
  readonly needs?: readonly Need[] | undefined;
  /** Waiting records of sessions that no live gateway has. @defaultValue nothing */
  readonly records?: readonly Pick<SessionRecords, 'calls' | 'messages'>[] | undefined;
  /** Questions that wait for a person, the oldest first. @defaultValue none */
  readonly questions?: readonly Pick<Question, 'askedAt' | 'source' | 'asker'>[] | undefined;
  /** Sessions on record that wait too, and that nobody has looked at. @defaultValue 0 */
  readonly moreWaiting?: number | undefined;
  /** Loss of the database. @defaultValue nothing */
  readonly lostLog?: LostLogRecord | undefined;
}

/** More than these are told by their number. */
const mostTold = 8;

type Alert = Noted<OpenAlert | UnwatchedAlert>;

/** Something that needs attention, and the command to type. */
export interface Matter {
  readonly what: string;
  readonly next: string;
}

/**
 * Lists what needs attention and what to do next, the worst first; of more than are told, the worst of each sort first.
 * @param database - what `--db` was given, so that the commands look at the same one.
 */
export function mattersOf(
  {
    integrations,
    alerts,
    sessions,
    stuck,
    letters,
    runtimes,
    records = [],
    moreWaiting = 0,
    needs = [],
    questions = [],
    lostLog,
  }: Watched,
  now: number,
  database: string | undefined,
): readonly Matter[] {
  const db = dbWords(database);
  const alertOf = new Map([...alerts.unwatched, ...alerts.open].map((alert) => [alert.integration, alert] as const));
  const notes = new Map(
    [...alertOf].flatMap(([name, { note }]) => (isPutAway(note, now) && note ? [[name, note]] : [])),
  );
  // Somebody looks after these: what is left to tell of them is a circuit that refuses calls, last.
  const noted = integrations.filter((view) => notes.has(view.integration));
  const past = integrations.filter((view) => !noted.includes(view) && isPast(view, alertOf.get(view.integration), now));
  const sorts = [
    matterOfQuestions(questions, now, db),
    mattersOfRuntimes(runtimes, now, records, db),
    mattersOfLostLog(lostLog, now),
    bySeverity(integrations)
      .filter((view) => view.circuit !== 'closed' || alertOf.has(view.integration))
      .filter((view) => !past.includes(view) && !noted.includes(view))
      .map((view) => withHurt(matterOf(view, alertOf.get(view.integration), now, db), needs, view.integration)),
    integrations.flatMap((view) => mattersOfTools(view, needs, db)),
    stuck.map(({ session, what }) => ({
      what: `session ${sanitize(session)} ${what}`,
      next: commandAbout('why', session, db),
    })),
    sessions
      .filter(({ failedTurns24h, recovered = false }) => failedTurns24h > 0 && !recovered)
      .map((session) => matterOfSession(session, db)),
    matterOfLetters(letters, db),
  ];
  const more =
    moreWaiting === 0
      ? []
      : [{ what: `${counted(moreWaiting, 'more session waits', 'more sessions wait')} on record`, next: waitingNext }];
  const over = past.map((view) => matterOfPast(view, alertOf.get(view.integration)?.lastFailureAt ?? now, now, db));
  const looked = noted
    .filter(({ circuit }) => circuit !== 'closed')
    .map((view) =>
      matterOfNoted(matterOf(view, alertOf.get(view.integration), now, db), notes.get(view.integration), now),
    );
  const all = [...sorts.flat(), ...more, ...over, ...looked];
  // Very many of one sort must not leave all others out of what is told.
  const heads = all.length > mostTold ? sorts.flatMap((sort) => sort.slice(0, 1)) : [];
  return [...heads, ...all.filter((matter) => !heads.includes(matter))];
}

function matterOfNoted({ what, next }: Matter, note: AlertNote | undefined, now: number): Matter {
  return { what: note === undefined ? what : `${what} (${noteText(note, now)})`, next };
}

/** With the sessions that an open circuit hurts. */
function withHurt({ what, next }: Matter, needs: readonly Need[], name: string, tool?: string): Matter {
  const need = needs.find((each) => each.kind === 'open_circuit' && each.name === name && each.tool === tool);
  const hurt = sanitize(hurtText(need?.sessions));
  return { what: hurt === '' ? what : `${what}; ${hurt}`, next };
}

const waitingNext = 'start the gateway that has them: it takes up what is left';

/** After so long without a failure an integration that is called is told as one that runs again, in ms. */
const againMs = 30_000;

/** Tells whether an alert of an integration is open for a matter that is over: a live gateway calls it, and nothing has failed since. */
function isPast({ circuit, live }: IntegrationView, alert: Alert | undefined, now: number): boolean {
  return circuit === 'closed' && live.length > 0 && alert !== undefined && now - alert.lastFailureAt >= againMs;
}

/** Told last: what goes on is worth more than what is over. */
function matterOfPast(view: IntegrationView, lastAt: number, now: number, db: string): Matter {
  const name = sanitize(view.integration);
  return {
    what: `${name} runs again: its last failure was ${ago(lastAt, now)}; it ${oftenText(view)}`,
    next: failedOf(view.integration, db),
  };
}

function failedOf(integration: string, db: string): string {
  return `unwedge events${optionWords('integration', integration)} --failed${db}`;
}

function oftenText({ failures10m, crashes10m }: IntegrationView): string {
  const often = [
    ...(failures10m > 0 || crashes10m === 0 ? [`failed ${counted(failures10m, 'time')}`] : []),
    ...(crashes10m > 0 ? [`crashed ${counted(crashes10m, 'time')}`] : []),
  ];
  return `${often.join(' and ')} in 10 minutes`;
}

/** Options for the display of matters. */
interface Shown {
  readonly width: number;
  readonly style: Style;
  /** Most lines of all of them but the first. @defaultValue any number */
  readonly mostLines?: number | undefined;
  /** Most matters that are told. @defaultValue 8 */
  readonly most?: number | undefined;
  /** Hint at what shows the others. @defaultValue `--json has all` */
  readonly rest?: string | undefined;
}

/** The matters as they lead what is shown; empty without any. */
export function attentionText(
  matters: readonly Matter[],
  { width, style, mostLines = Number.POSITIVE_INFINITY, most = mostTold, rest = '--json has all' }: Shown,
): string {
  if (matters.length === 0) return '';
  const texts = matters
    .slice(0, most)
    .map(({ what, next }) => [
      ...wrapWords(told(what, style), width - 2).map((line, index) => `${index === 0 ? style.red('!') : ' '} ${line}`),
      ...nextLines(next, width, style),
    ]);
  let left = mostLines;
  // The worst is told however little room there is.
  const shown = texts.filter((lines, index) => (left -= lines.length) >= 0 || index === 0);
  const more = matters.length - shown.length;
  return `${[...shown.flat(), ...(more > 0 ? [`  … and ${more} more: ${rest}`] : [])].join('\n')}\n`;
}

/** Puts those first that let the least through. */
export function bySeverity(integrations: readonly IntegrationView[]): readonly IntegrationView[] {
  const order: readonly IntegrationView['circuit'][] = ['isolated', 'open', 'crashed', 'half-open', 'closed'];
  return integrations.toSorted((one, other) => order.indexOf(one.circuit) - order.indexOf(other.circuit));
}

/**
 * Runtimes that are gone, and those that stand still.
 * @param records - what waits for them. @defaultValue not told
 * @param db - the words that name the database in a command. @defaultValue the usual one
 */
export function mattersOfRuntimes(
  runtimes: Watched['runtimes'],
  now: number,
  records?: Watched['records'],
  db = '',
): readonly Matter[] {
  return [
    ...matterOfDead(runtimes, records, now),
    ...runtimes.flatMap((asked) => matterOfRuntime(asked, db)),
    ...mattersOfStores(runtimes),
  ];
}

/** Nothing goes on until they are started: told once, with all that waits for it. @param records - undefined: that is not told. */
export function matterOfDead(
  runtimes: Watched['runtimes'],
  records: Watched['records'],
  now: number,
): readonly Matter[] {
  const dead = deadRuntimes(runtimes);
  const last = dead.at(-1)?.runtime;
  if (last === undefined) return [];
  const names = dead.map(({ runtime }) => `${sanitize(runtime.name)} (pid ${runtime.pid})`).join(', ');
  const gone = dead.length === 1 ? 'is gone: its process ended' : 'are gone: their processes ended';
  const what = `${names} ${gone} without a word; ${lastSignText(dead, now)}${lostText(dead)}${leftText(records)}`;
  const hasLost = dead.some(({ runtime: { calls = [] } }) => calls.length > 0);
  return [
    {
      what,
      next: nextOfDead(
        dead.map(({ runtime }) => runtime.name),
        hasLost,
      ),
    },
  ];
}

/** Age in ms at its last sign, below which a runtime has given none since: it renews its row once a minute. */
const startMs = 1000;

/** Tells the last sign; no death is on record. */
function lastSignText(dead: Watched['runtimes'], now: number): string {
  const signAt = Math.max(...dead.map(({ runtime }) => runtime.lastSignAt ?? runtime.renewedAt));
  const startedAt = Math.max(...dead.map(({ runtime }) => runtime.startedAt));
  return signAt - startedAt < startMs
    ? `started ${ago(startedAt, now)}, no sign of life is on record since`
    : `last sign of life on record ${ago(signAt, now)}`;
}

/** Calls that died with it. */
function lostText(dead: Watched['runtimes']): string {
  const lost = dead.flatMap(({ runtime: { calls = [] } }) => calls);
  if (lost.length === 0) return '';
  const few = lost.slice(0, 3).map(({ integration, tool }) => sanitize(`${tool} of ${integration}`));
  const more = lost.length > few.length ? ` and ${lost.length - few.length} more` : '';
  return `; ${counted(lost.length, 'call')} got no answer: ${few.join(', ')}${more}`;
}

function nextOfDead(names: readonly string[], hasLost: boolean): string {
  if (names.every((name) => integrationOfRun(name) !== undefined))
    return 'nothing: the next `unwedge run` or gateway records its end as a failure';
  if (hasLost && names.every(isOfClient))
    return 'find out what became of what got no answer; the next proxy or gateway records it as a failure';
  // Some clients (Codex) end their servers so.
  return names.every(isOfClient)
    ? 'nothing, where its client ended it: it kept nothing that waits'
    : 'start the gateway: it takes up what is left';
}

function leftText(records: Watched['records']): string {
  if (records === undefined) return '';
  const count = (of: 'calls' | 'messages'): number => records.reduce((sum, each) => sum + each[of].length, 0);
  const waits = [
    ...(count('messages') === 0 ? [] : [counted(count('messages'), 'message')]),
    ...(count('calls') === 0 ? [] : [`${counted(count('calls'), 'call')} without a result`]),
  ];
  return `; ${waits.length === 0 ? 'nothing waits on record' : `on record wait ${waits.join(' and ')}`}`;
}

function matterOfRuntime({ runtime, problem, frozen }: AskedRuntime<unknown>, db: string): readonly Matter[] {
  if (frozen === undefined) return [];
  const { name, pid } = runtime;
  const next = frozen === 'stopped' ? remedyOf(frozen, pid) : `unwedge status --watch${db}`;
  return [{ what: `pid ${pid} (${sanitize(name)}) does not answer: ${problem ?? ''}`, next }];
}

/** Tells of acknowledged writes that are gone. */
export function mattersOfLostLog(lost: LostLogRecord | undefined, now: number): readonly Matter[] {
  if (lost === undefined) return [];
  const noticed = lost.at === undefined ? '' : `; noticed ${ago(lost.at, now)}`;
  return [{ what: `${sanitize(lost.reason)}${noticed}`, next: sanitize(lost.fix) }];
}

/** Runtimes whose store cannot be written. */
export function mattersOfStores(runtimes: Watched['runtimes']): readonly Matter[] {
  return runtimes.flatMap(matterOfStore);
}

/** Its gateway goes on, and what it accepts now is in its memory alone. */
function matterOfStore({ runtime, answer }: Watched['runtimes'][number]): readonly Matter[] {
  const { store } = answer ?? {};
  if (store === undefined) return [];
  const { reason, fix, forMs, waiting, dropped } = store;
  const rows = `${counted(waiting, 'row waits', 'rows wait')} in its memory and ${waiting === 1 ? 'ends' : 'end'} with it`;
  const lost = dropped === 0 ? '' : `, ${dropped} more ${dropped === 1 ? 'was' : 'were'} dropped`;
  const who = `${sanitize(runtime.name)} (pid ${runtime.pid})`;
  const what = `the store of ${who} has been degraded for ${formatSeconds(forMs)}: ${sanitize(reason)}; ${rows}${lost}`;
  return [{ what, next: `${sanitize(fix)}; do not restart it before` }];
}

function matterOf(view: IntegrationView, alert: Alert | undefined, now: number, db: string): Matter {
  const { integration, circuit, lastError, live } = view;
  const name = sanitize(integration);
  // The alert leads: the last error may be of a kind that does not count.
  const last = circuit === 'closed' && alert !== undefined ? { ...alert, error: alert.message } : lastError;
  const { inMs, isAsked } = nextTryOf(view, now);
  const isPaused = isAsked && (circuit === 'open' || circuit === 'half-open');
  // No failure isolated it, and what a server failed with is over once it has asked for a pause.
  const isTold = last !== undefined && circuit !== 'isolated' && !(isPaused && last.kind !== 'rate_limit');
  const cause = !isTold ? '' : `: ${last.kind === undefined ? '' : `${last.kind}: `}${sanitize(last.error)}`;
  const often = alert === undefined ? '' : oftenText(view);
  const state = circuit === 'closed' ? often : isPaused ? pausedText(inMs) : stateText(view, inMs);
  const comeback = comebackOf(view);
  if (comeback?.ordered === true)
    return { what: `${name} is being restarted (by an operator)`, next: `unwedge status --watch${db}` };
  // A server that has crashed again and again will do so once more: its last words are worth more.
  const crashed = view.crashes10m > 1 ? undefined : 'restart';
  // The one who isolated it meant it: that is looked up before it is undone.
  const mends = { open: 'probe', isolated: undefined, crashed } as const;
  // An integration that comes back by itself, or is due already, also because a probe was ordered, has no need of an order.
  const isComing =
    isPaused || (circuit === 'crashed' && comeback?.inMs !== undefined) || (circuit === 'open' && inMs === 0);
  const order = isComing
    ? undefined
    : live.length > 0 && circuit !== 'half-open' && circuit !== 'closed'
      ? mends[circuit]
      : undefined;
  const ofFailure = circuit === 'isolated' || isPaused ? '' : ' --failed';
  const events = `unwedge events${optionWords('integration', integration)}${ofFailure}${db}`;
  const next = order === undefined ? events : commandAbout(order, integration, db);
  return { what: `${name} ${state}${cause}`, next };
}

/** The integration is called as ever: only calls of the tool are refused. */
function mattersOfTools(view: IntegrationView, needs: readonly Need[], db: string): readonly Matter[] {
  const { integration } = view;
  const name = sanitize(integration);
  return openToolsOf(view).map(({ tool, circuit, rule, probeInMs: leftMs = 0 }) => {
    const is = toolStates[circuit];
    const when = circuit === 'open' ? `${breakerRuleNote(rule)}; ${nextTryText(inSeconds(leftMs))}` : '';
    const events = failedOf(integration, db);
    const next = {
      open: leftMs > 0 ? commandAbout('probe', integration, db) : events,
      'half-open': events,
      isolated: release,
    };
    const what = `${name}: the circuit of its tool ${sanitize(tool)} is ${is}${when}`;
    return withHurt({ what, next: next[circuit] }, needs, integration, tool);
  });
}

const toolStates = {
  open: 'open',
  'half-open': 'half-open: a call tries it',
  isolated: 'held open by an operator',
} as const;
/** No command closes it: the program that isolated a tool holds the release. */
const release = 'the program that isolated it releases it; so does "Reset" on `unwedge dashboard`';

function pausedText(inMs: number): string {
  return `is not called: its server asked for a pause, ${nextTryText(inMs)}`;
}

/** @param nextTryInMs - of an open circuit. */
function stateText(view: IntegrationView, nextTryInMs: number): string {
  if (view.circuit === 'open')
    return `is not called: its circuit is open${breakerRuleNote(view.breaker?.cause?.rule)}, ${nextTryText(nextTryInMs)}`;
  if (view.circuit === 'half-open') return 'is being tried again: its circuit is half-open';
  return view.circuit === 'isolated'
    ? 'is not called: somebody isolated it; its events say who and why, `unwedge restart` ends it'
    : crashedText(view);
}

/** Returns the comeback of the servers of an integration, of several the one that takes longest; undefined where one of them does not by itself. */
function comebackOf({ live, circuit }: IntegrationView): LiveIntegration['comeback'] {
  if (circuit !== 'crashed') return undefined;
  const crashed = live.filter((each) => each.circuit === 'crashed').map(({ comeback }) => comeback);
  if (crashed.includes(undefined)) return undefined;
  return crashed.toSorted((one, other) => (other?.inMs ?? 0) - (one?.inMs ?? 0))[0];
}

function crashedText(view: IntegrationView): string {
  const { crashes10m } = view;
  const crashed = crashes10m > 1 ? `crashed ${counted(crashes10m, 'time')} in 10 minutes` : 'has crashed';
  const inMs = comebackOf(view)?.inMs;
  if (inMs === undefined) return crashed;
  return `${crashed}; starts again by itself ${inMs === 0 ? 'now' : `in ${formatDuration(inMs)}`}`;
}

function matterOfSession({ session, failedTurns24h, lastError }: SessionStatus, db: string): Matter {
  const cause =
    lastError === undefined
      ? ''
      : `: ${lastError.kind === undefined ? '' : `${lastError.kind}: `}${sanitize(lastError.error)}`;
  return {
    what: `session ${sanitize(session)} failed in ${counted(failedTurns24h, 'turn')} of the last 24h, and no turn went well since${cause}`,
    next: commandAbout('why', session, db),
  };
}

function matterOfQuestions(questions: Watched['questions'] = [], now: number, db: string): readonly Matter[] {
  const ofTools = questions.filter(({ source }) => source === 'tool');
  const matters = [...new Set(ofTools.map(({ asker }) => asker))].map((server) => {
    const tools = counted(ofTools.filter(({ asker }) => asker === server).length, 'tool');
    return { what: `${tools} of ${sanitize(server)} changed since accepted`, next: commandAbout('accept', server, db) };
  });
  const others = questions.filter((question) => !ofTools.includes(question));
  const [oldest] = others;
  if (oldest === undefined) return matters;
  const wait = counted(others.length, 'question to a person waits', 'questions to people wait');
  const what = `${wait}, the oldest ${formatDuration(now - oldest.askedAt)}`;
  return [{ what, next: `unwedge inbox${db}` }, ...matters];
}

function matterOfLetters(letters: readonly DeadLetterRecord[], db: string): readonly Matter[] {
  if (letters.length === 0) return [];
  const reasons = [...new Set(letters.map(({ reason }) => reason))]
    .map((reason) => `${letters.filter((each) => each.reason === reason).length} ${sanitize(reason)}`)
    .join(', ');
  const sessions = [...new Set(letters.map(({ session }) => session))];
  const of = sessions.length === 1 ? `session ${sanitize(sessions[0] ?? '')}` : counted(sessions.length, 'session');
  return [{ what: `${counted(letters.length, 'dead letter')} of ${of} (${reasons})`, next: `unwedge letters${db}` }];
}
