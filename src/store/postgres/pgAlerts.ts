import type { AlertCount, AlertEnd } from '../../policy/alertCause.ts';
import type { AlertCounts, AlertRecords, AlertWords, Cleared, OpenAlert } from '../../policy/alertRecord.ts';
import type { Fact } from '../../policy/facts.ts';
import { alertIn } from '../alertRows.ts';
import type { BatchRows } from './batch.ts';
import { type RowStatement, rowsOf } from './rowStatement.ts';
import type { PgDatabase } from './pgDatabase.ts';
import type { PgEvents } from './pgEvents.ts';

const rank = 5;
const columns = 'id, integration, because, kind, message, failures, crashes, raised_at, last_failure_at';

const raise: RowStatement = {
  name: 'raise_alert',
  rank,
  text: `WITH ${rowsOf(`id text, integration text, because text, kind text, message text, failures integer, crashes integer,
      raised_at bigint, last_failure_at bigint`)}
    INSERT INTO uw.alert (${columns}) SELECT ${columns} FROM w ORDER BY integration ON CONFLICT DO NOTHING`,
};
/** Behind the insert: a statement of its own sees the alert that another node has just raised. */
const openOf: RowStatement = {
  name: 'open_alert_of',
  rank,
  text: `WITH ${rowsOf('integration text')}
    SELECT w.ord, a.* FROM w JOIN uw.alert a ON a.integration = w.integration AND a.cleared_at IS NULL`,
};
const extend: RowStatement = {
  name: 'extend_alert',
  rank,
  text: `WITH ${rowsOf('integration text, failures integer, crashes integer, at bigint, cause text, kind text, message text')}
    UPDATE uw.alert AS a SET failures = a.failures + w.failures, crashes = a.crashes + w.crashes,
      last_failure_at = greatest(a.last_failure_at, w.at),
      kind = CASE WHEN a.because = w.cause AND a.last_failure_at <= w.at THEN w.kind ELSE a.kind END,
      message = CASE WHEN a.because = w.cause AND a.last_failure_at <= w.at THEN w.message ELSE a.message END
    FROM w WHERE a.integration = w.integration AND a.cleared_at IS NULL RETURNING w.ord`,
};
const lock: RowStatement = {
  name: 'lock_alert',
  rank,
  text: `WITH ${rowsOf('id text')}
    SELECT w.ord, a.failures, a.crashes, a.last_failure_at FROM w JOIN uw.alert a ON a.id = w.id
    WHERE a.cleared_at IS NULL ORDER BY a.id FOR UPDATE OF a`,
};
const clear: RowStatement = {
  name: 'clear_alert',
  rank,
  text: `WITH ${rowsOf('id text, cleared_at bigint, cleared_by text')}
    UPDATE uw.alert AS a SET cleared_at = w.cleared_at, cleared_by = w.cleared_by FROM w WHERE a.id = w.id`,
};

/** Alerts in the database: of all nodes one raises each, and one clears it. */
export class PgAlerts implements AlertRecords {
  readonly #database: PgDatabase;
  readonly #events: Pick<PgEvents, 'insert'>;

  constructor(database: PgDatabase, events: Pick<PgEvents, 'insert'>) {
    this.#database = database;
    this.#events = events;
  }

  async open(): Promise<readonly OpenAlert[]> {
    const text = `SELECT ${columns} FROM uw.alert WHERE cleared_at IS NULL ORDER BY raised_at, id`;
    return ((await this.#database.read({ name: 'open_alerts', text })) ?? []).map(alertIn);
  }

  raise(alert: OpenAlert, fact?: Fact): Promise<OpenAlert | undefined> {
    const { id, integration, because, kind, message, failures, crashes, raisedAt, lastFailureAt } = alert;
    const times = [raisedAt, lastFailureAt].map(Math.round);
    return this.#transact(async (batch, tell) => {
      const name = keyOf(integration);
      const [, [row]] = await Promise.all([
        batch.row(raise, name, [id, integration, because, kind, message, failures, crashes, ...times]),
        batch.row(openOf, name, [integration]),
      ]);
      const open = row === undefined ? undefined : alertIn(row);
      if (fact !== undefined && open?.id === id) await tell(fact, raisedAt);
      return open;
    });
  }

  extend(
    integration: string,
    cause: AlertCount,
    wallNow: number,
    { kind, message }: AlertWords,
  ): Promise<boolean | undefined> {
    const counts = cause === 'failures' ? [1, 0] : [0, 1];
    return this.#transact(async (batch) => {
      const said = [Math.round(wallNow), cause, kind, message];
      const rows = await batch.row(extend, keyOf(integration), [integration, ...counts, ...said]);
      return rows.length > 0;
    });
  }

  clear(
    id: string,
    by: AlertEnd,
    wallNow: number,
    quietSince: number,
    fact?: (counts: AlertCounts) => Fact,
  ): Promise<Cleared | undefined> {
    const at = Math.round(wallNow);
    return this.#transact(async (batch, tell): Promise<Cleared> => {
      const name = `alert by id ${id}`;
      const [row] = await batch.row(lock, name, [id]);
      if (row === undefined) return { is: 'gone' };
      const lastFailureAt = Number(row['last_failure_at']);
      // A failure that is later than now is one of a wall clock that has stepped back since; it must not hold the alert open.
      if (lastFailureAt > quietSince && lastFailureAt <= at) return { is: 'failing', lastFailureAt };
      const counts = { failures: Number(row['failures']), crashes: Number(row['crashes']) };
      await Promise.all([
        batch.row(clear, name, [id, at, by]),
        fact === undefined ? undefined : tell(fact(counts), wallNow),
      ]);
      return { is: 'cleared', ...counts };
    });
  }

  /** Undefined at once when it has to wait for the store, and then it is still made. */
  #transact<T>(
    work: (batch: BatchRows, tell: (fact: Fact, at: number) => Promise<void>) => Promise<T>,
  ): Promise<T | undefined> {
    return this.#database.transact(
      (batch, isLate) =>
        work(batch, async (fact, at) => {
          // The caller could not wait, and has told of it.
          if (!isLate) await this.#events.insert(batch, { ...fact, at });
        }),
      { late: 'run' },
    );
  }
}

const keyOf = (integration: string): string => `alert ${integration}`;
