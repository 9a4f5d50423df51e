import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, existsSync, renameSync, rmSync, truncateSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createGateway } from '../../../../src/gateway/gateway.ts';
import type { FactOf } from '../../../../src/policy/facts/facts.ts';
import { openReader } from '../../../../reader/openReader.ts';
import type { Database } from '../../../../src/store/sqlite/database.ts';
import { hasSqlite, openDatabase, temporaryDirectory } from '../../startStore.ts';

const program = fileURLToPath(new URL('../../../fixtures/keptGateway.mjs', import.meta.url));

/** A gateway in a process of its own that has acknowledged a message, which is in the log alone. */
async function startKilled(path = `${temporaryDirectory()}/store.db`) {
  const child: ChildProcess = spawn(process.execPath, [program, path], { stdio: ['pipe', 'pipe', 'inherit'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  const lines = createInterface({ input: child.stdout as NodeJS.ReadableStream })[Symbol.asyncIterator]();
  child.stdin?.write('1\n');
  for (let next = await lines.next(); next.value !== 'accepted 1 true'; next = await lines.next()) {
    if (next.done === true) throw new Error('the program ended before it accepted anything');
  }
  const kill = async (): Promise<void> => {
    const exited = once(child, 'exit');
    child.kill('SIGKILL');
    await exited;
  };
  return { path, kill };
}

/** Starts a gateway on the file and stops it. @returns what it told of a lost log. */
async function startNext(path: string): Promise<readonly FactOf<'store.log_lost'>[]> {
  const gateway = createGateway({ store: path });
  const told: FactOf<'store.log_lost'>[] = [];
  gateway.on('store.log_lost', (fact) => void told.push(fact));
  await gateway.start();
  await gateway.stop();
  return told;
}

async function readLost(path: string) {
  const reader = await openReader(path);
  try {
    return await reader.lostLog(0);
  } finally {
    reader.close();
  }
}

/** Somebody else who opens the file, and closes it again. */
function inDatabase<T>(path: string, work: (database: Database) => T): T {
  const database = openDatabase(path);
  try {
    return work(database);
  } finally {
    database.close();
  }
}

const count = `SELECT count(*) AS n FROM events WHERE event_type = 'log_lost'`;
const eventsOf = (path: string): number => inDatabase(path, (database) => Number(database.prepare(count).get()?.['n']));

/** A gateway that had the file before, and closed it in order. */
async function withPast(): Promise<string> {
  const path = `${temporaryDirectory()}/store.db`;
  await startNext(path);
  expect(existsSync(`${path}.log-mark`)).toBe(false);
  return path;
}

const remove = (...paths: string[]): void => {
  for (const path of paths) rmSync(path);
};

describe.skipIf(!hasSqlite)('a log that is lost after a kill', () => {
  it.each<[string, (path: string, earlier: string) => void]>([
    ['is deleted', (path) => remove(`${path}-wal`)],
    ['is deleted with all that is named after the file', (path) => remove(`${path}-wal`, `${path}-shm`)],
    ['is emptied', (path) => truncateSync(`${path}-wal`)],
    ['is cut behind its header', (path) => truncateSync(`${path}-wal`, 32)],
    [
      'is deleted, and somebody opens the file before us',
      (path) => {
        remove(`${path}-wal`, `${path}-shm`);
        inDatabase(path, (database) => database.exec('CREATE TABLE theirs (x)'));
      },
    ],
    [
      'goes with the file for an earlier copy',
      (path, earlier) => {
        remove(path, `${path}-wal`, `${path}-shm`);
        copyFileSync(earlier, path);
      },
    ],
  ])('[I-5] [O-2] is told once by the next start, and by who reads: it %s', async (_, lose) => {
    const path = await withPast();
    // One that has a mark, as it was made while a gateway had the file.
    const first = await startKilled(path);
    const earlier = `${path}.earlier`;
    inDatabase(path, (database) => database.exec(`VACUUM INTO '${earlier}'`));
    await first.kill();
    await startNext(path);
    const { kill } = await startKilled(path);
    await kill();
    expect(await readLost(path)).toBeUndefined();
    lose(path, earlier);
    const lost = await readLost(path);
    expect(lost?.reason).toContain(`${path}: what was acknowledged between 20`);
    expect(lost?.reason).toContain('its log (`store.db-wal`) was deleted or damaged, or an earlier copy');
    const told = await startNext(path);
    expect(told).toMatchObject([{ reason: lost?.reason, fix: lost?.fix }]);
    expect(eventsOf(path)).toBe(1);
    expect(await readLost(path)).toMatchObject({ at: expect.any(Number) as number, reason: lost?.reason });
    expect(await startNext(path)).toEqual([]);
    expect(eventsOf(path)).toBe(1);
  });

  it('[I-5] [O-2] is told of the very first run too, of which nothing but the log was there', async () => {
    const { path, kill } = await startKilled();
    await kill();
    remove(`${path}-wal`, `${path}-shm`);
    expect(await startNext(path)).toMatchObject([
      {
        reason: expect.stringContaining('what was acknowledged before 20') as string,
        to: expect.any(Number) as number,
      },
    ]);
    expect(await startNext(path)).toEqual([]);
  });

  it('[I-5] [O-2] is told by a start after another kill, and of what came after it was written back', async () => {
    const { path, kill } = await startKilled();
    // All is in the file, and the log is begun anew by the commits of the end.
    inDatabase(path, (database) => database.exec('PRAGMA wal_checkpoint(TRUNCATE)'));
    await kill();
    const second = await startKilled(path);
    await second.kill();
    expect(await readLost(path)).toBeUndefined();
    remove(`${path}-wal`, `${path}-shm`);
    expect(await startNext(path)).toHaveLength(1);
  });
});

describe.skipIf(!hasSqlite)('a log that is not lost', () => {
  it.each<[string, (path: string) => unknown]>([
    ['was left as it was', () => undefined],
    ['was read by us', (path) => readLost(path)],
    [
      'was written back, and deleted, by another library',
      (path) => {
        inDatabase(path, (database) => database.prepare('SELECT count(*) FROM events').get());
        expect(existsSync(`${path}-wal`)).toBe(false);
      },
    ],
    [
      'was written back and emptied',
      (path) => inDatabase(path, (database) => database.exec('PRAGMA wal_checkpoint(TRUNCATE)')),
    ],
    ['was written back by VACUUM', (path) => inDatabase(path, (database) => database.exec('VACUUM'))],
    ['was deleted with its file: a new one is begun', (path) => remove(path, `${path}-wal`, `${path}-shm`)],
    [
      'was moved away with its file for another one',
      (path) => {
        renameSync(path, `${path}.broken`);
        renameSync(`${path}-wal`, `${path}.broken-wal`);
        rmSync(`${path}-shm`);
        inDatabase(path, (database) => database.exec('CREATE TABLE theirs (x)'));
      },
    ],
  ])('[O-2] is no alarm: it %s', async (_, meanwhile) => {
    const { path, kill } = await startKilled();
    await kill();
    await meanwhile(path);
    expect(await startNext(path)).toEqual([]);
    expect(existsSync(`${path}.log-mark`)).toBe(false);
  });

  it('[O-2] is no alarm of a copy of a live file, nor while another process lives, nor of an earlier copy after an orderly end', async () => {
    const { path, kill } = await startKilled(await withPast());
    const copy = `${path}.copy`;
    inDatabase(path, (database) => database.exec(`VACUUM INTO '${copy}'`));
    copyFileSync(path, `${path}.plain`);
    copyFileSync(`${path}-wal`, `${path}.plain-wal`);
    expect(await startNext(path)).toEqual([]);
    expect(await startNext(copy)).toEqual([]);
    expect(await startNext(`${path}.plain`)).toEqual([]);
    await kill();
    expect(await startNext(path)).toEqual([]);
    renameSync(copy, path);
    expect(await startNext(path)).toEqual([]);
  });
});
