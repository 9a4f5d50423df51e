import { readBreakerCause } from '../policy/records/breakerCause.ts';
import type { PersistedBreaker } from '../policy/records/persistedBreaker.ts';
import { parseMetadata } from './events.ts';

/**
 * Circuit breakers between processes: what survives a restart, and which process may probe. All of it is on the hot path: synchronous, from the
 * engine where that takes microseconds, else from a local copy. Nothing here throws.
 */
export interface BreakerStates {
  /** Reads what is kept of a breaker, what was saved here and is not committed yet included; undefined when the store cannot be read. */
  load(name: string): PersistedBreaker | undefined;
  /** Keeps a breaker and ends its lease, with the commit of this turn. A row of a higher generation stays as it is. */
  save(name: string, breaker: PersistedBreaker): void;
  /**
   * Counts a failure for all processes that share the breaker. Returns how many there are in a row, this one included; 0 when
   * the circuit has changed since `generation`; undefined when the store cannot answer now: then it is counted with a later commit.
   */
  countFailure(name: string, generation: number): number | undefined;
  /** Keeps how many failures there are in a row, with the commit of this turn, unless the circuit has changed since `generation`. */
  saveFailures(name: string, generation: number, failures: number): void;
  /** Keeps that the other side asked not to be called from `at` to `until`, with the commit of this turn. Ends when the circuit closes. */
  pause(name: string, at: number, until: number): void;
  /**
   * Every breaker, where another process may have changed one since this was last asked; undefined where none has. Costs next to nothing then.
   */
  changedElsewhere(): ReadonlyMap<string, PersistedBreaker> | undefined;
  /**
   * Takes the lease on the next probe, for `leaseMs` from `wallNow`. False while another owner holds it, or while a row of a
   * higher generation says that the other side is not to be called yet: `load` it. Both pass by themselves. A store that
   * cannot answer allows the probe.
   */
  claimProbe(name: string, generation: number, owner: string, leaseMs: number, wallNow: number): boolean;
  /** The owner of the lease; undefined when there is none, or the store cannot answer. */
  probeHolder(name: string): string | undefined;
  /** Gives back a lease that `owner` holds. */
  releaseProbe(name: string, owner: string): void;
}

/** The breaker in a row. */
export function breakerIn(row: Readonly<Record<string, unknown>>): PersistedBreaker {
  const time = (value: unknown): number | undefined =>
    value === null || value === undefined ? undefined : Number(value);
  return {
    state: row['state'] === 'open' ? 'open' : 'closed',
    openedAt: Number(row['opened_at']),
    openUntil: Number(row['open_until']),
    lastOpenMs: Number(row['last_open_ms']),
    openings: Number(row['openings']),
    // A reader may meet a database of before, which has no such column.
    failures: Number(row['failures'] ?? 0),
    generation: Number(row['generation']),
    pausedUntil: time(row['paused_until']),
    pausedAt: time(row['paused_at']),
    cause: typeof row['cause'] === 'string' ? readBreakerCause(parseMetadata(row['cause'])) : undefined,
  };
}
