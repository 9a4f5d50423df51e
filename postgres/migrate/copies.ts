import { hostname } from 'node:os';
import { addFigures } from '../../src/policy/callFigures.ts';
import type { SqlRow } from '../../src/store/sqlite/database.ts';
import type { Transaction } from '../pgConnections.ts';
import type { PgRow } from '../pgDriver.ts';
import { eventValues, insertEvent } from '../pgEvents.ts';
import { overRows } from '../pgTables.ts';
import { keepStatistic, lockStatistic } from '../../src/store/tables/statistics.ts';
import type { Value } from '../../src/store/dialect.ts';
import { rowsOf } from '../rowStatement.ts';
import { figuresIn } from '../../src/store/statistics.ts';

/** Copy of the rows of one table of a file into a database. */
export interface Copy {
  /** For people. */
  readonly what: string;
  /** Table of the file. */
  readonly table: string;
  /** Columns that name a row, by which the pages of the table follow one another. */
  readonly key: readonly string[];
  /** Writes a page of rows. */
  write(transaction: Transaction, rows: readonly SqlRow[]): Promise<unknown>;
}

/** @param columns - `name type` of each, as in the file and in the database. @param rest - what follows the columns in the insert. */
function plain(what: string, table: string, into: string, key: string, columns: string, conflict = ''): Copy {
  const names = columns.split(',').map((column) => column.trim().split(/\s+/)[0] ?? '');
  const list = names.join(', ');
  const text = `WITH ${rowsOf(columns)} INSERT INTO uw.${into} (${list}) SELECT ${list} FROM w ORDER BY ord ${conflict}`;
  return {
    what,
    table,
    key: key.split(', '),
    write: (transaction, rows) =>
      transaction.run(
        { name: '', text },
        names.map((name) => rows.map((row) => valueOf(row[name]))),
      ),
  };
}

const skipKnown = 'ON CONFLICT DO NOTHING';

/** The tables of a file, in the order in which they are copied. What belongs to a process that runs is not among them: none does. */
export function copiesOf(eventTable: string): readonly Copy[] {
  return [
    sessions,
    plain(
      'messages',
      'unwedge_messages',
      'message',
      'session, number',
      `session text, number bigint, body text, key text, state text, deliveries integer, stops integer, posted_at bigint, turn bigint,
       seq bigint, taken_at bigint, ended_at bigint, error text`,
    ),
    plain(
      'tool calls',
      'unwedge_calls',
      'call',
      'id',
      `id text, session text, turn bigint, integration text, tool text, input text, effect text, runtime text, started_at bigint,
       deadline_at bigint, seq bigint, state text, result text, result_seq bigint, settled_at bigint, late_result text, late_at bigint,
       rule text, idempotency_key text, reconciling_at bigint, verdict text, reconciled_at bigint`,
    ),
    plain(
      'circuits',
      'unwedge_breakers',
      'breaker',
      'name',
      `name text, state text, opened_at bigint, open_until bigint, last_open_ms bigint, openings integer, failures integer,
       generation bigint, cause text, paused_at bigint, paused_until bigint`,
      skipKnown,
    ),
    plain('rate limits', 'unwedge_rates', 'rate', 'name', 'name text, levels text, at bigint', skipKnown),
    plain(
      'alerts',
      'unwedge_alerts',
      'alert',
      'id',
      `id text, integration text, because text, kind text, message text, failures integer, crashes integer, raised_at bigint,
       last_failure_at bigint, cleared_at bigint, cleared_by text`,
      skipKnown,
    ),
    children,
    figures,
    plain(
      'last attempts',
      'unwedge_flights',
      'flight',
      'id',
      'integration text, run text, pid integer, at bigint, because text, record text',
    ),
    policies,
    {
      what: 'events',
      table: eventTable,
      key: ['id'],
      write: (transaction, rows) => {
        const values = rows.map((row) => {
          const [category, type, metadata] = [row['category'], row['event_type'], row['metadata']].map(String);
          return eventValues({ category: category ?? '', type: type ?? '' }, metadata ?? '', Number(row['timestamp']));
        });
        return transaction.run(insertEvent, columnsOf(values));
      },
    },
  ];
}

/** Free: nobody has them. Their fences go on from where they were. */
const sessions: Copy = {
  what: 'sessions',
  table: 'unwedge_sessions',
  key: ['id'],
  write: (transaction, rows) =>
    transaction.run(
      {
        name: '',
        text: `WITH ${rowsOf('key text, token bigint')}
          INSERT INTO uw.lease (key, token, lease_id) SELECT key, token, gen_random_uuid() FROM w`,
      },
      columnsOf(rows.map((row) => [valueOf(row['id']), valueOf(row['fence'])])),
    ),
};

/** Processes that an earlier run left behind on this machine: the next one here ends them. */
const children: Copy = {
  what: 'child processes',
  table: 'unwedge_children',
  key: ['pid', 'process_start'],
  write: (transaction, rows) => {
    const names = ['pid', 'process_start', 'mark', 'command', 'started_at', 'owner_pid', 'owner_start'];
    const columns = `host text, pid integer, process_start text, mark text, command text, started_at bigint, owner_pid integer,
      owner_start text`;
    const text = `WITH ${rowsOf(columns)} INSERT INTO uw.child (host, ${names.join(', ')})
      SELECT host, ${names.join(', ')} FROM w ${skipKnown}`;
    return transaction.run(
      { name: '', text },
      columnsOf(rows.map((row) => [hostname(), ...names.map((name) => valueOf(row[name]))])),
    );
  },
};

const policies: Copy = {
  what: 'policies',
  table: 'unwedge_policies',
  key: ['name', 'policy'],
  write: (transaction, rows) => {
    const text = `WITH ${rowsOf('name text, policy text, since bigint, seen_at bigint')}
      INSERT INTO uw.policy (name, digest, policy, since, seen_at) SELECT name, md5(policy), policy, since, seen_at FROM w ${skipKnown}`;
    const names = ['name', 'policy', 'since', 'seen_at'];
    return transaction.run({ name: '', text }, columnsOf(rows.map((row) => names.map((name) => valueOf(row[name])))));
  },
};

/** Figures are added to what other files have brought. */
const figures: Copy = {
  what: 'figures of calls',
  table: 'unwedge_statistics',
  key: ['minute', 'integration', 'tool'],
  async write(transaction, rows) {
    const keys = rows.map((row) => figures.key.map((name) => valueOf(row[name])));
    const there = new Map<number, PgRow>();
    for (const row of await transaction.run(overRows(lockStatistic), columnsOf(keys)))
      there.set(Number(row['ord']), row);
    const values = rows.map((row, index) => {
      const more = figuresIn(row['figures']);
      const had = there.get(index + 1)?.['figures'];
      const sum = had === undefined || had === null ? more : addFigures(figuresIn(had), more);
      return [...(keys[index] ?? []), JSON.stringify(sum)];
    });
    return transaction.run(overRows(keepStatistic), columnsOf(values));
  },
};

function columnsOf(rows: readonly (readonly Value[])[]): readonly (readonly Value[])[] {
  return (rows[0] ?? []).map((_, column) => rows.map((row) => row[column] ?? null));
}

/** PostgreSQL holds every character but one. */
function valueOf(value: unknown): Value {
  if (typeof value === 'string') return value.replaceAll('\0', '\uFFFD');
  if (typeof value === 'bigint') return value.toString();
  return typeof value === 'number' ? value : null;
}
