import { judge, type Liveness, type ProcessWorld } from '../actors/processWorld.ts';
import type { Connection } from './connection.ts';
import type { Database, SqlRow } from './database.ts';
import type { LeftRuns } from './leftRuns.ts';
import type { DatabaseReader } from './reader.ts';
import type { WriteQueue } from './writeQueue.ts';

/** How often a live run renews its row, in ms. */
export const renewEveryMs = 60_000;
/** A run of which the system cannot say whether it lives counts as dead after so long without renewal, in ms. */
const unknownForMs = 5 * renewEveryMs;

/** One run of a runtime. Times are wall time in ms since the epoch. */
export interface RuntimeRow {
  readonly id: string;
  readonly pid: number;
  /** By which its process is told from a later one of the same pid; empty when the system did not say. */
  readonly processStart: string;
  readonly startedAt: number;
  readonly renewedAt: number;
  /** What it calls itself, for people. */
  readonly name: string;
  /** Where it is reached; undefined when it listens nowhere. */
  readonly socket: string | undefined;
}

/** A run, and whether its process is still there. */
export interface JudgedRuntime extends RuntimeRow {
  readonly liveness: Liveness;
}

/** The runs of this database as its runtimes see them. Nothing here throws; a store that is out of order is left alone. */
export interface Runtimes {
  /** Enters a run or renews it, with the commit of this turn. */
  enter(run: RuntimeRow): void;
  /** Takes a run off. */
  leave(id: string): void;
  /** The store is closed: runs that could not be taken off are marked as left beside it. */
  closed(): void;
  /** The processes of the runs that are entered; none while the store is out of order. */
  pids(): readonly number[];
  /** Takes the runs off whose process is gone, judged as {@link judgeRuntimes} does. */
  removeDead(world: ProcessWorld, wallNow: number): void;
}

export interface RuntimesOptions {
  readonly connection: Connection;
  readonly queue: WriteQueue;
  readonly left: LeftRuns;
}

export function createRuntimes({ connection, queue, left }: RuntimesOptions): Runtimes {
  /** Runs that are to be taken off, until that is committed. */
  const leaving = new Set<string>();
  /** What is to be entered and is not committed; a store that is degraded for long gets one write for each, not one a minute. */
  const pending = new Map<string, RuntimeRow>();

  /** Runs that are in the file. */
  const entered = new Map<string, RuntimeRow>();
  queue.carries({
    carry(database) {
      for (const run of entered.values()) upsertRuntime(database, run);
      return { carried: 0, lost: 0 };
    },
  });

  function rows(): readonly RuntimeRow[] {
    if (queue.degraded) return [];
    try {
      return connection.use(selectRuntimes);
    } catch (error) {
      queue.report(error);
      return [];
    }
  }

  return {
    enter(run) {
      const queued = pending.has(run.id);
      pending.set(run.id, run);
      if (queued) return;
      queue.add({
        run: (database) => upsertRuntime(database, pending.get(run.id) ?? run),
        committed: () => {
          entered.set(run.id, pending.get(run.id) ?? run);
          pending.delete(run.id);
        },
      });
    },
    leave(id) {
      leaving.add(id);
      queue.add({
        run: (database) => deleteRuntime(database, id),
        committed() {
          leaving.delete(id);
          entered.delete(id);
        },
      });
    },
    closed() {
      for (const id of leaving) left.mark(id);
    },
    pids: () => rows().map(({ pid }) => pid),
    removeDead(world, wallNow) {
      const dead = judgeRuntimes(rows(), world, wallNow).filter(
        ({ id, liveness }) => liveness === 'dead' || left.has(id),
      );
      if (dead.length === 0) return;
      queue.add({
        run(database) {
          for (const { id } of dead) {
            left.settle(database, id);
            deleteRuntime(database, id);
          }
        },
        committed() {
          for (const { id } of dead) left.forget(id);
        },
      });
    },
  };
}

/** Runs in memory are known to their own process, which needs no row to find them. */
export const noRuntimes: Runtimes = {
  enter: () => undefined,
  leave: () => undefined,
  closed: () => undefined,
  pids: () => [],
  removeDead: () => undefined,
};

/**
 * Runs that a database lists, oldest first; none in one that never had a runtime of this version.
 * @throws what SQLite reports.
 */
export function readRuntimes({ database }: DatabaseReader): readonly RuntimeRow[] {
  const table = database
    .prepare(`SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'unwedge_runtimes'`)
    .get();
  return table === undefined ? [] : selectRuntimes(database);
}

/**
 * Judges each run by pid and process start. One that cannot be judged is `unknown` as long as it is renewed.
 * @param wallNow - wall time in ms since the epoch.
 */
export function judgeRuntimes(
  rows: readonly RuntimeRow[],
  world: ProcessWorld,
  wallNow: number,
): readonly JudgedRuntime[] {
  return rows.map((row) => {
    const liveness = judge(world, { pid: row.pid, start: row.processStart });
    const forgotten = liveness === 'unknown' && wallNow - row.renewedAt >= unknownForMs;
    return { ...row, liveness: forgotten ? 'dead' : liveness };
  });
}

const columns = 'id, pid, process_start, started_at, renewed_at, name, socket';

function selectRuntimes(database: Database): readonly RuntimeRow[] {
  return database.prepare(`SELECT ${columns} FROM unwedge_runtimes ORDER BY started_at, id`).all().map(toRuntime);
}

/** One run, if it is entered. */
export function selectRuntime(database: Database, id: string): RuntimeRow | undefined {
  const row = database.prepare(`SELECT ${columns} FROM unwedge_runtimes WHERE id = ?`).get(id);
  return row === undefined ? undefined : toRuntime(row);
}

function toRuntime(row: SqlRow): RuntimeRow {
  return {
    id: String(row['id']),
    pid: Number(row['pid']),
    processStart: String(row['process_start']),
    startedAt: Number(row['started_at']),
    renewedAt: Number(row['renewed_at']),
    name: String(row['name']),
    socket: typeof row['socket'] === 'string' ? row['socket'] : undefined,
  };
}

function upsertRuntime(database: Database, run: RuntimeRow): void {
  database
    .prepare(
      `INSERT INTO unwedge_runtimes (${columns}) VALUES (?, ?, ?, ?, ?, ?, ?)
       ON CONFLICT (id) DO UPDATE SET renewed_at = excluded.renewed_at, socket = excluded.socket`,
    )
    .run(
      run.id,
      run.pid,
      run.processStart,
      Math.round(run.startedAt),
      Math.round(run.renewedAt),
      run.name,
      run.socket ?? null,
    );
}

function deleteRuntime(database: Database, id: string): void {
  database.prepare('DELETE FROM unwedge_runtimes WHERE id = ?').run(id);
}
