import type { Database, SqlRow } from './database.ts';
import { refuseOlderRuns } from './olderRuns.ts';
import { MovedError, NewerSchemaError } from './trouble.ts';

/** Marks a file as ours ("unwd"), in SQLite's own header field for that. */
const applicationId = 0x756e7764;

const createEvents = (name: string) => `CREATE TABLE ${name} (
  id INTEGER PRIMARY KEY,
  timestamp INTEGER NOT NULL,
  category TEXT NOT NULL,
  event_type TEXT NOT NULL,
  metadata TEXT NOT NULL
) STRICT;
CREATE INDEX unwedge_events_by_time ON ${name} (timestamp);`;

const createBreakers = `CREATE TABLE unwedge_breakers (
  name TEXT PRIMARY KEY,
  state TEXT NOT NULL CHECK (state IN ('closed', 'open')),
  opened_at INTEGER NOT NULL,
  open_until INTEGER NOT NULL,
  last_open_ms INTEGER NOT NULL,
  openings INTEGER NOT NULL,
  generation INTEGER NOT NULL,
  lease_until INTEGER,
  lease_owner TEXT
) STRICT;`;

/** Runs of a runtime, live or not yet found dead: whose children are whose, and where a live one is reached. */
const createRuntimes = `CREATE TABLE unwedge_runtimes (
  id TEXT PRIMARY KEY,
  pid INTEGER NOT NULL,
  process_start TEXT NOT NULL,
  started_at INTEGER NOT NULL,
  renewed_at INTEGER NOT NULL,
  name TEXT NOT NULL,
  socket TEXT
) STRICT;`;

/** Children that live; a row that outlives its owner names an orphan. A pid alone may be reused: the start time tells. */
const createChildren = `CREATE TABLE unwedge_children (
  pid INTEGER NOT NULL,
  process_start TEXT NOT NULL,
  mark TEXT NOT NULL,
  command TEXT NOT NULL,
  started_at INTEGER NOT NULL,
  owner_pid INTEGER NOT NULL,
  owner_start TEXT NOT NULL,
  PRIMARY KEY (pid, process_start)
) STRICT;`;

/** Owner of each session. A write carries the fence it was claimed with; a claim by another runtime raises it. */
const createSessions = `CREATE TABLE unwedge_sessions (
  id TEXT PRIMARY KEY,
  owner TEXT,
  fence INTEGER NOT NULL
) STRICT;`;

/** Messages of sessions: `waiting` and `taken` ones are delivered again when their runtime dies. */
const createMessages = `CREATE TABLE unwedge_messages (
  session TEXT NOT NULL,
  number INTEGER NOT NULL,
  body TEXT NOT NULL,
  key TEXT,
  state TEXT NOT NULL CHECK (state IN ('waiting', 'taken', 'done', 'failed', 'dropped', 'poison', 'expired', 'malformed')),
  deliveries INTEGER NOT NULL DEFAULT 0,
  posted_at INTEGER NOT NULL,
  turn INTEGER,
  seq INTEGER,
  taken_at INTEGER,
  ended_at INTEGER,
  error TEXT,
  PRIMARY KEY (session, number)
) STRICT, WITHOUT ROWID;`;

/** Tool calls of sessions, written before they are dispatched, settled once; what comes later is kept apart. */
const createCalls = `CREATE TABLE unwedge_calls (
  id TEXT PRIMARY KEY,
  session TEXT NOT NULL,
  turn INTEGER NOT NULL,
  integration TEXT NOT NULL,
  tool TEXT NOT NULL,
  input TEXT,
  effect TEXT,
  runtime TEXT NOT NULL,
  started_at INTEGER NOT NULL,
  deadline_at INTEGER NOT NULL,
  seq INTEGER NOT NULL,
  state TEXT NOT NULL DEFAULT 'pending' CHECK (state IN ('pending', 'settled')),
  result TEXT,
  result_seq INTEGER,
  settled_at INTEGER,
  late_result TEXT,
  late_at INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX unwedge_calls_by_turn ON unwedge_calls (session, turn);
CREATE INDEX unwedge_calls_pending ON unwedge_calls (runtime) WHERE state = 'pending';`;

/** Episodes of failures that somebody was told of. Of each integration at most one is open, whichever of several runtimes raised it. */
const createAlerts = `CREATE TABLE unwedge_alerts (
  id TEXT PRIMARY KEY,
  integration TEXT NOT NULL,
  kind TEXT NOT NULL,
  message TEXT NOT NULL,
  failures INTEGER NOT NULL,
  raised_at INTEGER NOT NULL,
  last_failure_at INTEGER NOT NULL,
  cleared_at INTEGER,
  cleared_by TEXT
) STRICT;
CREATE UNIQUE INDEX unwedge_alerts_open ON unwedge_alerts (integration) WHERE cleared_at IS NULL;`;

/** Buckets of rate limits, each with the levels of what it counts as JSON: they are read and written as one. */
const createRates = `CREATE TABLE unwedge_rates (
  name TEXT PRIMARY KEY,
  levels TEXT NOT NULL,
  at INTEGER NOT NULL
) STRICT;`;

/** Ends of calls, by minute; `tool` is empty for all of an integration. The figures as JSON: they are read and written as one. */
const createStatistics = `CREATE TABLE unwedge_statistics (
  minute INTEGER NOT NULL,
  integration TEXT NOT NULL,
  tool TEXT NOT NULL,
  figures TEXT NOT NULL,
  PRIMARY KEY (minute, integration, tool)
) STRICT, WITHOUT ROWID;`;

/** The same of all minutes ever: what was counted once stays counted when its minute is deleted. */
const createTotals = `CREATE TABLE unwedge_totals (
  integration TEXT NOT NULL,
  tool TEXT NOT NULL,
  figures TEXT NOT NULL,
  PRIMARY KEY (integration, tool)
) STRICT, WITHOUT ROWID;`;

/** The last attempts of integrations, written when something went wrong, as JSON: they are read as one. */
const createFlights = `CREATE TABLE unwedge_flights (
  id INTEGER PRIMARY KEY,
  integration TEXT NOT NULL,
  run TEXT NOT NULL,
  pid INTEGER NOT NULL,
  at INTEGER NOT NULL,
  because TEXT NOT NULL,
  record TEXT NOT NULL
) STRICT;
CREATE INDEX unwedge_flights_by_integration ON unwedge_flights (integration);`;

/** Settings in force for an integration or a session, once for each content, as JSON. */
const createPolicies = `CREATE TABLE unwedge_policies (
  name TEXT NOT NULL,
  policy TEXT NOT NULL,
  since INTEGER NOT NULL,
  seen_at INTEGER NOT NULL,
  PRIMARY KEY (name, policy)
) STRICT, WITHOUT ROWID;`;

/** Forward only; the version of a file is the number of steps it has seen. Each gets the name of the table of events. */
const migrations: readonly ((database: Database, events: EventTable) => void)[] = [
  (database, events) => {
    if (!events.exists) database.exec(createEvents(events.name));
    database.exec(createBreakers);
  },
  (database) => {
    database.exec(createRuntimes);
    database.exec(createChildren);
    database.exec('ALTER TABLE unwedge_breakers ADD COLUMN failures INTEGER NOT NULL DEFAULT 0');
  },
  (database) => {
    database.exec(createSessions);
    database.exec(createMessages);
    database.exec(createCalls);
  },
  (database) => database.exec(createAlerts),
  (database) => {
    database.exec(`ALTER TABLE unwedge_alerts ADD COLUMN because TEXT NOT NULL DEFAULT 'failures'`);
    database.exec('ALTER TABLE unwedge_alerts ADD COLUMN crashes INTEGER NOT NULL DEFAULT 0');
  },
  // Deliveries that an orderly stop ended: they do not speak against the message.
  (database) => database.exec('ALTER TABLE unwedge_messages ADD COLUMN stops INTEGER NOT NULL DEFAULT 0'),
  (database) => database.exec('ALTER TABLE unwedge_breakers ADD COLUMN cause TEXT'),
  // A claim looks for these in a session, however long its history is.
  (database) => {
    database.exec(
      "CREATE INDEX unwedge_messages_unprocessed ON unwedge_messages (session) WHERE state IN ('waiting', 'taken')",
    );
    database.exec("CREATE INDEX unwedge_calls_pending_by_session ON unwedge_calls (session) WHERE state = 'pending'");
  },
  (database) => {
    database.exec(createRates);
    database.exec('ALTER TABLE unwedge_breakers ADD COLUMN paused_at INTEGER');
    database.exec('ALTER TABLE unwedge_breakers ADD COLUMN paused_until INTEGER');
    database.exec(createStatistics);
    database.exec(createTotals);
  },
  (database) => {
    database.exec(createFlights);
    database.exec(createPolicies);
  },
  // Columns for what a reconcile rule needs at the next start, and what it found out.
  (database) => {
    const columns = [
      'rule TEXT',
      'idempotency_key TEXT',
      'reconciling_at INTEGER',
      'verdict TEXT',
      'reconciled_at INTEGER',
    ];
    for (const column of columns) database.exec(`ALTER TABLE unwedge_calls ADD COLUMN ${column}`);
  },
  // Calls that belong to no session, as JSON: they are read and written as one.
  (database) => database.exec('ALTER TABLE unwedge_runtimes ADD COLUMN calls TEXT'),
  // All minutes together stand under a minute that never was.
  (database) =>
    database.exec(`INSERT INTO unwedge_statistics (minute, integration, tool, figures)
      SELECT -1, integration, tool, figures FROM unwedge_totals; DROP TABLE unwedge_totals`),
];

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
 * @throws {@link NewerSchemaError}, or what SQLite reports.
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
  if (version < migrations.length) {
    database.immediate(() => {
      // Looked at again behind the lock: another process may have been faster, and it may not be one of ours.
      ours = isOurs(database);
      migrate(database, ours);
    });
  }
  return { ours, eventTable: findEventTable(database, ours).name, isNew: version === 0 };
}

function migrate(database: Database, ours: boolean): void {
  const version = versionOf(database, ours);
  if (version < migrations.length && hasTable(database, 'unwedge_runtimes')) refuseOlderRuns(database);
  const events = findEventTable(database, ours);
  for (const step of migrations.slice(version)) step(database, events);
  if (ours) {
    database.exec(`PRAGMA application_id = ${applicationId}; PRAGMA user_version = ${migrations.length}`);
    return;
  }
  database.exec('CREATE TABLE IF NOT EXISTS unwedge_meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT');
  database
    .prepare(
      `INSERT INTO unwedge_meta (key, value) VALUES ('version', ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value`,
    )
    .run(String(migrations.length));
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
  return version;
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
  return { version, known: migrations.length };
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
