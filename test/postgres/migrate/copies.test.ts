import { hostname } from 'node:os';
import { describe, expect, it } from 'vitest';
import { seeWorld } from '../../../src/actors/process/processIdentity.ts';
import { noFigures } from '../../../src/policy/records/callFigures.ts';
import { systemClock } from '../../../src/runtime/systemClock.ts';
import { moveStore } from '../../../postgres/migrate/moveStore.ts';
import { openStore } from '../../../src/store/openStore.ts';
import type { Database } from '../../../src/store/sqlite/database.ts';
import { declared } from '../../../src/store/tables/declared.ts';
import { RecordedFacts } from '../../support/facts.ts';
import { hasPostgres } from '../../support/postgresServer.ts';
import { newSchema } from '../../store/startPostgres.ts';
import { hasSqlite, openDatabase, temporaryDirectory } from '../../store/startStore.ts';

/** What a column may hold, where not every value is one. */
const bound: Readonly<Record<string, string>> = {
  'unwedge_messages.state': 'waiting',
  'unwedge_calls.state': 'pending',
  'unwedge_breakers.state': 'open',
  'unwedge_breakers.cause': '{"reason":"x"}',
  'unwedge_rates.levels': '{"second":1}',
  'unwedge_statistics.figures': JSON.stringify({ ...noFigures, succeeded: 1 }),
  'unwedge_flights.record': '{"record":1}',
};

/** Each table of a file with its place in the database. */
const places: readonly (readonly [file: string, read: string])[] = [
  ['unwedge_sessions', 'SELECT key AS id, owner, token AS fence FROM uw.lease'],
  ...declared.flatMap(([name, { file, move: moved }]) =>
    'what' in moved ? [[file, `SELECT * FROM uw.${name}`] as const] : [],
  ),
];

/** Nobody has what was moved: owners and probes of a file are those of processes that do not run. */
const ofRuns = new Set(['owner', 'lease_until', 'lease_owner']);

/** One row of a table, with a value of its own in every column. */
function fill(file: Database, table: string): Readonly<Record<string, unknown>> {
  const row = Object.fromEntries(
    file
      .prepare(`SELECT name, type FROM pragma_table_info('${table}')`)
      .all()
      .map((column, index) => {
        const name = String(column['name']);
        return [name, bound[`${table}.${name}`] ?? (column['type'] === 'TEXT' ? `${name} here` : 100 + index)];
      }),
  );
  const names = Object.keys(row);
  file
    .prepare(`INSERT INTO ${table} (${names.join(', ')}) VALUES (${names.map(() => '?').join(', ')})`)
    .run(...Object.values(row));
  return row;
}

async function newFile(): Promise<string> {
  const path = `${temporaryDirectory()}/gw.sqlite`;
  await (await openStore({ path, required: true, clock: systemClock, facts: new RecordedFacts(), env: {} })).close();
  return path;
}

const move = async (from: string, to: string) =>
  moveStore({ from, to, dryRun: false, world: await seeWorld(), clock: systemClock });

type Row = Readonly<Record<string, unknown>>;

const expected = (row: Row): Row =>
  Object.fromEntries(
    Object.entries(row).map(([name, value]) => [name, ofRuns.has(name) ? null : comparable(name, value)]),
  );

/** The columns of the file, as the database has them. It counts rows itself where their order is their name. */
const there = (found: Row, row: Row): Row => {
  const own = typeof row['id'] === 'number' ? { id: row['id'] } : {};
  return Object.fromEntries(
    Object.keys(row).map((name) => [name, comparable(name, ({ ...found, ...own } as Row)[name])]),
  );
};

/** Numbers of PostgreSQL come as text where they may be large; figures are written anew. */
function comparable(name: string, value: unknown): unknown {
  if (name === 'figures' && typeof value === 'string') return JSON.parse(value) as unknown;
  return typeof value === 'number' ? String(value) : value;
}

describe.skipIf(!hasPostgres || !hasSqlite)('the rows of a file', () => {
  it('[N-1] are in the database with what is in each of their columns', async () => {
    const [path, schema] = [await newFile(), await newSchema()];
    const file = openDatabase(path);
    const rows = places.map(([table]) => fill(file, table));
    await move(path, schema.url);
    for (const [index, [table, read]] of places.entries()) {
      const moved = (await schema.ask(read)).map((found) => there(found, rows[index] ?? {}));
      expect({ table, moved }).toEqual({ table, moved: [expected(rows[index] ?? {})] });
    }
    expect(await schema.ask('SELECT host FROM uw.child')).toEqual([{ host: hostname() }]);
  });

  it('[N-1] do not replace a circuit, a rate limit, a policy or an alert that the database has', async () => {
    const schema = await newSchema();
    const shared = ['unwedge_breakers', 'unwedge_rates', 'unwedge_policies', 'unwedge_alerts'] as const;
    for (const failures of [1, 2]) {
      const path = await newFile();
      const file = openDatabase(path);
      for (const table of shared) fill(file, table);
      file.exec(`UPDATE unwedge_breakers SET failures = ${failures}; UPDATE unwedge_alerts SET failures = ${failures};
        UPDATE unwedge_rates SET at = ${failures}; UPDATE unwedge_policies SET since = ${failures}, seen_at = ${9 - failures}`);
      await move(path, schema.url);
    }
    expect(
      await schema.ask(`SELECT (SELECT failures FROM uw.breaker)::int AS breaker, (SELECT failures FROM uw.alert)::int AS alert,
        (SELECT at FROM uw.rate)::int AS rate, (SELECT since FROM uw.policy)::int AS policy, (SELECT seen_at FROM uw.policy)::int AS seen`),
    ).toEqual([{ breaker: 1, alert: 1, rate: 1, policy: 1, seen: 8 }]);
  });

  it('[N-1] come page by page, each once, also where their key has several columns', async () => {
    const [path, schema] = [await newFile(), await newSchema()];
    openDatabase(path).exec(`WITH RECURSIVE n(i) AS (VALUES (0) UNION ALL SELECT i + 1 FROM n WHERE i < 1499)
      INSERT INTO unwedge_messages (session, number, body, state, posted_at) SELECT 's' || (i % 3), i / 3 + 1, i, 'done', i FROM n`);
    const pages: string[] = [];
    await moveStore({
      ...{ from: path, to: schema.url, dryRun: false, world: await seeWorld(), clock: systemClock },
      progressed: (what, done, of) => pages.push(`${what} ${done} of ${of}`),
    });
    expect(pages).toEqual(['messages 500 of 1500', 'messages 1000 of 1500', 'messages 1500 of 1500']);
    expect(
      await schema.ask('SELECT session, count(DISTINCT body)::int AS n FROM uw.message GROUP BY 1 ORDER BY 1'),
    ).toEqual(['s0', 's1', 's2'].map((session) => ({ session, n: 500 })));
  });

  it('[N-1] have another character for the one that PostgreSQL cannot hold', async () => {
    const [path, schema] = [await newFile(), await newSchema()];
    openDatabase(path).exec(
      `INSERT INTO unwedge_messages (session, number, body, state, posted_at) VALUES ('s', 1, 'a' || char(0) || 'b', 'done', 1)`,
    );
    await move(path, schema.url);
    expect(await schema.ask('SELECT body FROM uw.message')).toEqual([{ body: 'a\uFFFDb' }]);
  });
});
