import { DeadlineQueue } from '../../src/calls/face.ts';
import {
  cameAt,
  type Incident,
  type IncidentEvent,
  type IncidentIntegration,
  isPlayable,
  labelOf,
  rowsIn,
} from '../incident.ts';
import { counted, nothingToPlay } from '../incidentFiles.ts';
import { type Clock, type Random, isRated } from '../../src/policy/face.ts';
import type { KeptFacts } from '../../src/policy/facts/face.ts';
import { formatDuration } from '../../src/policy/text/face.ts';
import type { FailureKind } from '../../src/policy/failures/face.ts';
import type { FlightRow } from '../../src/policy/records/face.ts';
import { createRootSupervisor } from '../../src/supervisor/face.ts';
import { compare, toleranceMs, type ReplayResult } from './compare.ts';
import { LateClock } from './lateClock.ts';
import { plansOf } from './plan.ts';
import { overriddenPlans } from './policyOverride.ts';
import { ReplayedIntegration } from './replayedIntegration.ts';
import { ReplayedSession } from './replayedSession.ts';
import { sessionPlanOf, textOf } from './sessionPlan.ts';
import { type Heard, recordedSteps, replayedSteps } from './steps.ts';

export interface ReplayOptions {
  /** A new one: its time is 0. */
  readonly clock: DrivenClock;
  /** For what chance has to draw that is not on record. */
  readonly random: Random;
  /** Options that are to be otherwise than they were, as `retry.maxAttempts=5`, for every integration. @defaultValue nothing */
  readonly policy?: readonly string[] | undefined;
}

/** Time before the first thing that happened at which a replay begins, in ms. */
const leadMs = 10;
/** Kinds of ends that were their callers'. */
const callers: ReadonlySet<FailureKind> = new Set(['cancelled', 'watchdog']);
/** Time that calls go on after the last record. */
const tailMs = 1;

/**
 * Plays an incident on a simulated clock: calls come when they came, operations answer, fail or hang as they did, and everything else is
 * decided anew, by the real call path, breakers and sessions. Says whether it ends as it did.
 * Rejects with TypeError or RangeError when an option of the policy is wrong, and where nothing in it can be played.
 */
export async function replay(given: Incident, { clock, random, policy = [] }: ReplayOptions): Promise<ReplayResult> {
  const incident = byProcess(given);
  if (!isPlayable(incident)) throw new RangeError([nothingToPlay, ...incident.missing].join(' '));
  const origin = Math.floor(firstAt(incident)) - leadMs;
  const plans = overriddenPlans(plansOf(incident, origin), policy);
  const heard: Heard[] = [];
  const facts: KeptFacts = {
    tell: (fact) => void heard.push({ at: clock.now(), fact }),
    wants: () => true,
    masked: (fact) => fact,
  };
  const sessionPlan = sessionPlanOf(incident, plans, origin);
  const deadlines = new DeadlineQueue(new LateClock(clock, plans, sessionPlan));
  const shared = { clock, deadlines, facts, random };
  const integrations = new Map(plans.map((plan) => [plan.name, new ReplayedIntegration(plan, shared)]));
  const root = createRootSupervisor({ clock, random, facts });
  root.start();
  const session = sessionPlan && new ReplayedSession(sessionPlan, { clock, deadlines, facts, root, integrations });
  const inTurns = new Set(sessionPlan?.turns.flatMap(({ calls }) => calls) ?? []);

  const agenda = new Agenda();
  for (const integration of integrations.values()) {
    // Each has a record of its own, which ends when it was last written.
    agenda.add(integration.plan.until + tailMs, () => integration.halt());
    for (const input of integration.plan.inputs) agenda.add(input.at, () => integration.befall(input));
    for (const call of integration.plan.calls) {
      if (inTurns.has(call)) continue;
      agenda.add(call.arrivedAt, () => integration.start(call));
      const { end } = call;
      if (end !== undefined && callers.has(end.failure.kind)) agenda.add(end.at, () => integration.end(call));
    }
  }
  for (const turn of sessionPlan?.turns ?? []) agenda.add(turn.startedAt, () => session?.begin(turn));
  for (const order of sessionPlan?.fired ?? []) agenda.add(order.at, () => session?.fire(order));
  for (const { at, stalledMs } of stallsOf(incident, origin)) agenda.addStall(at - stalledMs, stalledMs);

  // Turns that called nothing are told of by their events, which are whole up to then.
  const known = plans.length > 0 ? plans.map((plan) => plan.until) : [incident.until - origin];
  const until = Math.max(0, ...known);
  // Events just before the end of the record may come as much later in the replay.
  await agenda.run(clock, until + toleranceMs);

  const changes = { plans, session: sessionPlan, until };
  const result = compare(recordedSteps(incident, changes, origin), replayedSteps(integrations, changes, heard));
  session?.close();
  for (const { path } of integrations.values()) path.stop();
  const stopping = root.stop();
  await clock.advance(60_000);
  await stopping;
  return {
    ...result,
    subject: incident.subject,
    origin,
    overrides: policy,
    notes: notesOf(incident, [...integrations.values()]),
  };
}

/**
 * Gives integrations of other processes names of their own, so that each is played beside that of the incident's process. Turns are played
 * of that process alone: a session has one process at a time, and a turn that was cut has no end.
 */
function byProcess(incident: Incident): Incident {
  const { events, pid } = incident;
  const labels = new Map(incident.integrations.map((each) => [`${each.name} ${each.pid ?? pid}`, labelOf(each)]));
  const integrations = incident.integrations.map((each) => (each.pid === undefined ? each : elsewhere(each)));
  const told = events.flatMap((event): IncidentEvent[] => {
    const { integration, runtime_pid: by } = event.metadata;
    if (typeof by !== 'number' || by === pid) return [event];
    if (event.category === 'session' || event.category === 'operator' || event.category === 'runtime') return [];
    if (typeof integration !== 'string') return [event];
    const label = labels.get(`${integration} ${by}`);
    return label === undefined ? [] : [{ ...event, metadata: { ...event.metadata, integration: label } }];
  });
  return { ...incident, integrations, events: told };
}

function elsewhere(integration: IncidentIntegration): IncidentIntegration {
  const records = integration.records.map((record) => ({ ...record, rows: record.rows.map(withoutSession) }));
  return { ...integration, name: labelOf(integration), records };
}

/** Its calls come when they came, whatever turn they were of. */
function withoutSession(row: FlightRow): FlightRow {
  return 'session' in row ? { ...row, session: undefined } : row;
}

/** A clock that moves only when told to, as the one of `unwedge/testing`. */
interface DrivenClock extends Clock {
  advance(ms: number): Promise<void>;
  stall(ms: number): void;
}

/** Events that come from outside, and when; in monotonic ms. Events of the same time come in the order of adding. */
class Agenda {
  readonly #items: { readonly at: number; readonly run: () => void }[] = [];
  readonly #stalls: { readonly at: number; readonly ms: number }[] = [];

  add(at: number, run: () => void): void {
    this.#items.push({ at, run });
  }

  /** The event loop stood still from `at` on. */
  addStall(at: number, ms: number): void {
    this.#stalls.push({ at, ms });
  }

  /** Lets all of it happen, up to a time. */
  async run(clock: DrivenClock, until: number): Promise<void> {
    for (const { at, run } of this.#items.toSorted((one, other) => one.at - other.at)) clock.setTimeout(run, at);
    for (const { at, ms } of this.#stalls.toSorted((one, other) => one.at - other.at)) {
      if (at < clock.now() || at + ms > until) continue;
      await clock.advance(at - clock.now());
      clock.stall(ms);
    }
    await clock.advance(Math.max(0, until - clock.now()));
  }
}

/** Finds when the event loop had stood still, and for how long; what is told of it comes at its end. */
function stallsOf(
  { events }: Pick<Incident, 'events'>,
  origin: number,
): readonly { readonly at: number; readonly stalledMs: number }[] {
  return events.flatMap(({ at, category, type, metadata }) => {
    const stalledMs = metadata['stalled_ms'];
    return category === 'runtime' && type === 'stalled' && typeof stalledMs === 'number' && stalledMs > 0
      ? [{ at: at - origin, stalledMs }]
      : [];
  });
}

/** Finds when the first thing happened, in wall time; `Infinity` where nothing did. */
function firstAt({ integrations, sessions, events }: Incident): number {
  const names = new Set(sessions.map(({ name }) => name));
  const turns = events.filter(
    ({ type, metadata }) => type === 'turn_started' && names.has(textOf(metadata['session'])),
  );
  const rows = rowsIn(integrations).map(cameAt);
  return [...rows, ...turns.map(({ at }) => at)].reduce((one, other) => Math.min(one, other), Number.POSITIVE_INFINITY);
}

/** Categories of events that are shown as they were recorded. */
const notPlayed = new Set([
  'process',
  'child',
  'mcp',
  'hook',
  'approval',
  'workflow',
  'alert',
  'codex',
  'agent',
  'host',
  'supervisor',
]);

/** Says what was not played, and what had to be assumed, in sentences. */
function notesOf({ events, missing }: Incident, integrations: readonly ReplayedIntegration[]): readonly string[] {
  const recorded = events.filter(({ category }) => notPlayed.has(category)).length;
  const stalls = stallsOf({ events }, 0);
  return [
    ...missing,
    ...stalls.map(
      ({ stalledMs }) =>
        `The process stood still for ${formatDuration(stalledMs)}: what came or ended in that time may do so in another order.`,
    ),
    ...(recorded > 0 ? [`${counted(recorded, 'event')} of processes, servers and the like: shown, not played.`] : []),
    ...integrations.flatMap(({ plan, operation }) => [
      ...(plan.isShared
        ? [
            `Circuits of ${plan.name} are not compared: events do not tell which of two gateways of the process they are of.`,
          ]
        : []),
      ...(isRated(plan.policy.rate) ? [rateNote(plan)] : []),
      ...(operation.invented > 0
        ? [`${counted(operation.invented, 'attempt')} of ${plan.name} not on record: played as the one before.`]
        : []),
    ]),
  ];
}

function rateNote({ name, hasOwnRate }: ReplayedIntegration['plan']): string {
  return hasOwnRate
    ? `Rate limits of ${name}: its requests are counted anew; other costs, and what answers told of limits, are not on record.`
    : `Rate limits of ${name}: each attempt waits for them as long as it did, and is refused where it was.`;
}
