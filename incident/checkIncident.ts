import type {
  AttemptRow,
  CallEndRow,
  FlightOfCall,
  FlightRow,
  InputRow,
  RecordedFailure,
  SessionLimits,
} from '../src/policy/flight.ts';
import { failureKinds, failureReasons } from '../src/policy/failure.ts';
import type { IntegrationPolicy, Limits, RetryPolicy } from '../src/policy/policy.ts';
import type { PolicyInput } from '../src/policy/policyInput.ts';
import { resolvePolicy } from '../src/policy/presetChain.ts';
import { show } from '../src/policy/showValue.ts';
import { messageOf } from '../src/policy/thrown.ts';
import { withInfinity } from '../src/store/flights.ts';
import {
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

class Wrong extends Error {}

/** @returns the incident with what is known of it and nothing else; what is wrong with it, in words, when it is none. */
export function checkIncident(given: unknown): Incident | string {
  try {
    return incidentOf(fields(withInfinity(given), 'it'));
  } catch (error) {
    if (error instanceof Wrong) return error.message;
    throw error;
  }
}

type Fields = Readonly<Record<string, unknown>>;

/** Returns what is to be said of an incident in a format that is not known yet; undefined where it is none. Nothing else of it is looked at. */
export function laterVersion({ format, version }: Fields): string | undefined {
  const isLater = format === incidentFormat && typeof version === 'number' && version > incidentVersion;
  return isLater
    ? `it was written by a later version of unwedge (format ${version}, this one reads ${incidentVersion})`
    : undefined;
}

function incidentOf(given: Fields): Incident {
  if (given['format'] !== incidentFormat) throw new Wrong('it is no incident of unwedge');
  const { version } = given;
  const later = laterVersion(given);
  if (later !== undefined) throw new Wrong(later);
  if (version !== incidentVersion) throw new Wrong(`its version is ${show(version)}`);
  const subject = fields(given['subject'], 'subject');
  const integrations = list(given['integrations'], 'integrations', 1000).map((each, index) =>
    integrationOf(fields(each, `integrations[${index}]`), `integrations[${index}]`),
  );
  const rows = integrations.reduce(
    (sum, { records }) => sum + records.reduce((all, record) => all + record.rows.length, 0),
    0,
  );
  if (rows > mostRows) throw new Wrong(`it holds ${rows} rows, more than ${mostRows}`);
  const times = integrations.flatMap(({ records }) => records.flatMap((record) => record.rows.map(timeOf)));
  const [first, last] = [times.reduce((a, b) => Math.min(a, b), Infinity), times.reduce((a, b) => Math.max(a, b), 0)];
  if (last - first > longestMs) throw new Wrong('what happened in it is more than 31 days apart');
  return {
    format: incidentFormat,
    version: incidentVersion,
    subject: {
      kind: choice(subject['kind'], 'subject.kind', ['session', 'call', 'integration']),
      id: text(subject['id'], 'subject.id'),
    },
    madeAt: time(given['madeAt'], 'madeAt'),
    from: time(given['from'], 'from'),
    until: time(given['until'], 'until'),
    ...optional(given, 'pid', (value) => time(value, 'pid')),
    integrations,
    sessions: list(given['sessions'], 'sessions', 1000).map((each, index) => {
      const { name, watchdog } = fields(each, `sessions[${index}]`);
      return {
        name: text(name, `sessions[${index}].name`),
        watchdog: watchdogOf(watchdog, `sessions[${index}].watchdog`),
      };
    }),
    events: list(given['events'], 'events', 100_000).map((each, index) => eventOf(each, `events[${index}]`)),
    missing: list(given['missing'], 'missing', 10_000).map((each) => text(each, 'missing')),
  };
}

function integrationOf(given: Fields, at: string): IncidentIntegration {
  const name = text(given['name'], `${at}.name`);
  const kept = given['kept'] === undefined ? undefined : fields(given['kept'], `${at}.kept`);
  const records = list(given['records'], `${at}.records`, 1000);
  return {
    name,
    ...optional(given, 'pid', (value) => time(value, `${at}.pid`)),
    ...(kept !== undefined && { kept: keptOf(kept, name) }),
    ...(given['isShared'] === true && { isShared: true }),
    records: records.map((each, index) => recordOf(fields(each, `${at}.records[${index}]`), `${at}.records[${index}]`)),
  };
}

function keptOf({ policy, traits }: Fields, name: string): NonNullable<IncidentIntegration['kept']> {
  const { asks, probes, startsDown } = fields(traits, `${name}.traits`);
  return {
    of: 'integration',
    policy: policyOf(name, policy),
    traits: {
      ...(asks !== undefined && { asks: choice(asks, `${name}.traits.asks`, ['end', 'wait']) }),
      ...(probes === true && { probes }),
      ...(startsDown === true && { startsDown }),
    },
  };
}

/** By the rules of every other policy: what a gateway would refuse is refused here. */
function policyOf(name: string, given: unknown): IntegrationPolicy {
  try {
    return resolvePolicy(name, fields(given, `${name}.policy`) as PolicyInput);
  } catch (error) {
    throw new Wrong(messageOf(error));
  }
}

function recordOf(given: Fields, at: string): IncidentRecord {
  const limits = list(given['limits'], `${at}.limits`, 10_000).map(
    (each): Limits => policyOf(at, { limits: each }).limits,
  );
  const retries = list(given['retries'], `${at}.retries`, 10_000).map(
    (each): RetryPolicy => policyOf(at, { retry: each }).retry,
  );
  const places = { limits: limits.length, retries: retries.length };
  return {
    at: time(given['at'], `${at}.at`),
    because: choice(given['because'], `${at}.because`, [
      'failure',
      'breaker',
      'crash',
      'watchdog',
      'alert',
      'stop',
      'asked',
    ]),
    rows: list(given['rows'], `${at}.rows`, mostRows).map((each, index) =>
      rowOf(fields(each, `${at}.rows[${index}]`), `${at}.rows[${index}]`, places),
    ),
    limits,
    retries,
    missed: time(given['missed'], `${at}.missed`),
  };
}

interface Places {
  readonly limits: number;
  readonly retries: number;
}

function rowOf(row: Fields, at: string, places: Places): FlightRow {
  const number = (name: string, least = 0): number => integer(row[name], `${at}.${name}`, least);
  const when = (name: string): number => time(row[name], `${at}.${name}`);
  switch (row['what']) {
    case 'attempt': {
      const attempt: AttemptRow = {
        what: 'attempt',
        ...ofCall(row, at, places),
        attempt: number('attempt', 1),
        startedAt: when('startedAt'),
        endedAt: when('endedAt'),
        end: choice(row['end'], `${at}.end`, ['answered', 'threw', 'limit', 'lost', 'ended']),
        ...optional(row, 'failure', (value) => failureOf(value, `${at}.failure`)),
        ...optional(row, 'delayMs', (value) => (value === null ? null : time(value, `${at}.delayMs`))),
        ...optional(row, 'draw', (value) => time(value, `${at}.draw`)),
        ...optional(row, 'continuation', (value) => choice(value, `${at}.continuation`, ['resumes', 'none'])),
      };
      if (attempt.end !== 'answered' && attempt.failure === undefined)
        throw new Wrong(`${at}: a failed attempt has no failure`);
      if (attempt.endedAt < attempt.startedAt || attempt.startedAt < attempt.arrivedAt)
        throw new Wrong(`${at}: it ended before it began`);
      return attempt;
    }
    case 'end': {
      const end: CallEndRow = {
        what: 'end',
        ...ofCall(row, at, places),
        attempts: number('attempts'),
        endedAt: when('endedAt'),
        end: choice(row['end'], `${at}.end`, ['failed', 'refused', 'fell_back']),
        failure: failureOf(row['failure'], `${at}.failure`),
      };
      if (end.endedAt < end.arrivedAt) throw new Wrong(`${at}: it ended before it began`);
      return end;
    }
    case 'work':
      return { what: 'work', call: number('call', 1), attempt: number('attempt', 1), at: when('at') };
    case 'input':
      return inputOf(row, at);
    case 'pending':
      return {
        what: 'pending',
        ...ofCall(row, at, places),
        attempt: number('attempt'),
        ...optional(row, 'startedAt', (value) => time(value, `${at}.startedAt`)),
        waitsFor: text(row['waitsFor'], `${at}.waitsFor`),
        at: when('at'),
      };
    default:
      throw new Wrong(`${at}.what: expected a kind of row, got ${show(row['what'])}`);
  }
}

function inputOf(row: Fields, at: string): InputRow {
  const base = { what: 'input', at: time(row['at'], `${at}.at`) } as const;
  const circuit = {
    ...optional(row, 'openForMs', (value) => anyNumber(value, `${at}.openForMs`)),
    ...optional(row, 'openings', (value) => integer(value, `${at}.openings`, 0)),
    ...optional(row, 'pausedForMs', (value) => anyNumber(value, `${at}.pausedForMs`)),
  };
  const input = choice(row['input'], `${at}.input`, [
    'attached',
    'crashed',
    'restarted',
    'reset',
    'probed',
    'restart',
    'stopped',
    'adopted',
    'inquired',
    'isolated',
    'released',
    'toolReset',
    'fired',
    'retriesStopped',
  ]);
  if (input === 'attached') return { ...base, input, down: row['down'] === true, ...circuit };
  if (input === 'adopted') return { ...base, input, ...circuit, ...(row['closed'] === true && { closed: true }) };
  if (input === 'inquired') {
    const forMs = optional(row, 'forMs', (value) => anyNumber(value, `${at}.forMs`));
    return { ...base, input, alive: row['alive'] === true, ...forMs };
  }
  if (input === 'toolReset') return { ...base, input, tool: text(row['tool'], `${at}.tool`) };
  if (input === 'fired' || input === 'retriesStopped') {
    const call = integer(row['call'], `${at}.call`, 1);
    return input === 'fired'
      ? { ...base, input, call, rule: text(row['rule'], `${at}.rule`) }
      : { ...base, input, call };
  }
  if (input === 'isolated' || input === 'released')
    return {
      ...base,
      input,
      hold: integer(row['hold'], `${at}.hold`, 1),
      ...optional(row, 'tool', (value) => text(value, `${at}.tool`)),
    };
  if (input !== 'crashed') return { ...base, input };
  return { ...base, input, failure: failureOf(row['failure'], `${at}.failure`), quietly: row['quietly'] === true };
}

function ofCall(row: Fields, at: string, { limits, retries }: Places): FlightOfCall {
  const name = (key: string) => optional(row, key, (value) => text(value, `${at}.${key}`));
  const place = (key: string, most: number) =>
    optional(row, key, (value) => {
      const number = integer(value, `${at}.${key}`, 0);
      if (number >= most) throw new Wrong(`${at}.${key}: there is no place ${number}`);
      return number;
    });
  return {
    call: integer(row['call'], `${at}.call`, 1),
    arrivedAt: time(row['arrivedAt'], `${at}.arrivedAt`),
    ...name('tool'),
    ...name('label'),
    ...name('session'),
    ...name('sessionCall'),
    ...name('scope'),
    ...optional(row, 'effect', (value) => choice(value, `${at}.effect`, ['readOnly', 'idempotent', 'mutating'])),
    ...place('limits', limits),
    ...place('ownLimits', limits),
    ...place('retry', retries),
    ...(row['isStream'] === true && { isStream: true }),
    ...(row['hasFallback'] === true && { hasFallback: true }),
    ...(row['isProbe'] === true && { isProbe: true }),
  };
}

function failureOf(given: unknown, at: string): RecordedFailure {
  const row = fields(given, at);
  const number = (key: string) => optional(row, key, (value) => time(value, `${at}.${key}`));
  const { code } = row;
  return {
    kind: choice(row['kind'], `${at}.kind`, Object.keys(failureKinds) as (keyof typeof failureKinds)[]),
    message: text(row['message'], `${at}.message`),
    outcome: choice(row['outcome'], `${at}.outcome`, [
      'not_started',
      'failed',
      'unknown',
      'cancelled',
      'done',
      'not_done',
    ]),
    ...optional(row, 'reason', (value) =>
      choice(value, `${at}.reason`, Object.keys(failureReasons) as (keyof typeof failureReasons)[]),
    ),
    ...optional(row, 'how', (value) => text(value, `${at}.how`)),
    ...number('retryAfterMs'),
    ...number('probeAfterMs'),
    ...number('status'),
    ...(typeof row['shouldRetry'] === 'boolean' && { shouldRetry: row['shouldRetry'] }),
    ...(row['leaves'] === 'lost' && { leaves: 'lost' as const }),
    ...(row['resumable'] === true && { resumable: true }),
    ...(row['alerts'] === false && { alerts: false }),
    ...((typeof code === 'string' || typeof code === 'number') && { code }),
    ...optional(row, 'breaker', (value) => choice(value, `${at}.breaker`, ['failure', 'alive', 'ignored'])),
  };
}

function eventOf(given: unknown, at: string): IncidentEvent {
  const { at: when, category, type, metadata } = fields(given, at);
  return {
    at: time(when, `${at}.at`),
    category: text(category, `${at}.category`),
    type: text(type, `${at}.type`),
    metadata: fields(metadata, `${at}.metadata`),
  };
}

function watchdogOf(given: unknown, at: string): SessionLimits {
  const row = fields(given, at);
  const limit = (key: keyof SessionLimits): number => {
    const ms = row[key];
    if (typeof ms !== 'number' || !(ms > 0))
      throw new Wrong(`${at}.${key}: expected a duration above 0, got ${show(ms)}`);
    return ms;
  };
  return {
    toolCallMs: limit('toolCallMs'),
    turnMs: limit('turnMs'),
    releaseMs: limit('releaseMs'),
    recoveryMs: limit('recoveryMs'),
  };
}

function fields(value: unknown, at: string): Fields {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new Wrong(`${at}: expected an object, got ${show(value)}`);
  return value as Fields;
}

function list(value: unknown, at: string, most: number): readonly unknown[] {
  if (!Array.isArray(value)) throw new Wrong(`${at}: expected a list, got ${show(value)}`);
  if (value.length > most) throw new Wrong(`${at}: ${value.length} entries are more than ${most}`);
  return value;
}

function text(value: unknown, at: string): string {
  if (typeof value !== 'string' || value.length > longestText)
    throw new Wrong(`${at}: expected a text, got ${show(value)}`);
  return value;
}

function time(value: unknown, at: string): number {
  if (typeof value !== 'number' || !(value >= 0) || value > 1e14)
    throw new Wrong(`${at}: expected a time or number, got ${show(value)}`);
  return value;
}

function anyNumber(value: unknown, at: string): number {
  if (typeof value !== 'number' || Number.isNaN(value)) throw new Wrong(`${at}: expected a number, got ${show(value)}`);
  return value;
}

function integer(value: unknown, at: string, least: number): number {
  if (!Number.isSafeInteger(value) || (value as number) < least)
    throw new Wrong(`${at}: expected an integer of at least ${least}, got ${show(value)}`);
  return value as number;
}

function choice<const T extends string>(value: unknown, at: string, all: readonly T[]): T {
  if (!all.includes(value as T)) throw new Wrong(`${at}: expected one of ${all.join(', ')}, got ${show(value)}`);
  return value as T;
}

/** A field that may be missing. */
function optional<K extends string, T>(row: Fields, key: K, read: (value: unknown) => T): { readonly [P in K]?: T } {
  const value = row[key];
  return (value === undefined ? {} : { [key]: read(value) }) as { readonly [P in K]?: T };
}

function timeOf(row: FlightRow): number {
  return 'arrivedAt' in row ? row.arrivedAt : row.at;
}
