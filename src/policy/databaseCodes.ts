import { read, readInteger, readMessage, readString } from './errorChain.ts';
import type { EffectOutcome, FailureKind, FailureReason } from './failure.ts';
import type { Finding } from './finding.ts';
import { sqlStateText } from './sqlState.ts';

type Row = readonly [codes: RegExp, kind: FailureKind, outcome: EffectOutcome, reason?: FailureReason | undefined];

/** Results of SQLite by name, without extensions. Those of its file and its disk are missing here: nobody mends them by asking otherwise. */
const sqlite: readonly Row[] = [
  [/^SQLITE_(?:BUSY|LOCKED)/, 'transient', 'failed'],
  [/^SQLITE_AUTH/, 'auth', 'failed'],
  [/^SQLITE_INTERRUPT/, 'cancelled', 'cancelled'],
  [/^SQLITE_TOOBIG/, 'permanent', 'failed', 'message_too_large'],
  [/^(?:SQLITE_(?:ERROR|READONLY|CONSTRAINT|MISMATCH|MISUSE|RANGE)|SQL_INPUT_ERROR$)/, 'permanent', 'failed'],
];

/** Their numbers, which Node's own SQLite gives in `errcode` with an extension in the upper bits. */
const sqliteNames: ReadonlyMap<number, string> = new Map([
  [1, 'SQLITE_ERROR'],
  [5, 'SQLITE_BUSY'],
  [6, 'SQLITE_LOCKED'],
  [8, 'SQLITE_READONLY'],
  [9, 'SQLITE_INTERRUPT'],
  [18, 'SQLITE_TOOBIG'],
  [19, 'SQLITE_CONSTRAINT'],
  [20, 'SQLITE_MISMATCH'],
  [21, 'SQLITE_MISUSE'],
  [23, 'SQLITE_AUTH'],
  [25, 'SQLITE_RANGE'],
]);

/** Oracle's messages by number, as `ORA-00942`. */
const oracle: readonly Row[] = [
  [/^ORA-(?:125(?:05|14|16|18|28|41|43|45)|12170|01034|00018|00020)$/, 'transient', 'not_started'],
  [
    /^ORA-(?:00028|01012|01041|01089|01092|02396|031(?:13|14|35)|12537|12547|12570|12571)$/,
    'transient',
    'unknown',
    'connection_lost',
  ],
  [/^ORA-(?:00054|00060|08177|30006)$/, 'transient', 'failed'],
  [/^ORA-(?:01017|01031|01045|28000|28001)$/, 'auth', 'failed'],
  [/^ORA-(?:00942|01418|04043)$/, 'permanent', 'failed', 'not_found'],
  [/^ORA-(?:009\d\d|00001|017\d\d|0140\d|0143[68]|018[34]\d|0229[0-2]|06550|12899)$/, 'permanent', 'failed'],
];

/** Numbers of SQL Server that mean more than their severity; it calls 11 to 16 what the user can mend. */
const sqlServer: readonly (readonly [numbers: readonly number[], kind: FailureKind, outcome: EffectOutcome])[] = [
  [[1205, 1222, 3960, 41302, 41305, 41325], 'transient', 'failed'],
  [[4060, 40501, 40613, 10928, 10929, 49918, 49919, 49920], 'transient', 'failed'],
  // It ended while it carried the request out.
  [[40197], 'transient', 'unknown'],
  [[229, 230, 262, 297, 300, 916, 18452, 18456], 'auth', 'failed'],
];

/** Codes of tedious and mssql, the drivers of SQL Server, where no number of the server is beside. */
const tedious: readonly Row[] = [
  [/^ELOGIN$/, 'auth', 'failed'],
  [/^(?:EINSTLOOKUP|ENOTOPEN|ECONNCLOSED)$/, 'transient', 'not_started'],
  [/^ESOCKET$/, 'transient', 'unknown', 'connection_lost'],
  [/^ECANCEL$/, 'cancelled', 'cancelled'],
];

/** Codes of Cassandra's protocol. */
const cassandra: readonly (readonly [codes: readonly number[], kind: FailureKind, outcome: EffectOutcome])[] = [
  [[0x1000, 0x1002], 'transient', 'failed'],
  [[0x1001], 'overloaded', 'failed'],
  [[0x1100, 0x1200], 'timeout', 'unknown'],
  [[0x0100, 0x2100], 'auth', 'failed'],
  [[0x2000, 0x2200, 0x2300, 0x2400], 'permanent', 'failed'],
];

/** Finds what an error of a database with codes of its own means: of SQLite, Oracle, SQL Server, Cassandra. */
export function byOwnCode(error: unknown): Finding | undefined {
  const code = readString(error, 'code') ?? '';
  const errcode = code === 'ERR_SQLITE_ERROR' ? (readInteger(error, 'errcode') ?? 0) & 0xff : undefined;
  return (
    rowOf(sqlite, errcode === undefined ? code : (sqliteNames.get(errcode) ?? '')) ??
    rowOf(oracle, code) ??
    ofSqlServer(error, code) ??
    ofCassandra(error)
  );
}

/** Finds what a text means that names a message of Oracle, or a SQLSTATE. */
export function codeText(text: string): Finding | undefined {
  return sqlStateText(text) ?? rowOf(oracle, /\bORA-\d{5}\b/.exec(text)?.[0] ?? '');
}

function ofSqlServer(error: unknown, code: string): Finding | undefined {
  const number = readInteger(error, 'number');
  const severity = readInteger(error, 'class');
  if (number === undefined || severity === undefined) return rowOf(tedious, code) ?? ofTimeout(error, code);
  if (!/^E(?:REQUEST|LOGIN)$/.test(code)) return undefined;
  const [, kind, outcome] = sqlServer.find(([numbers]) => numbers.includes(number)) ?? [];
  if (kind !== undefined) return { kind, outcome: outcome ?? 'unknown', code: number };
  return severity >= 11 && severity <= 16 ? { kind: 'permanent', outcome: 'failed', code: number } : undefined;
}

/** A name or a connection that did not come in time was asked for nothing; a request that cannot be cancelled may have been carried out. */
function ofTimeout(error: unknown, code: string): Finding | undefined {
  if (code !== 'ETIMEOUT') return undefined;
  const isBefore =
    /^Failed to connect to/i.test(readMessage(error)) || readString(error, 'syscall')?.startsWith('query') === true;
  return isBefore ? { kind: 'transient', outcome: 'not_started', code } : { kind: 'timeout', outcome: 'unknown', code };
}

function ofCassandra(error: unknown): Finding | undefined {
  const code = readInteger(error, 'code');
  if (code === undefined || readString(error, 'name') !== 'ResponseError' || read(error, 'statusCode') !== undefined)
    return undefined;
  const [, kind, outcome] = cassandra.find(([codes]) => codes.includes(code)) ?? [];
  return kind === undefined ? undefined : { kind, outcome: outcome ?? 'unknown', code };
}

function rowOf(rows: readonly Row[], code: string): Finding | undefined {
  const [, kind, outcome, reason] = rows.find(([codes]) => codes.test(code)) ?? [];
  return kind === undefined || outcome === undefined ? undefined : { kind, outcome, reason, code };
}
