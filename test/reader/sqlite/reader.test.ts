import { describe, expect, it, onTestFinished } from 'vitest';
import type { DriverLoader } from '../../../src/store/sqlite/database.ts';
import { findDriver } from '../../../src/store/sqlite/driver.ts';
import { openSqliteReader } from '../../../reader/sqlite/reader.ts';
import { hasSqlite, openDatabase, startStore } from '../../store/startStore.ts';

/** A reader of a file, and what it has asked about the tables of sessions since it was last looked at. */
async function startReader() {
  const { path } = await startStore();
  const asked: string[] = [];
  const loader: DriverLoader = async () => {
    const found = await findDriver();
    if (!found.ok) throw new Error(found.reason);
    const { driver } = found;
    const open: typeof driver.open = (file, options) => {
      const database = driver.open(file, options);
      const prepare: typeof database.prepare = (sql) => {
        if (/\bunwedge_(?:messages|calls)\b/.test(sql)) asked.push(sql);
        return database.prepare(sql);
      };
      return { ...database, prepare };
    };
    return { ...driver, open };
  };
  const reader = await openSqliteReader(path, [loader]);
  onTestFinished(() => reader.close());
  return { reader, database: openDatabase(path), asked: () => asked.splice(0) };
}

describe.skipIf(!hasSqlite)('a reader of a file', () => {
  it('[N-1] [O-13] that is asked of one session looks at no row of another', async () => {
    const { reader, database, asked } = await startReader();
    database.exec(`INSERT INTO unwedge_sessions (id, fence) VALUES ('s', 1);
      INSERT INTO unwedge_messages (session, number, body, state, posted_at, turn) VALUES ('s', 1, '{"kind":"user"}', 'poison', 1, 1)`);
    const read = [
      await reader.session('s'),
      await reader.message('s', 's-m1'),
      await reader.turns('s', 5),
      await reader.history('s', 5),
      await reader.deadLetters('s'),
    ];
    expect(read.slice(2).map((rows) => (rows as readonly unknown[]).length)).toEqual([1, 0, 1]);
    const texts = asked();
    expect(texts.length).toBeGreaterThanOrEqual(8);
    const scans = texts.filter((sql) =>
      database
        .prepare(`EXPLAIN QUERY PLAN ${sql}`)
        .all(...placesOf(sql))
        .some(({ detail }) => /^SCAN (?!placed$|CONSTANT ROW$|earlier$|\(subquery)/.test(String(detail))),
    );
    expect(scans).toEqual([]);
  });

  it('[O-13] reads no calls of a session that has no turns', async () => {
    const { reader, asked } = await startReader();
    expect(await reader.turns('s', 5)).toEqual([]);
    expect(asked().filter((sql) => sql.includes('unwedge_calls'))).toEqual([]);
  });
});

const placesOf = (sql: string): readonly null[] => [...sql.matchAll(/\?/g)].map(() => null);
