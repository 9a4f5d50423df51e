import type { AlertCount, AlertEnd } from '../../policy/alertCause.ts';
import type { AlertCounts, AlertRecords, AlertWords, Cleared, OpenAlert } from '../../policy/alertRecord.ts';
import type { Fact } from '../../policy/facts.ts';
import { alertIn } from '../alertRows.ts';
import type { Database } from './database.ts';
import type { EventLog } from './eventLog.ts';
import type { StoreFile } from './storeFile.ts';

/** Alerts in the file: of several runtimes that share it one raises each, and one clears it. */
export class SqliteAlerts implements AlertRecords {
  readonly #file: StoreFile;
  readonly #log: Pick<EventLog, 'insert'>;

  constructor(file: StoreFile, log: Pick<EventLog, 'insert'>) {
    this.#file = file;
    this.#log = log;
  }

  async open(): Promise<readonly OpenAlert[]> {
    return this.#file.ask((database) => selectOpen(database), []);
  }

  raise(alert: OpenAlert, fact?: Fact): Promise<OpenAlert | undefined> {
    return this.#transact((database, tell) => {
      insertAlert(database, alert);
      const [open] = selectOpen(database, alert.integration);
      if (fact !== undefined && open?.id === alert.id) tell(fact, alert.raisedAt);
      return open;
    });
  }

  extend(integration: string, cause: AlertCount, wallNow: number, said: AlertWords): Promise<boolean | undefined> {
    return this.#transact((database) => extendAlert(database, integration, cause, Math.round(wallNow), said));
  }

  clear(
    id: string,
    by: AlertEnd,
    wallNow: number,
    quietSince: number,
    fact?: (counts: AlertCounts) => Fact,
  ): Promise<Cleared | undefined> {
    return this.#transact((database, tell) => {
      const cleared = clearAlert(database, id, by, Math.round(wallNow), quietSince);
      if (fact !== undefined && cleared.is === 'cleared') tell(fact(cleared), wallNow);
      return cleared;
    });
  }

  /** Undefined at once when it has to wait for the store, and then it is still made. */
  #transact<T>(work: (database: Database, tell: (fact: Fact, at: number) => void) => T): Promise<T | undefined> {
    return this.#file.transact(
      (database, schema, isLate) =>
        work(database, (fact, at) => {
          // The caller could not wait, and has told of it.
          if (!isLate) this.#log.insert(database, schema, { ...fact, at });
        }),
      { late: 'run' },
    );
  }
}

const columns = 'id, integration, because, kind, message, failures, crashes, raised_at, last_failure_at';

function selectOpen(database: Database, integration?: string): readonly OpenAlert[] {
  const narrowed = integration === undefined ? '' : 'AND integration = ?';
  return database
    .prepare(`SELECT ${columns} FROM unwedge_alerts WHERE cleared_at IS NULL ${narrowed} ORDER BY raised_at, id`)
    .all(...(integration === undefined ? [] : [integration]))
    .map(alertIn);
}

function insertAlert(database: Database, alert: OpenAlert): void {
  const { id, integration, because, kind, message, failures, crashes, raisedAt, lastFailureAt } = alert;
  database
    .prepare(
      `INSERT INTO unwedge_alerts (${columns}) VALUES (?, ?, ?, ?, ?, ?, ?, CAST(? AS INTEGER), CAST(? AS INTEGER))
       ON CONFLICT DO NOTHING`,
    )
    .run(id, integration, because, kind, message, failures, crashes, Math.round(raisedAt), Math.round(lastFailureAt));
}

function extendAlert(
  database: Database,
  integration: string,
  cause: AlertCount,
  at: number,
  { kind, message }: AlertWords,
): boolean {
  const words = (column: string): string =>
    `${column} = CASE WHEN because = ? AND last_failure_at <= CAST(? AS INTEGER) THEN ? ELSE ${column} END`;
  const extended = database
    .prepare(
      `UPDATE unwedge_alerts SET ${cause} = ${cause} + 1, last_failure_at = max(last_failure_at, CAST(? AS INTEGER)),
         ${words('kind')}, ${words('message')}
       WHERE integration = ? AND cleared_at IS NULL`,
    )
    .run(at, cause, at, kind, cause, at, message, integration);
  return extended > 0;
}

/** A failure that is later than now is one of a wall clock that has stepped back since; it must not hold the alert open. */
function clearAlert(database: Database, id: string, by: AlertEnd, at: number, quietSince: number): Cleared {
  const row = database
    .prepare('SELECT failures, crashes, last_failure_at FROM unwedge_alerts WHERE id = ? AND cleared_at IS NULL')
    .get(id);
  if (row === undefined) return { is: 'gone' };
  const lastFailureAt = Number(row['last_failure_at']);
  if (lastFailureAt > quietSince && lastFailureAt <= at) return { is: 'failing', lastFailureAt };
  database
    .prepare('UPDATE unwedge_alerts SET cleared_at = CAST(? AS INTEGER), cleared_by = ? WHERE id = ?')
    .run(at, by, id);
  return { is: 'cleared', failures: Number(row['failures']), crashes: Number(row['crashes']) };
}
