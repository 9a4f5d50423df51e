import { boundedJson } from '../../policy/text/storedJson.ts';
import { readBreakerCause } from '../../policy/records/breakerCause.ts';
import { neverOpened, type PersistedBreaker } from '../../policy/records/persistedBreaker.ts';
import type { BreakerStates } from '../breakers.ts';
import { parseMetadata } from '../events.ts';

/** A breaker, and the lease on its next probe. */
interface MemoryBreaker {
  row: PersistedBreaker;
  lease?: { readonly owner: string; readonly until: number } | undefined;
}

/** Breakers in memory, by the rules of the file: all of them, or the copy of those that others have too. */
export class MemoryBreakers implements BreakerStates {
  readonly #breakers = new Map<string, MemoryBreaker>();
  /** True where others have changed one that nobody has asked about since. */
  #isNews = false;

  load(name: string): PersistedBreaker | undefined {
    return this.#breakers.get(name)?.row;
  }

  save(name: string, breaker: PersistedBreaker): void {
    const kept = this.#breakers.get(name);
    if (kept !== undefined && breaker.generation < kept.row.generation) return;
    const { cause } = breaker;
    const clean = cause === undefined ? undefined : readBreakerCause(parseMetadata(boundedJson({ ...cause })));
    const { pausedAt, pausedUntil } = breaker.state === 'open' ? (kept?.row ?? breaker) : neverOpened;
    const row = { ...breaker, pausedAt, pausedUntil };
    this.#breakers.set(name, { row: cause === undefined ? row : { ...row, cause: clean } });
  }

  countFailure(name: string, generation: number): number {
    const failures = (this.load(name)?.failures ?? 0) + 1;
    return this.#setFailures(name, generation, failures) ? failures : 0;
  }

  saveFailures(name: string, generation: number, failures: number): void {
    this.#setFailures(name, generation, failures);
  }

  pause(name: string, at: number, until: number): void {
    const kept = this.#breakers.get(name) ?? { row: neverOpened };
    if ((kept.row.pausedUntil ?? 0) >= until) return;
    kept.row = { ...kept.row, pausedAt: at, pausedUntil: until };
    this.#breakers.set(name, kept);
  }

  /** Takes what others have made of it. */
  adopt(name: string, { row, lease }: Readonly<MemoryBreaker>): void {
    this.#isNews ||= JSON.stringify(this.load(name)) !== JSON.stringify(row);
    this.#breakers.set(name, { row, lease });
  }

  changedElsewhere(): ReadonlyMap<string, PersistedBreaker> | undefined {
    if (!this.#isNews) return undefined;
    this.#isNews = false;
    return new Map([...this.#breakers].map(([name, { row }]) => [name, row]));
  }

  claimProbe(name: string, generation: number, owner: string, leaseMs: number, wallNow: number): boolean {
    const kept = this.#breakers.get(name);
    if (kept === undefined) return true;
    const { row, lease } = kept;
    // Times too far ahead to be true are those of a wall clock that has stepped back since.
    const isFree =
      lease === undefined || lease.owner === owner || lease.until <= wallNow || lease.until > wallNow + 2 * leaseMs;
    const isDue = row.openUntil <= wallNow || row.openUntil > wallNow + row.lastOpenMs;
    if (!isFree || (row.generation > generation && row.state === 'open' && !isDue)) return false;
    kept.lease = { owner, until: wallNow + leaseMs };
    return true;
  }

  probeHolder(name: string): string | undefined {
    return this.#breakers.get(name)?.lease?.owner;
  }

  releaseProbe(name: string, owner: string): void {
    const kept = this.#breakers.get(name);
    if (kept?.lease?.owner === owner) kept.lease = undefined;
  }

  /** False: the circuit is of another generation, or open. */
  #setFailures(name: string, generation: number, failures: number): boolean {
    const kept = this.#breakers.get(name) ?? { row: { ...neverOpened, generation } };
    if (kept.row.generation !== generation || kept.row.state === 'open') return false;
    kept.row = { ...kept.row, failures };
    this.#breakers.set(name, kept);
    return true;
  }
}
