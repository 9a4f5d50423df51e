import type { AlertCause, AlertCount, AlertEnd } from '../../policy/facts/alertFacts.ts';
import type { AlertCounts, AlertRecords, AlertWords, Cleared, OpenAlert } from '../../policy/records/alertRecord.ts';
import type { Fact } from '../../policy/facts/facts.ts';
import { type FailureKind, failureKinds } from '../../policy/failures/failure.ts';
import { insertInto, namesOf, type Row, statement } from '../dialect.ts';
import { step, type Tables } from '../work.ts';

const order = { rank: 5 };
const alertColumns = `id text, integration text, because text, kind text, message text, failures integer, crashes integer,
  raised_at bigint, last_failure_at bigint`;
const list = namesOf(alertColumns);

const open = statement(
  'open_alerts',
  '',
  `SELECT ${list} FROM uw.alert WHERE cleared_at IS NULL ORDER BY raised_at, id`,
);
const raise = statement(
  'raise_alert',
  alertColumns,
  insertInto('uw.alert', alertColumns, 'ON CONFLICT DO NOTHING', 'integration'),
  order,
);
/** Behind the insert: a statement of its own sees the alert that another node has just raised. */
const openOf = statement(
  'open_alert_of',
  'integration text',
  `SELECT {w.ord, a.*|${list}} FROM {w, |}uw.alert a WHERE a.integration = :integration AND a.cleared_at IS NULL`,
  order,
);
const words = (column: string): string =>
  `${column} = CASE WHEN a.because = :cause AND a.last_failure_at <= :at THEN :${column} ELSE a.${column} END`;
const extend = statement(
  'extend_alert',
  'integration text, failures integer, crashes integer, at bigint, cause text, kind text, message text',
  `UPDATE uw.alert AS a SET failures = a.failures + :failures, crashes = a.crashes + :crashes,
     last_failure_at = {greatest|max}(a.last_failure_at, :at), ${words('kind')}, ${words('message')}
   {FROM w |}WHERE a.integration = :integration AND a.cleared_at IS NULL RETURNING {w.ord|id}`,
  order,
);
const lock = statement(
  'lock_alert',
  'id text',
  `SELECT {w.ord, |}a.failures, a.crashes, a.last_failure_at FROM {w, |}uw.alert a
   WHERE a.id = :id AND a.cleared_at IS NULL {ORDER BY a.id FOR UPDATE OF a|}`,
  order,
);
const clear = statement(
  'clear_alert',
  'id text, cleared_at bigint, cleared_by text',
  'UPDATE uw.alert AS a SET cleared_at = :cleared_at, cleared_by = :cleared_by {FROM w |}WHERE a.id = :id',
  order,
);

/** Alerts of a store: of all runtimes that share it one raises each, and one clears it. */
export class Alerts implements AlertRecords {
  readonly #tables: Tables;

  constructor(tables: Tables) {
    this.#tables = tables;
  }

  async open(): Promise<readonly OpenAlert[]> {
    return (await this.#tables.read(open)).map(alertIn);
  }

  raise(alert: OpenAlert, fact?: Fact): Promise<OpenAlert | undefined> {
    const key = keyOf(alert);
    return this.#tables.transact(function* (isLate) {
      yield step(raise, key, alert);
      const [row] = yield step(openOf, key, alert);
      const found = row && alertIn(row);
      // A caller that could not wait has told of it.
      if (fact !== undefined && found?.id === alert.id && !isLate) yield { fact: { ...fact, at: alert.raisedAt } };
      return found;
    }, evenLate);
  }

  extend(integration: string, cause: AlertCount, at: number, said: AlertWords): Promise<boolean | undefined> {
    const counts = { failures: 0, crashes: 0, [cause]: 1 };
    return this.#tables.transact(function* () {
      const rows = yield step(extend, keyOf({ integration }), { integration, cause, at, ...counts, ...said });
      return rows.length > 0;
    }, evenLate);
  }

  clear(
    id: string,
    by: AlertEnd,
    wallNow: number,
    quietSince: number,
    factOf?: (counts: AlertCounts) => Fact,
  ): Promise<Cleared | undefined> {
    const key = `alert by id ${id}`;
    return this.#tables.transact<Cleared>(function* (isLate) {
      const [row] = yield step(lock, key, { id });
      if (row === undefined) return { is: 'gone' };
      const lastFailureAt = Number(row['last_failure_at']);
      // A failure that is later than now is one of a wall clock that has stepped back since; it must not hold the alert open.
      if (lastFailureAt > quietSince && lastFailureAt <= Math.round(wallNow)) return { is: 'failing', lastFailureAt };
      const counts = { failures: Number(row['failures']), crashes: Number(row['crashes']) };
      yield step(clear, key, { id, clearedAt: wallNow, clearedBy: by });
      if (factOf !== undefined && !isLate) yield { fact: { ...factOf(counts), at: wallNow } };
      return { is: 'cleared', ...counts };
    }, evenLate);
  }
}

/** It is made also where its caller was told that it has to wait. */
const evenLate = { late: 'run' } as const;

const keyOf = ({ integration }: Pick<OpenAlert, 'integration'>): string => `alert ${integration}`;

const causes: readonly AlertCause[] = ['failures', 'crashes', 'rate', 'circuit', 'budget', 'tool'];

/** As a row holds it; a kind that this version does not know is `unknown`. */
export function alertIn(row: Row): OpenAlert {
  const kind = String(row['kind']);
  return {
    id: String(row['id']),
    integration: String(row['integration']),
    // A file that no newer version has opened has neither of the two.
    because: causes.find((cause) => cause === row['because']) ?? 'failures',
    crashes: Number(row['crashes'] ?? 0),
    kind: Object.hasOwn(failureKinds, kind) ? (kind as FailureKind) : 'unknown',
    message: String(row['message']),
    failures: Number(row['failures']),
    raisedAt: Number(row['raised_at']),
    lastFailureAt: Number(row['last_failure_at']),
  };
}
