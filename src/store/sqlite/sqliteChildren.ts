import type { ChildRecord, ChildRecords } from '../../policy/childRecord.ts';
import { clearChildMarks, createChildMark } from './childMarks.ts';
import type { Database, SqlRow } from './database.ts';
import type { StoreFile } from './storeFile.ts';

/** The rows of live children, of all runtimes that share the database. */
export class SqliteChildren implements ChildRecords {
  readonly #file: StoreFile;
  readonly #mark: ReturnType<typeof createChildMark>;
  /** Children that wait to be written; one that ends first is taken out again. */
  readonly #pending = new Set<string>();
  /** Children that were added here and not removed. */
  readonly #own = new Set<string>();

  constructor(file: StoreFile) {
    this.#file = file;
    this.#mark = createChildMark(file.path);
  }

  async list(): Promise<readonly ChildRecord[]> {
    return this.#file.ask(selectChildren, []);
  }

  add(child: ChildRecord): void {
    if (this.#file.refuses()) return;
    const key = keyOf(child);
    this.#pending.add(key);
    if (this.#own.size === 0) this.#mark.leave({ pid: child.ownerPid, start: child.ownerStart });
    this.#own.add(key);
    this.#file.write({
      run: (database) => {
        if (this.#pending.has(key)) insertChild(database, child);
      },
      committed: () => this.#pending.delete(key),
    });
    // At once, not at the end of the turn: a runtime that is killed in between would leave a child that nobody knows of.
    void this.#file.flush();
  }

  remove(child: Pick<ChildRecord, 'pid' | 'start'>): void {
    const key = keyOf(child);
    // A mark that is written before the row is deleted is only one too many.
    const committed = (): void => {
      if (this.#own.delete(key) && this.#own.size === 0) this.#mark.remove();
    };
    if (this.#pending.delete(key)) committed();
    else if (!this.#file.refuses()) this.#file.write({ run: (database) => deleteChild(database, child), committed });
  }

  async reaped(): Promise<void> {
    // Children that were forgotten are to be committed first.
    await this.#file.flush();
    clearChildMarks(this.#file.path, new Set((await this.list()).map(({ ownerPid }) => ownerPid)));
  }
}

const keyOf = ({ pid, start }: Pick<ChildRecord, 'pid' | 'start'>): string => `${pid} ${start}`;

/** Every child that is kept, the oldest first. @throws what SQLite reports. */
export function selectChildren(database: Database): ChildRecord[] {
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
