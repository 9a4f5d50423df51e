import type { Clock, Timer } from '../../policy/clock.ts';
import type { FactOf, Facts } from '../../policy/facts.ts';
import type { Retention } from '../../policy/retention.ts';
import { agesBelow, firstPassMs, leastSessionAgeMs, passEveryMs, stepPauseMs } from '../retentionPlan.ts';
import type { Database } from './database.ts';
import {
  pruneAlerts,
  pruneEvents,
  pruneFlights,
  pruneSession,
  pruneStatistics,
  type Pruned,
  usedBytes,
} from './prune.ts';
import type { Schema } from './schema.ts';
import type { StoreFile } from './storeFile.ts';

/** Time that one step may take of an event-loop turn, in ms. */
const stepMs = 5;
/** Rows of the first step of a pass; then as many as fit {@link stepMs}, within bounds. */
const firstRows = 100;
const leastRows = 10;
const mostRows = 500;
export interface RetentionParts {
  readonly file: StoreFile;
  readonly clock: Clock;
  /** Is told `store.pruned`. */
  readonly facts: Facts;
  readonly retention: Retention;
}

/** Deletes what is too old or too much: soon after the start and every hour, in steps so small that nobody waits for them. */
export interface Pruner {
  /** Stops; where no pass has begun, a little is deleted with the last commit: a file that is only opened for moments must not grow for ever. */
  stop(): void;
}

/** Step of a pass, which goes through them one after the other. It says whether there is more of the same. */
type Step = (database: Database, schema: Schema, limit: number) => Pruned;

export function startPruner({ file, clock, facts, retention }: RetentionParts): Pruner {
  let stopped = false;
  let hasBegun = false;
  let timer: Timer | undefined = clock.setTimeout(() => void pass(), firstPassMs, { ref: false });

  /** Never rejects. */
  async function pass(): Promise<void> {
    hasBegun = true;
    await prune('age', [retention.maxAgeMs]);
    await prune('size', agesBelow(retention.maxAgeMs));
    if (!stopped) timer = clock.setTimeout(() => void pass(), passEveryMs, { ref: false });
  }

  /** Deletes what is older than the first age, then than the next, until the size is right; by age, whatever the size is. */
  async function prune(because: 'age' | 'size', ages: readonly number[]): Promise<void> {
    const since = clock.now();
    const bytesBefore = await bytes();
    let bytesAfter = bytesBefore;
    let rows = 0;
    for (const ageMs of ages) {
      if (because === 'size' && (bytesAfter ?? 0) <= retention.maxBytes) break;
      rows += await deleteOlder(ageMs, because === 'age' || ageMs >= leastSessionAgeMs);
      bytesAfter = await bytes();
    }
    if (rows === 0 || stopped) return;
    const told: FactOf<'store.pruned'> = {
      type: 'store.pruned',
      rows,
      because,
      bytesBefore: bytesBefore ?? 0,
      bytesAfter: bytesAfter ?? 0,
      elapsedMs: clock.now() - since,
    };
    facts.tell(told);
  }

  /** @returns the rows it deleted. */
  async function deleteOlder(ageMs: number, sessionsToo: boolean): Promise<number> {
    const before = wallBefore(ageMs);
    const alerts: Step = (database, _schema, limit) => pruneAlerts(database, before, limit);
    const records = recordSteps(before);
    let after = '';
    const sessions: Step = (database, _schema, limit) => {
      const { rows, next } = pruneSession(database, after, before, limit);
      after = next ?? after;
      return { rows, more: next !== undefined };
    };
    let rows = 0;
    for (const step of sessionsToo ? [...records, alerts, sessions] : records) rows += await repeat(step);
    return rows;
  }

  function recordSteps(before: number): readonly Step[] {
    return [
      (database, schema, limit) => pruneEvents(database, schema, before, limit),
      (database, _schema, limit) => pruneStatistics(database, before, limit),
      (database, _schema, limit) => pruneFlights(database, before, limit),
    ];
  }

  function wallBefore(ageMs: number): number {
    return Math.round(clock.wallNow() - ageMs);
  }

  async function repeat(step: Step): Promise<number> {
    let rows = 0;
    let limit = firstRows;
    for (;;) {
      const { done, tookMs } = await inTransaction((database, schema) => step(database, schema, limit));
      rows += done?.rows ?? 0;
      if (done?.more !== true) return rows;
      if (tookMs > stepMs) limit = Math.max(leastRows, Math.floor(limit / 2));
      else if (tookMs < stepMs / 4) limit = Math.min(mostRows, limit * 2);
      await pause();
    }
  }

  /** In a database of somebody else the size is theirs: 0 says that it is not judged. */
  async function bytes(): Promise<number | undefined> {
    const { done } = await inTransaction((database, { ours }) => (ours ? usedBytes(database) : 0));
    return done;
  }

  /** `done` is undefined when the store is out of order, or being closed. */
  async function inTransaction<T>(
    work: (database: Database, schema: Schema) => T,
  ): Promise<{ readonly done: T | undefined; readonly tookMs: number }> {
    let tookMs = 0;
    const timed = (database: Database, schema: Schema): T => {
      const since = clock.now();
      const result = work(database, schema);
      tookMs = clock.now() - since;
      return result;
    };
    const done = stopped || file.degraded ? undefined : await file.transact(timed, { awaited: false });
    return { done, tookMs };
  }

  function pause(): Promise<void> {
    return new Promise((resolve) => {
      timer = clock.setTimeout(resolve, stepPauseMs, { ref: false });
    });
  }

  return {
    stop() {
      clock.clearTimeout(timer);
      const steps = hasBegun ? [] : recordSteps(wallBefore(retention.maxAgeMs));
      for (const step of steps) void inTransaction((database, schema) => step(database, schema, firstRows));
      stopped = true;
    },
  };
}
