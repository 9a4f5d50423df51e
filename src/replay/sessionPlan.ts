import type { Incident, IncidentEvent } from '../incident/incident.ts';
import type { SessionLimits } from '../policy/flight.ts';
import type { IntegrationPlan, PlannedCall } from './plan.ts';

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
  // Turns follow each other: a call is of the one that began last. Events are kept to a whole ms. A call that came before all of them is of a turn whose
  // begin is not on record, and is played without it.
  const turnOfCall = ({ arrivedAt }: PlannedCall): number => starts.findLastIndex((at) => at <= arrivedAt + 1);
  const turns = started.map((event, index) =>
    turnOf(
      event,
      own,
      calls.filter((call) => turnOfCall(call) === index),
      origin,
    ),
  );
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
  const startedAt = at - origin;
  const endedAt = ended === undefined ? Number.POSITIVE_INFINITY : ended.at - origin;
  const error = ended?.metadata['error'];
  return {
    number: Number(turn),
    kind: String(kind),
    startedAt,
    endedAt,
    ok: ended?.metadata['ok'] === true,
    error: typeof error === 'string' ? error : undefined,
    stalledAt: stalled === undefined ? undefined : stalled.at - origin,
    isLeft: find('fired', 'release') !== undefined,
    calls,
  };
}
