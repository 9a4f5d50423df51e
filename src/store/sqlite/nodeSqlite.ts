import type { Driver } from './database.ts';
import { type RawDatabase, wrapDatabase } from './sqlConnection.ts';

/** Parts of the module `node:sqlite` that we use, which the types of the oldest Node we run on do not know. */
export interface NodeSqlite {
  readonly DatabaseSync: new (path: string, options: { readOnly: boolean }) => RawDatabase;
}

/** `node:sqlite`, where this Node has it (22.13 and newer without a flag). */
export async function loadNodeSqlite(find: () => NodeSqlite | undefined = findNodeSqlite): Promise<Driver> {
  const sqlite = find();
  if (sqlite === undefined) throw new Error(`node:sqlite: not in Node ${process.versions.node}`);
  return {
    kind: 'node:sqlite',
    open(path, { readOnly = false, busyTimeoutMs }) {
      const raw = new sqlite.DatabaseSync(path, { readOnly });
      // Its `timeout` option is younger than the module; the pragma works in all of them.
      raw.exec(`PRAGMA busy_timeout = ${Math.trunc(busyTimeoutMs)}`);
      return wrapDatabase(raw, path);
    },
  };
}

function findNodeSqlite(): NodeSqlite | undefined {
  return withoutSqliteWarning(() => process.getBuiltinModule?.('node:sqlite') as NodeSqlite | undefined);
}

/** Loading is synchronous and warns once; only that warning is kept from the host's stderr. */
function withoutSqliteWarning<T>(load: () => T): T {
  const original = process.emitWarning.bind(process) as (...given: unknown[]) => void;
  const descriptor = Object.getOwnPropertyDescriptor(process, 'emitWarning');
  process.emitWarning = (...given: unknown[]) => {
    if (!String(given[0]).includes('SQLite')) original(...given);
  };
  try {
    return load();
  } finally {
    if (descriptor !== undefined) Object.defineProperty(process, 'emitWarning', descriptor);
  }
}
