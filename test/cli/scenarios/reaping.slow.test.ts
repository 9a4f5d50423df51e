import { readdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { describe, expect, it } from 'vitest';
import { isAlive } from '../../actors/process/startProcess.ts';
import { hasSqlite, openDatabase } from '../../store/startStore.ts';
import { startDoomed } from '../../support/startDoomed.ts';
import { makeHome, startMcp } from '../startMcp.ts';
import { startPlace } from '../startRun.ts';

const rows = (db: string) => openDatabase(db).prepare('SELECT pid FROM unwedge_children').all();
const marks = (db: string): readonly string[] => readdirSync(dirname(db)).filter((name) => name.includes('-children-'));

describe.skipIf(!hasSqlite || process.platform !== 'linux')('children that outlived a runtime without a guard', () => {
  it('[S-8] are gone when the next `unwedge run` has ended, however short it is', async () => {
    const { store, pids, end } = await startDoomed();
    await end('SIGKILL');
    expect(pids.filter(isAlive)).toEqual(pids);
    expect((await startPlace().run(['--db', store, '--', 'true'])).code).toBe(0);
    expect(pids.filter(isAlive)).toEqual([]);
    expect([rows(store), marks(store)]).toEqual([[], []]);
  });

  it('[S-8] are gone when the next `unwedge mcp` has ended, though its client left at once', async () => {
    const { store, pids, end } = await startDoomed();
    await end('SIGKILL');
    const { child, exited } = startMcp(makeHome(), ['--db', store]);
    child.stdin.end();
    await exited;
    expect(pids.filter(isAlive)).toEqual([]);
    expect([rows(store), marks(store)]).toEqual([[], []]);
  });

  it('[S-8] are left alone by a short run while it lives', async () => {
    const { store, pids, end } = await startDoomed();
    expect(marks(store)).toHaveLength(1);
    expect((await startPlace().run(['--db', store, '--', 'true'])).code).toBe(0);
    expect(pids.filter(isAlive)).toEqual(pids);
    expect([rows(store).length, marks(store).length]).toEqual([3, 1]);
    await end('SIGKILL');
  });
});
