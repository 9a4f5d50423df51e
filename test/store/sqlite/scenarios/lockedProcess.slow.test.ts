import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { hasSqlite, temporaryDirectory } from '../../startStore.ts';

const fixture = fileURLToPath(new URL('../../../fixtures/lockedStore.mjs', import.meta.url));

// Each waits out the lock's 5 s, in a process of its own.
describe.runIf(hasSqlite).concurrent('a process whose database stays locked', () => {
  it.each([
    ['start', 'up\nstopped\n'],
    ['send', 'accepted true false\nstopped\n'],
    ['stop', 'stopped\n'],
  ])('[I-4] lives until its %s has ended, with nothing else that keeps it alive', async (what, said) => {
    const { stdout } = await promisify(execFile)(process.execPath, [
      fixture,
      `${temporaryDirectory()}/db.sqlite`,
      what,
    ]);
    expect(stdout).toBe(said);
  });
});
