import { hostname } from 'node:os';
import type { ProcessIdentity } from '../../actors/process/processIdentity.ts';
import type { ChildRecord, ChildRecords } from '../../policy/records/childRecord.ts';
import { namesOf, type Row, statement } from '../dialect.ts';
import { step, type Tables } from '../work.ts';
import { columnsInFile } from './schema.ts';

const columns = columnsInFile('child');
const names = namesOf(columns);

/** Only those of this machine, where several share the table: nobody can judge a process of another one. */
export const children = statement(
  'children',
  'host text',
  `SELECT ${names} FROM uw.child {WHERE host = :host|} ORDER BY started_at`,
);
export const insertChild = statement(
  'insert_child',
  `host text, ${columns}`,
  `INSERT INTO uw.child ({host, |}${names}) {SELECT host, ${names} FROM w
   |VALUES (:pid, :process_start, :mark, :command, :started_at, :owner_pid, :owner_start)}
   ON CONFLICT ({host, |}pid, process_start) DO UPDATE SET mark = excluded.mark, command = excluded.command,
     started_at = excluded.started_at, owner_pid = excluded.owner_pid, owner_start = excluded.owner_start`,
);
const remove = statement(
  'delete_child',
  'host text, pid integer, process_start text',
  `DELETE FROM uw.child AS c {USING w |}WHERE {c.host = :host AND |}c.pid = :pid AND c.process_start = :process_start`,
);

/** Sign beside a store that this process has children in it. Nothing here throws. */
export interface ChildMark {
  /** The process, of this identity, has children on record. */
  leave(owner: ProcessIdentity): void;
  remove(): void;
  /** Takes off the marks of dead processes of which no child is on record any more. @param owners - processes that have some. */
  clear(owners: ReadonlySet<number>): void;
}

/** The rows of live children in a store, of all runtimes that share it. */
export class Children implements ChildRecords {
  readonly #tables: Tables;
  readonly #mark: ChildMark | undefined;
  readonly #host = hostname();
  /** Children that wait to be written; one that ends first is taken out again. */
  readonly #pending = new Set<string>();
  /** Children that were added here and not removed. */
  readonly #own = new Set<string>();

  constructor(tables: Tables, mark?: ChildMark) {
    this.#tables = tables;
    this.#mark = mark;
  }

  async list(): Promise<readonly ChildRecord[]> {
    // A child that was just started is on record, or nobody would ask.
    if (this.#own.size > 0) await this.#tables.flush();
    return (await this.#tables.read(children, { host: this.#host })).map(childIn);
  }

  add(child: ChildRecord): void {
    if (this.#tables.refuses()) return;
    const key = keyOf(child);
    this.#pending.add(key);
    if (this.#own.size === 0) this.#mark?.leave({ pid: child.ownerPid, start: child.ownerStart });
    this.#own.add(key);
    const [host, pending] = [this.#host, this.#pending];
    this.#tables.write(
      function* () {
        if (pending.has(key)) yield step(insertChild, key, { host, processStart: child.start, ...child });
      },
      () => pending.delete(key),
    );
    // At once, not at the end of the turn: a runtime that is killed in between would leave a child that nobody knows of.
    void this.#tables.flush();
  }

  remove(child: Pick<ChildRecord, 'pid' | 'start'>): void {
    const key = keyOf(child);
    // A mark that is there before the row is deleted is only one too many.
    const removed = (): void => {
      if (this.#own.delete(key) && this.#own.size === 0) this.#mark?.remove();
    };
    // A file, which has a mark, commits at once: what waits for it is not in it, and need not be deleted. A server may be at it.
    if (this.#pending.delete(key) && this.#mark !== undefined) {
      removed();
      return;
    }
    if (this.#tables.refuses()) return;
    const host = this.#host;
    this.#tables.write(function* () {
      yield step(remove, key, { host, processStart: child.start, ...child });
    }, removed);
  }

  async reaped(): Promise<void> {
    // Children that were forgotten are to be committed first.
    await this.#tables.flush();
    if (this.#mark !== undefined) this.#mark.clear(new Set((await this.list()).map(({ ownerPid }) => ownerPid)));
  }
}

const keyOf = ({ pid, start }: Pick<ChildRecord, 'pid' | 'start'>): string => `child ${pid} ${start}`;

/** The child in a row. */
export function childIn(row: Row): ChildRecord {
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
