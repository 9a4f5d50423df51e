import { statSync } from 'node:fs';
import type { ChildRecord } from '../src/policy/records/face.ts';
import { messageOf } from '../src/policy/failures/face.ts';
import { type RuntimeRow, contentsOf } from '../src/store/face.ts';
import {
  type Database,
  codeOf,
  findDriver,
  findEventTable,
  isOurs,
  isTooOld,
  readRows,
  versionsOf,
} from '../src/store/sqlite/face.ts';
import { selectLostLog } from './sqlite/lostLog.ts';
import { openQueryOnly } from './sqlite/queryOnly.ts';
import { childIn, children, runIn, runs } from '../src/store/tables/face.ts';
import type { LostLogRecord } from './storeReader.ts';

/** Contents of a database, as far as its health goes. */
export type StoreExamination =
  | {
      readonly state: 'readable';
      /** Version of the schema in the file; 0 where nothing of ours is in it. */
      readonly version: number;
      /** The one that this version of unwedge makes. */
      readonly known: number;
      /** True for one from before the first release, which no gateway can use. */
      readonly tooOld: boolean;
      /** True where it holds tables, and none of them is ours. */
      readonly foreign: boolean;
      readonly runtimes: readonly RuntimeRow[];
      readonly children: readonly ChildRecord[];
      /** Wall time in ms since the epoch of the youngest event; undefined without any. */
      readonly newestEventAt: number | undefined;
      /** The furthest that the clock went back between one of the newest events and the next, in ms. */
      readonly steppedBackMs: number;
      /** A log that was lost, noticed in the last week or not yet. */
      readonly lostLog?: LostLogRecord | undefined;
      /** True where SQLite's own check was made; it takes long on a large file. */
      readonly checked: boolean;
    }
  | { readonly state: 'damaged' | 'locked' | 'unreadable'; readonly reason: string }
  | { readonly state: 'no driver' };

/** Age up to which a lost log is worth a word, in ms. */
const lostLogForMs = 7 * 24 * 60 * 60_000;

/** Number of the newest events that are looked at for a clock that was set back. */
const newestEvents = 1000;

/**
 * Opens a database for reading and looks whether it is in order. Never rejects.
 * @param path - absolute; the file is there.
 * @param options - `checkUpToBytes`: of a larger file SQLite's own check is left out; `now` is wall time in ms since the epoch.
 */
export async function examineStore(
  path: string,
  { checkUpToBytes, now }: { readonly checkUpToBytes: number; readonly now: number },
): Promise<StoreExamination> {
  const found = await findDriver();
  if (!found.ok) return { state: 'no driver' };
  let database: Database | undefined;
  try {
    database = openQueryOnly(found.driver, path);
    const checked = statSync(path).size <= checkUpToBytes;
    const damage = checked ? damageOf(database) : undefined;
    if (damage !== undefined) return { state: 'damaged', reason: damage };
    const ours = isOurs(database);
    const events = findEventTable(database, ours);
    const versions = versionsOf(database, ours);
    return {
      state: 'readable',
      ...versions,
      tooOld: isTooOld(versions.version),
      foreign: !ours && versions.version === 0,
      runtimes: readRows(database, runs).map(runIn),
      children: readRows(database, children).map(childIn),
      ...(events.exists ? timesOf(database, events.name) : { newestEventAt: undefined, steppedBackMs: 0 }),
      lostLog: selectLostLog(database, path, events.exists ? events.name : undefined, now - lostLogForMs),
      checked,
    };
  } catch (error) {
    const code = codeOf(error);
    const reason = messageOf(error);
    if (code === 'SQLITE_CORRUPT' || code === 'SQLITE_NOTADB') return { state: 'damaged', reason };
    return { state: code === 'SQLITE_BUSY' || code === 'SQLITE_LOCKED' ? 'locked' : 'unreadable', reason };
  } finally {
    closeQuietly(database);
  }
}

/** Gives what SQLite finds wrong, its first line below the heading. */
function damageOf(database: Database): string | undefined {
  const said = Object.values(database.prepare('PRAGMA quick_check(1)').get() ?? {})[0];
  if (said === 'ok') return undefined;
  const lines = String(said).split('\n');
  return lines.find((line) => !line.startsWith('***')) ?? lines[0];
}

function timesOf(database: Database, table: string): { newestEventAt: number | undefined; steppedBackMs: number } {
  const times = database
    .prepare(`SELECT timestamp FROM ${table} ORDER BY rowid DESC LIMIT ${newestEvents}`)
    .all()
    .map((row) => Number(row['timestamp']))
    .reverse();
  let latest = Number.NEGATIVE_INFINITY;
  let steppedBackMs = 0;
  for (const at of times) {
    steppedBackMs = Math.max(steppedBackMs, latest - at);
    latest = Math.max(latest, at);
  }
  return {
    newestEventAt: times.length === 0 ? undefined : latest,
    steppedBackMs: times.length < 2 ? 0 : steppedBackMs,
  };
}

function closeQuietly(database: Database | undefined): void {
  try {
    database?.close();
  } catch {
    // It was only read from.
  }
}

/** Tells whether an error says that the file is a damaged SQLite database; of one that is none another was meant. */
export function isDamage(error: unknown, path: string): boolean {
  const code = codeOf(error);
  return code === 'SQLITE_CORRUPT' || (code === 'SQLITE_NOTADB' && contentsOf(path) === 'sqlite');
}
