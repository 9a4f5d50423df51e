import { describe, expect, it } from 'vitest';
import { hasPostgres } from '../../support/postgresServer.ts';
import { newSchema } from '../../store/startPostgres.ts';
import { failed } from '../../store/startStore.ts';
import { call, databaseWith } from '../startCli.ts';

const url = 'postgres://me:hush@127.0.0.1:9/agents';

describe('unwedge migrate', () => {
  it('[L-1] [N-1] names the option that is missing or wrong, and never a password', async () => {
    const usages = [
      [[], 'Expected `--to` with the URL of a database'],
      [['--to', 'gw.sqlite'], 'Expected `--to` to be a URL like postgres://USER@HOST/DATABASE'],
      [['--to', `${url}?leaseMs=soon`], 'Expected `leaseMs` of the `--to` to be an integer'],
      [['--to', url, '--from', 'postgres://me:hush@h/db'], 'Expected `--from` to be a file'],
      [['--to', url, '--from', ':memory:'], 'got :memory:'],
    ] as const;
    const file = await databaseWith(failed(1));
    for (const [words, said] of usages) {
      const { code, stderr } = await call(['migrate', '--from', file, ...words]);
      expect([code, stderr]).toEqual([2, expect.stringContaining(said)]);
      expect(stderr).not.toContain('hush');
    }
    expect(await call(['migrate', '--to', url, '--from', file])).toMatchObject({
      code: 1,
      stderr: expect.not.stringContaining('hush') as string,
    });
    expect((await call(['migrate', '--to', url, '--from', '/nowhere/gw.sqlite'])).stderr).toContain(
      'There is no database at',
    );
  });

  it.skipIf(!hasPostgres)('[L-7] names the schema that is meant where the URL names none', async () => {
    const { url: to } = await newSchema();
    const file = await databaseWith(failed(1));
    const bare = ['--to', to.replace(/\?.*/, ''), '--dry-run'];
    const { stdout } = await call(['migrate', '--from', file, ...bare], { columns: 80 });
    expect(stdout.replaceAll(/\s+/g, ' ')).toMatch(
      / would be moved to schema unwedge of postgres:\/\/[^ ?]+\. The database was not asked: .*\. $/,
    );
    expect(stdout.split('\n').filter((line) => line.length > 80 && !line.includes(file))).toEqual([]);
  });

  it.skipIf(!hasPostgres)('[N-1] [L-7] shows what was moved in 80 columns, and as data', async () => {
    const { url: to, schema } = await newSchema();
    const file = await databaseWith(failed(1), failed(2));
    const dry = await call(['migrate', '--from', file, '--to', to, '--dry-run', '--json']);
    expect(JSON.parse(dry.stdout)).toMatchObject({ schema, messages: 0 });
    const { code, stdout } = await call(['migrate', '--from', file, '--to', to], { columns: 80 });
    expect(code).toBe(0);
    expect(stdout).toMatch(/^events +2$/m);
    const text = stdout.replaceAll(/\s+/g, ' ');
    expect(text).toMatch(
      new RegExp(`\\.sqlite is moved to postgres://[^ ]+\\?schema=${schema}\\. The file is kept as `),
    );
    expect(text.split('schema')).toHaveLength(2);
    expect(stdout.split('\n').filter((line) => line.length > 80 && !line.includes(file))).toEqual([]);
    const { stderr } = await call(['migrate', '--from', file, '--to', to]);
    expect(stderr.replaceAll(/\s+/g, ' ')).toContain(
      `what was in this file was moved to ${to.replace(/\/\/[^@]*@/, '//').replace(/\?.*/, '')}`,
    );
  });
});
