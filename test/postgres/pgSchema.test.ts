import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { knownVersion, scriptFrom } from '../../postgres/pgSchema.ts';
import { tablesOnServer } from '../../src/store/tables/schema.ts';
import { hasPostgres } from '../support/postgresServer.ts';
import { failed } from '../store/startStore.ts';
import { newSchema } from '../store/startPostgres.ts';

describe('the steps of a schema', () => {
  it('[N-7] make tables that came later than a version, and none that it has', () => {
    const tables = [1, 2, 3].map((number) => ({ since: knownVersion + number, made: `table ${number}` }));
    expect([1, 2, 3].map((version) => scriptFrom(knownVersion + version, tables))).toEqual([
      'table 2\ntable 3',
      'table 3',
      '',
    ]);
  });

  it('[N-7] know which tables older servers have', () => {
    const first = tablesOnServer.filter(({ since }) => since === 1);
    expect(first, 'A new table says `since` in src/store/tables/declared.ts: older ones would not get it').toHaveLength(
      10,
    );
  });

  it('[N-7] have a new version when what they make changes', () => {
    const text = scriptFrom(0).replaceAll(/\s+/g, ' ');
    const digest = createHash('sha256').update(text).digest('hex').slice(0, 8);
    expect(
      { knownVersion, digest },
      `The tables of a server have changed, and servers have the old ones. A new table says \`since\` in src/store/tables/declared.ts. A new column or
       index is added in \`steps\` of postgres/pgSchema.ts, by the next version. Then write both here: ${knownVersion}, ${digest}`,
    ).toEqual({ knownVersion: 7, digest: '920b180a' });
  });
});

describe.skipIf(!hasPostgres)('the schema', () => {
  it('[N-7] is made once by nodes that start at the same time', async () => {
    const { open, ask } = await newSchema();
    await Promise.all([1, 2, 3, 4].map(() => open()));
    expect(await ask('SELECT version FROM uw.schema_version')).toEqual([{ version: knownVersion }]);
  });

  it('[N-7] may be one version ahead, for nodes that are updated one after the other, and no more', async () => {
    const { open, ask } = await newSchema();
    const first = await open();
    await ask('UPDATE uw.schema_version SET version = version + 1');
    const second = await open();
    second.record(failed(1));
    first.record(failed(2));
    expect([await first.flush(), await second.flush()]).toEqual([true, true]);
    await ask('UPDATE uw.schema_version SET version = version + 1');
    await expect(open()).rejects.toThrow(
      `the schema has version ${knownVersion + 2}, this version of unwedge knows ${knownVersion}. Fix: update unwedge`,
    );
  });

  it('[N-1] can be made in a schema that somebody else created', async () => {
    const { open, ask } = await newSchema();
    await ask('CREATE SCHEMA uw_schema');
    expect((await open()).degraded).toBe(false);
  });
});
