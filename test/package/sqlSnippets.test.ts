import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { failed, hasSqlite, openDatabase, startStore } from '../store/startStore.ts';

const docs = new URL('../../docs/', import.meta.url);
const shown = readdirSync(docs, { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.md'))
  .flatMap((page) =>
    [...readFileSync(new URL(page, docs), 'utf8').matchAll(/^```sql\n([^]*?)^```/gm)].map(([, sql = '']) => ({
      page,
      statements: sql.split(/;\n/).filter((statement) => statement.trim() !== ''),
    })),
  );

/** A file of the store, with a failure of a call on record. */
async function recorded() {
  const { store, path } = await startStore();
  store.record(failed(1));
  await store.flush();
  return openDatabase(path);
}

describe.skipIf(!hasSqlite)('the SQL of the pages', () => {
  it('[U-6] [O-1] is found', () => {
    expect(shown.map(({ page }) => page).sort()).toEqual(['guides/runbook.md', 'observability.md']);
  });

  it.each(shown)('[U-6] [O-1] is taken by the tables of the store: $page', async ({ statements }) => {
    const database = await recorded();
    for (const statement of statements) expect(() => database.exec(statement)).not.toThrow();
  });

  it.each(shown.filter(({ statements }) => statements.some((each) => each.startsWith('SELECT'))))(
    '[U-6] [O-1] names columns that have a value in what is on record: $page',
    async ({ statements }) => {
      const database = await recorded();
      const rows = statements.flatMap((statement) => database.prepare(statement).all());
      expect(rows.length).toBeGreaterThan(0);
      expect(rows.flatMap((row) => Object.entries(row).filter(([, value]) => value === null))).toEqual([]);
    },
  );
});
