import type { FlightRecord, PendingRow, PolicyRow } from '../src/policy/records/face.ts';
import { type EventRow, policyMark } from '../src/store/face.ts';
import {
  type FactRedactor,
  KnownSecrets,
  createFactRedactor,
  createShownNames,
  redactTexts,
} from '../src/redaction/face.ts';
import type { StoreReader } from '../reader/storeReader.ts';
import {
  cameAt,
  type Incident,
  type IncidentEvent,
  incidentFormat,
  type IncidentIntegration,
  incidentVersion,
  labelOf,
} from './incident.ts';
import { counted } from './incidentFiles.ts';
import { type Lives, livesOf, overlap, spanOf } from './lives.ts';
import { type FoundSubject, findSubject } from './subject.ts';

/** Time from the begin of an incident to what it is about, in ms, and from there to its end. */
const beforeMs = 10 * 60_000;
const afterMs = 2 * 60_000;
/** Events that are looked through, the newest. */
const mostEvents = 20_000;
/** Rows of flight records that one incident holds, the newest. */
const mostRows = 20_000;

/** Calls of an integration that are named as under way. */
const mostNamed = 10;
/** Sessions whose calls are looked at, where it is not about one. */
const mostSessions = 200;

export interface GatherOptions {
  /** Wall time in ms since the epoch. */
  readonly now: number;
  /** Time from the begin of the incident to what it is about, in ms above 0. @defaultValue 600000 */
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
  // Everything on record is without secrets, names too.
  const found = findSubject(createShownNames(secrets)(id), records);
  const from = found.at - aroundMs;
  // Not into the future; what is on record has happened, whatever the clock says.
  const last = flights.reduce((latest, { at }) => Math.max(latest, at), found.at);
  const until = Math.min(found.at + afterMs, Math.max(now, last));
  const parts = { found, from, until, flights, policies, events, asked };
  const redact = createFactRedactor(secrets, { objects: Number.POSITIVE_INFINITY });
  const incident = assemble(parts, now);
  const cut = await underWayIn(reader, parts, sessionIds);
  return redactedIncident({ ...incident, missing: [...incident.missing, ...cut] }, redact);
}

/** Calls of sessions that have no result, of a process that is not there to tell of them. */
async function underWayIn(
  reader: StoreReader,
  { found, from, until, asked }: Parts,
  sessionIds: readonly string[],
): Promise<readonly string[]> {
  const { subject, integrations, pid } = found;
  if (pid !== undefined && asked.includes(pid)) return [];
  const ids = subject.kind === 'session' ? [subject.id] : sessionIds.slice(0, mostSessions);
  const missing: string[] = [];
  for (const id of ids) {
    const { calls = [] } = (await reader.session(id)) ?? {};
    for (const { call, integration, tool, startedAt } of calls) {
      const isAbout = subject.kind === 'session' || integrations.includes(integration);
      if (isAbout && startedAt >= from && startedAt <= until)
        missing.push(
          `The call ${call} (${tool} of ${integration}) has no result: it was under way when its process ended or fell silent.`,
        );
    }
  }
  return missing;
}

interface Parts {
  readonly found: FoundSubject;
  readonly from: number;
  readonly until: number;
  readonly flights: readonly FlightRecord[];
  readonly policies: readonly PolicyRow[];
  readonly events: readonly EventRow[];
  /** Pids of the processes that have just written all that they held. */
  readonly asked: readonly number[];
}

function assemble(parts: Parts, madeAt: number): Incident {
  const { found, from, until, policies } = parts;
  const lives = new Map(found.integrations.map((name) => [name, livesOf(name, found, parts.flights)]));
  const integrations = [...lives].flatMap(([name, each]) => [
    integrationOf(name, each, parts),
    ...inOtherProcesses(each, parts).map((life) => integrationOf(name, life, parts)),
  ]);
  const own = policies.findLast(({ name, kept }) => kept.of === 'session' && name === found.subject.id);
  const sessions =
    found.subject.kind === 'session' && own?.kept.of === 'session'
      ? [{ name: own.name, watchdog: own.kept.watchdog }]
      : [];
  const about = { format: incidentFormat, version: incidentVersion, subject: found.subject, madeAt } as const;
  const incident = { ...about, from, until, pid: found.pid, integrations, sessions, events: eventsOf(parts) };
  const elsewhere = [...lives].flatMap(([name, each]) => elsewhereIn(name, each, parts));
  return { ...incident, missing: [...missingIn(incident, parts), ...elsewhere] };
}

/** Finds those of other processes, the last of each: one that was killed, or one that shares the database. */
function inOtherProcesses({ strangers }: Lives, { found, from, until }: Parts): readonly Lives[] {
  const pids = new Set(strangers.map(({ pid }) => pid).filter((pid) => pid !== found.pid));
  return [...pids].flatMap((pid) => {
    const ofPid = strangers.filter((record) => record.pid === pid && isOfTime([record], from, until));
    const run = ofPid.at(-1)?.run;
    if (run === undefined) return [];
    const [own, rest] = [ofPid.filter((record) => record.run === run), ofPid.filter((record) => record.run !== run)];
    return [{ own, others: [], strangers: rest }];
  });
}

function isOfTime(records: readonly FlightRecord[], from: number, until: number): boolean {
  const span = spanOf(records);
  return span !== undefined && span.from <= until && span.to >= from;
}

function integrationOf(
  name: string,
  { own, strangers }: Lives,
  { found, from, until, policies }: Parts,
): IncidentIntegration {
  let left = mostRows;
  const taken = own
    .filter(({ at }) => at >= from)
    .filter(({ rows }) => rows.some((row) => cameAt(row) <= until))
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
  const pid = own[0]?.pid ?? found.pid;
  const isShared = overlap(
    taken,
    strangers.filter((record) => record.pid === pid),
  );
  const records = taken.map(({ at, because, rows, limits, retries, missed }) => ({
    at,
    because,
    rows,
    limits,
    retries,
    missed,
  }));
  return {
    name,
    ...(pid !== found.pid && { pid }),
    ...(kept?.of === 'integration' && { kept }),
    ...(isShared && { isShared }),
    records,
  };
}

/** Names what integrations of the same name did at the time that is not in it: each process has one that is. */
function elsewhereIn(name: string, lives: Lives, parts: Parts): string[] {
  const { own, others, strangers } = lives;
  const { found, from, until } = parts;
  const isOfThen = (records: readonly FlightRecord[]): boolean => isOfTime(records, from, until);
  const begin = spanOf(own)?.from ?? until;
  const [before, after] = [others.filter(({ at }) => at <= begin), others.filter(({ at }) => at > begin)];
  const ofSame = strangers.filter(({ pid }) => pid === found.pid);
  const rest = [ofSame, ...inOtherProcesses(lives, parts).map((life) => life.strangers)];
  return [
    ...(isOfThen(before) ? [`What another ${name} of the same gateway did before it is not in it.`] : []),
    ...(isOfThen(after) ? [`What another ${name} of the same gateway did after it is not in it.`] : []),
    ...rest
      .filter(isOfThen)
      .map((records) => `What the ${name} of another gateway of process ${records[0]?.pid ?? '?'} did is not in it.`),
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
    if (category === 'runtime' || category === 'store') return by === undefined || by === pid;
    if (typeof integration === 'string') return integrations.includes(integration);
    if (typeof session === 'string') return subject.kind === 'session' && session === subject.id;
    const name = child ?? started;
    return typeof name === 'string' && children.has(name);
  };
  return events
    .filter((event) => event.at >= from && event.at <= until && isAbout(event))
    .map(({ at, category, type, metadata }) => ({ at, category, type, metadata: withoutInputs(metadata) }));
}

/** Inputs that callers handed to tools are theirs, and are not needed to play it again. */
function withoutInputs(metadata: EventRow['metadata']): EventRow['metadata'] {
  return Object.fromEntries(Object.entries(metadata).filter(([name]) => name !== 'input'));
}

function missingIn(
  incident: Pick<Incident, 'integrations' | 'sessions' | 'events' | 'pid'>,
  parts: Pick<Parts, 'found' | 'asked' | 'events' | 'from' | 'until'>,
): readonly string[] {
  const { subject } = parts.found;
  const { asked } = parts;
  const { events, pid } = incident;
  const missing = incident.integrations.flatMap((integration) => {
    const { kept, records } = integration;
    const name = labelOf(integration);
    const [first, last] = [records[0], records.at(-1)];
    if (first === undefined || last === undefined) return [`No attempt of ${name} is on record: it cannot be played.`];
    const dropped = records.reduce((sum, { missed }) => sum + missed, 0);
    const hasBegin = first.rows.some((row) => row.what === 'input' && row.input === 'attached');
    const by = integration.pid ?? pid;
    // Rows that were written when somebody asked earlier are not all: it went on.
    const isWhole = last.because === 'stop' || (by !== undefined && asked.includes(by));
    const pending = last.rows.filter((row): row is PendingRow => row.what === 'pending');
    return [
      ...(kept === undefined ? [`The policy of ${name} is not on record: its calls cannot be played.`] : []),
      ...(dropped > 0
        ? [
            `${counted(dropped, 'attempt or end', 'attempts and ends')} of ${name} had been dropped before it was written.`,
          ]
        : []),
      ...(hasBegin ? [] : [`What ${name} did before ${iso(first.at)} is not in it, nor how its circuit was then.`]),
      ...(isWhole
        ? []
        : [`What ${name} did after ${iso(last.at)} is not in it: its process wrote its last record then.`]),
      ...(isWhole || pending.length === 0 ? [] : [underWayText(integration, pending)]),
    ];
  });
  const told = unrecorded(incident.integrations, events, pid).filter(({ by }) => !asked.includes(by));
  missing.push(...told.map(({ name, by }) => `What ${name} did in process ${by} is not in it: it wrote no record.`));
  missing.push(...attemptsOf(subject, incident, parts));
  const hasSession = subject.kind !== 'session' || incident.sessions.length > 0;
  return hasSession
    ? missing
    : [...missing, `The limits of the session ${subject.id} are not on record: its turns cannot be played.`];
}

/** That a session has no attempt on record, where it may have made some: it called tools, or its process is not there to tell. */
function attemptsOf(
  { kind, id }: FoundSubject['subject'],
  { integrations, pid }: Pick<Incident, 'integrations' | 'pid'>,
  { asked, events, from, until }: Pick<Parts, 'asked' | 'events' | 'from' | 'until'>,
): readonly string[] {
  if (kind !== 'session' || integrations.length > 0) return [];
  const own = events.filter(({ at, metadata }) => at >= from && at <= until && metadata['session'] === id);
  const mayHave = own.some(({ type, metadata }) => type === 'resumed' || typeof metadata['integration'] === 'string');
  if (!mayHave && pid !== undefined && asked.includes(pid)) return [];
  return [
    `No attempt of the session ${id} is on record: a process that was killed took with it what it had not written.`,
  ];
}

/** Names them, as far as somebody reads it: an id is what events and the replay know a call by. */
function underWayText(integration: IncidentIntegration, pending: readonly PendingRow[]): string {
  const ids = pending.map(({ call, tool }) => `${integration.name}-${call}${tool === undefined ? '' : ` (${tool})`}`);
  const more = ids.length > mostNamed ? ` and ${ids.length - mostNamed} more` : '';
  const were = pending.length === 1 ? 'was' : 'were';
  const which = `${counted(pending.length, 'call')} of ${labelOf(integration)} ${were} under way then`;
  return `${which}: ${ids.slice(0, mostNamed).join(', ')}${more}. How that ended is not on record.`;
}

/** Integrations that a process had, as events tell, of which it has no record here. */
function unrecorded(
  integrations: readonly IncidentIntegration[],
  events: readonly IncidentEvent[],
  pid: number | undefined,
): readonly { readonly name: string; readonly by: number }[] {
  const names = new Set(integrations.map(({ name }) => name));
  return [...names].flatMap((name) => {
    const known = new Set(integrations.filter((each) => each.name === name).map((each) => each.pid ?? pid));
    const told = events.flatMap(({ metadata: { integration, child, runtime_pid: by } }) =>
      typeof by === 'number' && (integration === name || child === `integration:${name}`) ? [by] : [],
    );
    return [...new Set(told)].filter((by) => !known.has(by)).map((by) => ({ name, by }));
  });
}

function redactedIncident(incident: Incident, redact: FactRedactor): Incident {
  const { integrations, missing, sessions, subject, events } = incident;
  const texts = redactTexts({ integrations, missing, sessions, subject }, redact);
  return { ...incident, ...texts, events: events.map((event) => redact(event)) };
}

const iso = (at: number): string => new Date(at).toISOString();
