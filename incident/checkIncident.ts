import type {
  AttemptRow,
  CallEndRow,
  FlightReason,
  FlightRow,
  InputRow,
  PendingRow,
  RecordedFailure,
  SessionLimits,
} from '../src/policy/records/face.ts';
import {
  type FailureKind,
  type FailureReason,
  failureKinds,
  failureReasons,
  messageOf,
} from '../src/policy/failures/face.ts';
import { type IntegrationPolicy, type PolicyInput, resolvePolicy } from '../src/policy/face.ts';
import { show } from '../src/policy/text/face.ts';
import { checkSessionOptions } from '../src/sessions/face.ts';
import { withInfinity } from '../src/store/face.ts';
import {
  cameAt,
  type Incident,
  type IncidentEvent,
  incidentFormat,
  type IncidentIntegration,
  type IncidentRecord,
  incidentVersion,
} from './incident.ts';

/** Most rows of one incident, and how far apart they may be, in ms. */
const mostRows = 100_000;
const longestMs = 31 * 24 * 3_600_000;
const longestText = 100_000;
/** Most levels of objects and lists in each other; what a gateway records has far fewer. */
const deepest = 200;

class Wrong extends Error {}

type Fields = Readonly<Record<string, unknown>>;

/** Reads a value, and says where it stands when it is wrong. @throws Wrong */
type Read<T> = (value: unknown, at: string) => T;
/** Reads what may be missing: undefined is left out. */
type Shape = Readonly<Record<string, Read<unknown>>>;
type Missing<S extends Shape> = { [K in keyof S]: undefined extends ReturnType<S[K]> ? K : never }[keyof S];
type Shaped<S extends Shape> = { readonly [K in Exclude<keyof S, Missing<S>>]: ReturnType<S[K]> } & {
  readonly [K in Missing<S>]?: ReturnType<S[K]>;
};

/** @returns the incident with what is known of it and nothing else; what is wrong with it, in words, when it is none. */
export function checkIncident(given: unknown): Incident | string {
  try {
    if (isDeeper(given, deepest)) throw new Wrong(`its parts lie more than ${deepest} levels deep`);
    return incidentOf(fields(withInfinity(given), 'it'));
  } catch (error) {
    if (error instanceof Wrong) return error.message;
    throw error;
  }
}

/** Returns what is to be said of an incident in a format that is not known yet; undefined where it is none. Nothing else of it is looked at. */
export function laterVersion({ format, version }: Fields): string | undefined {
  const isLater = format === incidentFormat && typeof version === 'number' && version > incidentVersion;
  return isLater
    ? `it was written by a later version of unwedge (format ${version}, this one reads ${incidentVersion})`
    : undefined;
}

function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return levels === 0 || Object.values(value).some((each) => isDeeper(each, levels - 1));
}

function incidentOf(given: Fields): Incident {
  if (given['format'] !== incidentFormat) throw new Wrong('it is no incident of unwedge');
  const { version } = given;
  const later = laterVersion(given);
  if (later !== undefined) throw new Wrong(later);
  if (version !== incidentVersion) throw new Wrong(`its version is ${show(version)}`);
  const read = incident(given, '');
  const all = read.integrations.flatMap(({ records }) => records.flatMap(({ rows }) => rows));
  if (all.length > mostRows) throw new Wrong(`it holds ${all.length} rows, more than ${mostRows}`);
  const times = all.map(cameAt);
  const [first, last] = [times.reduce((a, b) => Math.min(a, b), Infinity), times.reduce((a, b) => Math.max(a, b), 0)];
  if (last - first > longestMs) throw new Wrong('what happened in it is more than 31 days apart');
  return { format: incidentFormat, version: incidentVersion, ...read };
}

const text: Read<string> = (value, at) =>
  typeof value === 'string' && value.length <= longestText ? value : wrong(at, 'a text', value);
const name: Read<string> = (value, at) =>
  value === '' ? wrong(at, 'a text that is not empty', value) : text(value, at);
const time: Read<number> = (value, at) =>
  typeof value === 'number' && value >= 0 && value <= 1e14 ? value : wrong(at, 'a time or number', value);
const anyNumber: Read<number> = (value, at) =>
  typeof value === 'number' && !Number.isNaN(value) ? value : wrong(at, 'a number', value);
const limit: Read<number> = (value, at) =>
  typeof value === 'number' && value > 0 ? value : wrong(at, 'a duration above 0', value);
const integer =
  (least: number): Read<number> =>
  (value, at) =>
    Number.isSafeInteger(value) && (value as number) >= least
      ? (value as number)
      : wrong(at, `an integer of at least ${least}`, value);
const choice =
  <const T extends string>(all: readonly T[]): Read<T> =>
  (value, at) =>
    all.find((each) => each === value) ?? wrong(at, `one of ${all.join(', ')}`, value);
const fields: Read<Fields> = (value, at) =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Fields)
    : wrong(at, 'an object', value);
/** A mark that is there, or is not: anything else counts as none. */
const only =
  <const T>(mark: T): Read<T | undefined> =>
  (value) =>
    value === mark ? mark : undefined;
const isTrue: Read<boolean> = (value) => value === true;
const optional =
  <T>(read: Read<T>): Read<T | undefined> =>
  (value, at) =>
    value === undefined ? undefined : read(value, at);

function list<T>(read: Read<T>, most = 1000): Read<readonly T[]> {
  return (value, at) => {
    if (!Array.isArray(value)) return wrong(at, 'a list', value);
    if (value.length > most) throw new Wrong(`${at}: ${value.length} entries are more than ${most}`);
    return value.map((each, index) => read(each, `${at}[${index}]`));
  };
}

/** An object of such fields; what else it has is left out. */
function object<S extends Shape>(shape: S): Read<Shaped<S>> {
  return (value, at) => {
    const given = fields(value, at);
    const known = Object.entries(shape).map(([key, read]) => [key, read(given[key], at === '' ? key : `${at}.${key}`)]);
    return Object.fromEntries(known.filter(([, found]) => found !== undefined)) as Shaped<S>;
  };
}

/** Reads an object of several kinds, by what stands in one of their fields. */
function variant<T>(key: string, kinds: Readonly<Record<string, Read<T>>>): Read<T> {
  const kindOf = choice(Object.keys(kinds));
  return (value, at) => (kinds[kindOf(fields(value, at)[key], `${at}.${key}`)] as Read<T>)(value, at);
}

function wrong(at: string, expected: string, value: unknown): never {
  throw new Wrong(`${at}: expected ${expected}, got ${show(value)}`);
}

/** By the rules of every other policy: what a gateway would refuse is refused here. @param part - the part of a policy that stands there alone. */
function policyOf(at: string, given: unknown, part?: 'limits' | 'retry'): IntegrationPolicy {
  try {
    return resolvePolicy(at, (part === undefined ? given : { [part]: given }) as PolicyInput);
  } catch (error) {
    throw new Wrong(messageOf(error).replace([at, 'policy', ...(part === undefined ? [] : [part])].join('.'), at));
  }
}

const effect = choice(['readOnly', 'idempotent', 'mutating']);

const failure: Read<RecordedFailure> = object({
  kind: choice(Object.keys(failureKinds) as FailureKind[]),
  message: text,
  outcome: choice(['not_started', 'failed', 'unknown', 'cancelled', 'done', 'not_done']),
  reason: optional(choice(Object.keys(failureReasons) as FailureReason[])),
  how: optional(text),
  retryAfterMs: optional(time),
  probeAfterMs: optional(time),
  status: optional(time),
  shouldRetry: (value: unknown) => (typeof value === 'boolean' ? value : undefined),
  leaves: only('lost'),
  resumable: only(true),
  alerts: only(false),
  code: (value: unknown) => (typeof value === 'string' || typeof value === 'number' ? value : undefined),
  breaker: optional(choice(['failure', 'alive', 'ignored'])),
});

const ofCall = {
  call: integer(1),
  arrivedAt: time,
  tool: optional(text),
  label: optional(text),
  session: optional(text),
  sessionCall: optional(text),
  scope: optional(name),
  effect: optional(effect),
  limits: optional(integer(0)),
  ownLimits: optional(integer(0)),
  retry: optional(integer(0)),
  isStream: only(true),
  hasFallback: only(true),
  isProbe: only(true),
};

const attemptRow: Read<AttemptRow> = object({
  what: choice(['attempt']),
  ...ofCall,
  attempt: integer(1),
  startedAt: time,
  endedAt: time,
  end: choice(['answered', 'threw', 'limit', 'lost', 'ended']),
  failure: optional(failure),
  delayMs: (value: unknown, at: string) => (value === null ? null : optional(time)(value, at)),
  draw: optional(time),
  continuation: optional(choice(['resumes', 'none'])),
});

const endRow: Read<CallEndRow> = object({
  what: choice(['end']),
  ...ofCall,
  attempts: integer(0),
  endedAt: time,
  end: choice(['failed', 'refused', 'fell_back']),
  failure,
});

const workRow = object({ what: choice(['work']), call: integer(1), attempt: integer(1), at: time });

const pendingRow: Read<PendingRow> = object({
  what: choice(['pending']),
  ...ofCall,
  attempt: integer(0),
  startedAt: optional(time),
  waitsFor: text,
  at: time,
});

const circuit = { openForMs: optional(anyNumber), openings: optional(integer(0)), pausedForMs: optional(anyNumber) };

/** An input of that name with what else is told of it. */
function input<const K extends InputRow['input'], S extends Shape>(name: K, shape: S) {
  return { [name]: object({ what: choice(['input']), input: choice([name]), at: time, ...shape }) };
}

const inputRow: Read<InputRow> = variant<InputRow>('input', {
  ...input('attached', { down: isTrue, ...circuit }),
  ...input('adopted', { closed: only(true), ...circuit }),
  ...input('crashed', { failure, quietly: isTrue }),
  ...input('inquired', { alive: isTrue, forMs: optional(anyNumber) }),
  ...input('isolated', { hold: integer(1), tool: optional(text) }),
  ...input('released', { hold: integer(1), tool: optional(text) }),
  ...input('toolReset', { tool: text }),
  ...input('fired', { call: integer(1), rule: text }),
  ...input('retriesStopped', { call: integer(1) }),
  ...input('restarted', {}),
  ...input('reset', {}),
  ...input('probed', {}),
  ...input('restart', {}),
  ...input('stopped', {}),
});

const anyRow = variant<FlightRow>('what', {
  attempt: attemptRow,
  end: endRow,
  work: workRow,
  input: inputRow,
  pending: pendingRow,
});

const row: Read<FlightRow> = (value, at) => {
  const read = anyRow(value, at);
  if (read.what === 'attempt' && read.end !== 'answered' && read.failure === undefined)
    throw new Wrong(`${at}: a failed attempt has no failure`);
  const began = read.what === 'attempt' ? read.startedAt : read.what === 'end' ? read.arrivedAt : undefined;
  if (began !== undefined && 'endedAt' in read && (read.endedAt < began || began < read.arrivedAt))
    throw new Wrong(`${at}: it ended before it began`);
  return read;
};

const plainRecord = object({
  at: time,
  because: choice<FlightReason>(['failure', 'breaker', 'crash', 'watchdog', 'alert', 'stop', 'asked']),
  rows: list(row, mostRows),
  limits: list((value, at) => policyOf(at, value, 'limits').limits, 10_000),
  retries: list((value, at) => policyOf(at, value, 'retry').retry, 10_000),
  missed: time,
});

const record: Read<IncidentRecord> = (value, at) => {
  const read = plainRecord(value, at);
  const { limits, retries, rows } = read;
  const most = { limits: limits.length, ownLimits: limits.length, retry: retries.length };
  for (const [index, each] of rows.entries())
    for (const key of ['limits', 'ownLimits', 'retry'] as const) {
      const place = 'arrivedAt' in each ? each[key] : undefined;
      if (place !== undefined && place >= most[key])
        throw new Wrong(`${at}.rows[${index}].${key}: there is no place ${place}`);
    }
  return read;
};

const traits = object({ asks: optional(choice(['end', 'wait'])), probes: only(true), startsDown: only(true) });

const kept = object({
  of: () => 'integration' as const,
  policy: (value: unknown, at: string) => policyOf(at, fields(value, at)),
  traits,
});

const integration: Read<IncidentIntegration> = object({
  name: text,
  pid: optional(time),
  kept: optional(kept),
  isShared: only(true),
  records: list(record),
});

const limits = object({ toolCallMs: limit, turnMs: limit, releaseMs: limit, recoveryMs: limit });

/** By the rules of every other session. */
const watchdog: Read<SessionLimits> = (value, at) => {
  const read = limits(value, at);
  try {
    checkSessionOptions({ onMessage: () => undefined, watchdog: read });
  } catch (error) {
    throw new Wrong(`${at}: ${messageOf(error)}`);
  }
  return read;
};

const anyEvent = object({ at: time, category: text, type: text, metadata: fields });
/** The begin of a turn, which is played. */
const turnStart = object({ turn: integer(0), kind: name });

const event: Read<IncidentEvent> = (value, at) => {
  const read = anyEvent(value, at);
  if (read.category === 'session' && read.type === 'turn_started') turnStart(read.metadata, `${at}.metadata`);
  return read;
};

const incident: Read<Omit<Incident, 'format' | 'version'>> = object({
  subject: object({ kind: choice(['session', 'call', 'integration']), id: text }),
  madeAt: time,
  from: time,
  until: time,
  pid: optional(time),
  integrations: list(integration),
  sessions: list(object({ name: text, watchdog })),
  events: list(event, 100_000),
  missing: list(text, 10_000),
});
