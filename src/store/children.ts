import type { ChildRecord, ChildRecords } from '../policy/childRecord.ts';
import { createChildMark } from './childMarks.ts';
import type { Connection } from './connection.ts';
import type { Database, SqlRow } from './database.ts';
import type { WriteQueue } from './writeQueue.ts';

export interface ChildrenOptions {
  readonly connection: Connection;
  readonly queue: WriteQueue;
  /** Absolute, of the database. */
  readonly path: string;
}

/** The rows of live children, of all runtimes that share the database. */
export function createChildRecords({ connection, queue, path }: ChildrenOptions): ChildRecords {
  /** What waits to be written; taken out again by a child that ends first. */
  const pending = new Set<string>();
  /** Those that were added here and not removed. */
  const own = new Set<string>();
  const mark = createChildMark(path);

  return {
    list() {
      if (queue.degraded) return [];
      try {
        return connection.use(selectChildren);
      } catch (error) {
        queue.report(error);
        return [];
      }
    },
    add(child) {
      if (queue.refuses()) return;
      const key = keyOf(child);
      pending.add(key);
      if (own.size === 0) mark.leave({ pid: child.ownerPid, start: child.ownerStart });
      own.add(key);
      queue.add({
        run: (database) => {
          if (pending.has(key)) insertChild(database, child);
        },
        committed: () => pending.delete(key),
      });
      // At once, not at the end of the turn: a runtime that is killed in between would leave a child that nobody knows of.
      void queue.flush();
    },
    remove(child) {
      const key = keyOf(child);
      // What is written before the row is deleted is only a mark too many.
      const committed = (): void => {
        if (own.delete(key) && own.size === 0) mark.remove();
      };
      if (pending.delete(key)) committed();
      else if (!queue.refuses()) queue.add({ run: (database) => deleteChild(database, child), committed });
    },
  };
}

const keyOf = ({ pid, start }: Pick<ChildRecord, 'pid' | 'start'>): string => `${pid} ${start}`;

function selectChildren(database: Database): ChildRecord[] {
  return database
    .prepare(
      'SELECT pid, process_start, mark, command, started_at, owner_pid, owner_start FROM unwedge_children ORDER BY started_at',
    )
    .all()
    .map(toChild);
}

function toChild(row: SqlRow): ChildRecord {
  return {
    pid: Number(row['pid']),
    start: String(row['process_start']),
    mark: String(row['mark']),
    command: String(row['command']),
    startedAt: Number(row['started_at']),
    ownerPid: Number(row['owner_pid']),
    ownerStart: String(row['owner_start']),
  };
}

function insertChild(database: Database, child: ChildRecord): void {
  database
    .prepare(
      `INSERT OR REPLACE INTO unwedge_children
         (pid, process_start, mark, command, started_at, owner_pid, owner_start) VALUES (?, ?, ?, ?, ?, ?, ?)`,
    )
    .run(
      child.pid,
      child.start,
      child.mark,
      child.command,
      Math.round(child.startedAt),
      child.ownerPid,
      child.ownerStart,
    );
}

function deleteChild(database: Database, { pid, start }: Pick<ChildRecord, 'pid' | 'start'>): void {
  database.prepare('DELETE FROM unwedge_children WHERE pid = ? AND process_start = ?').run(pid, start);
}
