import { describe, expect, it } from 'vitest';
import { hasPostgres } from '../support/postgresServer.ts';
import { failed } from '../store/startStore.ts';
import { newSchema } from '../store/startPostgres.ts';

describe.skipIf(!hasPostgres)('the schema', () => {
  it('[N-7] is made once by nodes that start at the same time', async () => {
    const { open, ask } = await newSchema();
    await Promise.all([1, 2, 3, 4].map(() => open()));
    expect(await ask('SELECT version FROM uw.schema_version')).toEqual([{ version: 1 }]);
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
      'the schema has version 3, this version of unwedge knows 1. Fix: update unwedge',
    );
  });

  it('[N-1] can be made in a schema that somebody else created', async () => {
    const { open, ask } = await newSchema();
    await ask('CREATE SCHEMA uw_schema');
    expect((await open()).degraded).toBe(false);
  });
});
