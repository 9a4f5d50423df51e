import { accessSync, chmodSync, constants, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { checkDatabase } from '../../../cli/doctor/database.ts';
import type { DoctorWorld, Finding } from '../../../cli/doctor/finding.ts';
import { hasSqlite, openDatabase } from '../../store/startStore.ts';
import { temporaryDirectory } from '../../support/temporary.ts';

/** What is found of a database at this place, where nothing can be written below a directory. */
async function foundAt(db: string, home: string, code: string): Promise<Finding | undefined> {
  const access: DoctorWorld['access'] = (path, mode) => {
    accessSync(path, mode & ~constants.W_OK);
    if ((mode & constants.W_OK) !== 0 && path.startsWith(home)) throw Object.assign(new Error(code), { code });
  };
  const world = { env: { UNWEDGE_DB: db }, home, uid: process.getuid?.(), db: undefined, now: 0, access };
  const findings = await checkDatabase(world as unknown as DoctorWorld);
  return findings.find(({ id }) => id === 'store.unwritable');
}

const nameAnother = 'name another with --db FILE or UNWEDGE_DB';

it.skipIf(!hasSqlite)(
  '[E-2] tells a read-only file system from a file that is closed, and offers no command that cannot help',
  async () => {
    const home = temporaryDirectory();
    const db = join(home, 'gateway.sqlite');
    openDatabase(db).exec('CREATE TABLE unwedge_events (x)');
    chmodSync(db, 0o600);
    expect(await foundAt(db, home, 'EACCES')).toMatchObject({ fix: `chmod u+rw ${db}` });
    const found = await foundAt(db, home, 'EROFS');
    expect(found).toEqual({
      id: 'store.unwritable',
      status: 'fail',
      summary: `${db} is on a file system that is mounted read-only: nothing is recorded, and no circuit is kept; mount it for writing, or ${nameAnother}`,
    });
  },
);

it('[E-2] says that no database can be made on a read-only file system', async () => {
  const home = temporaryDirectory();
  const directory = join(home, 'state');
  mkdirSync(directory);
  expect((await foundAt(join(directory, 'new.sqlite'), home, 'EROFS'))?.summary).toBe(
    `no database can be made at ${directory}/new.sqlite: ${directory} is on a file system that is mounted read-only; ${nameAnother}`,
  );
});
