import { hostname } from 'node:os';
import { addFigures } from '../../src/policy/records/face.ts';
import { insertInto, type Statement, statement, type Value, written } from '../../src/store/face.ts';
import type { SqlRow } from '../../src/store/sqlite/face.ts';
import { columnsIn } from '../batch.ts';
import type { Transaction } from '../pgConnections.ts';
import type { PgRow } from '../pgDriver.ts';
import { eventValues, insertEvent } from '../pgEvents.ts';
import { overRows } from '../pgTables.ts';
import {
  columnsInFile,
  declared,
  figuresIn,
  insertChild,
  keepStatistic,
  lockStatistic,
  type TableName,
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
function rowsBy(made: Statement): Copy['write'] {
  return (transaction, rows) =>
    transaction.run(
      overRows(made),
      columnsIn(rows.map((row) => made.columns.map(({ name }) => (name === 'host' ? hostname() : valueOf(row[name]))))),
    );
}

/** @param without - columns that are left out. */
function copyOf(name: TableName, then: string, without = /^$/): Statement {
  const columns = columnsInFile(name)
    .split(', ')
    .filter((column) => !without.test(column))
    .join(', ');
  return statement(`copy_${name}`, columns, insertInto(`uw.${name}`, columns, then));
}

/** Copies of the tables that are not copied as they are declared. */
const otherwise: Readonly<Partial<Record<TableName, Copy['write']>>> = {
  breaker: rowsBy(copyOf('breaker', 'ON CONFLICT DO NOTHING', /^lease_/)),
  // Processes that an earlier run left behind on this machine: the next one here ends them.
  child: rowsBy(insertChild),
  statistic: addStatistics,
  policy: rowsBy(upsertPolicy),
};

/** The tables of a file, in the order in which they are copied. */
export function copiesOf(eventTable: string): readonly Copy[] {
  return [
    {
      what: 'sessions',
      table: 'unwedge_sessions',
      key: ['id'],
      // Free: nobody has them. Their fences go on from where they were.
      write: rowsBy(
        statement(
          'copy_sessions',
          'id text, fence bigint',
          'INSERT INTO uw.lease (key, token, lease_id) SELECT id, fence, gen_random_uuid() FROM w',
        ),
      ),
    },
    ...declared.flatMap(([name, { file: table, key, move }]): readonly Copy[] => {
      if ('left' in move) return [];
      const names = written(key, 'file', () => '').split(', ');
      const then = move.shared === true ? 'ON CONFLICT DO NOTHING' : '';
      return [{ what: move.what, table, key: names, write: otherwise[name] ?? rowsBy(copyOf(name, then)) }];
    }),
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

/** Adds figures to what other files have brought. */
async function addStatistics(transaction: Transaction, rows: readonly SqlRow[]): Promise<void> {
  const keys = rows.map((row) => ['minute', 'integration', 'tool'].map((name) => valueOf(row[name])));
  const there = new Map<number, PgRow>();
  for (const row of await transaction.run(overRows(lockStatistic), columnsIn(keys))) there.set(Number(row['ord']), row);
  const values = rows.map((row, index) => {
    const more = figuresIn(row['figures']);
    const had = there.get(index + 1)?.['figures'];
    const sum = had === undefined || had === null ? more : addFigures(figuresIn(had), more);
    return [...(keys[index] ?? []), JSON.stringify(sum)];
  });
  await transaction.run(overRows(keepStatistic), columnsIn(values));
}

function valueOf(value: unknown): Value {
  if (typeof value === 'bigint') return value.toString();
  return typeof value === 'string' || typeof value === 'number' ? value : null;
}
