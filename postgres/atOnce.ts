import { clean, columnsIn, type Group, type LeasedRow, type Taken } from './batch.ts';
import { countAtOnce } from './batchNumber.ts';
import { lockLeases } from './leaseStatements.ts';
import type { Lease } from './leases.ts';
import type { Bound } from './pgConnections.ts';
import type { FencedStatement } from './rowStatement.ts';

/** Id of a writer, number of its batch. */
export type BatchNumber = readonly [writer: string, batch: number];

/** Batch number of a statement whose batch is counted by another one. */
const partOfBatch = [null, null] as const;

/** The one statement that is all of a batch, where its rows are of one kind and under their leases. */
export function aloneIn({ groups: [group, another] }: Taken, count: BatchNumber): Bound | undefined {
  if (group === undefined || another !== undefined || !isKept(group)) return undefined;
  const [row, next] = group.rows;
  if (row === undefined || next !== undefined) return many(group, count);
  const { token, leaseId, session } = row.lease;
  return { sql: group.statement.one, values: [token, leaseId, clean(session), ...row.values.map(clean), ...count] };
}

/** The statements of a batch. One under leases fails unless all of its rows are written. */
export function statementsOf({ groups, leases }: Taken, count: BatchNumber): readonly Bound[] {
  const locksTwice = groups.filter(({ statement }) => statement.isFenced === true).length > 1;
  return [
    { sql: countAtOnce, values: count },
    ...(locksTwice ? [{ sql: lockLeases, values: [leases] }] : []),
    ...groups.map((group) => (isKept(group) ? many(group, partOfBatch) : whole(group))),
  ];
}

function whole({ statement, rows }: Group): Bound {
  return { sql: statement, values: columnsIn(rows.map(({ values }) => values)) };
}

function many({ statement, rows }: KeptGroup, count: BatchNumber | typeof partOfBatch): Bound {
  const leases = [...new Set(rows.map(({ lease }) => lease))];
  const sessions = rows.map(({ lease }) => clean(lease.session));
  const values = [
    ...columnsIn(leases.map(fieldsOf)),
    sessions,
    ...columnsIn(rows.map(({ values }) => values)),
    ...count,
  ];
  return { sql: statement.many, values };
}

interface KeptGroup {
  readonly statement: FencedStatement;
  readonly rows: readonly LeasedRow[];
}

function isKept(group: Group | KeptGroup): group is KeptGroup {
  return group.rows[0]?.lease !== undefined && 'many' in group.statement;
}

function fieldsOf({ session, token, leaseId }: Lease) {
  return [session, token, leaseId] as const;
}
