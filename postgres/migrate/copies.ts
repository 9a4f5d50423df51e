import { hostname } from 'node:os';
import { addFigures } from '../../src/policy/records/face.ts';
import { type Statement, type Value, insertInto, statement } from '../../src/store/face.ts';
import type { SqlRow } from '../../src/store/sqlite/face.ts';
import { columnsIn } from '../batch.ts';
import type { Transaction } from '../pgConnections.ts';
import type { PgRow } from '../pgDriver.ts';
import { eventValues, insertEvent } from '../pgEvents.ts';
import { overRows } from '../pgTables.ts';
import {
  columnsInFile,
  figuresIn,
  insertChild,
  insertFlight,
  keepStatistic,
  lockStatistic,
  upsertPolicy,
} from '../../src/store/tables/face.ts';

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

/** Copies the columns of a statement as they are. */
function plain(what: string, table: string, key: string, made: Statement): Copy {
  const write: Copy['write'] = (transaction, rows) =>
    transaction.run(
      overRows(made),
      columnsIn(rows.map((row) => made.columns.map(({ name }) => (name === 'host' ? hostname() : valueOf(row[name]))))),
    );
  return { what, table, key: key.split(', '), write };
}

/** Copies a table that a server has too. A row that the database has stays as it is where others share it. @param without - columns that are left out. */
function same(what: string, of: string, table: string, key: string, then = '', without = /^$/): Copy {
  const columns = columnsInFile(of)
    .split(', ')
    .filter((column) => !without.test(column))
    .join(', ');
  return plain(what, table, key, statement(`copy_${of}`, columns, insertInto(`uw.${of}`, columns, then)));
}

const skipKnown = 'ON CONFLICT DO NOTHING';

/** The tables of a file, in the order in which they are copied. What belongs to a process that runs is not among them: none does. */
export function copiesOf(eventTable: string): readonly Copy[] {
  return [
    // Free: nobody has them. Their fences go on from where they were.
    plain(
      'sessions',
      'unwedge_sessions',
      'id',
      statement(
        'copy_sessions',
        'id text, fence bigint',
        'INSERT INTO uw.lease (key, token, lease_id) SELECT id, fence, gen_random_uuid() FROM w',
      ),
    ),
    same('messages', 'message', 'unwedge_messages', 'session, number'),
    same('tool calls', 'call', 'unwedge_calls', 'id'),
    same('circuits', 'breaker', 'unwedge_breakers', 'name', skipKnown, /^lease_/),
    same('rate limits', 'rate', 'unwedge_rates', 'name', skipKnown),
    same('alerts', 'alert', 'unwedge_alerts', 'id', skipKnown),
    // Processes that an earlier run left behind on this machine: the next one here ends them.
    plain('child processes', 'unwedge_children', 'pid, process_start', insertChild),
    figures,
    plain('last attempts', 'unwedge_flights', 'id', insertFlight),
    plain('policies', 'unwedge_policies', 'name, policy', upsertPolicy),
    {
      what: 'events',
      table: eventTable,
      key: ['id'],
      write: (transaction, rows) => {
        const values = rows.map((row) => {
          const [category, type, metadata] = [row['category'], row['event_type'], row['metadata']].map(String);
          return eventValues({ category: category ?? '', type: type ?? '' }, metadata ?? '', Number(row['timestamp']));
        });
        return transaction.run(insertEvent, columnsIn(values));
      },
    },
  ];
}

/** Figures are added to what other files have brought. */
const figures: Copy = {
  what: 'figures of calls',
  table: 'unwedge_statistics',
  key: ['minute', 'integration', 'tool'],
  async write(transaction, rows) {
    const keys = rows.map((row) => figures.key.map((name) => valueOf(row[name])));
    const there = new Map<number, PgRow>();
    for (const row of await transaction.run(overRows(lockStatistic), columnsIn(keys)))
      there.set(Number(row['ord']), row);
    const values = rows.map((row, index) => {
      const more = figuresIn(row['figures']);
      const had = there.get(index + 1)?.['figures'];
      const sum = had === undefined || had === null ? more : addFigures(figuresIn(had), more);
      return [...(keys[index] ?? []), JSON.stringify(sum)];
    });
    return transaction.run(overRows(keepStatistic), columnsIn(values));
  },
};

function valueOf(value: unknown): Value {
  if (typeof value === 'bigint') return value.toString();
  return typeof value === 'string' || typeof value === 'number' ? value : null;
}
