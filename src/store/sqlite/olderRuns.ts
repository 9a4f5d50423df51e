import { existsSync } from 'node:fs';
import { identifyNow, judge, type Liveness, seeNow } from '../../actors/process/processIdentity.ts';
import { readString } from '../../policy/failures/errorChain.ts';
import type { Database, Driver } from './database.ts';

/** An earlier version of this package has the file, and the schema would have to be changed under it. */
class OlderRunsError extends Error {
  readonly code = 'UNWEDGE_OLDER_RUNS';

  /** @param runs - who it is, with the pids. */
  constructor(runs: readonly string[]) {
    const which = runs.length === 1 ? 'an earlier version, which' : 'earlier versions, which';
    super(`it is in use by ${runs.join(' and ')} of ${which} could not open it again once its schema is changed`);
  }
}

/** Time for which a run counts of which the system cannot say whether it lives, in ms. */
const unknownForMs = 300_000;

/**
 * The same before the file is opened for writing, by a connection that cannot: one that can deletes the log at its end where it takes itself for the only
 * one, and earlier versions lose the locks that would show them.
 * @param isNeeded - whether the schema of the file would be changed.
 * @throws {@link OlderRunsError}
 */
export function refuseOlderRunsOf(driver: Driver, path: string, isNeeded: (database: Database) => boolean): void {
  // Without these nobody has it open.
  if (!existsSync(`${path}-shm`)) return;
  let database: Database | undefined;
  try {
    database = driver.open(path, { busyTimeoutMs: 0, readOnly: true });
    if (isNeeded(database)) refuseOlderRuns(database);
  } catch (error) {
    // Any other fault of it is found when it is opened.
    if (error instanceof OlderRunsError) throw error;
  } finally {
    database?.close();
  }
}

/**
 * Refuses a change of the schema while a process of an earlier version lives that has the file: it would go on as long as it has the file open, and
 * keep nothing once it has to open it again. To be called behind the lock, with the version that is there.
 * @throws {@link OlderRunsError}
 */
export function refuseOlderRuns(database: Database): void {
  const text = `SELECT name, pid, process_start,
    CAST(strftime('%s', 'now') AS INTEGER) * 1000 - renewed_at AS silent_ms FROM unwedge_runtimes ORDER BY started_at, id`;
  const rows = database.prepare(text).all();
  const world = seeNow(rows.map(({ pid }) => Number(pid)));
  const found = rows.flatMap((row) => {
    const [pid, start] = [Number(row['pid']), String(row['process_start'])];
    if (isThisProcess(pid, start)) return [];
    const liveness = world === undefined ? withoutWorld(pid) : judge(world, { pid, start });
    const lives = liveness === 'alive' || (liveness === 'unknown' && Number(row['silent_ms']) < unknownForMs);
    return lives ? [`${String(row['name'])} (pid ${pid})`] : [];
  });
  if (found.length > 0) throw new OlderRunsError(found);
}

/** A process has one version. In another container another process may have its number. */
function isThisProcess(pid: number, start: string): boolean {
  if (pid !== process.pid) return false;
  const own = identifyNow(pid);
  return own === undefined || own.start === start;
}

/** Judges by the number where the system does not tell when a process began: it may be that of another by now; one that nobody has is dead. */
function withoutWorld(pid: number): Liveness {
  try {
    process.kill(pid, 0);
  } catch (error) {
    if (readString(error, 'code') === 'ESRCH') return 'dead';
  }
  return 'unknown';
}
