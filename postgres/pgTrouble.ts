import { messageOf } from '../src/policy/failures/face.ts';
import type { Trouble } from '../src/store/face.ts';
import { UnfitDatabaseError } from './pgSettings.ts';

/** Trouble with a database, or with the way to it. */
export interface PgTrouble extends Trouble {
  /** A row is at fault, not the database: it is refused whenever it comes. */
  readonly refusedRow: boolean;
}

/** Migrated by a version of this package that is newer by more than one schema. */
export class NewerPgSchemaError extends Error {
  readonly code = 'UNWEDGE_NEWER_SCHEMA';
  constructor(found: number, known: number) {
    super(`the schema has version ${found}, this version of unwedge knows ${known}`);
  }
}

/** The server that the URL leads to now is a standby, or its user may only read. */
export class ReadOnlyServerError extends Error {
  readonly code = '25006';
  constructor() {
    super('the server only reads');
  }
}

/** The server's own classes of errors, by the first letters of SQLSTATE, that say nothing against what was asked. */
const passing = ['08', '25P', '40', '53300', '55P', '57'];
/** Data that does not fit, a constraint, a value too long: the row is at fault. */
const ofRow = ['22', '23', '54'];

const ofStatement = [...ofRow, '40', '55P'];

const reach = 'see that the server runs and can be reached: `store` of the gateway';

/** By SQLSTATE, or its class. */
const fixes: Readonly<Record<string, string>> = {
  '25006': 'connect to the primary: this server, or its user, only reads',
  '26000': 'set `prepare=false` in the URL: the pooler before the server keeps no prepared statements',
  '28': 'correct user, password or pg_hba.conf: `store` of the gateway, or PGUSER and PGPASSWORD of a command',
  '3D': 'create the database: CREATE DATABASE',
  '3F000': 'it is made anew with the next write, without what was in it',
  '42501': 'grant the user CREATE on the database, or create the schema for it',
  '42P01': 'they are made anew with the next write, without what was in them',
  '42P05': 'set `prepare=false` in the URL: the pooler before the server keeps no prepared statements',
  '42P07': 'restore its table schema_version, or choose another `schema` in the URL',
  '53100': 'free space on the disk of the server',
  '53300': 'raise `max_connections`, or the CONNECTION LIMIT of the user: a gateway takes up to 7',
  '55000': 'let the database be connected to: ALTER DATABASE … ALLOW_CONNECTIONS true',
  '55P03': 'see in pg_stat_activity who holds a lock on the tables',
  '57014': 'see in pg_stat_activity what the server is busy with, or who holds a lock on the tables',
  UNWEDGE_NEWER_SCHEMA: 'update unwedge, or choose another `schema` in the URL',
};

/** Tells what a failing database means. Accepts anything thrown. @param path - for people. */
export function diagnosePg(error: unknown, path: string): PgTrouble {
  if (error instanceof UnfitDatabaseError) {
    return { busy: false, refusedRow: false, reason: `${path}: ${error.reason}`, fix: error.fix };
  }
  const code = codeOf(error);
  const fix = fixes[code] ?? fixes[code.slice(0, 2)] ?? reach;
  const isServers = isSqlState(code);
  const isOwn = code === 'UNWEDGE_NEWER_SCHEMA';
  return {
    busy: isServers ? passing.some((start) => code.startsWith(start)) : !isOwn,
    refusedRow: isServers && ofRow.some((start) => code.startsWith(start)),
    reason: `${path}: ${messageOf(error) || code}`,
    fix,
  };
}

/** Tells whether the tables are not there that were made ready. */
export function hasNoTables(error: unknown): boolean {
  return ['42P01', '3F000'].includes(codeOf(error));
}

/**
 * Tells whether others may be given the connection over which the server said so: what was asked was at fault. Things that the server says of itself - it
 * only reads, it knows a prepared statement or does not - it would say on this connection for ever, where a new one may lead elsewhere.
 */
export function isOfStatement(error: unknown): boolean {
  const code = codeOf(error);
  return isAnswer(error) && (code === '57014' || ofStatement.some((start) => code.startsWith(start)));
}

/** Tells whether the server itself has said it, over a connection that goes on. */
export function isAnswer(error: unknown): boolean {
  const code = codeOf(error);
  return isSqlState(code) && !code.startsWith('08') && !code.startsWith('57P');
}

function isSqlState(code: string): boolean {
  return /^[0-9A-Z]{5}$/.test(code) && /\d/.test(code);
}

function codeOf(error: unknown): string {
  return typeof error === 'object' && error !== null && 'code' in error ? String(error.code) : '';
}
