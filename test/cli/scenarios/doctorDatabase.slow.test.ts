import { spawnSync } from 'node:child_process';
import { chmodSync, chownSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { hasSqlite, openDatabase, startLostLog } from '../../store/startStore.ts';
import { type Finding, startPatient, startRecorded } from '../startPatient.ts';
import { main } from '../startRun.ts';

describe.skipIf(!hasSqlite)('unwedge doctor about the database', () => {
  it('[E-2] says how a database comes into being where there is none', () => {
    const { db, doctor } = startPatient();
    const { code, find } = doctor();
    expect(code).toBe(0);
    expect(find('store')?.summary).toContain(
      `no database at ${db} yet: a gateway with \`store: '${db}'\`, \`unwedge mcp\` or \`unwedge run\` makes one`,
    );
  });

  it('[E-2] finds a damaged database; its fix sets the file aside', async () => {
    const { db, doctor, paste } = await startRecorded();
    const bytes = readFileSync(db);
    bytes.fill(0x5a, 4096, 8192);
    writeFileSync(db, bytes);
    const { code, find, text } = doctor();
    expect(code).toBe(1);
    expect(find('store.damaged')).toMatchObject({
      fix: `mv ${db} ${db}.broken && rm -f ${db}-shm`,
      next: `sqlite3 ${db}.broken .recover, which prints what can still be read`,
    });
    expect(text).toContain(`\n  fix: mv ${db} ${db}.broken`);
    expect(find('store.damaged')?.summary).not.toContain('***');
    paste(find('store.damaged')?.fix);
    expect(doctor().troubles).toEqual([]);
  });

  it('[E-2] sets the log of a damaged database aside with it: what was accepted last is there alone', async () => {
    const { db, database, doctor, paste } = await startRecorded();
    const open = database();
    open.exec('PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0; CREATE TABLE newest (x)');
    const bytes = readFileSync(db);
    bytes.fill(0x5a, 4096, 8192);
    writeFileSync(db, bytes);
    const log = readFileSync(`${db}-wal`);
    const fix = doctor().find('store.damaged')?.fix;
    expect(fix).toBe(`mv ${db} ${db}.broken && mv ${db}-wal ${db}.broken-wal && rm -f ${db}-shm`);
    paste(fix);
    expect(readFileSync(`${db}.broken-wal`).equals(log)).toBe(true);
  });

  it('[I-5] [O-2] says of a log that was deleted after a kill what may be lost, as status and why do', async () => {
    const { db, doctor, usual } = startPatient();
    mkdirSync(dirname(db), { recursive: true, mode: 0o700 });
    await startLostLog(db);
    const said = `${db}: what was acknowledged between 2026-01-01T00:00:00.000Z and`;
    const { code, find } = doctor();
    expect([code, find('store.log_lost')]).toMatchObject([
      0,
      { status: 'warning', summary: expect.stringContaining(said) as string },
    ]);
    const unwedge = (...words: string[]) =>
      spawnSync(process.execPath, [main, ...words], { env: usual, encoding: 'utf8' });
    expect(JSON.parse(unwedge('status', '--json').stdout)).toMatchObject({
      lostLog: { reason: expect.stringContaining(said) as string },
      attention: [
        { what: expect.stringContaining(said) as string, next: expect.stringContaining('send again') as string },
      ],
    });
    expect(unwedge('why').stdout).toContain('was deleted or');
    const unknown = unwedge('why', 'agent:main');
    expect([unknown.status, unknown.stderr]).toEqual([1, expect.stringContaining('may be lost')]);
  });

  it('[E-2] finds what is no database at all, and a directory in its place', () => {
    const { home, db, doctor } = startPatient();
    mkdirSync(db, { recursive: true });
    expect(doctor().find('store.directory')?.fix).toBe(`export UNWEDGE_DB=${join(db, 'unwedge.sqlite')}`);
    const text = join(home, 'notes.txt');
    writeFileSync(text, 'no database\n'.repeat(1000), { mode: 0o600 });
    expect(doctor(['--db', text]).find('store.other')?.status).toBe('fail');
  });

  it.each([
    ['a text that anybody may read', 'root:x:0:0:root:/root:/bin/sh\n'.repeat(500), 'store.other', 1],
    ['a text shorter than a header', 'SQLite', 'store.other', 1],
    ['an empty file', '', undefined, 0],
  ])('[E-2] never offers a command that touches what is no database of ours: %s', (_, contents, id, code) => {
    const { home, doctor } = startPatient();
    const file = join(home, 'passwd');
    writeFileSync(file, contents, { mode: 0o644 });
    writeFileSync(`${file}.damaged-1`, '');
    const found = doctor(['--db', file]);
    expect({ code: found.code, troubles: found.troubles }).toEqual({ code, troubles: id === undefined ? [] : [id] });
    expect(found.findings.filter(({ fix }) => fix?.includes(file))).toEqual([]);
    const summary = `${file} is no SQLite database; name another with --db FILE or UNWEDGE_DB`;
    expect(found.findings.filter(({ status }) => status === 'fail')).toMatchObject(
      id === undefined ? [] : [{ id, summary, fix: null }],
    );
    expect(doctor(['--db', join(file, 'below.sqlite')]).find('store.unwritable')).toMatchObject({ fix: null });
  });

  it('[E-2] never offers a command that touches the database of something else', () => {
    const { home, doctor } = startPatient();
    const file = join(home, 'places.sqlite');
    const database = openDatabase(file);
    database.exec('CREATE TABLE bookmarks (url TEXT)');
    chmodSync(file, 0o644);
    const { code, troubles, findings } = doctor(['--db', file]);
    expect({ code, troubles }).toEqual({ code: 0, troubles: ['store.foreign'] });
    expect(findings.filter(({ fix }) => fix?.includes(file))).toEqual([]);
  });

  it('[E-2] says that a file that was named is not there', () => {
    const { home, doctor } = startPatient();
    const file = join(home, 'nosuch', 'x.sqlite');
    for (const found of [doctor(['--db', file]), doctor([], { UNWEDGE_DB: file })]) {
      expect({ code: found.code, troubles: found.troubles }).toEqual({ code: 0, troubles: ['store.absent'] });
      expect(found.find('store.absent')?.summary).toBe(
        `no database at ${file}: a gateway with \`store: '${file}'\`, \`unwedge mcp\` or \`unwedge run\` makes one`,
      );
    }
  });

  it('[E-2] finds a place where no database can be made', () => {
    const { home, doctor, paste } = startPatient();
    writeFileSync(join(home, '.local'), '');
    const { code, find } = doctor();
    expect(code).toBe(1);
    expect(find('store.unwritable')?.summary).toContain(`${join(home, '.local')} is no directory`);
    paste(find('store.unwritable')?.fix);
    expect(doctor().troubles).toEqual([]);
  });

  it.skipIf(process.getuid?.() !== 0).each([
    ['a database that belongs to somebody else', 'unwedge.sqlite'],
    ['a database in a folder that belongs to somebody else', '.'],
  ])('[E-2] finds %s', async (_, closed) => {
    const { home, db, usual } = await startRecorded();
    const folder = dirname(db);
    const state = dirname(folder);
    for (const path of [home, dirname(state), state, folder, join(home, 'work')]) chmodSync(path, 0o755);
    const uid = 65_534;
    chownSync(closed === '.' ? db : folder, uid, uid);
    const { status, stdout } = spawnSync(process.execPath, [main, 'doctor', '--json'], {
      uid,
      env: usual,
      cwd: home,
      encoding: 'utf8',
    });
    const { findings } = JSON.parse(stdout) as { findings: Finding[] };
    expect(status).toBe(1);
    expect(findings.find(({ id }) => id === 'store.unwritable')).toMatchObject({
      status: 'fail',
      fix: `sudo chown ${uid} ${join(folder, closed)}`,
    });
  });

  it('[E-2] finds a database of a newer version', async () => {
    const { database, doctor } = await startRecorded();
    database().exec('PRAGMA user_version = 999');
    const { code, find } = doctor();
    expect(code).toBe(1);
    expect(find('store.newer')).toMatchObject({ status: 'fail', fix: 'npm install --global unwedge@latest' });
  });

  it('[E-2] finds events of the future: a clock that was set back', async () => {
    const { database, doctor } = await startRecorded();
    const insert = database().prepare(
      'INSERT INTO events (timestamp, category, event_type, metadata) VALUES (?, ?, ?, ?)',
    );
    insert.run(Date.now() - 7_200_000, 'gateway', 'x', '{}');
    insert.run(Date.now() - 10_800_000, 'gateway', 'x', '{}');
    expect(doctor().find('clock.back')?.summary).toContain('went back by 1h');
    insert.run(Date.now() + 3_600_000, 'gateway', 'x', '{}');
    expect(doctor().find('clock.ahead')).toMatchObject({ status: 'warning', fix: 'sudo timedatectl set-ntp true' });
  });
});
