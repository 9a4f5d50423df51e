import { type RateGrant, type RateLevels, type RateOrder, takeFrom } from '../../policy/rateLimit.ts';
import { bucketOf, forgetRatesMs, levelsIn, type RateStates } from '../rates.ts';
import type { Database } from './database.ts';
import type { StoreFile } from './storeFile.ts';

/** Note of what is not in the file yet. */
interface Note {
  readonly order: RateOrder;
  readonly wallNow: number;
}

/** Buckets of rate limits in the file. */
export class SqliteRates implements RateStates {
  readonly #file: StoreFile;
  /** In the order of noting, by the name of the bucket. */
  readonly #notes = new Map<string, Set<Note>>();

  constructor(file: StoreFile) {
    this.#file = file;
  }

  draw(key: string, order: RateOrder, wallNow: number): RateGrant | undefined {
    const name = bucketOf(key);
    const notes = this.#notes.get(name);
    const grant = this.#file.ask((database) => {
      // A bucket that has no limit yet is only read: most who learn from answers are never told any.
      if (notes === undefined && asksNothing(order) && selectLevels(database, name) === undefined) {
        return takeFrom({}, order, wallNow);
      }
      return database.immediate(() => {
        // A draw in the turn in which something was noted is bound by that too.
        for (const note of notes ?? []) take(database, name, note.order, note.wallNow);
        return take(database, name, order, wallNow);
      });
    }, undefined);
    if (grant !== undefined) this.#notes.delete(name);
    return grant;
  }

  note(key: string, order: RateOrder, wallNow: number): void {
    const name = bucketOf(key);
    const note: Note = { order, wallNow };
    const notes = this.#notes.get(name) ?? new Set();
    this.#notes.set(name, notes.add(note));
    const isOpen = (): boolean => this.#notes.get(name)?.has(note) === true;
    this.#file.write({
      run: (database) => {
        if (isOpen()) take(database, name, order, wallNow);
      },
      committed: () => {
        if (!isOpen()) return;
        notes.delete(note);
        if (notes.size === 0) this.#notes.delete(name);
      },
    });
  }
}

function asksNothing({ capacities, learned = {} }: RateOrder): boolean {
  return Object.keys(capacities).length === 0 && Object.keys(learned).length === 0;
}

function take(database: Database, name: string, order: RateOrder, wallNow: number): RateGrant {
  const known = selectLevels(database, name);
  const grant = takeFrom(known ?? {}, order, wallNow);
  if (Object.keys(grant.levels).length === 0) return grant;
  const at = Math.round(wallNow);
  if (known === undefined) database.prepare('DELETE FROM unwedge_rates WHERE at < ?').run(at - forgetRatesMs);
  database
    .prepare(
      `INSERT INTO unwedge_rates (name, levels, at) VALUES (?, ?, ?)
       ON CONFLICT (name) DO UPDATE SET levels = excluded.levels, at = excluded.at`,
    )
    .run(name, JSON.stringify(grant.levels), at);
  return grant;
}

function selectLevels(database: Database, name: string): RateLevels | undefined {
  const text = database.prepare('SELECT levels FROM unwedge_rates WHERE name = ?').get(name)?.['levels'];
  return typeof text === 'string' ? levelsIn(text) : undefined;
}
