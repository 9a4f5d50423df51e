import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, utimesSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { identifyNow } from '../../../src/actors/process/processIdentity.ts';
import { hasSqlite } from '../../store/startStore.ts';
import { startPatient, startRecorded, startSleeper } from '../startPatient.ts';

describe.skipIf(!hasSqlite)('unwedge doctor about processes and what they left', () => {
  it('[E-2] finds the child of a dead gateway that runs on, and not that of a live one', async () => {
    const { database, doctor, paste } = await startRecorded();
    const pid = startSleeper();
    const insert = database().prepare('INSERT INTO unwedge_children VALUES (?, ?, ?, ?, ?, ?, ?)');
    const own = identifyNow(process.pid)?.start ?? '';
    insert.run(pid, identifyNow(pid)?.start ?? '', 'mark', 'sleep 1000', Date.now(), process.pid, own);
    expect(doctor().troubles).toEqual([]);
    database().exec(`UPDATE unwedge_children SET owner_start = '1' || owner_start`);
    const { code, find } = doctor();
    expect(code).toBe(1);
    expect(find('orphan')).toMatchObject({ status: 'fail', fix: `kill ${pid}` });
    paste(find('orphan')?.fix);
    await expect.poll(() => doctor().troubles).toEqual([]);
  });

  it('[E-2] finds a gateway that lives and does not answer: it may be busy, and is looked at before it is killed', async () => {
    const { home, database, doctor } = await startRecorded();
    const pid = startSleeper();
    const socket = join(home, 'mute.sock');
    const server = createServer(() => undefined).listen(socket);
    onTestFinished(() => void server.close());
    database()
      .prepare('INSERT INTO unwedge_runtimes VALUES (?, ?, ?, ?, ?, ?, ?, NULL)')
      .run('run', pid, identifyNow(pid)?.start ?? '', Date.now(), Date.now(), 'gateway.mjs', socket);
    const { code, find } = doctor();
    expect(code).toBe(1);
    expect(find('runtime.silent')).toMatchObject({ status: 'fail', fix: null, next: 'unwedge status --watch' });
    expect(find('runtime.silent')?.summary).toContain('gateway.mjs');
    expect(find('runtime.silent')?.summary).toContain(`if it stays so, \`kill -KILL ${pid}\` ends it`);
  });

  it('[E-2] [L-5] finds a gateway that died, whatever else runs on its file, until another has its work', async () => {
    const { db, database, doctor, paste } = await startRecorded();
    const start = `0@${identifyNow(1)?.start.split('@').slice(1).join('@')}`;
    database()
      .prepare('INSERT INTO unwedge_runtimes VALUES (?, ?, ?, ?, ?, ?, ?, NULL)')
      .run('gone', 1, start, 0, 0, 'gateway.mjs', null);
    database().prepare(`INSERT INTO unwedge_sessions VALUES ('s', 'gone', 1)`).run();
    database()
      .prepare(
        `INSERT INTO unwedge_messages (session, number, body, state, posted_at) VALUES ('s', 1, '{}', 'waiting', 0)`,
      )
      .run();
    paste(`unwedge run --db ${db} -- true`);
    expect(doctor().find('runtime.gone')).toMatchObject({
      status: 'warning',
      next: 'start it again: it takes up what is left',
    });
    database().exec(`UPDATE unwedge_sessions SET owner = 'another'`);
    paste(`unwedge run --db ${db} -- true`);
    expect(doctor().find('runtime.gone')).toBeUndefined();
  });

  it('[E-2] finds files that dead runs left beside the database, and takes the dead run of a client for no trouble', async () => {
    const { db, database, doctor, paste } = await startRecorded();
    const start = `0@${identifyNow(1)?.start.split('@').slice(1).join('@')}`;
    database()
      .prepare('INSERT INTO unwedge_runtimes VALUES (?, ?, ?, ?, ?, ?, ?, NULL)')
      .run('run', 1, start, 0, 0, 'unwedge mcp run', null);
    const pid = spawnSync('/bin/true').pid;
    writeFileSync(`${db}-children-${pid}.1`, 'gone');
    const { code, find, troubles } = doctor();
    expect({ code, troubles }).toEqual({ code: 0, troubles: ['stale'] });
    expect(find('stale')).toMatchObject({ status: 'warning', fix: `unwedge run --db ${db} -- true` });
    expect(find('runtime.gone')?.summary).toContain('unwedge mcp run (pid 1');
    paste(find('stale')?.fix);
    expect(doctor().troubles).toEqual([]);
  });

  it('[E-2] finds a socket on which nobody listens, and a directory of sockets that is open to others', () => {
    const { home, doctor, paste } = startPatient();
    const directory = join(home, 'run', 'unwedge');
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    const socket = join(directory, 'a b.sock');
    const left = `require('net').createServer().listen(${JSON.stringify(socket)}, () => process.kill(process.pid, 'SIGKILL'))`;
    spawnSync(process.execPath, ['-e', left]);
    expect(existsSync(socket)).toBe(true);
    expect(doctor().find('socket.stale')).toMatchObject({ status: 'warning', fix: `rm '${socket}'` });
    paste(doctor().find('socket.stale')?.fix);
    chmodSync(directory, 0o755);
    const { code, find, troubles } = doctor();
    expect({ code, troubles }).toEqual({ code: 1, troubles: ['socket.directory'] });
    paste(find('socket.directory')?.fix);
    expect(doctor().troubles).toEqual([]);
  });

  it('[E-2] finds locks and temporary directories that were left behind', () => {
    const { home, tmp, doctor, paste } = startPatient();
    const paths = [join(home, '.claude.json.lock'), join(tmp, 'unwedge-prompt-aaaaaa')];
    for (const path of paths) mkdirSync(path);
    expect(doctor().troubles).toEqual([]);
    for (const path of paths) utimesSync(path, 0, 0);
    const { troubles, find } = doctor();
    expect(troubles).toEqual(['temporary', 'lock']);
    for (const id of troubles) paste(find(id)?.fix);
    expect(doctor().troubles).toEqual([]);
  });
});
