import { read, readInteger, readMessage, readString } from './errorChain.ts';
import { byNumber, byPattern, type Finding, means, type Row } from './finding.ts';

/** SQLSTATE by its class, most telling first: what one statement did wrong says nothing of the database. */
const states: readonly Row[] = [
  [/^(?:08001|08004|57P03)/, means.unsent],
  [/^08P01/, means.protocol],
  [/^08|^57P0/, means.disconnected],
  [/^28|^42501/, means.auth],
  [/^(?:42P01|42703|42883|3D000|3F000|42S02|42S22)/, means.notFound],
  // Rolled back as a whole: two transactions met.
  [/^40003/, means.unknown],
  [/^(?:40|55P03|55006)/, means.refused],
  [/^53300/, means.unsent],
  [/^53/, means.overloaded],
  [/^57014|^HYT0|^S1T00/, means.timeout],
  [/^(?:58|XX)/, means.broken],
  [/^54/, means.tooLarge],
  [/^(?:0[A-Z]|2|3|4[24]|55|P0|HV|F0)/, means.permanent],
];

/** Two characters of a class, one of them a digit or a class of letters, and three of the case. */
const sqlState = /^(?:\d[0-9A-Z]|F0|HV|P0|XX|HY|S1)[0-9A-Z]{3}$/;

/** MySQL's own numbers where its SQLSTATE is the general HY000. */
const mysql: readonly Row<readonly number[]>[] = [
  [[1040, 1203], means.unsent],
  // So many an hour.
  [[1226], means.rateLimit],
  [[1044, 1045, 1142, 1143, 1227, 1698], means.auth],
  [[1205, 1213, 3572], means.refused],
  [[1053, 2006, 2013], means.disconnected],
  [[2002, 2003, 2005], means.unsent],
  [[3024, 1317], means.timeout],
  [[1153], means.tooLarge],
  [[1049, 1051, 1054, 1146, 1305], means.notFound],
  [[1036, 1290], means.refused],
];

/** Results of SQLite by name, without extensions. Those of its file and its disk are missing here: nobody mends them by asking otherwise. */
const sqlite: readonly Row[] = [
  [/^SQLITE_(?:BUSY|LOCKED)/, means.refused],
  [/^SQLITE_AUTH/, means.auth],
  [/^SQLITE_INTERRUPT/, means.cancelled],
  [/^SQLITE_TOOBIG/, means.tooLarge],
  [/^(?:SQLITE_(?:ERROR|READONLY|CONSTRAINT|MISMATCH|MISUSE|RANGE)|SQL_INPUT_ERROR$)/, means.permanent],
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
  [/^ORA-(?:125(?:05|14|16|18|28|41|43|45)|12170|01034|00018|00020)$/, means.unsent],
  [/^ORA-(?:00028|01012|01041|01089|01092|02396|031(?:13|14|35)|12537|12547|12570|12571)$/, means.disconnected],
  [/^ORA-(?:00054|00060|08177|30006)$/, means.refused],
  [/^ORA-(?:01017|01031|01045|28000|28001)$/, means.auth],
  [/^ORA-(?:00942|01418|04043)$/, means.notFound],
  [/^ORA-(?:009\d\d|00001|017\d\d|0140\d|0143[68]|018[34]\d|0229[0-2]|06550|12899)$/, means.permanent],
];

/** Numbers of SQL Server that mean more than their severity; it calls 11 to 16 what the user can mend. */
const sqlServer: readonly Row<readonly number[]>[] = [
  [[1205, 1222, 3960, 41302, 41305, 41325], means.refused],
  [[4060, 40501, 40613, 10928, 10929, 49918, 49919, 49920], means.refused],
  // It ended while it carried the request out.
  [[40197], means.broken],
  [[229, 230, 262, 297, 300, 916, 18452, 18456], means.auth],
];

/** Codes of tedious and mssql, the drivers of SQL Server, where no number of the server is beside. */
const tedious: readonly Row[] = [
  [/^ELOGIN$/, means.auth],
  [/^(?:EINSTLOOKUP|ENOTOPEN|ECONNCLOSED)$/, means.unsent],
  [/^ESOCKET$/, means.disconnected],
  [/^ECANCEL$/, means.cancelled],
];

/** Codes of Cassandra's protocol. */
const cassandra: readonly Row<readonly number[]>[] = [
  [[0x1000, 0x1002], means.refused],
  [[0x1001], means.overloaded],
  [[0x1100, 0x1200], means.timeout],
  [[0x0100, 0x2100], means.auth],
  [[0x2000, 0x2200, 0x2300, 0x2400], means.permanent],
];

/** Tells what the error of a database means: the SQLSTATE in `sqlState`, `sqlstate` or `code`, MySQL's number, or a code of its own. */
export function byDatabase(error: unknown): Finding | undefined {
  return bySqlState(error) ?? byOwnCode(error);
}

function bySqlState(error: unknown): Finding | undefined {
  const told = readString(error, 'sqlState') ?? readString(error, 'sqlstate') ?? readString(error, 'code');
  const name = readString(error, 'code') ?? told;
  const isMysql = /^(?:ER_|PROTOCOL_|CR_)/.test(name ?? '') || readString(error, 'sqlMessage') !== undefined;
  const number = isMysql ? readInteger(error, 'errno') : undefined;
  if (name === 'PROTOCOL_CONNECTION_LOST') return { ...means.disconnected, code: name };
  const known = number === undefined ? undefined : byNumber(mysql, number, name ?? number);
  if (known !== undefined) return known;
  if (told === '57014' && /user request/.test(readMessage(error))) return { ...means.cancelled, code: told };
  const state = told !== undefined && sqlState.test(told) ? byPattern(states, told, name ?? told) : undefined;
  return state ?? (/^ER_/.test(name ?? '') ? { ...means.permanent, code: name } : undefined);
}

/** Finds what a code of SQLite, Oracle, SQL Server or Cassandra means. */
function byOwnCode(error: unknown): Finding | undefined {
  const code = readString(error, 'code') ?? '';
  const errcode = code === 'ERR_SQLITE_ERROR' ? (readInteger(error, 'errcode') ?? 0) & 0xff : undefined;
  return (
    byPattern(sqlite, errcode === undefined ? code : (sqliteNames.get(errcode) ?? '')) ??
    byPattern(oracle, code) ??
    ofSqlServer(error, code) ??
    ofCassandra(error)
  );
}

/** Finds what a text means that names its SQLSTATE (`SQLSTATE[42S02]`, `(SQLSTATE 42P01)`, `SQLState: 08001`), or a message of Oracle. */
export function codeText(text: string): Finding | undefined {
  const [, state] = /\bSQLSTATE(?:\[| = |[:=] ?| )['"]?([0-9A-Z]{5})\b/i.exec(text) ?? [];
  // DB2 says so of every connection, also of one that broke while an answer was awaited.
  if (state === '08001') return { ...means.disconnected, code: state };
  const found = state !== undefined && sqlState.test(state) ? byPattern(states, state) : undefined;
  return found ?? byPattern(oracle, /\bORA-\d{5}\b/.exec(text)?.[0] ?? '');
}

function ofSqlServer(error: unknown, code: string): Finding | undefined {
  const number = readInteger(error, 'number');
  const severity = readInteger(error, 'class');
  if (number === undefined || severity === undefined) return byPattern(tedious, code) ?? ofTimeout(error, code);
  if (!/^E(?:REQUEST|LOGIN)$/.test(code)) return undefined;
  const isUsers = severity >= 11 && severity <= 16;
  return byNumber(sqlServer, number) ?? (isUsers ? { ...means.permanent, code: number } : undefined);
}

/** A name or a connection that did not come in time was asked for nothing; a request that cannot be cancelled may have been carried out. */
function ofTimeout(error: unknown, code: string): Finding | undefined {
  if (code !== 'ETIMEOUT') return undefined;
  const isBefore =
    /^Failed to connect to/i.test(readMessage(error)) || readString(error, 'syscall')?.startsWith('query') === true;
  return { ...(isBefore ? means.unsent : means.timeout), code };
}

function ofCassandra(error: unknown): Finding | undefined {
  const code = readInteger(error, 'code');
  if (code === undefined || readString(error, 'name') !== 'ResponseError' || read(error, 'statusCode') !== undefined)
    return undefined;
  return byNumber(cassandra, code);
}
