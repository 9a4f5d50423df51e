import type { Incident, IncidentEvent } from '../incident.ts';
import type { SessionLimits } from '../../src/policy/records/face.ts';
import { endOf, type IntegrationPlan, type PlannedCall, sameMs } from './plan.ts';

/** A session as it is played: its turns and the tool calls of each. Times are ms from the begin of the replay. */
export interface SessionPlan {
  readonly id: string;
  readonly watchdog: SessionLimits;
  readonly turns: readonly PlannedTurn[];
  /** Times when its watchdog fired. */
  readonly firings: readonly number[];
  /** Rules of the session itself that an operator had act before their time. */
  readonly fired: readonly PlannedFiring[];
}

export interface PlannedFiring {
  readonly at: number;
  readonly rule: string;
  /** The tool, where it is about a call. */
  readonly what: string;
}

export interface PlannedTurn {
  readonly number: number;
  readonly kind: string;
  readonly startedAt: number;
  /** `Infinity` of one whose end is not on record. */
  readonly endedAt: number;
  readonly ok: boolean;
  readonly error: string | undefined;
  /** Time when the watchdog found that it made no progress. */
  readonly stalledAt: number | undefined;
  /** An operator left it behind: it had not ended when it was told to. */
  readonly isLeft: boolean;
  readonly calls: readonly PlannedCall[];
}

/** Makes the plan of the session that an incident is about; undefined where it is about none, or its limits are not on record. */
export function sessionPlanOf(
  { sessions, events, subject }: Incident,
  integrations: readonly IntegrationPlan[],
  origin: number,
): SessionPlan | undefined {
  const [session] = sessions;
  if (subject.kind !== 'session' || session === undefined) return undefined;
  const own = events.filter(
    ({ category, metadata }) =>
      (category === 'session' || category === 'operator') && metadata['session'] === session.name,
  );
  const firings = own.filter(({ type }) => type === 'watchdog_fired').map(({ at }) => at - origin);
  const started = own.filter(({ category, type }) => category === 'session' && type === 'turn_started');
  const starts = started.map(({ at }) => at - origin);
  const places = new Map(started.map(({ metadata }, index) => [metadata['turn'], index] as const).toReversed());
  // The id of a call tells its turn. Where that was masked, it is of the turn that began last; one whose turn is not on record is played without it.
  const turnOfCall = ({ about, arrivedAt }: PlannedCall): number => {
    const told = /-(\d+)-\d+$/.exec(about.sessionCall ?? '')?.[1];
    return told === undefined
      ? starts.findLastIndex((at) => at <= arrivedAt + sameMs)
      : (places.get(Number(told)) ?? -1);
  };
  const ofTurns = started.map((): PlannedCall[] => []);
  const calls = integrations.flatMap((each) => each.calls).filter(({ about }) => about.session === session.name);
  for (const call of calls.toSorted((one, other) => one.arrivedAt - other.arrivedAt))
    ofTurns[turnOfCall(call)]?.push(call);
  const find = finderIn(own);
  // They began in this order, also where the machine set its clock back meanwhile.
  let lastStart = 0;
  const turns = started.map((event, index) => {
    lastStart = Math.max(lastStart, event.at - origin);
    return { ...turnOf(event, find, ofTurns[index] ?? [], origin), startedAt: lastStart };
  });
  return { id: session.name, watchdog: session.watchdog, turns, firings, fired: firedIn(events, session.name, origin) };
}

/** Skips those of calls: integrations have their own records. */
function firedIn(events: Incident['events'], session: string, origin: number): readonly PlannedFiring[] {
  return events.flatMap(({ at, category, type, metadata }) => {
    const { session: of, rule, what } = metadata;
    if (category !== 'operator' || type !== 'fired' || of !== session || !isOfSession(rule)) return [];
    return [{ at: at - origin, rule, what: textOf(what) }];
  });
}

/** Takes what is no text for an empty one. */
export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function isOfSession(rule: unknown): rule is string {
  return rule === 'tool_call' || rule === 'turn' || rule === 'release';
}

/** Finds the first event of a type that tells of a turn; with a rule, the first that names that too. */
type Find = (turn: unknown, type: string, rule?: string) => IncidentEvent | undefined;

function finderIn(events: readonly IncidentEvent[]): Find {
  const found = new Map<string, IncidentEvent>();
  for (const event of events.toReversed()) {
    const { turn, rule } = event.metadata;
    if (typeof turn !== 'number') continue;
    found.set(`${turn} ${event.type}`, event);
    if (typeof rule === 'string') found.set(`${turn} ${event.type} ${rule}`, event);
  }
  return (turn, type, rule) => found.get([turn, type, ...(rule === undefined ? [] : [rule])].join(' '));
}

function turnOf(
  { at, metadata: { turn, kind } }: IncidentEvent,
  find: Find,
  calls: readonly PlannedCall[],
  origin: number,
): PlannedTurn {
  const ended = find(turn, 'turn_ended');
  const stalled = find(turn, 'watchdog_fired', 'turn');
  // The clocks of events and of calls differ by some ms: what its calls came to by themselves came before its end.
  const endedAt = calls
    .flatMap((call) => [call.arrivedAt, endOf(call)])
    .filter(Number.isFinite)
    .reduce((last, time) => Math.max(last, time), ended === undefined ? Number.POSITIVE_INFINITY : ended.at - origin);
  const error = ended?.metadata['error'];
  return {
    number: Number(turn),
    kind: String(kind),
    startedAt: at - origin,
    endedAt,
    ok: ended?.metadata['ok'] === true,
    error: typeof error === 'string' ? error : undefined,
    stalledAt: stalled === undefined ? undefined : stalled.at - origin,
    isLeft: find(turn, 'fired', 'release') !== undefined,
    calls,
  };
}
