import { createRequire } from 'node:module';
import { type NoDriver, findDriver } from '../src/store/sqlite/face.ts';

/** Driver that reads and writes databases here, or why there is none and the fix. */
type DriverDescription =
  | {
      readonly ok: true;
      readonly driver: 'better-sqlite3' | 'node:sqlite';
      /** Version of the package; undefined for what Node brings itself. */
      readonly version: string | undefined;
      /** Version of SQLite. */
      readonly sqlite: string;
    }
  | NoDriver;

/** Looks for the SQLite driver as a store does, and asks it who it is. Never rejects. */
export async function describeDriver(find: typeof findDriver = findDriver): Promise<DriverDescription> {
  const found = await find();
  if (!found.ok) return found;
  const { kind } = found.driver;
  const database = found.driver.open(':memory:', { busyTimeoutMs: 0 });
  try {
    const sqlite = String(database.prepare('SELECT sqlite_version() AS version').get()?.['version']);
    return { ok: true, driver: kind, version: kind === 'better-sqlite3' ? packageVersion() : undefined, sqlite };
  } finally {
    database.close();
  }
}

function packageVersion(): string {
  return (createRequire(import.meta.url)('better-sqlite3/package.json') as { version: string }).version;
}
