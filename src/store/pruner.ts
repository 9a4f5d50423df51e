import type { Clock, Timer } from '../policy/clock.ts';
import type { Facts } from '../policy/facts/facts.ts';
import type { Retention } from '../policy/retention.ts';
import { type Statement, statement } from './dialect.ts';
import { declared } from './tables/declared.ts';

/** Time from the opening to the first pass, in ms: a start has other things to do. */
const firstPassMs = 60_000;
/** Between two passes, in ms: an hour, and less where less is kept, or what is to be gone in minutes would stay for an hour. */
export const passEveryMs = (maxAgeMs: number): number => Math.min(60 * 60_000, Math.max(firstPassMs, maxAgeMs / 4));
/** Between two steps, in ms, for others to have their turn. */
const stepPauseMs = 20;
/** Younger events are kept whatever the size of the store, in ms. */
const leastEventAgeMs = 60_000;
/** The same for what is kept of sessions: it is their history. */
const leastSessionAgeMs = 24 * 60 * 60_000;
/** Time that one step may take of an event-loop turn, in ms. */
const stepMs = 5;

/** Result of one step. */
export interface Pruned {
  /** Rows it deleted. */
  readonly rows: number;
  /** True where there may be more. */
  readonly more: boolean;
  /** Time that it took of an event-loop turn, in ms. @defaultValue none: it is the server's */
  readonly tookMs?: number | undefined;
}

/** Deletes up to `most` rows of one kind that are older than `before`, wall time in ms. Undefined when the store is out of order. */
type Step = (before: number, most: number) => Promise<Pruned | undefined>;

/** An engine from which what is old is deleted, each step in a transaction of its own. It may reject: that ends a pass, and the next one goes on. */
export interface Prunable {
  /** Rows of the first step of a pass; then as many as fit {@link stepMs}, within bounds. */
  readonly stepRows: { readonly first: number; readonly least: number; readonly most: number };
  /** True where a little is deleted with the last commit: a file that is only opened for moments must not grow for ever. */
  readonly endsWithStep: boolean;
  /** Tells whether the pass is for this process to make. */
  takes(): Promise<boolean>;
  /** Bytes that the rows take; undefined when the store is out of order. @param gone - rows that were deleted since it was asked with 0. */
  bytes(gone: number): Promise<number | undefined>;
  readonly events: Step;
  /** By a statement with `before` and `most`. */
  rows(made: Statement, before: number, most: number): Promise<Pruned | undefined>;
  /** Deletes what ended of the next sessions behind `after`. @returns `next`: behind which to go on; undefined when there are no more. */
  sessions(
    after: string,
    before: number,
    most: number,
  ): Promise<(Omit<Pruned, 'more'> & { readonly next: string | undefined }) | undefined>;
  /** Rows of this engine alone that go by their age, whatever the size is: the age in ms that counts for each. */
  aged?(maxAgeMs: number): readonly (readonly [made: Statement, ageMs: number])[];
  stop?(): Promise<void>;
}

/** Rows of others that are written at this moment are left for the next time: nobody waits for them. @param before - condition on the row. */
export const pruned = (table: string, key: string, before: string): Statement =>
  statement(
    `prune_${table}`,
    'before bigint, most integer',
    `DELETE FROM uw.${table} WHERE (${key}) IN (
       SELECT ${key} FROM uw.${table} WHERE ${before} LIMIT :most {FOR UPDATE SKIP LOCKED|}) RETURNING 1 AS gone`,
  );
/** By the wall clocks that wrote the rows. */
const prunedAsDeclared = (history: boolean): readonly Statement[] =>
  declared.flatMap(([name, { key, prune }]) =>
    'old' in prune && (prune.history ?? false) === history ? [pruned(name, key, prune.old)] : [],
  );
const byAge = prunedAsDeclared(false);
const histories = prunedAsDeclared(true);

export interface PrunerParts {
  readonly engine: Prunable;
  readonly clock: Clock;
  /** Is told `store.pruned`. */
  readonly facts: Facts;
  readonly retention: Retention;
}

/** Deletes what is too old or too much: soon after the start and then by {@link passEveryMs}, in steps so small that nobody waits for them. */
export class Pruner {
  readonly #parts: PrunerParts;
  #timer: Timer | undefined = undefined;
  #hasBegun = false;
  #isStopped = false;

  constructor(parts: PrunerParts) {
    this.#parts = parts;
  }

  start(): void {
    this.#arm(firstPassMs);
  }

  /** Ends with the step that is under way. */
  async stop(): Promise<void> {
    const { engine, clock, retention } = this.#parts;
    clock.clearTimeout(this.#timer);
    const last = engine.endsWithStep && !this.#hasBegun ? this.#records() : [];
    for (const step of last) void step(this.#wallBefore(retention.maxAgeMs), engine.stepRows.first);
    this.#isStopped = true;
    await engine.stop?.();
  }

  /** Deletes now, if it is for this process to do. Never rejects. @returns whether it was. */
  async pass(): Promise<boolean> {
    const { engine, retention } = this.#parts;
    this.#hasBegun = true;
    try {
      if (!(await engine.takes())) return false;
      await this.#prune('age', [retention.maxAgeMs]);
      await this.#prune('size', agesBelow(retention.maxAgeMs));
    } catch {
      // The commits of the queue say what is wrong with the store.
    }
    return true;
  }

  #arm(delayMs: number): void {
    if (this.#isStopped) return;
    const go = (): void => void this.pass().then(() => this.#arm(passEveryMs(this.#parts.retention.maxAgeMs)));
    this.#timer = this.#parts.clock.setTimeout(go, delayMs, { ref: false });
  }

  /** Deletes what is older than the first age, then than the next, until the size is right; by age, whatever the size is. */
  async #prune(because: 'age' | 'size', ages: readonly number[]): Promise<void> {
    const { engine, clock, facts, retention } = this.#parts;
    const since = clock.now();
    const bytesBefore = (await engine.bytes(0)) ?? 0;
    let bytesAfter = bytesBefore;
    let rows = 0;
    for (const ageMs of ages) {
      if (because === 'size' && bytesAfter <= retention.maxBytes) break;
      rows += await this.#deleteOlder(ageMs, because);
      bytesAfter = (await engine.bytes(rows)) ?? 0;
    }
    if (rows === 0 || this.#isStopped) return;
    facts.tell({ type: 'store.pruned', rows, because, bytesBefore, bytesAfter, elapsedMs: clock.now() - since });
  }

  /** @returns the rows it deleted. */
  async #deleteOlder(ageMs: number, because: 'age' | 'size'): Promise<number> {
    const { engine } = this.#parts;
    const before = this.#wallBefore(ageMs);
    let rows = 0;
    for (const step of this.#records()) rows += await this.#repeat((most) => step(before, most));
    if (because === 'size' && ageMs < leastSessionAgeMs) return rows;
    for (const made of histories) rows += await this.#repeat((most) => engine.rows(made, before, most));
    let after = '';
    rows += await this.#repeat(async (most) => {
      const done = await engine.sessions(after, before, most);
      after = done?.next ?? after;
      return done && { ...done, more: done.next !== undefined };
    });
    if (because === 'size') return rows;
    for (const [made, age] of engine.aged?.(ageMs) ?? []) {
      rows += await this.#repeat((most) => engine.rows(made, age, most));
    }
    return rows;
  }

  #records(): readonly Step[] {
    const { engine } = this.#parts;
    const rows = byAge.map(
      (made): Step =>
        (before, most) =>
          engine.rows(made, before, most),
    );
    return [(before, most) => engine.events(before, most), ...rows];
  }

  #wallBefore(ageMs: number): number {
    return Math.round(this.#parts.clock.wallNow() - ageMs);
  }

  async #repeat(step: (most: number) => Promise<Pruned | undefined>): Promise<number> {
    const { first, least, most } = this.#parts.engine.stepRows;
    let rows = 0;
    let limit = first;
    while (!this.#isStopped) {
      const done = await step(limit);
      rows += done?.rows ?? 0;
      if (done?.more !== true) break;
      const { tookMs = stepMs } = done;
      if (tookMs > stepMs) limit = Math.max(least, Math.floor(limit / 2));
      else if (tookMs < stepMs / 4) limit = Math.min(most, limit * 2);
      await this.#pause();
    }
    return rows;
  }

  #pause(): Promise<void> {
    return new Promise((resolve) => {
      this.#timer = this.#parts.clock.setTimeout(resolve, stepPauseMs, { ref: false });
    });
  }
}

/** The ages by which a store is brought below its size: half of what is kept anyway, half of that, and so on. */
function agesBelow(maxAgeMs: number): readonly number[] {
  const ages: number[] = [];
  for (let ageMs = maxAgeMs / 2; ageMs >= leastEventAgeMs; ageMs /= 2) ages.push(ageMs);
  return ages;
}
