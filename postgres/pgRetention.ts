import type { Clock, Timer } from '../src/policy/clock.ts';
import type { FactOf, Facts } from '../src/policy/facts.ts';
import type { Retention } from '../src/policy/retention.ts';
import { agesBelow, firstPassMs, leastSessionAgeMs, passEveryMs, stepPauseMs } from '../src/store/retentionPlan.ts';
import type { PgConnections, Transaction } from './pgConnections.ts';
import {
  keepChore,
  type Pruned,
  type PrunedTable,
  pruneSessions,
  pruneTable,
  takeChore,
  usedBytes,
} from './pgPrune.ts';

/** Rows of a step: a few ms of the server. */
const stepRows = 500;
/** A node that has been at it within so long has done it for all, in ms. */
const freshMs = passEveryMs / 2;
/** Runs of other machines that were not heard of for so long are gone, whatever else is kept, in ms. */
const goneMs = 24 * 60 * 60_000;

export interface PgRetentionParts {
  /** Its own: no commit waits for a step, and no step for a commit. */
  readonly connections: PgConnections;
  readonly clock: Clock;
  /** Is told `store.pruned`. */
  readonly facts: Facts;
  readonly retention: Retention;
}

type Step = (transaction: Transaction) => Promise<Pruned>;

/**
 * Deletes what is too old or too much: soon after the start and every hour, in small transactions, by one node for all that have the same `retention`.
 * A step that fails ends the pass; the next one goes on.
 */
export class PgPruner {
  readonly #parts: PgRetentionParts;
  readonly #name: string;
  #timer: Timer | undefined = undefined;
  #isStopped = false;

  constructor(parts: PgRetentionParts) {
    const { maxAgeMs, maxBytes } = parts.retention;
    this.#parts = parts;
    this.#name = `retention ${maxAgeMs} ${maxBytes}`;
  }

  start(): void {
    this.#arm(firstPassMs);
  }

  /** Ends with the step that is under way. */
  stop(): Promise<void> {
    this.#isStopped = true;
    this.#parts.clock.clearTimeout(this.#timer);
    return this.#parts.connections.close();
  }

  /** Ends at once: the server does not answer. */
  cut(): void {
    this.#parts.connections.cut();
  }

  /** Deletes now, unless another node has lately. Never rejects. @returns whether it was this node's to do. */
  async pass(): Promise<boolean> {
    const { connections, retention } = this.#parts;
    try {
      if (!(await connections.transaction((transaction) => takeChore(transaction, this.#name, freshMs)))) return false;
      await this.#prune('age', [retention.maxAgeMs]);
      await this.#prune('size', agesBelow(retention.maxAgeMs));
    } catch {
      // The commits of the queue say what is wrong with the database.
    }
    return true;
  }

  #arm(delayMs: number): void {
    if (this.#isStopped) return;
    const go = (): void => void this.pass().then(() => this.#arm(passEveryMs));
    this.#timer = this.#parts.clock.setTimeout(go, delayMs, { ref: false });
  }

  /** Deletes what is older than the first age, then than the next, until the size is right; by age, whatever the size is. */
  async #prune(because: 'age' | 'size', ages: readonly number[]): Promise<void> {
    const { connections, clock, facts, retention } = this.#parts;
    const since = clock.now();
    const { bytes: bytesBefore, perRow } = await connections.transaction(usedBytes);
    let rows = 0;
    const bytesAfter = (): number => Math.max(0, Math.round(bytesBefore - rows * perRow));
    for (const ageMs of ages) {
      if (because === 'size' && bytesAfter() <= retention.maxBytes) break;
      rows += await this.#deleteOlder(ageMs, because);
    }
    if (rows === 0 || this.#isStopped) return;
    const elapsedMs = clock.now() - since;
    const told: FactOf<'store.pruned'> = {
      ...{ type: 'store.pruned', rows, because, bytesBefore },
      ...{ bytesAfter: bytesAfter(), elapsedMs },
    };
    facts.tell(told);
  }

  /** @returns the rows it deleted. */
  async #deleteOlder(ageMs: number, because: 'age' | 'size'): Promise<number> {
    const before = Math.round(this.#parts.clock.wallNow() - ageMs);
    const of =
      (table: PrunedTable, than: number): Step =>
      (transaction) =>
        pruneTable(transaction, table, than, stepRows);
    let rows = 0;
    for (const table of ['event', 'statistic', 'flight', 'policy'] as const)
      rows += await this.#repeat(of(table, before));
    if (because === 'size' && ageMs < leastSessionAgeMs) return rows;
    rows += await this.#repeat(of('alert', before));
    let after = '';
    rows += await this.#repeat(async (transaction) => {
      const { rows: some, next } = await pruneSessions(transaction, after, before, stepRows);
      after = next ?? after;
      return { rows: some, more: next !== undefined };
    });
    if (because === 'size') return rows;
    rows += await this.#repeat(of('writer', ageMs));
    for (const table of ['runtime', 'child'] as const) rows += await this.#repeat(of(table, goneMs));
    return rows;
  }

  async #repeat(step: Step): Promise<number> {
    let rows = 0;
    for (;;) {
      if (this.#isStopped) return rows;
      const done = await this.#parts.connections.transaction(async (transaction) => {
        await keepChore(transaction, this.#name);
        return step(transaction);
      });
      rows += done.rows;
      if (!done.more) return rows;
      await this.#pause();
    }
  }

  #pause(): Promise<void> {
    return new Promise((resolve) => {
      this.#timer = this.#parts.clock.setTimeout(resolve, stepPauseMs, { ref: false });
    });
  }
}
