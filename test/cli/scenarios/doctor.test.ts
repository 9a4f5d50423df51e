import { spawn, spawnSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { identifyNow } from '../../../src/actors/process/processIdentity.ts';
import { hasSqlite, openDatabase, startStore } from '../../store/startStore.ts';
import { temporaryDirectory } from '../../support/temporary.ts';
import { main } from '../startRun.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));

interface Finding {
  readonly id: string;
  readonly status: string;
  readonly summary: string;
  readonly fix: string | null;
}

interface Examined {
  readonly code: number | null;
  readonly text: string;
  readonly findings: readonly Finding[];
  /** What is wrong. */
  readonly troubles: readonly string[];
  find(id: string): Finding | undefined;
}

/** A home of its own, where nothing is wrong: the built unwedge is on PATH. */
function startPatient() {
  const home = temporaryDirectory();
  const bin = join(home, 'bin');
  const tmp = join(home, 'tmp');
  const db = join(home, '.local', 'state', 'unwedge', 'unwedge.sqlite');
  for (const directory of [bin, tmp, join(home, 'work')]) mkdirSync(directory);
  const program = join(bin, 'unwedge');
  symlinkSync(main, program);
  symlinkSync(process.execPath, join(bin, 'node'));
  const usual = { HOME: home, PATH: `${bin}:/usr/bin:/bin`, TMPDIR: tmp, XDG_RUNTIME_DIR: join(home, 'run') };
  const options = { cwd: join(home, 'work'), encoding: 'utf8' } as const;
  const doctor = (words: readonly string[] = [], env: Record<string, string> = {}, script = main): Examined => {
    const run = (...more: string[]) =>
      spawnSync(process.execPath, [script, 'doctor', ...words, ...more], { ...options, env: { ...usual, ...env } });
    const { status, stdout, stderr } = run('--json');
    if (stdout === '') throw new Error(stderr);
    const { findings } = JSON.parse(stdout) as { findings: Finding[] };
    return {
      code: status,
      get text() {
        return run().stdout;
      },
      findings,
      troubles: findings.filter((each) => each.status !== 'ok').map(({ id }) => id),
      find: (id) => findings.find((each) => each.id === id),
    };
  };
  /** Pastes a fix into a shell. */
  const paste = (fix: string | null | undefined) =>
    spawnSync('/bin/sh', ['-c', fix ?? 'false'], { ...options, env: usual });
  return { home, bin, tmp, db, usual, doctor, paste };
}

/** The same with a database, in which an event happened just now. */
async function startRecorded() {
  const patient = startPatient();
  mkdirSync(join(patient.home, '.local', 'state', 'unwedge'), { recursive: true, mode: 0o700 });
  const { store } = await startStore({ path: patient.db });
  await store.close();
  return { ...patient, database: () => openDatabase(patient.db) };
}

/** A program that runs until the test is over. */
function startSleeper(): number {
  const child = spawn('/bin/sleep', ['1000'], { stdio: 'ignore' });
  onTestFinished(() => void child.kill('SIGKILL'));
  return child.pid ?? 0;
}

const everyFile = (directory: string): readonly string[] =>
  readdirSync(directory, { recursive: true, encoding: 'utf8' }).sort();

describe.skipIf(!hasSqlite)('unwedge doctor', () => {
  it('[E-2] finds nothing where nothing is wrong, and changes nothing', async () => {
    const { home, doctor } = await startRecorded();
    const before = everyFile(home);
    const { code, troubles, text } = doctor();
    expect({ code, troubles }).toEqual({ code: 0, troubles: [] });
    expect(text).toMatch(/^0 broken, 0 warnings, \d+ in order \(--all shows them\)\.\n$/);
    expect(everyFile(home)).toEqual(before);
  });

  it('[E-2] says how a database comes into being where there is none', () => {
    const { db, doctor } = startPatient();
    const { code, find } = doctor();
    expect(code).toBe(0);
    expect(find('store')?.summary).toContain(
      `no database at ${db} yet: a gateway with \`store: '${db}'\` or \`unwedge mcp\` makes one`,
    );
  });

  it('[E-2] finds a SQLite driver that is not there, in the package that runs', () => {
    if (process.getBuiltinModule('node:sqlite' as 'node:fs') !== undefined) return;
    const { home, doctor } = startPatient();
    const modules = join(home, 'project', 'node_modules');
    mkdirSync(join(modules, 'unwedge'), { recursive: true });
    for (const name of ['dist', 'package.json'])
      cpSync(join(root, name), join(modules, 'unwedge', name), { recursive: true });
    for (const name of readdirSync(join(root, 'node_modules'))) {
      if (name !== 'better-sqlite3' && name !== 'unwedge')
        symlinkSync(join(root, 'node_modules', name), join(modules, name));
    }
    const { code, find } = doctor([], {}, join(modules, 'unwedge', 'dist', 'cli', 'main.js'));
    expect(code).toBe(1);
    expect(find('sqlite')).toMatchObject({
      status: 'fail',
      fix: `cd ${join(home, 'project')} && npm install better-sqlite3`,
    });
  });

  it('[E-2] finds a damaged database; its fix sets the file aside', async () => {
    const { db, doctor, paste } = await startRecorded();
    const bytes = readFileSync(db);
    bytes.fill(0x5a, 4096, 8192);
    writeFileSync(db, bytes);
    const { code, find, text } = doctor();
    expect(code).toBe(1);
    expect(find('store.damaged')?.fix).toBe(`mv ${db} ${db}.broken && rm -f ${db}-wal ${db}-shm`);
    expect(text).toContain(`\n  fix: mv ${db} ${db}.broken`);
    paste(find('store.damaged')?.fix);
    expect(doctor().troubles).toEqual([]);
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
        `no database at ${file}: a gateway with \`store: '${file}'\` or \`unwedge mcp\` makes one`,
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

  it.skipIf(process.getuid?.() !== 0)('[E-2] finds a database that belongs to somebody else', async () => {
    const { home, db, usual } = await startRecorded();
    for (const path of [
      home,
      join(home, '.local'),
      join(home, '.local', 'state'),
      join(home, '.local', 'state', 'unwedge'),
      join(home, 'work'),
    ])
      chmodSync(path, 0o755);
    const uid = 65_534;
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
      fix: `sudo chown ${uid} ${db}`,
    });
  });

  it('[E-2] finds a database of a newer version', async () => {
    const { database, doctor } = await startRecorded();
    database().exec('PRAGMA user_version = 999');
    const { code, find } = doctor();
    expect(code).toBe(1);
    expect(find('store.newer')).toMatchObject({ status: 'fail', fix: 'npm install --global unwedge@latest' });
  });

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

  it('[E-2] finds a gateway that lives and does not answer', async () => {
    const { home, database, doctor } = await startRecorded();
    const pid = startSleeper();
    const socket = join(home, 'mute.sock');
    const server = createServer(() => undefined).listen(socket);
    onTestFinished(() => void server.close());
    database()
      .prepare('INSERT INTO unwedge_runtimes VALUES (?, ?, ?, ?, ?, ?, ?)')
      .run('run', pid, identifyNow(pid)?.start ?? '', Date.now(), Date.now(), 'gateway.mjs', socket);
    const { code, find } = doctor();
    expect(code).toBe(1);
    expect(find('runtime.silent')).toMatchObject({ status: 'fail', fix: `kill -KILL ${pid}` });
    expect(find('runtime.silent')?.summary).toContain('gateway.mjs');
  });

  it('[E-2] finds files that dead runs left beside the database, and takes no dead run for a trouble', async () => {
    const { db, database, doctor, paste } = await startRecorded();
    const start = `0@${identifyNow(1)?.start.split('@').slice(1).join('@')}`;
    database()
      .prepare('INSERT INTO unwedge_runtimes VALUES (?, ?, ?, ?, ?, ?, ?)')
      .run('run', 1, start, 0, 0, 'gateway.mjs', null);
    const pid = spawnSync('/bin/true').pid;
    writeFileSync(`${db}-children-${pid}.1`, 'gone');
    const { code, find, troubles } = doctor();
    expect({ code, troubles }).toEqual({ code: 0, troubles: ['stale'] });
    expect(find('stale')).toMatchObject({ status: 'warning', fix: `unwedge run --db ${db} -- true` });
    expect(find('runtime.gone')?.summary).toContain('gateway.mjs (pid 1');
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

  it('[E-2] finds misspelt variables, also where their beginning is', () => {
    const { doctor } = startPatient();
    const { code, find, findings } = doctor([], {
      UNWEDGE_ALERTS_WINDO: '5m',
      UNWEGDE_DB: '/x',
      HTTP_PROXY: 'x',
      UNWANTED_X: '1',
    });
    expect(code).toBe(0);
    expect(findings.filter(({ id }) => id === 'variable.unknown').map(({ fix }) => fix)).toEqual([
      'export UNWEDGE_DB="$UNWEGDE_DB"; unset UNWEGDE_DB',
      'export UNWEDGE_ALERTS_WINDOW="$UNWEDGE_ALERTS_WINDO"; unset UNWEDGE_ALERTS_WINDO',
    ]);
    expect(find('variable.unknown')?.summary).toBe('nothing reads the variable UNWEGDE_DB; did you mean UNWEDGE_DB?');
  });

  it('[E-2] finds wrong values of variables and of the configuration file, without running one that lies about', () => {
    const { home, doctor } = startPatient();
    const file = join(home, 'unwedge.json');
    writeFileSync(file, JSON.stringify({ alerts: { failures: -1 } }));
    writeFileSync(join(home, 'work', 'unwedge.config.mjs'), 'process.exit(0);\n');
    const wrong = doctor(['--config', file], { UNWEDGE_ALERTS_WINDOW: 'soon' });
    expect(wrong.code).toBe(1);
    expect(
      wrong.findings
        .filter(({ id }) => id === 'config.wrong')
        .map(({ fix }) => String(fix))
        .sort((one, other) => one.localeCompare(other)),
    ).toEqual([`\${EDITOR:-vi} ${file}`, 'unset UNWEDGE_ALERTS_WINDOW']);
    const { troubles, find } = doctor();
    expect(troubles).toEqual([]);
    expect(find('config')?.summary).toContain('is not read here, as it would be run');
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

  it('[E-2] finds a limit on open files that is too low', () => {
    const { usual } = startPatient();
    const { stdout } = spawnSync('/bin/sh', ['-c', `ulimit -n 200; exec '${process.execPath}' '${main}' doctor`], {
      env: usual,
      encoding: 'utf8',
    });
    expect(stdout).toContain('! only 200 open files are allowed: servers may fail to start\n  fix: ulimit -n 4096\n');
  });

  it('[E-2] finds another version that is first on PATH, and none', () => {
    const { home, bin, doctor } = startPatient();
    const other = join(home, 'other');
    mkdirSync(other);
    writeFileSync(join(other, 'package.json'), JSON.stringify({ name: 'unwedge', version: '0.0.1' }));
    writeFileSync(join(other, 'unwedge'), '#!/bin/sh\n', { mode: 0o755 });
    const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };
    const found = doctor([], { PATH: `${other}:${bin}` }).find('path');
    expect(found).toMatchObject({ status: 'warning', fix: `npm install --global unwedge@${version}` });
    expect(found?.summary).toContain(`is version 0.0.1, not ${version}`);
    expect(doctor([], { PATH: '/nonexistent' }).find('path')?.summary).toContain('is not on PATH');
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

  it('[E-2] finds programs of agents that are not there, not executable, or behind an unwedge that is gone', () => {
    const { home, bin, doctor, paste } = startPatient();
    const claude = join(home, '.claude.json');
    const tool = join(bin, 'my tool');
    writeFileSync(tool, '#!/bin/sh\n', { mode: 0o644 });
    const servers = {
      missing: { command: 'no-such-program' },
      closed: { command: tool },
      gone: { command: '/nonexistent/unwedge', args: ['mcp', '--', 'sh', '-c', 'true'] },
      fine: { command: 'sh' },
      off: { command: 'no-such-program', disabled: true },
      elsewhere: { type: 'http', url: 'https://mcp.example' },
      filled: { command: '${HOME}/server' },
    };
    writeFileSync(claude, JSON.stringify({ mcpServers: servers }));
    const { code, findings, find } = doctor();
    expect(code).toBe(1);
    expect(findings.filter(({ status }) => status === 'fail').map(({ fix }) => fix)).toEqual([
      `\${EDITOR:-vi} ${claude}`,
      `chmod +x '${tool}'`,
      'unwedge install claude',
    ]);
    expect(find('agent.program')?.summary).toBe(
      `missing of ${claude} cannot start: there is no program no-such-program`,
    );
    paste(`chmod +x '${tool}'`);
    expect(doctor().findings.filter(({ status }) => status === 'fail')).toHaveLength(2);
  });

  it('[E-2] finds files that their agent cannot read, each by the rules of its agent', () => {
    const { home, doctor } = startPatient();
    mkdirSync(join(home, '.cursor'));
    mkdirSync(join(home, '.codex'));
    writeFileSync(join(home, '.cursor', 'mcp.json'), '{ "mcpServers": { "kb": { "command": "sh" } } }');
    writeFileSync(join(home, '.claude.json'), '{ // no comment is allowed here\n "mcpServers": {} }');
    writeFileSync(join(home, '.codex', 'config.toml'), '[mcp_servers.kb]\ncommand = "sh\n');
    const { code, findings } = doctor();
    expect(code).toBe(1);
    expect(findings.filter(({ id }) => id === 'agent.unreadable').map(({ fix }) => fix)).toEqual([
      `\${EDITOR:-vi} ${join(home, '.claude.json')}`,
      `\${EDITOR:-vi} ${join(home, '.codex', 'config.toml')}`,
    ]);
    expect(findings.find(({ id }) => id === 'agent')?.summary).toContain('1 server or hook in');
  });

  it('[E-2] starts the servers of the user with --probe alone, and those of a project never', () => {
    const { home, doctor } = startPatient();
    const everything = join(root, 'node_modules', '@modelcontextprotocol', 'server-everything', 'dist', 'index.js');
    const witness = join(home, 'started');
    const dies = { command: '/bin/sh', args: ['-c', `echo started >> '${witness}'; exit 3`] };
    const servers = { good: { command: process.execPath, args: [everything] }, dies };
    writeFileSync(join(home, '.claude.json'), JSON.stringify({ mcpServers: servers }));
    writeFileSync(
      join(home, 'work', '.mcp.json'),
      JSON.stringify({ mcpServers: { hostile: { ...dies, args: ['-c', `echo project >> '${witness}'`] } } }),
    );
    expect(doctor().troubles).toEqual([]);
    expect(existsSync(witness)).toBe(false);
    const { code, findings } = doctor(['--probe']);
    expect(code).toBe(1);
    const probes = findings.filter(({ id }) => id === 'probe');
    expect(probes.map(({ status, summary }) => `${status} ${summary}`)).toEqual([
      expect.stringMatching(/^ok good of Claude Code starts, and has \d+ tools$/) as unknown,
      expect.stringMatching(/^fail dies of Claude Code does not start: /) as unknown,
    ]);
    expect(readFileSync(witness, 'utf8')).not.toContain('project');
  });

  it('[E-2] shows no secret of the environment', async () => {
    const { doctor } = startPatient();
    const secret = 'sk-ant-0123456789abcdef0123456789abcdef';
    const { text, findings } = doctor(['--config', `/nonexistent/${secret}.json`], {
      MY_TOKEN: secret,
      UNWEDGE_CHILD_GUARD: secret,
    });
    expect(text + JSON.stringify(findings)).not.toContain(secret);
  });

  it('[L-1] exits 2 for wrong usage, naming the option', () => {
    const { usual } = startPatient();
    const { status, stderr } = spawnSync(process.execPath, [main, 'doctor', '--prob'], {
      env: usual,
      encoding: 'utf8',
    });
    expect({ status, stderr }).toEqual({
      status: 2,
      stderr: 'unwedge: Unknown option "--prob"; did you mean --probe?\n',
    });
  });
});
