import { hostname } from 'node:os';
import type { ChildRecord, ChildRecords } from '../../policy/childRecord.ts';
import { type RowStatement, rowsOf, type Value } from './rowStatement.ts';
import type { PgDatabase } from './pgDatabase.ts';
import type { PgRow } from './pgDriver.ts';

const columns = 'pid, process_start, mark, command, started_at, owner_pid, owner_start';

const insert: RowStatement = {
  name: 'insert_child',
  text: `WITH ${rowsOf(`host text, pid integer, process_start text, mark text, command text, started_at bigint, owner_pid integer,
      owner_start text`)}
    INSERT INTO uw.child (host, ${columns}) SELECT host, ${columns} FROM w
    ON CONFLICT (host, pid, process_start) DO UPDATE SET mark = excluded.mark, command = excluded.command,
      started_at = excluded.started_at, owner_pid = excluded.owner_pid, owner_start = excluded.owner_start`,
};
const remove: RowStatement = {
  name: 'delete_child',
  text: `WITH ${rowsOf('host text, pid integer, process_start text')}
    DELETE FROM uw.child AS c USING w WHERE c.host = w.host AND c.pid = w.pid AND c.process_start = w.process_start`,
};

/** The rows of live children. Only those of this machine are told: nobody can judge a process of another one. */
export class PgChildren implements ChildRecords {
  readonly #database: PgDatabase;
  readonly #host = hostname();
  /** Children that wait to be written; one that ends first is taken out again. */
  readonly #pending = new Set<string>();

  constructor(database: PgDatabase) {
    this.#database = database;
  }

  async list(): Promise<readonly ChildRecord[]> {
    // A child that was just started is on record, or nobody would ask.
    await this.#database.flush();
    const text = `SELECT ${columns} FROM uw.child WHERE host = $1 ORDER BY started_at`;
    return ((await this.#database.read({ name: 'children', text }, [this.#host])) ?? []).map(toChild);
  }

  add(child: ChildRecord): void {
    if (this.#database.refuses()) return;
    const key = keyOf(child);
    this.#pending.add(key);
    const { mark, command, startedAt, ownerPid, ownerStart } = child;
    const values = [...this.#placeOf(child), mark, command, Math.round(startedAt), ownerPid, ownerStart];
    this.#database.write({
      run: (batch) => {
        if (this.#pending.has(key)) batch.add(insert, `child ${key}`, values);
      },
      committed: () => this.#pending.delete(key),
    });
    // At once, not at the end of the turn: a runtime that is killed in between would leave a child that nobody knows of.
    void this.#database.flush();
  }

  remove(child: Pick<ChildRecord, 'pid' | 'start'>): void {
    const key = keyOf(child);
    this.#pending.delete(key);
    const values = this.#placeOf(child);
    this.#database.write({
      run(batch) {
        batch.add(remove, `child ${key}`, values);
      },
    });
  }

  async reaped(): Promise<void> {
    await this.#database.flush();
  }

  #placeOf({ pid, start }: Pick<ChildRecord, 'pid' | 'start'>): readonly Value[] {
    return [this.#host, pid, start];
  }
}

const keyOf = ({ pid, start }: Pick<ChildRecord, 'pid' | 'start'>): string => `${pid} ${start}`;

function toChild(row: PgRow): ChildRecord {
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
