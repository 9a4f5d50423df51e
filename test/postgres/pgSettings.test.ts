import { describe, expect, it } from 'vitest';
import { systemClock } from '../../src/runtime/systemClock.ts';
import { openStore } from '../../src/store/openStore.ts';
import { refuseUnfit } from '../../postgres/pgSettings.ts';
import { StoreUnavailableError } from '../../src/store/storeOption.ts';
import { RecordedFacts } from '../support/facts.ts';
import { hasPostgres, postgresServer, query } from '../support/postgresServer.ts';

const open = (path: string) =>
  openStore({ path, required: true, clock: systemClock, facts: new RecordedFacts(), env: {} });

describe('the settings of a database', () => {
  it('[I-6] are those with which all can be kept', () => {
    expect(() => refuseUnfit({ encoding: 'UTF8', array_nulls: 'on' })).not.toThrow();
    expect(() => refuseUnfit({ encoding: 'SQL_ASCII', array_nulls: 'on' })).toThrow('the encoding SQL_ASCII');
    expect(() => refuseUnfit({ encoding: 'UTF8', array_nulls: 'off' })).toThrow('`array_nulls` is off');
  });
});

describe.skipIf(!hasPostgres)('a database in which not all can be kept', () => {
  it.each(['LATIN1', 'SQL_ASCII'])('[I-6] [N-1] is refused at the start, with how to mend it: %s', async (encoding) => {
    const { port } = await postgresServer();
    const server = `postgres://postgres@127.0.0.1:${port}`;
    const name = `in_${encoding.toLowerCase()}`;
    await query(`${server}/postgres`, `CREATE DATABASE ${name} ENCODING '${encoding}' TEMPLATE template0`);
    const opened = open(`${server}/${name}`);
    await expect(opened).rejects.toThrow(StoreUnavailableError);
    await expect(opened).rejects.toMatchObject({
      reason: `postgres://127.0.0.1:${port}/${name}: the database has the encoding ${encoding}, in which not every text can be kept`,
      fix: `create it anew: CREATE DATABASE name ENCODING 'UTF8' TEMPLATE template0`,
    });
    expect(await query(`${server}/${name}`, `SELECT 1 FROM pg_namespace WHERE nspname = 'unwedge'`)).toEqual([]);
  });

  it('[I-6] [O-2] is named, with how to mend it, where the store is not required', async () => {
    const url = await (await postgresServer()).database();
    await query(url, `ALTER DATABASE ${new URL(url).pathname.slice(1)} SET array_nulls = off`);
    const store = await openStore({
      path: url,
      required: false,
      clock: systemClock,
      facts: new RecordedFacts(),
      env: {},
    });
    expect(store.outage).toMatchObject({
      reason: expect.stringMatching(/: `array_nulls` is off/) as string,
      fix: expect.stringMatching(/ALTER ROLE name SET array_nulls = on$/) as string,
    });
    await store.close();
  });

  it('[I-6] [N-3] is refused where what is absent would be written as a text, and taken once that is mended', async () => {
    const url = await (await postgresServer()).database();
    const name = new URL(url).pathname.slice(1);
    await query(url, `ALTER DATABASE ${name} SET array_nulls = off`);
    await expect(open(url)).rejects.toThrow(
      '`array_nulls` is off, by which rows cannot be written as they are. Fix: set it for the user',
    );
    await query(url, `ALTER DATABASE ${name} RESET array_nulls`);
    const store = await open(url);
    expect(store.degraded).toBe(false);
    await store.close();
  });
});
