import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createGateway } from '../../../src/index.ts';
import { allGone, fixture, isAlive, nextTurn } from '../../actors/process/startProcess.ts';
import { hasSqlite, openDatabase } from '../../store/startStore.ts';
import { startDoomed } from '../../support/startDoomed.ts';
import { temporaryDirectory } from '../../support/temporary.ts';

async function startNext(store: string) {
  const gateway = createGateway({ store });
  onTestFinished(() => gateway.stop());
  const reaped: number[] = [];
  gateway.on('process.reaped', ({ pid }) => {
    reaped.push(pid);
  });
  await gateway.start();
  return { gateway, reaped };
}

const rows = (store: string) => openDatabase(store).prepare('SELECT pid FROM unwedge_children').all();

describe.skipIf(!hasSqlite)('the children of a gateway that dies', () => {
  it.each(['SIGKILL', 'SIGTERM'] as const)('[S-8] [I-3] by %s are reaped at the next start', async (signal) => {
    const { store, pids, end } = await startDoomed();
    await end(signal);
    expect(pids.filter(isAlive)).toEqual(pids);
    const { gateway, reaped } = await startNext(store);
    await gateway.stop();
    expect(pids.filter(isAlive)).toEqual([]);
    expect(new Set(reaped)).toEqual(new Set(pids));
    expect(rows(store)).toEqual([]);
  });

  it('[S-8] are told of in the store', async () => {
    const { store, pids, end } = await startDoomed();
    await end('SIGKILL');
    const { gateway } = await startNext(store);
    await gateway.stop();
    const told = openDatabase(store)
      .prepare(`SELECT json_extract(metadata, '$.pid') AS pid FROM events WHERE event_type = 'reaped'`)
      .all();
    expect(new Set(told.map(({ pid }) => pid))).toEqual(new Set(pids));
  });

  it('[S-8] are left alone while it lives, by another gateway on the same database', async () => {
    const { store, pids, end } = await startDoomed();
    const { gateway, reaped } = await startNext(store);
    await gateway.stop();
    expect(pids.filter(isAlive)).toEqual(pids);
    expect(reaped).toEqual([]);
    expect(rows(store)).toHaveLength(3);
    await end('SIGKILL');
  });

  it('[S-8] are forgotten and left alone when another process has the pid', async () => {
    const { store, pids, end } = await startDoomed();
    await end('SIGKILL');
    const database = openDatabase(store);
    database.exec(`UPDATE unwedge_children SET mark = 'none', process_start = 'x' || process_start`);
    const { gateway, reaped } = await startNext(store);
    await gateway.stop();
    expect(pids.filter(isAlive)).toEqual(pids);
    expect([reaped, rows(store)]).toEqual([[], []]);
  });
});

describe.skipIf(!hasSqlite)('a gateway', () => {
  it('[S-8] leaves no record of its children behind when it stops', async () => {
    const store = join(temporaryDirectory(), 'gateway.sqlite');
    const { gateway } = await startNext(store);
    const cli = gateway.subprocess('cli', { command: process.execPath, graceMs: 200 });
    const started = gateway.wait('process.started');
    void cli.call({ args: [fixture('silent')] });
    const { pid } = await started;
    await nextTurn();
    await gateway.store?.flush();
    expect(rows(store)).toEqual([{ pid }]);
    await gateway.stop();
    expect(rows(store)).toEqual([]);
    await allGone(pid);
  });

  it('[S-8] forgets a child that has ended', async () => {
    const store = join(temporaryDirectory(), 'gateway.sqlite');
    const { gateway } = await startNext(store);
    const cli = gateway.subprocess('cli', { command: process.execPath });
    expect(await cli.call({ args: ['-e', ''] })).toMatchObject({ ok: true });
    await gateway.store?.flush();
    expect(rows(store)).toEqual([]);
  });
});
