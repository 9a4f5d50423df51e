import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { diagnose } from '../../../src/store/sqlite/trouble.ts';
import { temporaryDirectory } from '../startStore.ts';

const path = '/state/unwedge.sqlite';
const coded = (code: string) => Object.assign(new Error('as it says'), { code });
const numbered = (errcode: number) => Object.assign(new Error('as it says'), { code: 'ERR_SQLITE_ERROR', errcode });

describe('the diagnosis of a failing store', () => {
  it.each([coded('SQLITE_BUSY'), coded('SQLITE_BUSY_SNAPSHOT'), coded('SQLITE_LOCKED'), numbered(5), numbered(517)])(
    '[O-1] tells a lock: %o',
    (error) => expect(diagnose(error, path)).toMatchObject({ busy: true, refusedRow: false }),
  );

  it.each([
    coded('SQLITE_CONSTRAINT_CHECK'),
    coded('SQLITE_TOOBIG'),
    coded('SQLITE_MISMATCH'),
    numbered(19),
    numbered(275),
  ])('tells a row that is refused: %o', (error) =>
    expect(diagnose(error, path)).toMatchObject({ busy: false, refusedRow: true }),
  );

  it.each([
    [coded('SQLITE_FULL'), 'free space'],
    [numbered(13), 'free space'],
    [coded('ENOSPC'), 'free space'],
    [coded('SQLITE_READONLY_DBMOVED'), 'writable'],
    [coded('EACCES'), 'writable'],
    [numbered(26), 'choose another file'],
    [coded('EISDIR'), '`--db` of a command, or `UNWEDGE_DB`'],
    [coded('EBUSY'), 'choose another file'],
    ['thrown text', 'choose another file'],
    [undefined, 'choose another file'],
  ])('[O-2] names the path and the fix: %o', (error, fix) => {
    const { reason, ...trouble } = diagnose(error, path);
    expect(reason).toContain(path);
    expect(trouble.fix).toContain(fix);
  });

  it('[O-2] says that the path is a directory', () => {
    expect(diagnose(coded('EISDIR'), path).reason).toBe('/state/unwedge.sqlite is a directory');
  });

  it('[O-2] [I-5] names another file in place of one that is no database, and has only a database moved away', () => {
    const [text, database] = ['passwd', 'damaged.sqlite'].map((name) => join(temporaryDirectory(), name)) as [
      string,
      string,
    ];
    writeFileSync(text, 'root:x:0:0:root:/root:/bin/sh\n');
    writeFileSync(database, 'SQLite format 3\0 and then something else');
    expect(diagnose(numbered(26), text)).toMatchObject({
      reason: `${text}: the file is no SQLite database; nothing was written to it`,
      fix: expect.stringMatching(/^choose another file/) as string,
    });
    expect(diagnose(numbered(26), database).fix).toBe(
      'move the file away, with the -wal beside it (`unwedge doctor` says how); a new one is started',
    );
  });
});
