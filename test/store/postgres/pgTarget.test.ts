import { describe, expect, it } from 'vitest';
import { StoreUnavailableError } from '../../../src/store/storeOption.ts';
import { importPg } from '../../../src/store/postgres/pgDriver.ts';
import { readTarget } from '../../../src/store/postgres/pgTarget.ts';

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

  it('[O-8] is named in no error where it cannot be read', () => {
    expect(() => readTarget('postgres://robin:s3cr3t@:x')).toThrow(
      new RangeError('Expected `store` to be a URL like postgres://USER@HOST/DATABASE'),
    );
  });
});

describe('the package `pg`', () => {
  it('[N-1] is named with how to install it where it is missing', async () => {
    const missing = importPg('postgres://db/agents', 'pg-is-not-here');
    await expect(missing).rejects.toThrow(StoreUnavailableError);
    await expect(missing).rejects.toThrow(
      'postgres://db/agents: the package `pg` is not installed. Fix: npm install pg.',
    );
  });
});
