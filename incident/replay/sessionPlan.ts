import type { Incident, IncidentEvent } from '../incident.ts';
import type { SessionLimits } from '../../src/policy/flight.ts';
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
  const fired = own.filter(({ type }) => type === 'watchdog_fired');
  const calls = integrations.flatMap((each) => each.calls).filter(({ about }) => about.session === session.name);
  const started = own.filter(({ type }) => type === 'turn_started');
  const starts = started.map(({ at }) => at - origin);
  // The id of a call tells its turn. Where that was masked, it is of the turn that began last; one whose turn is not on record is played without it.
  const turnOfCall = ({ about, arrivedAt }: PlannedCall): number => {
    const told = /-(\d+)-\d+$/.exec(about.sessionCall ?? '')?.[1];
    return told === undefined
      ? starts.findLastIndex((at) => at <= arrivedAt + sameMs)
      : started.findIndex(({ metadata }) => metadata['turn'] === Number(told));
  };
  // They began in this order, also where the machine set its clock back meanwhile.
  let lastStart = 0;
  const turns = started.map((event, index) => {
    lastStart = Math.max(lastStart, event.at - origin);
    const ofTurn = calls.filter((call) => turnOfCall(call) === index);
    return { ...turnOf(event, own, ofTurn, origin), startedAt: lastStart };
  });
  const firings = fired.map(({ at }) => at - origin);
  return { id: session.name, watchdog: session.watchdog, turns, firings, fired: firedIn(events, session.name, origin) };
}

/** Skips those of calls: integrations have their own records. */
function firedIn(events: Incident['events'], session: string, origin: number): readonly PlannedFiring[] {
  return events.flatMap(({ at, category, type, metadata }) => {
    const { session: of, rule, what } = metadata;
    if (category !== 'operator' || type !== 'fired' || of !== session || !isOfSession(rule)) return [];
    return [{ at: at - origin, rule, what: String(what) }];
  });
}

function isOfSession(rule: unknown): rule is string {
  return rule === 'tool_call' || rule === 'turn' || rule === 'release';
}

function turnOf(
  { at, metadata: { turn, kind } }: IncidentEvent,
  events: readonly IncidentEvent[],
  calls: readonly PlannedCall[],
  origin: number,
): PlannedTurn {
  const find = (type: string, rule?: string) =>
    events.find(
      (event) =>
        event.type === type &&
        event.metadata['turn'] === turn &&
        (rule === undefined || event.metadata['rule'] === rule),
    );
  const ended = find('turn_ended');
  const stalled = find('watchdog_fired', 'turn');
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
    isLeft: find('fired', 'release') !== undefined,
    calls,
  };
}
