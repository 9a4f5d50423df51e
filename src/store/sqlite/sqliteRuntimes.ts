import type { ProcessWorld } from '../../actors/process/processWorld.ts';
import type { Fact } from '../../policy/facts.ts';
import { fromJson, toJson } from '../json.ts';
import { judgeRuntimes, type OpenCall, type RuntimeRow, type Runtimes } from '../runtimes.ts';
import type { Database, SqlRow } from './database.ts';
import type { EventLog } from './eventLog.ts';
import type { LeftRuns } from './leftRuns.ts';
import { hasTable } from './schema.ts';
import type { StoreFile } from './storeFile.ts';

/** Runs in the file. One that cannot be taken off is marked as left beside it. */
export class SqliteRuntimes implements Runtimes {
  readonly #file: StoreFile;
  readonly #log: Pick<EventLog, 'insert'>;
  readonly #left: LeftRuns;
  /** Runs that are to be taken off, until that is committed. */
  readonly #leaving = new Set<string>();
  /** Rows that are to be entered and are not committed; a store that is degraded for long gets one write for each, not one a minute. */
  readonly #pending = new Map<string, RuntimeRow>();
  /** Runs that are in the file. */
  readonly #entered = new Map<string, RuntimeRow>();

  constructor(file: StoreFile, log: Pick<EventLog, 'insert'>, left: LeftRuns) {
    this.#file = file;
    this.#log = log;
    this.#left = left;
    file.carries({
      carry: (database) => {
        for (const run of this.#entered.values()) upsertRuntime(database, run);
        return { carried: 0, lost: 0 };
      },
    });
  }

  enter(run: RuntimeRow): void {
    const { id } = run;
    const queued = this.#pending.has(id);
    this.#pending.set(id, run);
    if (queued) return;
    const latest = (): RuntimeRow => this.#pending.get(id) ?? run;
    this.#file.write({
      run: (database) => upsertRuntime(database, latest()),
      committed: () => {
        this.#entered.set(id, latest());
        this.#pending.delete(id);
      },
    });
  }

  leave(id: string): void {
    this.#leaving.add(id);
    this.#file.write({
      run: (database) => void deleteRuntime(database, id),
      committed: () => {
        this.#leaving.delete(id);
        this.#entered.delete(id);
      },
    });
  }

  async pids(): Promise<readonly number[]> {
    return this.#file.ask(selectRuntimes, []).map(({ pid }) => pid);
  }

  async removeDead(
    world: ProcessWorld,
    wallNow: number,
    factsOf?: (run: RuntimeRow) => readonly Fact[],
  ): Promise<readonly RuntimeRow[]> {
    const dead = judgeRuntimes(this.#file.ask(selectRuntimes, []), world, wallNow).filter(
      ({ id, liveness }) => liveness === 'dead' || this.#left.has(id),
    );
    if (dead.length === 0) return [];
    const died = await this.#file.transact((database, schema) =>
      dead.filter((run) => {
        const hasLeft = this.#left.has(run.id);
        this.#left.settle(database, run.id);
        // Whoever looks at the file, what waits for its gateway is told of until one takes it over.
        if (!hasLeft && hasWork(database, run.id)) return false;
        // Another one may have been faster; and one that has left in good order did not die.
        if (deleteRuntime(database, run.id) === 0 || hasLeft) return false;
        for (const fact of factsOf?.(run) ?? []) this.#log.insert(database, schema, { ...fact, at: wallNow });
        return true;
      }),
    );
    if (died === undefined) return [];
    for (const { id } of dead) this.#left.forget(id);
    return died;
  }

  /** The store is closed: runs that could not be taken off are marked as left beside it. */
  closed(): void {
    for (const id of this.#leaving) this.#left.mark(id);
  }
}

/**
 * Runs that a database lists, oldest first; none in one that never had a runtime of this version.
 * @throws what SQLite reports.
 */
export function readRuntimes(database: Database): readonly RuntimeRow[] {
  return hasTable(database, 'unwedge_runtimes') ? selectRuntimes(database) : [];
}

function selectRuntimes(database: Database): readonly RuntimeRow[] {
  return database.prepare('SELECT * FROM unwedge_runtimes ORDER BY started_at, id').all().map(toRuntime);
}

/** Reads one run, if it is entered. */
export function selectRuntime(database: Database, id: string): RuntimeRow | undefined {
  const row = database.prepare('SELECT * FROM unwedge_runtimes WHERE id = ?').get(id);
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
    calls: typeof row['calls'] === 'string' ? callsIn(row['calls']) : undefined,
  };
}

/** None where they were not written by this version. */
function callsIn(json: string): readonly OpenCall[] {
  const calls = fromJson(json)?.value;
  return Array.isArray(calls) ? calls.filter(isOpenCall) : [];
}

function isOpenCall(value: unknown): value is OpenCall {
  if (typeof value !== 'object' || value === null) return false;
  const { integration, call, tool, startedAt } = value as Readonly<Record<string, unknown>>;
  return [integration, call, tool].every((field) => typeof field === 'string') && Number.isFinite(startedAt);
}

function upsertRuntime(database: Database, run: RuntimeRow): void {
  database
    .prepare(
      `INSERT INTO unwedge_runtimes (id, pid, process_start, started_at, renewed_at, name, socket, calls)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?)
       ON CONFLICT (id) DO UPDATE SET renewed_at = excluded.renewed_at, socket = excluded.socket, calls = excluded.calls`,
    )
    .run(
      run.id,
      run.pid,
      run.processStart,
      Math.round(run.startedAt),
      Math.round(run.renewedAt),
      run.name,
      run.socket ?? null,
      run.calls === undefined || run.calls.length === 0 ? null : toJson(run.calls),
    );
}

/** Tells whether messages or calls wait of sessions that a run owns: no other has claimed them. */
function hasWork(database: Database, id: string): boolean {
  const row = database
    .prepare(
      `SELECT EXISTS (SELECT 1 FROM unwedge_sessions s WHERE s.owner = ? AND (
         EXISTS (SELECT 1 FROM unwedge_messages m WHERE m.session = s.id AND m.state IN ('waiting', 'taken'))
         OR EXISTS (SELECT 1 FROM unwedge_calls c WHERE c.session = s.id AND c.state = 'pending'))) AS works`,
    )
    .get(id);
  return row?.['works'] === 1;
}

/** @returns how many there were. */
function deleteRuntime(database: Database, id: string): number {
  return database.prepare('DELETE FROM unwedge_runtimes WHERE id = ?').run(id);
}
