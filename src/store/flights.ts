import type {
  FlightReason,
  FlightRecord,
  IntegrationTraits,
  KeptPolicy,
  PolicyRow,
  SessionLimits,
} from '../policy/records/flight.ts';
import type { IntegrationPolicy } from '../policy/policy.ts';
import { parseMetadata } from './events.ts';

/** Records of one integration that are kept; one more drops the oldest. */
export const mostFlights = 100;

/** Between the run of a gateway and what tells apart integrations of one name that it had one after the other. */
export const runSeparator = '/';

/** The run of a gateway, by that of an integration. */
export function gatewayOf(run: string | undefined): string | undefined {
  return run?.split(runSeparator)[0];
}

/** Query for records; what is left out does not narrow. */
export interface FlightQuery {
  readonly integration?: string | undefined;
  /** Written at it or later; wall time in ms since the epoch. */
  readonly since?: number | undefined;
}

/** The last attempts of integrations, as their recorders gave them, and the policies that were in force. Nothing here throws. */
export interface FlightRecords {
  /** Keeps a record and what was in force, with the commit of this turn. Both must be without secrets. */
  add(record: FlightRecord, policies: readonly PolicyRow[]): void;
  /** Keeps what is in force, likewise. */
  keep(policies: readonly PolicyRow[]): void;
  /** Oldest first. Rejects never; empty while the store cannot be read. */
  read(query: FlightQuery): Promise<readonly FlightRecord[]>;
  /** As {@link read}. */
  policies(): Promise<readonly PolicyRow[]>;
}

/** `Infinity` is no JSON; what is a time or a limit may be that. */
export function flightText(value: unknown): string {
  return JSON.stringify(value, (_, each: unknown) => (each === Number.POSITIVE_INFINITY ? 'Infinity' : each));
}

/** Reads what {@link flightText} wrote; gives an empty object for what is none. */
function readFlightText(text: unknown): Readonly<Record<string, unknown>> {
  return withInfinity(parseMetadata(text)) as Readonly<Record<string, unknown>>;
}

/** The policy that {@link flightText} wrote; undefined for what is none. */
function readPolicyText(text: unknown): KeptPolicy | undefined {
  const { of, policy, traits, watchdog } = readFlightText(text);
  if (of === 'session' && isObject(watchdog)) return { of, watchdog: watchdog as SessionLimits };
  if (of !== 'integration' || !isObject(policy) || !isObject(traits)) return undefined;
  return { of, policy: policy as IntegrationPolicy, traits: traits as IntegrationTraits };
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Gives back what `Infinity` became in {@link flightText}. */
export function withInfinity(value: unknown, key = ''): unknown {
  if (value === 'Infinity' && key.endsWith('Ms')) return Number.POSITIVE_INFINITY;
  if (Array.isArray(value)) return value.map((each) => withInfinity(each));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, withInfinity(each, name)]));
}

/** The identity of a policy: the same name and content is the same row. */
export function policyKey(kept: KeptPolicy): string {
  return flightText(kept);
}

/** By this a record names the policy that was in force. */
export function policyMark(kept: KeptPolicy): string {
  const { createHash } = process.getBuiltinModule('node:crypto');
  return createHash('sha256').update(policyKey(kept)).digest('hex').slice(0, 12);
}

/** The record in a row; none of what somebody damaged. */
export function flightsIn(row: Readonly<Record<string, unknown>>): FlightRecord[] {
  const { rows, limits, retries, missed, policy } = readFlightText(row['record']);
  if (![rows, limits, retries].every(Array.isArray)) return [];
  const record = { rows, limits, retries, missed: Number(missed) || 0 } as Pick<
    FlightRecord,
    'rows' | 'limits' | 'retries' | 'missed'
  >;
  return [
    {
      ...record,
      integration: String(row['integration']),
      run: String(row['run']),
      pid: Number(row['pid']),
      at: Number(row['at']),
      because: String(row['because']) as FlightReason,
      ...(typeof policy === 'string' && { policy }),
    },
  ];
}

/** The same of a policy. */
export function policiesIn(row: Readonly<Record<string, unknown>>): PolicyRow[] {
  const kept = readPolicyText(row['policy']);
  if (kept === undefined) return [];
  return [{ name: String(row['name']), kept, since: Number(row['since']), seenAt: Number(row['seen_at']) }];
}
