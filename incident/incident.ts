import type { FlightReason, FlightRow, KeptPolicy, SessionLimits } from '../src/policy/records/face.ts';
import type { Limits, RetryPolicy } from '../src/policy/face.ts';

/** The version of the format; one that is higher was written by a later version of this program. */
export const incidentVersion = 1;
export const incidentFormat = 'unwedge-incident';

/** Subject of an incident. */
export interface IncidentSubject {
  readonly kind: 'session' | 'call' | 'integration';
  /** As it was asked for: the id of a session, of a call (`kb-12`, or of a session `alice-7-1`), or the name of an integration. */
  readonly id: string;
}

/** Content of one record of a flight recorder. */
export interface IncidentRecord {
  /** Time when it was written; wall time in ms since the epoch, as all times here. */
  readonly at: number;
  readonly because: FlightReason;
  readonly rows: readonly FlightRow[];
  readonly limits: readonly Limits[];
  readonly retries: readonly RetryPolicy[];
  /** Rows that the recorder had dropped before. */
  readonly missed: number;
}

/** An integration of an incident: what was in force, and the attempts of its calls. */
export interface IncidentIntegration {
  readonly name: string;
  /** Its process, where that is another one than that of the incident. */
  readonly pid?: number | undefined;
  /** Absent where none is on record. */
  readonly kept?: Extract<KeptPolicy, { of: 'integration' }> | undefined;
  /** Another gateway of its process has one of the same name, too: events do not tell which of both they are about. */
  readonly isShared?: true | undefined;
  readonly records: readonly IncidentRecord[];
}

/** Tells an integration from those of its name in other processes. */
export function labelOf({ name, pid }: Pick<IncidentIntegration, 'name' | 'pid'>): string {
  return pid === undefined ? name : `${name} of process ${pid}`;
}

/** An event as it was stored. */
export interface IncidentEvent {
  readonly at: number;
  readonly category: string;
  readonly type: string;
  readonly metadata: Readonly<Record<string, unknown>>;
}

/** Account of what happened around a session, a call or an integration, without secrets: plain data. */
export interface Incident {
  readonly format: typeof incidentFormat;
  readonly version: typeof incidentVersion;
  readonly subject: IncidentSubject;
  /** Time when it was gathered. */
  readonly madeAt: number;
  /** The time it is about. */
  readonly from: number;
  readonly until: number;
  /** The process it is about; absent where nothing tells. */
  readonly pid?: number | undefined;
  readonly integrations: readonly IncidentIntegration[];
  /** The session, where it is about one. */
  readonly sessions: readonly { readonly name: string; readonly watchdog: SessionLimits }[];
  readonly events: readonly IncidentEvent[];
  /** Sentences on what is not in it though it happened. */
  readonly missing: readonly string[];
}

/** Counts its attempts. */
export function attemptsIn({ integrations }: Pick<Incident, 'integrations'>): number {
  return rowsIn(integrations).filter(({ what }) => what === 'attempt').length;
}

/** Tells whether a replay has something to play and compare: calls, changes of circuits, or turns. */
export function isPlayable({ integrations, sessions, events }: Incident): boolean {
  // Also of a session that called nothing.
  if (sessions.length > 0 && events.some(({ type }) => type === 'turn_started')) return true;
  const played = integrations.filter(({ kept, records }) => kept !== undefined && records.length > 0);
  if (played.length === 0) return false;
  const isTold = events.some(({ category }) => category === 'breaker');
  return isTold || rowsIn(played).some(({ what }) => what !== 'input');
}

export function rowsIn(integrations: readonly IncidentIntegration[]): readonly FlightRow[] {
  return integrations.flatMap(({ records }) => records.flatMap(({ rows }) => rows));
}

/** Finds when a row's call came, or when what it tells of happened. */
export function cameAt(row: FlightRow): number {
  return 'arrivedAt' in row ? row.arrivedAt : row.at;
}
