import type { AttemptRow, CallEndRow, FlightOfCall, FlightRow, InputRow } from '../../src/policy/records/face.ts';
import type { FailureFacts } from '../../src/policy/failures/face.ts';
import { type IntegrationPolicy, type Limits, type RetryPolicy, isRated } from '../../src/policy/face.ts';
import { type Incident, type IncidentIntegration, type IncidentRecord, rowsIn } from '../incident.ts';

/** Most that things of one moment are apart on record, in ms: events are kept to a whole one. */
export const sameMs = 1;

/** A call as it was recorded. Times are ms from the begin of the replay. */
export interface PlannedCall {
  readonly integration: string;
  readonly number: number;
  readonly about: FlightOfCall;
  readonly arrivedAt: number;
  readonly limits: Limits;
  readonly ownLimits: Limits;
  readonly retry: RetryPolicy;
  /** By number, from 1. */
  readonly attempts: ReadonlyMap<number, PlannedAttempt>;
  /** End without an answer; undefined where it was answered, or was under way. */
  readonly end: PlannedEnd | undefined;
  /** Nothing tells of its end. */
  readonly isPending: boolean;
  /** Time when it was last told of as under way. */
  readonly pendingAt: number | undefined;
  /** It took the place of another call of its scope. */
  readonly replaces: boolean;
  /** It was cancelled before anything could begin. */
  readonly cameCancelled: boolean;
}

export interface PlannedAttempt {
  readonly startedAt: number;
  /** `Infinity` while it was under way at the end. */
  readonly endedAt: number;
  readonly end: AttemptRow['end'] | 'pending';
  readonly failure: FailureFacts | undefined;
  readonly draw: number | undefined;
  /** Time that the call waited after it; `null`: for a restart. */
  readonly delayMs: number | null | undefined;
  readonly continuation: 'resumes' | 'none' | undefined;
  /** End of its work, where that was after the attempt. */
  readonly workEndedAt: number | undefined;
}

export interface PlannedEnd {
  readonly at: number;
  readonly end: CallEndRow['end'];
  readonly attempts: number;
  readonly failure: FailureFacts;
}

/** An integration as it is played. */
export interface IntegrationPlan {
  readonly name: string;
  readonly policy: IntegrationPolicy;
  /** Its rate limits are others than they were. */
  readonly hasOwnRate: boolean;
  /** Changes of its circuit may be those of another one of its name. */
  readonly isShared: boolean;
  readonly traits: NonNullable<IncidentIntegration['kept']>['traits'];
  /** In the order of their numbers. */
  readonly calls: readonly PlannedCall[];
  readonly probes: readonly PlannedCall[];
  readonly inputs: readonly (InputRow & { readonly at: number })[];
  /** Draws of chance, in order. */
  readonly draws: readonly number[];
  /** Time when the first thing of it is on record. */
  readonly from: number;
  /** Time when its last record was written: what came later is not known. */
  readonly until: number;
}

/** Makes the plans of the integrations that can be played. @param origin - wall time of the begin, in whole ms. */
export function plansOf({ integrations }: Incident, origin: number): readonly IntegrationPlan[] {
  return integrations.flatMap((each) => {
    const last = each.records.at(-1);
    if (each.kept === undefined || last === undefined) return [];
    // Clocks of a machine differ by a ms: what a record holds had happened when it was written.
    const until = rowsIn([each]).reduce((latest, row) => Math.max(latest, endOfRow(row)), last.at);
    return [planOf(each, each.kept, until - origin, origin)];
  });
}

function endOfRow(row: FlightRow): number {
  return 'endedAt' in row ? row.endedAt : row.at;
}

function planOf(
  { name, records, isShared }: IncidentIntegration,
  { policy, traits }: NonNullable<IncidentIntegration['kept']>,
  until: number,
  origin: number,
): IntegrationPlan {
  const rows = new Map<number, RowsOfCall>();
  const inputs: InputRow[] = [];
  const draws: number[] = [];
  for (const record of records) {
    for (const row of record.rows) {
      if (row.what === 'input') inputs.push({ ...row, at: row.at - origin });
      else rowsOf(rows, row.call).push({ row, record });
      if (row.what === 'attempt' && row.draw !== undefined) draws.push(row.draw);
    }
  }
  const calls = [...rows]
    .toSorted(([one], [other]) => one - other)
    .flatMap(([number, own]) => callOf({ name, policy, number, rows: own, origin }) ?? []);
  const replacers = replacersOf(calls);
  const refusedAt = calls.flatMap(({ end }) => (end?.failure.kind === 'too_many_requests' ? [end.at] : []));
  return {
    name,
    policy,
    hasOwnRate: false,
    isShared: isShared === true,
    traits,
    calls: calls
      .filter(({ about }) => about.isProbe !== true)
      .map((call) => ({
        ...call,
        replaces: replacers.has(call),
        cameCancelled: !isRated(policy.rate) && cameCancelled(call, refusedAt),
      })),
    probes: calls.filter(({ about }) => about.isProbe === true),
    inputs,
    draws,
    from: [...inputs.map(({ at }) => at), ...calls.map(({ arrivedAt }) => arrivedAt)].reduce(
      (a, b) => Math.min(a, b),
      until,
    ),
    until,
  };
}

/** Finds when a call ended by itself; `Infinity` where nobody knows: one that was cancelled may have ended with its turn. */
export function endOf({ end, attempts, isPending }: PlannedCall): number {
  if (end !== undefined) return end.failure.kind === 'cancelled' ? Number.POSITIVE_INFINITY : end.at;
  return isPending ? Number.POSITIVE_INFINITY : ([...attempts.values()].at(-1)?.endedAt ?? Number.POSITIVE_INFINITY);
}

/**
 * Tells whether a call was cancelled before it could begin: it ended when it came, and its place was missed by nobody. One that stood in a queue or held a scope
 * has others refused meanwhile; one that waited for a rate limit is kept by that. One that waited for longer is cancelled when it was.
 * @param refusedAt - times at which others found no place.
 */
function cameCancelled({ arrivedAt, end }: PlannedCall, refusedAt: readonly number[]): boolean {
  if (end?.failure.kind !== 'cancelled' || end.failure.reason === 'replaced' || end.attempts > 0) return false;
  return end.at <= arrivedAt + sameMs && !refusedAt.some((at) => at >= arrivedAt && at <= end.at);
}

/** Finds the calls that took the place of another one of their scope: each the last that had come when the other was ended for it. */
function replacersOf(calls: readonly PlannedCall[]): ReadonlySet<PlannedCall> {
  const found = new Set<PlannedCall>();
  /** Later calls of a scope, the next of them last. */
  const later = new Map<string, PlannedCall[]>();
  for (const call of calls.toReversed()) {
    const { about, end } = call;
    if (about.scope === undefined) continue;
    const others = later.get(about.scope) ?? [];
    if (end?.failure.reason === 'replaced') {
      const replacer = others[others.findLastIndex(({ arrivedAt }) => arrivedAt > end.at + sameMs) + 1];
      if (replacer !== undefined) found.add(replacer);
    }
    others.push(call);
    later.set(about.scope, others);
  }
  return found;
}

type RowsOfCall = { readonly row: Exclude<FlightRow, InputRow>; readonly record: IncidentRecord }[];

function rowsOf(rows: Map<number, RowsOfCall>, call: number): RowsOfCall {
  const known = rows.get(call) ?? [];
  rows.set(call, known);
  return known;
}

interface CallParts {
  readonly name: string;
  readonly policy: IntegrationPolicy;
  readonly number: number;
  readonly rows: RowsOfCall;
  readonly origin: number;
}

/** Undefined of a call of which only the end of some work is on record. */
function callOf({ name, policy, number, rows, origin }: CallParts): PlannedCall | undefined {
  // The last says most: what an attempt may do to the world is learnt on the way.
  const told = rows.findLast(({ row }) => row.what !== 'work');
  if (told === undefined || told.row.what === 'work') return undefined;
  const about: FlightOfCall = told.row;
  const { record } = told;
  const limits = (about.limits === undefined ? undefined : record.limits[about.limits]) ?? policy.limits;
  const ownLimits = (about.ownLimits === undefined ? undefined : record.limits[about.ownLimits]) ?? limits;
  const retry = (about.retry === undefined ? undefined : record.retries[about.retry]) ?? policy.retry;
  const attempts = attemptsOf(rows, origin);
  const ended = rows.map(({ row }) => row).findLast((row): row is CallEndRow => row.what === 'end');
  const last = [...attempts.values()].at(-1);
  const end = ended && { at: ended.endedAt - origin, end: ended.end, attempts: ended.attempts, failure: ended.failure };
  return {
    integration: name,
    number,
    about,
    arrivedAt: about.arrivedAt - origin,
    limits,
    ownLimits,
    retry,
    attempts,
    end,
    pendingAt: pendingAtOf(rows, origin),
    replaces: false,
    cameCancelled: false,
    isPending: end === undefined && last?.end !== 'answered',
  };
}

function pendingAtOf(rows: RowsOfCall, origin: number): number | undefined {
  const last = rows.findLast(({ row }) => row.what === 'pending');
  return last?.row.what === 'pending' ? last.row.at - origin : undefined;
}

function attemptsOf(rows: RowsOfCall, origin: number): ReadonlyMap<number, PlannedAttempt> {
  const works = new Map(
    rows.flatMap(({ row }) => (row.what === 'work' ? [[row.attempt, row.at - origin] as const] : [])),
  );
  const attempts = new Map<number, PlannedAttempt>();
  for (const { row } of rows) {
    if (row.what === 'attempt') {
      attempts.set(row.attempt, {
        startedAt: row.startedAt - origin,
        endedAt: row.endedAt - origin,
        end: row.end,
        failure: row.failure,
        draw: row.draw,
        delayMs: row.delayMs,
        continuation: row.continuation,
        workEndedAt: works.get(row.attempt),
      });
    } else if (row.what === 'pending' && row.startedAt !== undefined && !attempts.has(row.attempt)) {
      const startedAt = row.startedAt - origin;
      attempts.set(row.attempt, { ...unknownAttempt, startedAt, endedAt: Number.POSITIVE_INFINITY, end: 'pending' });
    }
  }
  return new Map([...attempts].toSorted(([one], [other]) => one - other));
}

/** Rest of an attempt of which nothing else is on record. */
export const unknownAttempt = {
  failure: undefined,
  draw: undefined,
  delayMs: undefined,
  continuation: undefined,
  workEndedAt: undefined,
};
