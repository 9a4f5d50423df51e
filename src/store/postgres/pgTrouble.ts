import { messageOf } from '../../policy/thrown.ts';
import type { Trouble } from '../outage.ts';

/** What is wrong with a database, or with the way to it. */
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

/** The server's own classes of errors, by the first letters of SQLSTATE, that say nothing against what was asked. */
const passing = ['08', '25P', '40', '53300', '55P', '57'];
/** Data that does not fit, a constraint, a value too long: the row is at fault. */
const ofRow = ['22', '23', '54'];

const reach = 'see that the server runs and can be reached: `store` of the gateway';

const fixes: Readonly<Record<string, string>> = {
  '28': 'correct user, password or pg_hba.conf: `store` of the gateway',
  '3D': 'create the database: CREATE DATABASE',
  '42501': 'grant the user CREATE on the database, or create the schema for it',
  '53100': 'free space on the disk of the server',
  UNWEDGE_NEWER_SCHEMA: 'update unwedge, or choose another `schema` in the URL',
};

/** What a failing database means. Accepts anything thrown. @param path - for people. */
export function diagnosePg(error: unknown, path: string): PgTrouble {
  const code = codeOf(error);
  const fix = Object.entries(fixes).find(([start]) => code.startsWith(start))?.[1] ?? reach;
  const isServers = isSqlState(code);
  const isOwn = code === 'UNWEDGE_NEWER_SCHEMA';
  return {
    busy: isServers ? passing.some((start) => code.startsWith(start)) : !isOwn,
    refusedRow: isServers && ofRow.some((start) => code.startsWith(start)),
    reason: `${path}: ${messageOf(error) || code}`,
    fix,
  };
}

/** Whether the server itself has said it, over a connection that goes on. */
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
