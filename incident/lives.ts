import type { FlightRecord } from '../src/policy/records/face.ts';
import { gatewayOf } from '../src/store/face.ts';
import { cameAt } from './incident.ts';
import type { FoundSubject } from './subject.ts';

/** Records of one name: those of the integration that an incident is about, and those of others. */
export interface Lives {
  readonly own: readonly FlightRecord[];
  /** Records of the same gateway, before or afterwards. */
  readonly others: readonly FlightRecord[];
  /** Records of another gateway, in this process or in another one. */
  readonly strangers: readonly FlightRecord[];
}

/**
 * Takes apart integrations of one name: of processes that share a database, of gateways of one process, and those that one gateway had one
 * after the other. Their calls have the same numbers.
 */
export function livesOf(name: string, { subject, run }: FoundSubject, flights: readonly FlightRecord[]): Lives {
  const named = flights.filter(({ integration }) => integration === name);
  const ofGateway = named.filter((record) => gatewayOf(record.run) === gatewayOf(run));
  const isOfSession = ({ rows }: FlightRecord): boolean =>
    rows.some((row) => 'session' in row && row.session === subject.id);
  const life = subject.kind === 'session' ? ofGateway.findLast(isOfSession)?.run : run;
  return {
    own: ofGateway.filter((record) => record.run === life),
    others: ofGateway.filter((record) => record.run !== life),
    strangers: named.filter((record) => gatewayOf(record.run) !== gatewayOf(run)),
  };
}

/** The time from the first to the last thing that records tell of; undefined where they tell of nothing. */
export function spanOf(records: readonly FlightRecord[]): { readonly from: number; readonly to: number } | undefined {
  if (records.length === 0) return undefined;
  const times = records.flatMap(({ at, rows }) => [at, ...rows.map(cameAt)]);
  return {
    from: times.reduce((one, other) => Math.min(one, other)),
    to: times.reduce((one, other) => Math.max(one, other)),
  };
}

/** Tells whether records tell of a time that others tell of too. */
export function overlap(one: readonly FlightRecord[], other: readonly FlightRecord[]): boolean {
  const [ours, theirs] = [spanOf(one), spanOf(other)];
  return ours !== undefined && theirs !== undefined && ours.from <= theirs.to && theirs.from <= ours.to;
}
