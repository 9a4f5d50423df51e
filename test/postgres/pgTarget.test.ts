import { describe, expect, it } from 'vitest';
import { StoreUnavailableError } from '../../src/store/storeOption.ts';
import { importPg } from '../../postgres/pgDriver.ts';
import { readTarget } from '../../postgres/pgTarget.ts';

const url = 'postgresql://robin:s3cr3t@db.example:5433/agents';

describe('the URL of a database', () => {
  it('[N-1] says where our tables are and how they are reached, and the rest is for the driver', () => {
    expect(readTarget(`${url}?sslmode=require&schema=mine&prepare=false&leaseMs=5000`)).toEqual({
      connectionString: `${url}?sslmode=require`,
      direct: `${url}?sslmode=require`,
      shown: 'postgres://db.example:5433/agents?schema=mine',
      schema: 'mine',
      prepares: false,
      leaseMs: 5000,
    });
    expect(readTarget(url)).toMatchObject({ schema: 'unwedge', prepares: true, leaseMs: 2500 });
  });

  it('[N-1] says how the server itself is reached, where it is that of a pooler', () => {
    const { connectionString, direct } = readTarget(`${url}?direct=10.0.0.7:6432&sslmode=require`);
    expect([connectionString, direct]).toEqual([
      `${url}?sslmode=require`,
      'postgresql://robin:s3cr3t@10.0.0.7:6432/agents?sslmode=require',
    ]);
    expect(readTarget(`${url}?direct=[::1]:5432`).direct).toBe('postgresql://robin:s3cr3t@[::1]:5432/agents');
    expect(readTarget(`${url}?direct=false`).direct).toBeUndefined();
  });

  it.each([
    ['schema=Robert"); DROP', 'Expected `schema` of the `store` to be a lower-case name, got "Robert\\"); DROP"'],
    ['prepare=no', 'Expected `prepare` of the `store` to be true or false, got "no"'],
    ['leaseMs=299', 'Expected `leaseMs` of the `store` to be an integer from 300 to 600000, got 299'],
    ['direct=db', 'Expected `direct` of the `store` to be HOST:PORT or false, got "db"'],
    ['direct=db:70000', 'Expected `direct` of the `store` to be HOST:PORT or false, got "db:70000"'],
    ['direct=a@b:1', 'Expected `direct` of the `store` to be HOST:PORT or false, got "a@b:1"'],
    ['leaseMs=soon', 'Expected `leaseMs` of the `store` to be an integer from 300 to 600000, got NaN'],
  ])('[N-1] [O-8] names what is wrong with it, and nothing else of it: %s', (search, said) => {
    expect(() => readTarget(`${url}?${search}`)).toThrow(new RangeError(said));
  });

  it.each([
    'postgres://robin:s3cr3t@:x',
    'postgres://robin:p#s3cr3t@db/agents',
    'postgres://robin:1#s3cr3t@db/agents',
    'postgres://robin:1/s3cr3t@db/agents',
    'postgres://robin:1?s3cr3t@db/agents',
    'postgres://robin:1@2/s3cr3t@db/agents',
  ])(
    '[O-8] [I-6] is named in no error where it cannot be read, and it is said what a password has to be written like: %s',
    (bad) => {
      expect(() => readTarget(bad)).toThrow(
        new RangeError(
          'Expected `store` to be a URL like postgres://USER@HOST/DATABASE; in a password write %23 for #, %3F for ?, %2F for /, %40 for @ and %25 for %',
        ),
      );
    },
  );

  it('[N-1] may have anything in its password that is written so, and an @ as it is', () => {
    const { connectionString, shown } = readTarget('postgres://robin:p%23%3F%2F%40%25w@db/agents');
    expect([connectionString, shown]).toEqual(['postgres://robin:p%23%3F%2F%40%25w@db/agents', 'postgres://db/agents']);
    expect(readTarget('postgres://robin:p@w@db/agents').connectionString).toBe('postgres://robin:p%40w@db/agents');
    expect(readTarget('postgres://db/agents?user=robin@db').shown).toBe('postgres://db/agents');
  });
});

describe('the package `pg`', () => {
  it('[N-1] is named with how to install it where it is missing', async () => {
    const missing = importPg('postgres://db/agents', 'pg-is-not-here');
    await expect(missing).rejects.toThrow(StoreUnavailableError);
    await expect(missing).rejects.toThrow(
      'postgres://db/agents: the package `pg` is not installed. Fix: npm install pg. Or name a file',
    );
  });
});
