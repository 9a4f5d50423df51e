import type { Database, SqlRow } from './database.ts';
import { refuseOlderRuns } from './olderRuns.ts';
import { declared } from '../tables/declared.ts';
import { tablesInFile } from '../tables/schema.ts';
import { MovedError, NewerSchemaError, OlderSchemaError } from './trouble.ts';

/** Marks a file as ours ("unwd"), in SQLite's own header field for that. */
const applicationId = 0x756e7764;

/** A later version changes what is there, in order and forward only, and has the next number: that of a new table, or of a change in {@link migrate}. */
export const knownVersion = Math.max(16, ...declared.map(([, { since }]) => since?.file ?? 0));
/** Oldest version whose tables have the columns of now. Those before it were of builds that were never released. */
const oldestVersion = 13;

/** Makes what is not there. Each write to a session carries the fence it was claimed with; a claim by another runtime raises it. */
const createOurs = `${tablesInFile}
CREATE INDEX IF NOT EXISTS unwedge_calls_pending ON unwedge_calls (runtime) WHERE state = 'pending';
CREATE TABLE IF NOT EXISTS unwedge_sessions (id TEXT PRIMARY KEY, owner TEXT, fence INTEGER NOT NULL) STRICT;`;

const createEvents = (name: EventTable['name']): string => `CREATE TABLE ${name} (
  id INTEGER PRIMARY KEY,
  timestamp INTEGER NOT NULL,
  category TEXT NOT NULL,
  event_type TEXT NOT NULL,
  metadata TEXT NOT NULL
) STRICT;
CREATE INDEX unwedge_events_by_time ON ${name} (timestamp);`;

/** Above every version that there will be: earlier versions of this package refuse the file as well. */
const movedVersion = 1_000_000;

/** Makes a new file say where what was at its path has gone. @param place - without a password. @param at - wall time in ms. */
export function markAsMoved(database: Database, place: string, at: number): void {
  database.exec('CREATE TABLE unwedge_moved (place TEXT NOT NULL, at INTEGER NOT NULL) STRICT');
  database.prepare('INSERT INTO unwedge_moved (place, at) VALUES (?, ?)').run(place, at);
  database.exec(`PRAGMA application_id = ${applicationId}; PRAGMA user_version = ${movedVersion}`);
}

interface EventTable {
  readonly name: 'events' | 'unwedge_events';
  readonly exists: boolean;
}

export interface Schema {
  /** True where the file is ours alone. */
  readonly ours: boolean;
  /** Table of events: `events`, or `unwedge_events` in a foreign database without a table we can use. */
  readonly eventTable: EventTable['name'];
  /** True where nothing of ours was in it before it was opened. */
  readonly isNew: boolean;
}

/**
 * Makes a database ready for writing. Our own database gets WAL and `user_version`. A database with tables and without our mark is
 * somebody else's: it gets our tables as `unwedge_*`, with their version in `unwedge_meta`. We use its `events` as they are, and touch
 * nothing else. An up-to-date database is only read, so that opening it waits for no lock.
 * @throws {@link NewerSchemaError}, {@link OlderSchemaError}, or what SQLite reports.
 */
export function prepareSchema(database: Database, synchronous: 'NORMAL' | 'FULL'): Schema {
  let ours = isOurs(database);
  // First of all: of one that is too new nothing is changed, its journal mode included.
  const version = versionOf(database, ours);
  if (ours) database.exec('PRAGMA journal_mode = WAL');
  // Without WAL anything below FULL can lose the file of somebody else to a power cut.
  if (database.prepare('PRAGMA journal_mode').get()?.['journal_mode'] === 'wal') {
    database.exec(`PRAGMA synchronous = ${synchronous}`);
  }
  if (version < knownVersion) {
    database.immediate(() => {
      // Looked at again behind the lock: another process may have been faster, and it may not be one of ours.
      ours = isOurs(database);
      migrate(database, ours);
    });
  }
  return { ours, eventTable: findEventTable(database, ours).name, isNew: version === 0 };
}

const keptOfBreakers =
  'name, state, opened_at, open_until, last_open_ms, openings, failures, generation, cause, paused_at, paused_until';

/** Columns that came with 16. */
const laterColumns = [
  ['unwedge_calls', 'message', 'INTEGER'],
  ['unwedge_messages', 'outcome', 'TEXT'],
] as const;

function migrate(database: Database, ours: boolean): void {
  const version = versionOf(database, ours);
  if (version < knownVersion && hasTable(database, 'unwedge_runtimes')) refuseOlderRuns(database);
  const events = findEventTable(database, ours);
  // Until 14 its columns had no defaults.
  const hadBreakers = version > 0 && version < 14 && hasTable(database, 'unwedge_breakers');
  if (hadBreakers) database.exec('ALTER TABLE unwedge_breakers RENAME TO unwedge_breakers_old');
  for (const [table, column, type] of laterColumns) {
    const has = database.prepare('SELECT 1 FROM pragma_table_info(?) WHERE name = ?').get(table, column);
    if (hasTable(database, table) && has === undefined)
      database.exec(`ALTER TABLE ${table} ADD COLUMN ${column} ${type}`);
  }
  if (!events.exists) database.exec(createEvents(events.name));
  database.exec(createOurs);
  if (hadBreakers) {
    database.exec(
      `INSERT INTO unwedge_breakers (${keptOfBreakers}) SELECT ${keptOfBreakers} FROM unwedge_breakers_old`,
    );
    database.exec('DROP TABLE unwedge_breakers_old');
  }
  if (ours) {
    database.exec(`PRAGMA application_id = ${applicationId}; PRAGMA user_version = ${knownVersion}`);
    return;
  }
  database.exec('CREATE TABLE IF NOT EXISTS unwedge_meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT');
  database
    .prepare(
      `INSERT INTO unwedge_meta (key, value) VALUES ('version', ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value`,
    )
    .run(String(knownVersion));
}

/** Tells whether the database carries our mark, or nothing at all yet. */
export function isOurs(database: Database): boolean {
  const mark = database.prepare('PRAGMA application_id').get()?.['application_id'];
  if (mark === applicationId) return true;
  return mark === 0 && database.prepare('SELECT 1 FROM sqlite_schema LIMIT 1').get() === undefined;
}

function versionOf(database: Database, ours: boolean): number {
  const { version, known } = versionsOf(database, ours);
  if (version > known) throw new NewerSchemaError(version, known);
  refuseTooOld(version);
  return version;
}

/** Tells whether no gateway of this version can use it. */
export const isTooOld = (version: number): boolean => version > 0 && version < oldestVersion;

/** @throws {@link OlderSchemaError} for a version that cannot be brought forward, nor read. */
export function refuseTooOld(version: number): void {
  if (isTooOld(version)) throw new OlderSchemaError(version, oldestVersion);
}

/** The version of the schema that a database has, 0 for none, and the one that is known here. @throws {@link MovedError} */
export function versionsOf(database: Database, ours: boolean): { readonly version: number; readonly known: number } {
  const version = ours
    ? Number(database.prepare('PRAGMA user_version').get()?.['user_version'])
    : hasTable(database, 'unwedge_meta')
      ? Number(database.prepare(`SELECT value FROM unwedge_meta WHERE key = 'version'`).get()?.['value'] ?? 0)
      : 0;
  if (ours && version === movedVersion) {
    const moved = database.prepare('SELECT place, at FROM unwedge_moved').get();
    throw new MovedError(String(moved?.['place']), Number(moved?.['at']));
  }
  return { version, known: knownVersion };
}

/** Tells whether what was made by an earlier version has to be changed before it can be used. */
export function isOutdated(database: Database): boolean {
  const { version, known } = versionsOf(database, isOurs(database));
  return version > 0 && version < known && hasTable(database, 'unwedge_runtimes');
}

/** The table of events: in a foreign database its `events`, if an insert of our four columns can succeed there. */
export function findEventTable(database: Database, ours: boolean): EventTable {
  if (hasTable(database, 'unwedge_events')) return { name: 'unwedge_events', exists: true };
  if (ours) return { name: 'events', exists: hasTable(database, 'events') };
  return fitsOurRows(database) ? { name: 'events', exists: true } : { name: 'unwedge_events', exists: false };
}

const columns = ['timestamp', 'category', 'event_type', 'metadata'];

function fitsOurRows(database: Database): boolean {
  if (!hasTable(database, 'events')) return false;
  const found = database.prepare(`SELECT name, type, "notnull", dflt_value, pk FROM pragma_table_info('events')`).all();
  const names = found.map((column) => String(column['name']));
  const needed = found.filter((column) => column['notnull'] === 1 && column['dflt_value'] === null && !isRowId(column));
  return (
    columns.every((name) => names.includes(name)) && needed.every((column) => columns.includes(String(column['name'])))
  );
}

function isRowId(column: SqlRow): boolean {
  return column['pk'] === 1 && String(column['type']).toUpperCase() === 'INTEGER';
}

/** Tells whether a database has this table: one of an earlier version, or of OpenClaw alone, may not. */
export function hasTable(database: Database, name: string): boolean {
  return database.prepare(`SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?`).get(name) !== undefined;
}
