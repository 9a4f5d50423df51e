import { mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { storedEvent } from '../../src/store/record.ts';
import { prepareSchema } from '../../src/store/sqlite/schema.ts';
import { type RawDatabase, wrapDatabase } from '../../src/store/sqlite/sqlConnection.ts';
import { openStore } from '../../src/store/openStore.ts';
import { systemClock } from '../../src/runtime/systemClock.ts';
import type { Case } from '../harness/suite.ts';
import { failed } from './facts.ts';

type Connection = RawDatabase & { transaction(work: () => void): { immediate(): void } };
const Sqlite = createRequire(import.meta.url)('better-sqlite3') as new (path: string) => Connection;

const rows = 30_000;
/** Of each kind before they are measured, so that neither is measured while it is compiled. */
const warming = 90_000;

/** Records final failures, so many in one turn of the event loop, which share a commit. */
export function record(perTurn: number): Case {
  return {
    async measure(probe) {
      const directory = mkdtempSync(join(tmpdir(), 'unwedge-bench-'));
      const facts = { tell: () => undefined, wants: () => false };
      const store = await openStore({ path: join(directory, 'events.sqlite'), clock: systemClock, facts, env: {} });
      await report(probe, async (count) => {
        for (let number = 0; number < count; number += perTurn) {
          for (let each = 0; each < perTurn; each++) store.record({ ...failed(number + each), at: Date.now() });
          await store.flush();
        }
      });
      await store.close();
      rmSync(directory, { recursive: true });
    },
  };
}

/** The same rows by prepared statements, as many in a transaction; what they hold is known and needs no redaction. */
export function insert(perTurn: number): Case {
  return {
    async measure(probe) {
      const directory = mkdtempSync(join(tmpdir(), 'unwedge-bench-'));
      const path = join(directory, 'bare.sqlite');
      const database = new Sqlite(path);
      prepareSchema(wrapDatabase(database, path), 'NORMAL');
      const statement = database.prepare(
        'INSERT INTO events (timestamp, category, event_type, metadata) VALUES (?, ?, ?, ?)',
      );
      const add = (number: number): void => {
        const { category = '', eventType = '', metadata } = storedEvent({ ...failed(number), at: Date.now() }) ?? {};
        statement.run(Date.now(), category, eventType, JSON.stringify(metadata));
      };
      await report(probe, (count) => {
        for (let number = 0; number < count; number += perTurn) {
          database
            .transaction(() => {
              for (let each = 0; each < perTurn; each++) add(number + each);
            })
            .immediate();
        }
      });
      database.close();
      rmSync(directory, { recursive: true });
    },
  };
}

async function report(
  probe: Parameters<Case['measure']>[0],
  work: (count: number) => void | Promise<void>,
): Promise<void> {
  await work(warming);
  const tookMs = await probe.time('event', rows, async () => {
    const before = performance.now();
    await work(rows);
    return performance.now() - before;
  });
  probe.record('events a second', (rows * 1000) / tookMs, '/s');
}
