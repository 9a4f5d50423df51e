import type { PgRow } from './pgDriver.ts';

/** A database in which not all can be kept that we are given. Its settings are not ours to change: behind a pooler nothing is left on a connection. */
export class UnfitDatabaseError extends Error {
  /** Trouble with it. */
  readonly reason: string;
  readonly fix: string;
  constructor(reason: string, fix: string) {
    super(`${reason}. Fix: ${fix}`);
    this.reason = reason;
    this.fix = fix;
  }
}

/** Columns of a question that also asks for the settings which {@link refuseUnfit} reads. */
export const settingsColumns = `current_setting('server_encoding') AS encoding, current_setting('array_nulls') AS array_nulls`;

/** @throws {@link UnfitDatabaseError} where texts or rows would be refused or changed for ever. */
export function refuseUnfit({ encoding, array_nulls: arrayNulls }: PgRow): void {
  if (encoding !== 'UTF8') {
    throw new UnfitDatabaseError(
      `the database has the encoding ${String(encoding)}, in which not every text can be kept`,
      `create it anew: CREATE DATABASE name ENCODING 'UTF8' TEMPLATE template0`,
    );
  }
  // Rows travel as arrays: in each of them "nothing" would become a text.
  if (arrayNulls !== 'on') {
    throw new UnfitDatabaseError(
      '`array_nulls` is off, by which rows cannot be written as they are',
      'set it for the user, or where it was set: ALTER ROLE name SET array_nulls = on',
    );
  }
}
