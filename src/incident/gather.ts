import type { FlightRecord, PolicyRow } from '../policy/flight.ts';
import type { EventRow } from '../store/events.ts';
import { type FactRedactor, createFactRedactor } from '../store/redactFact.ts';
import { redactTexts } from '../store/redactTexts.ts';
import { policyMark } from '../store/flights.ts';
import { KnownSecrets } from '../store/knownSecrets.ts';
import { createShownNames } from '../store/shownNames.ts';
import type { StoreReader } from '../store/storeReader.ts';
import {
  type Incident,
  type IncidentEvent,
  incidentFormat,
  type IncidentIntegration,
  incidentVersion,
} from './incident.ts';
import { counted } from './incidentFiles.ts';
import { type Lives, livesOf, overlap, spanOf } from './lives.ts';
import { type FoundSubject, findSubject } from './subject.ts';

/** How long before what it is about an incident begins, in ms, and how long after it ends. */
const beforeMs = 10 * 60_000;
const afterMs = 2 * 60_000;
/** Events that are looked through, the newest. */
const mostEvents = 20_000;
/** Rows of flight records that one incident holds, the newest. */
const mostRows = 20_000;

export interface GatherOptions {
  /** Wall time in ms since the epoch. */
  readonly now: number;
  /** How long before what it is about the incident begins, in ms above 0. @defaultValue 600000 */
  readonly aroundMs?: number | undefined;
  /** Values that are taken out wherever they stand, beside what was taken out when it was recorded. @defaultValue those of `process.env` */
  readonly secrets?: KnownSecrets | undefined;
  /** Pids of the runtimes that have just been asked to write what they hold: what is not on record of them did not happen. @defaultValue none */
  readonly asked?: readonly number[] | undefined;
}

/**
 * Gathers what is on record around a session, a call or an integration. Live runtimes are asked beforehand to write what they hold.
 * Rejects with a RangeError for people where nothing of this id is on record, and with what the reader rejects with.
 * @param id - of a session, of a call (`kb-12`), or the name of an integration.
 */
export async function gatherIncident(reader: StoreReader, id: string, options: GatherOptions): Promise<Incident> {
  const { now, aroundMs = beforeMs, secrets = new KnownSecrets(process.env), asked = [] } = options;
  const events = await reader.events({ limit: mostEvents });
  const [flights, policies] = [await reader.flights({}), await reader.policies()];
  const { integrations } = await reader.status(now);
  const known = integrations.map(({ integration }) => integration);
  const sessionIds = await reader.sessionIds();
  const records = { flights, events, sessionIds, integrations: known };
  // What is on record is without secrets, names too.
  const found = findSubject(createShownNames(secrets)(id), records);
  const from = found.at - aroundMs;
  // Not into the future; what is on record has happened, whatever the clock says.
  const last = flights.reduce((latest, { at }) => Math.max(latest, at), found.at);
  const until = Math.min(found.at + afterMs, Math.max(now, last));
  const isWhole = found.pid !== undefined && asked.includes(found.pid);
  const parts = { found, from, until, flights, policies, events, isWhole };
  const redact = createFactRedactor(secrets, Number.POSITIVE_INFINITY);
  return redactedIncident(assemble(parts, now), redact);
}

interface Parts {
  readonly found: FoundSubject;
  readonly from: number;
  readonly until: number;
  readonly flights: readonly FlightRecord[];
  readonly policies: readonly PolicyRow[];
  readonly events: readonly EventRow[];
  /** Whether its process has written all that it held. */
  readonly isWhole: boolean;
}

function assemble(parts: Parts, madeAt: number): Incident {
  const { found, from, until, policies, isWhole } = parts;
  const lives = new Map(found.integrations.map((name) => [name, livesOf(name, found, parts.flights)]));
  const integrations = [...lives].map(([name, each]) => integrationOf(name, each, parts));
  const own = policies.findLast(({ name, kept }) => kept.of === 'session' && name === found.subject.id);
  const sessions =
    found.subject.kind === 'session' && own?.kept.of === 'session'
      ? [{ name: own.name, watchdog: own.kept.watchdog }]
      : [];
  const about = { format: incidentFormat, version: incidentVersion, subject: found.subject, madeAt } as const;
  const incident = { ...about, from, until, pid: found.pid, integrations, sessions, events: eventsOf(parts) };
  const elsewhere = [...lives].flatMap(([name, each]) => elsewhereIn(name, each, parts));
  return { ...incident, missing: [...missingIn(incident, found, isWhole), ...elsewhere] };
}

function integrationOf(
  name: string,
  { own, strangers }: Lives,
  { found, from, until, policies }: Parts,
): IncidentIntegration {
  let left = mostRows;
  const taken = own
    .filter(({ at }) => at >= from)
    .filter(({ rows }) => rows.some((row) => ('arrivedAt' in row ? row.arrivedAt : row.at) <= until))
    .toReversed()
    .filter(({ rows }) => (left -= rows.length) >= 0)
    .toReversed();
  const last = taken.at(-1);
  const inForce = policies.filter((row) => row.name === name && row.kept.of === 'integration');
  const kept = (
    inForce.find((row) => policyMark(row.kept) === last?.policy) ??
    inForce.findLast(({ since }) => since <= (last?.at ?? until)) ??
    inForce.at(-1)
  )?.kept;
  const isShared = overlap(
    taken,
    strangers.filter(({ pid }) => pid === found.pid),
  );
  const records = taken.map(({ at, because, rows, limits, retries, missed }) => ({
    at,
    because,
    rows,
    limits,
    retries,
    missed,
  }));
  return { name, ...(kept?.of === 'integration' && { kept }), ...(isShared && { isShared }), records };
}

/** What integrations of the same name did at the time, elsewhere. */
function elsewhereIn(name: string, { own, others, strangers }: Lives, { found, from, until }: Parts): string[] {
  const isOfThen = (records: readonly FlightRecord[]): boolean => {
    const span = spanOf(records);
    return span !== undefined && span.from <= until && span.to >= from;
  };
  const begin = spanOf(own)?.from ?? until;
  const [before, after] = [others.filter(({ at }) => at <= begin), others.filter(({ at }) => at > begin)];
  const pids = new Set(strangers.map(({ pid }) => pid));
  const then = [...pids].filter((pid) => isOfThen(strangers.filter((record) => record.pid === pid)));
  return [
    ...(isOfThen(before) ? [`What another ${name} of the same gateway did before it is not in it.`] : []),
    ...(isOfThen(after) ? [`What another ${name} of the same gateway did after it is not in it.`] : []),
    ...then.map((pid) =>
      pid === found.pid
        ? `What the ${name} of another gateway of process ${pid} did is not in it.`
        : `What the ${name} of process ${pid} did is not in it.`,
    ),
  ];
}

function eventsOf({ found, from, until, events }: Parts): readonly IncidentEvent[] {
  const { integrations, subject, pid } = found;
  const children = new Set([
    ...integrations.flatMap((name) => [name, `mcp:${name}`, `integration:${name}`]),
    ...(subject.kind === 'session' ? [`session:${subject.id}`] : []),
  ]);
  const isAbout = ({ category, metadata }: EventRow): boolean => {
    const { integration, session, child, process: started, runtime_pid: by } = metadata;
    if (pid !== undefined && by !== undefined && by !== pid) return false;
    if (category === 'runtime' || category === 'store') return true;
    if (typeof integration === 'string') return integrations.includes(integration);
    if (typeof session === 'string') return subject.kind === 'session' && session === subject.id;
    const name = child ?? started;
    return typeof name === 'string' && children.has(name);
  };
  return events
    .filter((event) => event.at >= from && event.at <= until && isAbout(event))
    .map(({ at, category, type, metadata }) => ({ at, category, type, metadata: withoutInputs(metadata) }));
}

/** What callers handed to tools is theirs, and is not needed to play it again. */
function withoutInputs(metadata: EventRow['metadata']): EventRow['metadata'] {
  return Object.fromEntries(Object.entries(metadata).filter(([name]) => name !== 'input'));
}

function missingIn(
  incident: Pick<Incident, 'integrations' | 'sessions'>,
  { subject }: FoundSubject,
  isWhole: boolean,
): readonly string[] {
  const missing = incident.integrations.flatMap(({ name, kept, records }) => {
    const [first, last] = [records[0], records.at(-1)];
    if (first === undefined || last === undefined) return [`No attempt of ${name} is on record: it cannot be played.`];
    const dropped = records.reduce((sum, { missed }) => sum + missed, 0);
    const hasBegin = first.rows.some((row) => row.what === 'input' && row.input === 'attached');
    return [
      ...(kept === undefined ? [`The policy of ${name} is not on record: its calls cannot be played.`] : []),
      ...(dropped > 0
        ? [
            `${counted(dropped, 'attempt or end', 'attempts and ends')} of ${name} had been dropped before it was written.`,
          ]
        : []),
      ...(hasBegin ? [] : [`What ${name} did before ${iso(first.at)} is not in it, nor how its circuit was then.`]),
      ...(isWhole || last.because === 'stop' || last.because === 'asked'
        ? []
        : [`What ${name} did after ${iso(last.at)} is not in it: its process wrote its last record then.`]),
    ];
  });
  const hasSession = subject.kind !== 'session' || incident.sessions.length > 0;
  return hasSession
    ? missing
    : [...missing, `The limits of the session ${subject.id} are not on record: its turns cannot be played.`];
}

function redactedIncident(incident: Incident, redact: FactRedactor): Incident {
  const { integrations, missing, sessions, subject, events } = incident;
  const texts = redactTexts({ integrations, missing, sessions, subject }, redact);
  return { ...incident, ...texts, events: events.map((event) => redact(event)) };
}

const iso = (at: number): string => new Date(at).toISOString();
