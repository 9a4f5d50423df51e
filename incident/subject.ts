import type { FlightRecord, FlightRow } from '../src/policy/records/face.ts';
import { nearest, show } from '../src/policy/text/face.ts';
import { type EventRow, gatewayOf } from '../src/store/face.ts';
import type { IncidentSubject } from './incident.ts';

/** Place where a subject was found. */
export interface FoundSubject {
  readonly subject: IncidentSubject;
  /** The time that it is about, wall time in ms since the epoch. */
  readonly at: number;
  /** Names of the integrations that take part. */
  readonly integrations: readonly string[];
  /** The run whose records tell of it, and its process; undefined where there are none. */
  readonly run?: string | undefined;
  readonly pid?: number | undefined;
}

/** All that is on record, to be looked through. */
export interface Records {
  readonly flights: readonly FlightRecord[];
  readonly events: readonly EventRow[];
  readonly sessionIds: readonly string[];
  /** Integrations that are known beside those of the records. */
  readonly integrations: readonly string[];
}

/** @throws RangeError for people when nothing of this id is on record. */
export function findSubject(id: string, records: Records): FoundSubject {
  const found = asSession(id, records) ?? asIntegration(id, records) ?? asCall(id, records);
  if (found !== undefined) return found;
  const near = nearest(id, [...records.sessionIds, ...namesIn(records), ...callsIn(records)]);
  const guess = near === undefined ? '' : ` Did you mean ${show(near)}?`;
  throw new RangeError(`No session, call or integration ${show(id)} is on record.${guess}`);
}

function asSession(id: string, { flights, events, sessionIds }: Records): FoundSubject | undefined {
  const own = events.filter(({ metadata }) => metadata['session'] === id);
  const used = flights.filter(({ rows }) => rows.some((row) => sessionOf(row) === id));
  if (own.length === 0 && used.length === 0 && !sessionIds.includes(id)) return undefined;
  const trouble = own.findLast(({ type }) => troubles.has(type)) ?? own.at(-1);
  const last = used.at(-1);
  const pid = numberOf(trouble?.metadata['runtime_pid']) ?? last?.pid;
  const ofPid = used.filter((record) => record.pid === pid);
  // Gateways of one process have the same pid.
  const gateway = gatewayOf(ofPid.at(-1)?.run);
  const ofRun = ofPid.filter((record) => gatewayOf(record.run) === gateway);
  return {
    subject: { kind: 'session', id },
    at: trouble?.at ?? last?.at ?? 0,
    integrations: [...new Set(ofRun.map(({ integration }) => integration))],
    run: ofRun.at(-1)?.run,
    pid,
  };
}

const troubles = new Set(['watchdog_fired', 'turn_failed', 'tool_failed', 'recovery_failed']);

function asIntegration(id: string, records: Records): FoundSubject | undefined {
  if (!namesIn(records).includes(id)) return undefined;
  const { flights, events } = records;
  const last = flights.findLast(({ integration }) => integration === id);
  const event = events.findLast(({ metadata }) => metadata['integration'] === id);
  const at = last?.at ?? event?.at ?? 0;
  const pid = last?.pid ?? numberOf(event?.metadata['runtime_pid']);
  return { subject: { kind: 'integration', id }, at, integrations: [id], run: last?.run, pid };
}

function asCall(id: string, { flights, events }: Records): FoundSubject | undefined {
  const subject = { kind: 'call', id } as const;
  const record = flights.findLast(({ integration, rows }) => rows.some((row) => isCall(id, integration, row)));
  if (record !== undefined) {
    const row = record.rows.findLast((each) => isCall(id, record.integration, each));
    const at = row === undefined ? record.at : 'endedAt' in row ? row.endedAt : row.at;
    const { run, pid, integration } = record;
    return { subject, at, integrations: [integration], run, pid };
  }
  const event = events.findLast(
    ({ metadata }) => metadata['call'] === id && typeof metadata['integration'] === 'string',
  );
  if (event === undefined) return undefined;
  const integration = String(event.metadata['integration']);
  const pid = numberOf(event.metadata['runtime_pid']);
  // The record has what its integration did then, though not which of it was of this call.
  const near = flights.find((each) => each.integration === integration && each.pid === pid && each.at >= event.at);
  return { subject, at: event.at, integrations: [integration], run: near?.run, pid };
}

function namesIn({ flights, events, integrations }: Records): readonly string[] {
  const told = events.map(({ metadata }) => metadata['integration']).filter((name) => typeof name === 'string');
  return [...new Set([...flights.map(({ integration }) => integration), ...integrations, ...told])];
}

function callsIn({ flights }: Records): readonly string[] {
  const ids = flights.flatMap(({ integration, rows }) =>
    rows.flatMap((row) => [idOf(integration, row), 'sessionCall' in row ? row.sessionCall : undefined]),
  );
  return ids.filter((id) => id !== undefined);
}

/** A call of a session has two ids: that of its integration, and that of its session. */
const isCall = (id: string, integration: string, row: FlightRow): boolean =>
  idOf(integration, row) === id || ('sessionCall' in row && row.sessionCall === id);

const idOf = (integration: string, row: FlightRow): string | undefined =>
  'call' in row ? `${integration}-${row.call}` : undefined;

const sessionOf = (row: FlightRow): string | undefined => ('session' in row ? row.session : undefined);

const numberOf = (value: unknown): number | undefined => (typeof value === 'number' ? value : undefined);
