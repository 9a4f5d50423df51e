import Database from 'better-sqlite3';
import { describe, expect, it } from 'vitest';
import { classify } from '../../../src/policy/failures/classify.ts';
import type { FailureKind } from '../../../src/policy/failures/failure.ts';
import { startIntegration } from '../../support/startIntegration.ts';

const thrown = (fields: object, message: string, name = 'Error'): Error =>
  Object.assign(new Error(message), { name }, fields);

const near = 'near "SELEC": syntax error';
/** A word that one caller mistyped, in the words of each driver. */
const typos: Readonly<Record<string, unknown>> = {
  pg: thrown({ severity: 'ERROR', code: '42601', position: '1' }, 'syntax error at or near "SELEC"', 'error'),
  mysql2: thrown({ code: 'ER_PARSE_ERROR', errno: 1064, sqlState: '42000' }, 'You have an error in your SQL syntax'),
  'better-sqlite3': typed('SELEC 1'),
  'better-sqlite3, a column': typed('SELECT nam FROM items'),
  sqlite3: thrown({ code: 'SQLITE_ERROR', errno: 1 }, `SQLITE_ERROR: ${near}`),
  'node:sqlite': thrown({ code: 'ERR_SQLITE_ERROR', errcode: 1, errstr: 'SQL logic error' }, near),
  libsql: thrown({ code: 'SQL_INPUT_ERROR' }, `SQL_INPUT_ERROR: SQLite input error: ${near}`, 'LibsqlError'),
  'Python sqlite3': new Error(`sqlite3.OperationalError: ${near}`),
  mssql: thrown({ code: 'EREQUEST', number: 102, class: 15 }, "Incorrect syntax near 'SELEC'.", 'RequestError'),
  'mssql, a table': thrown({ code: 'EREQUEST', number: 208, class: 16 }, "Invalid object name 'itms'.", 'RequestError'),
  oracledb: thrown({ code: 'ORA-00900', errorNum: 900 }, 'ORA-00900: invalid SQL statement'),
  'Python oracledb': new Error('oracledb.exceptions.DatabaseError: ORA-00942: table or view does not exist'),
  clickhouse: thrown({ code: '62', type: 'SYNTAX_ERROR' }, 'Syntax error: failed at position 1 (SELEC)'),
  cassandra: thrown({ code: 0x2000 }, "line 1:0 no viable alternative at input 'SELEC'", 'ResponseError'),
  snowflake: thrown({ code: '001003' }, "SQL compilation error: syntax error line 1 at position 0 unexpected 'SELEC'."),
};

/** What the driver throws for that statement. */
function typed(statement: string): unknown {
  const database = new Database(':memory:');
  try {
    database.exec('CREATE TABLE items (name TEXT)');
    return database.prepare(statement);
  } catch (error) {
    return error;
  } finally {
    database.close();
  }
}

describe('typos of one caller', () => {
  it.each(Object.entries(typos))('[R-5] [M-4] open no circuit, five in a row: %s', async (_, error) => {
    const { integration } = startIntegration({}, () => Promise.reject(error as Error));
    for (let count = 0; count < 5; count++) {
      expect(await integration.call('ask')).toMatchObject({ ok: false, failure: { kind: 'permanent', attempts: 1 } });
    }
    expect(integration.breaker.state).toBe('closed');
  });
});

describe('codes of databases', () => {
  it.each<readonly [FailureKind, unknown]>([
    ['transient', thrown({ code: 'SQLITE_BUSY_SNAPSHOT' }, 'database is locked', 'SqliteError')],
    ['transient', thrown({ code: 'ERR_SQLITE_ERROR', errcode: 261, errstr: 'database is locked' }, 'x')],
    ['permanent', thrown({ code: 'ERR_SQLITE_ERROR', errcode: 2067, errstr: 'constraint failed' }, 'x')],
    ['unknown', thrown({ code: 'SQLITE_CORRUPT' }, 'database disk image is malformed', 'SqliteError')],
    ['unknown', thrown({ code: 'ERR_SQLITE_ERROR', errcode: 11, errstr: 'x' }, 'x')],
    ['transient', thrown({ code: 'EREQUEST', number: 1205, class: 13 }, 'x', 'RequestError')],
    ['auth', thrown({ code: 'ELOGIN', number: 18_456, class: 14 }, 'x', 'ConnectionError')],
    ['unknown', thrown({ code: 'EREQUEST', number: 823, class: 24 }, 'x', 'RequestError')],
    ['transient', thrown({ code: 'ORA-12541' }, 'ORA-12541: TNS:no listener')],
    ['auth', new Error('ORA-01017: invalid username/password; logon denied')],
    ['unknown', new Error('ORA-00600: internal error code')],
    ['overloaded', thrown({ code: 0x1001 }, 'x', 'ResponseError')],
    ['timeout', thrown({ code: 0x1100 }, 'x', 'ResponseError')],
  ])('[R-5] mean %s: %o', (kind, error) => {
    expect(classify(error, { wallNow: 0 }).kind).toBe(kind);
  });
});

describe('a text that names its SQLSTATE', () => {
  it.each([
    'SQLSTATE[?]: x',
    'x (SQLSTATE ?)',
    'SQLState: ?',
    'SQLSTATE:?',
    'SQLSTATE=?, x',
    "SQLSTATE = '?'",
    'SQLSTATE = ?',
  ])('[R-5] is read by it: %s', (form) => {
    const meaning = (state: string) => classify(new Error(form.replace('?', state)), { wallNow: 0 });
    expect(meaning('42S02')).toMatchObject({ kind: 'permanent', reason: 'not_found', code: '42S02' });
    expect(meaning('40P01')).toMatchObject({ kind: 'transient', outcome: 'failed', code: '40P01' });
  });
});

describe('what was sent and lost its answer', () => {
  it.each<readonly [FailureKind, unknown]>([
    ['transient', new Error('SQL30081N  Communication function detecting the error: "recv".  SQLSTATE=08001')],
    ['timeout', thrown({ code: 'ETIMEOUT' }, 'Failed to cancel request in 5000ms', 'RequestError')],
    ['timeout', thrown({ code: 'ETIMEOUT' }, 'Timeout: Request failed to complete in 15000ms', 'RequestError')],
    ['protocol', new Error('Unexpected content type: text/html')],
  ])('[R-5] [R-12] is no refusal: %s, %o', (kind, error) => {
    expect(classify(error, { wallNow: 0 })).toMatchObject({ kind, outcome: 'unknown' });
  });

  it.each<unknown>([
    thrown({ code: 'ETIMEOUT' }, 'Failed to connect to db:1433 in 15000ms', 'ConnectionError'),
    thrown({ code: 'ETIMEOUT', syscall: 'queryA' }, 'queryA ETIMEOUT db.example'),
  ])('[R-5] [R-12] is one before the connection stood: %o', (error) => {
    expect(classify(error, { wallNow: 0 })).toMatchObject({ kind: 'transient', outcome: 'not_started' });
  });
});
