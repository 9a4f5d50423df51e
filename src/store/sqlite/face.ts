// Names what the source outside of the core uses of this folder; nothing within the core imports it.
export { hasMarkOfDead } from './childMarks.ts';
export { createConnection } from './connection.ts';
export type { Database, Driver, DriverLoader, SqlRow } from './database.ts';
export { type NoDriver, findDriver } from './driver.ts';
export { type EventLog, insertEvent } from './eventLog.ts';
export { field, selectEvents } from './eventRows.ts';
export { doRow, doWork, readRows } from './fileTables.ts';
export { lostLogText, readLostLog } from './logMark.ts';
export {
  type Schema,
  findEventTable,
  hasTable,
  isOurs,
  isTooOld,
  markAsMoved,
  prepareSchema,
  refuseTooOld,
  versionsOf,
} from './schema.ts';
export { identityOf } from './sqlConnection.ts';
export { selectBreakers } from './sqliteBreakers.ts';
export { codeOf } from './trouble.ts';
