import { type RateGrant, type RateLevels, type RateOrder, takeFrom } from '../src/policy/face.ts';
import { type RateStates, bucketOf, forgetRatesMs, levelsIn } from '../src/store/face.ts';
import type { BatchRows } from './batch.ts';
import { type RowStatement, rowsOf } from './rowStatement.ts';
import type { PgDatabase } from './pgDatabase.ts';
import type { PgRow } from './pgDriver.ts';
import { changedSince, type SharedRows } from './sharedRows.ts';

const rank = 2;

/** A row that is there can be locked. */
const enter: RowStatement = {
  name: 'enter_rate',
  rank,
  text: `WITH ${rowsOf('name text')} INSERT INTO uw.rate (name) SELECT name FROM w ORDER BY name ON CONFLICT DO NOTHING`,
};
const lock: RowStatement = {
  name: 'lock_rate',
  rank,
  text: `WITH ${rowsOf('name text')}
    SELECT w.ord, r.levels FROM w JOIN uw.rate r ON r.name = w.name ORDER BY r.name FOR UPDATE OF r`,
};
const keep: RowStatement = {
  name: 'keep_rate',
  rank,
  text: `WITH ${rowsOf('name text, levels text, at bigint')}
    UPDATE uw.rate AS r SET levels = w.levels, at = w.at, xid = pg_current_xact_id() FROM w WHERE r.name = w.name`,
};
const forget: RowStatement = {
  name: 'forget_rates',
  rank,
  text: `WITH ${rowsOf('before bigint')} DELETE FROM uw.rate AS r USING w WHERE r.at > 0 AND r.at < w.before`,
};

/** Note of what was spent or told here, and is not in the database yet. */
interface Note {
  readonly order: RateOrder;
  readonly wallNow: number;
}

interface Bucket {
  levels: RateLevels;
  at: number;
  readonly notes: Set<Note>;
}

/**
 * Buckets of rate limits by a local copy: a call waits for nothing. What is taken here is subtracted from the shared bucket behind; what others have
 * taken is known up to a second later. Until then each node may take what it sees: together no more than the content of one bucket a node, which is
 * then owed to the limit by all.
 */
export class PgRates implements RateStates, SharedRows {
  readonly changes = changedSince('rate', 'name, levels, at');
  readonly #database: PgDatabase;
  readonly #buckets = new Map<string, Bucket>();
  /** Rates that were changed here since the last look began. */
  #changed = new Set<string>();

  constructor(database: PgDatabase) {
    this.#database = database;
  }

  draw(key: string, order: RateOrder, wallNow: number): RateGrant {
    const name = bucketOf(key);
    const known = this.#buckets.get(name);
    const grant = takeFrom(known?.levels ?? {}, order, wallNow);
    const names = Object.keys(grant.levels);
    if (names.length === 0) return grant;
    const spent = names.map((of) => [of, grant.granted ? (order.costs[of] ?? 0) + (grant.spare[of] ?? 0) : 0] as const);
    const { learned, capacities } = order;
    const debts = Object.fromEntries(spent.map(([of, cost]) => [of, cost + (order.debts?.[of] ?? 0)]));
    this.#note(name, known, grant.levels, { capacities, learned, debts }, wallNow);
    return grant;
  }

  note(key: string, order: RateOrder, wallNow: number): void {
    this.draw(key, order, wallNow);
  }

  begin(): void {
    this.#changed = new Set([...this.#buckets].flatMap(([name, { notes }]) => (notes.size > 0 ? [name] : [])));
  }

  /** Takes rows; one changed here brings back what others had taken when it was written; they may have taken more since. */
  take(rows: readonly PgRow[]): 'done' | 'again' {
    let isPartial = false;
    for (const row of rows) {
      const name = String(row['name']);
      if (this.#changed.has(name)) {
        isPartial = true;
        continue;
      }
      this.#buckets.set(name, {
        levels: levelsIn(String(row['levels'])) ?? {},
        at: Number(row['at']),
        notes: new Set(),
      });
    }
    return isPartial ? 'again' : 'done';
  }

  #forget(wallNow: number): void {
    for (const [name, { at }] of this.#buckets) if (at < wallNow - forgetRatesMs) this.#buckets.delete(name);
  }

  #note(
    name: string,
    known: Bucket | undefined,
    levels: RateLevels,
    spent: Pick<RateOrder, 'capacities' | 'learned' | 'debts'>,
    wallNow: number,
  ): void {
    if (known === undefined) this.#forget(wallNow);
    const bucket: Bucket = known ?? { levels, at: wallNow, notes: new Set() };
    Object.assign(bucket, { levels, at: wallNow });
    this.#buckets.set(name, bucket);
    const note: Note = { order: { ...spent, costs: {}, spare: 0, patienceMs: Number.POSITIVE_INFINITY }, wallNow };
    bucket.notes.add(note);
    this.#changed.add(name);
    if (bucket.notes.size > 1) return;
    let written: readonly Note[] = [];
    let shared: RateLevels | undefined;
    const write = (): void =>
      this.#database.write({
        run: async (batch) => {
          written = [...bucket.notes];
          shared = await takeShared(batch, name, written, known === undefined);
        },
        committed: () => {
          for (const one of written) bucket.notes.delete(one);
          if (shared !== undefined) bucket.levels = afterNotes(shared, bucket.notes);
          if (bucket.notes.size > 0) write();
        },
      });
    write();
  }
}

/** Subtracts what was spent here from the shared bucket. @returns what is left. */
async function takeShared(
  batch: BatchRows,
  name: string,
  notes: readonly Note[],
  isNew: boolean,
): Promise<RateLevels | undefined> {
  const last = notes.at(-1);
  if (last === undefined) return undefined;
  const forgotten = isNew ? batch.row(forget, 'old rates', [Math.round(last.wallNow) - forgetRatesMs]) : undefined;
  const [[row]] = await Promise.all([lockRow(batch, name), forgotten]);
  const levels = afterNotes(levelsIn(String(row?.['levels'])) ?? {}, notes);
  await batch.row(keep, keyOf(name), [name, JSON.stringify(levels), Math.round(last.wallNow)]);
  return levels;
}

function afterNotes(levels: RateLevels, notes: Iterable<Note>): RateLevels {
  let left = levels;
  for (const { order, wallNow } of notes) left = takeFrom(left, order, wallNow).levels;
  return left;
}

async function lockRow(batch: BatchRows, name: string): Promise<readonly PgRow[]> {
  const [, locked] = await Promise.all([batch.row(enter, keyOf(name), [name]), batch.row(lock, keyOf(name), [name])]);
  return locked;
}

const keyOf = (name: string): string => `rate ${name}`;
