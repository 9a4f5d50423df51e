import { createRequire } from 'node:module';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { StoredCall } from '../../src/sessions/sessionStore.ts';
import { type RawDatabase, wrapDatabase } from '../../src/store/sqlite/sqlConnection.ts';
import { prepareSchema } from '../../src/store/sqlite/schema.ts';
import { type Ledger, result } from './calls.ts';

type Connection = RawDatabase & { transaction(work: () => void): { immediate(): void } };
const Sqlite = createRequire(import.meta.url)('better-sqlite3') as new (path: string) => Connection;

/** Most rows of one commit, as in the store's queue. */
const mostRows = 500;

/** better-sqlite3 by itself: the same tables and rows, prepared statements, and as many rows in a commit. */
export function bareLedger(): Ledger {
  const directory = mkdtempSync(join(tmpdir(), 'unwedge-bench-'));
  const path = join(directory, 'bare.sqlite');
  const database = new Sqlite(path);
  prepareSchema(wrapDatabase(database, path), 'NORMAL');
  const insert = database.prepare(
    `INSERT INTO unwedge_calls (id, session, turn, integration, tool, input, effect, runtime, started_at, deadline_at, seq)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  const update = database.prepare(
    `UPDATE unwedge_calls SET state = 'settled', result = ?, result_seq = ?, settled_at = ? WHERE id = ? AND state = 'pending'`,
  );
  const inGroups = (calls: readonly StoredCall[], write: (call: StoredCall) => void): void => {
    for (let start = 0; start < calls.length; start += mostRows) {
      const group = calls.slice(start, start + mostRows);
      database.transaction(() => group.forEach(write)).immediate();
    }
  };
  const open = ({ call, turn, integration, tool, input, effect, at, deadlineAt, seq }: StoredCall): void => {
    const json = JSON.stringify(input);
    insert.run(call, 'agent:main', turn, integration, tool, json, effect ?? null, 'bench', at, deadlineAt, seq);
  };
  const settle = ({ call, at, seq }: StoredCall): void => {
    update.run(JSON.stringify(result), seq, at, call);
  };
  return {
    run(calls, inFlight) {
      for (let start = 0; start < calls.length; start += inFlight) {
        const together = calls.slice(start, start + inFlight);
        inGroups(together, open);
        inGroups(together, settle);
      }
    },
    close() {
      database.close();
      rmSync(directory, { recursive: true });
    },
  };
}
