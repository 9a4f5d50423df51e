import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { describe, expect, it, onTestFinished } from 'vitest';
import { identifyNow } from '../../../src/actors/process/processIdentity.ts';
import { createGateway } from '../../../src/gateway/gateway.ts';
import { systemClock } from '../../../src/runtime/systemClock.ts';
import { openReader } from '../../../reader/openReader.ts';
import { openStore } from '../../../src/store/openStore.ts';
import { RecordedFacts } from '../../support/facts.ts';
import { failed, hasSqlite, openDatabase, startStore, temporaryDirectory } from '../startStore.ts';

/** A file as a version of one schema step before left it, with a process that lives and has it. */
async function startOlder() {
  const path = `${temporaryDirectory()}/shared.sqlite`;
  const { store } = await startStore({ path });
  store.record(failed(1));
  await store.flush();
  await store.close();
  const child = spawn(process.execPath, ['-e', 'process.stdin.resume()'], { stdio: ['pipe', 'ignore', 'ignore'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  await once(child, 'spawn');
  const pid = child.pid ?? 0;
  const older = openDatabase(path);
  const known = versionOf(older);
  older.exec(`PRAGMA user_version = ${known - 1}`);
  const insert = older.prepare(
    'INSERT INTO unwedge_runtimes (id, pid, process_start, started_at, renewed_at, name, socket) VALUES (?, ?, ?, ?, ?, ?, NULL)',
  );
  const enter = (id: string, of: number, start: string): void =>
    void insert.run(id, of, start, Date.now(), Date.now(), `proxy ${id}`);
  enter('older', pid, identifyNow(pid)?.start ?? '');
  const end = async (): Promise<void> => {
    child.kill('SIGKILL');
    await once(child, 'exit');
  };
  return { path, older, known, pid, enter, end };
}

const versionOf = (database: ReturnType<typeof openDatabase>): number =>
  Number(database.prepare('PRAGMA user_version').get()?.['user_version']);

describe.skipIf(!hasSqlite)('a file that a process of an earlier version has', () => {
  it('[U-14] is not changed under it: a gateway on it does not start, and says what to restart', async () => {
    const { path, older, known, pid, end } = await startOlder();
    const start = createGateway({ store: path }).start();
    await expect(start).rejects.toThrow(`${path}: it is in use by proxy older (pid ${pid}) of an earlier version`);
    await expect(start).rejects.toThrow('restart what is named');
    expect(versionOf(older)).toBe(known - 1);
    // What reads needs no change; it leaves the log where it is, as does what was refused.
    const reader = await openReader(path);
    reader.close();
    expect(existsSync(`${path}-wal`)).toBe(true);
    await end();
    const gateway = createGateway({ store: path });
    await gateway.start();
    expect([versionOf(older), gateway.store?.degraded]).toEqual([known, false]);
    await gateway.stop();
  });

  it('[U-14] [I-6] is waited for by what goes on without a store, which keeps in it what happened meanwhile once that process has ended', async () => {
    const { path, older, known, end } = await startOlder();
    const facts = new RecordedFacts();
    const store = await openStore({ path, clock: systemClock, facts, env: {} });
    onTestFinished(() => store.close());
    expect([store.degraded, facts.of('store.degraded')[0]?.reason]).toEqual([
      true,
      expect.stringContaining('of an earlier version'),
    ]);
    store.record(failed(2));
    await end();
    await expect.poll(() => store.degraded).toBe(false);
    expect(versionOf(older)).toBe(known);
    expect(older.prepare('SELECT count(*) AS n FROM events').get()).toMatchObject({ n: 2 });
  });

  it('[U-14] is not changed under one of another container, which has the number of this process or none of here, until it has said nothing for 5 minutes', async () => {
    const { path, older, known, end } = await startOlder();
    await end();
    const [time, boot = ''] = (identifyNow(process.pid)?.start ?? '').split('@');
    // Of the same machine: another namespace has numbers of its own.
    const there = `${time}@${boot}@pid:[1]`;
    const silence = older.prepare('UPDATE unwedge_runtimes SET pid = ?, process_start = ?, renewed_at = ?');
    for (const pid of [process.pid, 2 ** 22 - 1]) {
      silence.run(pid, there, Date.now());
      await expect(createGateway({ store: path }).start()).rejects.toThrow(
        `proxy older (pid ${pid}) of an earlier version`,
      );
      expect(versionOf(older)).toBe(known - 1);
    }
    silence.run(process.pid, there, Date.now() - 400_000);
    const gateway = createGateway({ store: path });
    await gateway.start();
    await gateway.stop();
    expect(versionOf(older)).toBe(known);
  });

  it('[U-14] is changed where those that had it are dead, or are this very process', async () => {
    const { path, older, known, enter, end } = await startOlder();
    await end();
    enter('own', process.pid, identifyNow(process.pid)?.start ?? '');
    enter('reused', 1, 'another@process@here');
    const gateway = createGateway({ store: path });
    await gateway.start();
    await gateway.stop();
    expect(versionOf(older)).toBe(known);
  });
});
