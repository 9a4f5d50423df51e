import { statSync } from 'node:fs';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { isOpenHere, noteOpened } from '../../../src/store/sqlite/sqlConnection.ts';
import { hasSqlite, openDatabase, temporaryDirectory } from '../startStore.ts';

function collectGarbage(): void {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
}

describe.skipIf(!hasSqlite)('the note that this process has a database open', () => {
  it('[I-5] is there until the last of its connections is closed', () => {
    const path = join(temporaryDirectory(), 'gateway.sqlite');
    const first = openDatabase(path);
    const second = openDatabase(path);
    first.close();
    first.close();
    expect(isOpenHere(statSync(path))).toBe(true);
    second.close();
    expect(isOpenHere(statSync(path))).toBe(false);
  });

  // Another file that is given its inode would be taken for a database that is open.
  it('[I-5] goes with a connection that nobody has any more', async () => {
    const path = join(temporaryDirectory(), 'gateway.sqlite');
    openDatabase(path).close();
    const stats = statSync(path);
    (() => noteOpened(path, {}))();
    expect(isOpenHere(stats)).toBe(true);
    await expect
      .poll(() => {
        collectGarbage();
        return isOpenHere(stats);
      })
      .toBe(false);
  });
});
