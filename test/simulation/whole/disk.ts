import { createRequire } from 'node:module';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Database, Driver, DriverLoader } from '../../../src/store/sqlite/database.ts';
import { driverLoaders } from '../../../src/store/sqlite/driver.ts';
import { type RawDatabase, wrapDatabase } from '../../../src/store/sqlite/sqlConnection.ts';
import type { WholeWorld } from './wholeWorld.ts';

/** How a disk is doing: full, failing, locked by somebody else, slow, or torn in the middle of a commit. */
export type DiskMood = 'well' | 'full' | 'failing' | 'locked' | 'slow' | 'torn';
const moods: readonly DiskMood[] = ['well', 'well', 'full', 'failing', 'locked', 'slow', 'torn'];

interface Raw extends RawDatabase {
  serialize(): Buffer;
}
type Sqlite = new (file: string | Buffer) => Raw;

// Marks beside the database are files: in memory, where the machine has such a place.
const place = existsSync('/dev/shm') ? '/dev/shm' : tmpdir();
const directory = mkdtempSync(join(place, 'unwedge-whole-'));
process.on('exit', () => rmSync(directory, { recursive: true, force: true }));
const Connection = createRequire(import.meta.url)('better-sqlite3') as Sqlite;
let disks = 0;
/** The disk of the world that is played. */
let opens: (() => Database) | undefined;

const driver: Driver = { kind: 'better-sqlite3', open: () => (opens as () => Database)() };
const loader: DriverLoader = () => Promise.resolve(driver);
const loaders = driverLoaders as DriverLoader[];

/** Stores are opened by the system's drivers again. */
export function leaveDisk(): void {
  const at = loaders.indexOf(loader);
  if (at >= 0) loaders.splice(at, 1);
}

/** The file of the store, which outlives the hosts that open it: what is on it is what was committed, unless the disk lies about that. */
export class SimulatedDisk {
  readonly path = join(directory, `${++disks}.sqlite`);
  mood: DiskMood = 'well';
  /** Since when commits may be lost, by a disk that lied about them and a power cut; undefined while none was. */
  lostSince: number | undefined = undefined;
  readonly #world: WholeWorld;
  #raw: Raw = new Connection(':memory:');
  /** What is on the plate, of a disk that says that all is. */
  #synced: { readonly content: Buffer; readonly at: number } | undefined;

  constructor(world: WholeWorld) {
    this.#world = world;
    opens = () => this.open();
    if (!loaders.includes(loader)) loaders.unshift(loader);
  }

  get isWell(): boolean {
    return this.mood === 'well';
  }

  changeMood(): void {
    this.mood = this.#world.chance.pick(moods);
    this.#world.trace.note(`the disk is ${this.mood}`);
  }

  /** A database of one life of the host; one that is dead writes nothing. */
  open(): Database {
    const life = this.#world.host;
    const database = wrapDatabase(this.#raw, this.path);
    const alive = (): void => {
      if (life?.isAlive !== true) throw Object.assign(new Error('the process is dead'), { code: 'SQLITE_IOERR' });
    };
    const reads = (): void => {
      alive();
      if (this.mood === 'failing') throw trouble('SQLITE_IOERR', 'disk I/O error');
    };
    return {
      exec(sql) {
        reads();
        database.exec(sql);
      },
      prepare(sql) {
        reads();
        return database.prepare(sql);
      },
      immediate: (work) => {
        reads();
        return this.#commit(database, work, alive);
      },
      close: () => undefined,
    };
  }

  /** The power is cut: of what a lying disk had said to be there the last may be gone. */
  cutPower(): void {
    const synced = this.#synced;
    if (synced === undefined) return;
    this.#world.trace.note(`the disk had lied: what was committed since ${synced.at} is gone`);
    this.lostSince = Math.min(this.lostSince ?? synced.at, synced.at);
    this.#raw = new Connection(synced.content);
    this.#synced = undefined;
  }

  /** From here on nothing that is said to be on the plate is. */
  lie(): void {
    this.#synced = { content: this.#raw.serialize(), at: this.#world.clock.now() };
  }

  rows(text: string): readonly Record<string, unknown>[] {
    try {
      return this.#raw.prepare(text).all() as Record<string, unknown>[];
    } catch {
      return [];
    }
  }

  #commit<T>(database: Database, work: () => T, alive: () => void): T {
    const { chance, host } = this.#world;
    const isHit = chance.happens(0.7);
    if (this.mood === 'full' && isHit) throw trouble('SQLITE_FULL', 'database or disk is full');
    if (this.mood === 'locked' && isHit) throw trouble('SQLITE_BUSY', 'database is locked');
    if (this.mood === 'slow' && isHit) this.#world.stall(chance.span(10, 2000));
    return database.immediate(() => {
      const result = work();
      if (this.mood === 'torn' && isHit) throw trouble('SQLITE_IOERR', 'disk I/O error');
      // The process may die in the middle of a commit: then there was none.
      host?.crossing();
      alive();
      return result;
    });
  }
}

const trouble = (code: string, message: string): Error => Object.assign(new Error(message), { code });
