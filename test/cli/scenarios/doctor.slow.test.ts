import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { failed, hasSqlite, startStore } from '../../store/startStore.ts';
import { root, startPatient, startRecorded } from '../startPatient.ts';
import { main } from '../startRun.ts';

const everyFile = (directory: string): readonly string[] =>
  readdirSync(directory, { recursive: true, encoding: 'utf8' }).sort();

describe.skipIf(!hasSqlite)('unwedge doctor', () => {
  it('[E-2] finds nothing where nothing is wrong, and changes nothing', async () => {
    const { home, doctor } = await startRecorded();
    const before = everyFile(home);
    const { code, troubles, text } = doctor();
    expect({ code, troubles }).toEqual({ code: 0, troubles: [] });
    expect(text).toMatch(/^0 broken, \d warnings?, \d+ in order \(--all shows them\)\.\n$/m);
    expect(everyFile(home)).toEqual(before);
  });

  it('[E-2] warns of what needs attention now, with the command to look, and calls the installation no less in order', async () => {
    const { db, doctor } = await startRecorded();
    const { store } = await startStore({ path: db });
    const at = Date.now();
    for (let count = 0; count < 5; count++) store.record(failed(count, { at }));
    await store.flush();
    await store.close();
    const { code, find, text } = doctor();
    expect(code).toBe(0);
    const next = 'unwedge events --integration kb --failed';
    expect(find('live.attention')).toMatchObject({ subject: 'live', status: 'warning', fix: null, next });
    expect(text).toContain(`! kb failed 5 times in 10 minutes: timeout: no answer within 30 s\n  next: ${next}\n`);
    expect(text).toMatch(/^0 broken, [1-9]\d* warnings?, /m);
  });

  it('[E-2] finds a SQLite driver that is not there, in the package that runs, and other commands name the same fix', () => {
    if (process.getBuiltinModule('node:sqlite' as 'node:fs') !== undefined) return;
    const { home, usual, doctor } = startPatient();
    const modules = join(home, 'project', 'node_modules');
    mkdirSync(join(modules, 'unwedge'), { recursive: true });
    for (const name of ['dist', 'package.json'])
      cpSync(join(root, name), join(modules, 'unwedge', name), { recursive: true });
    for (const name of readdirSync(join(root, 'node_modules'))) {
      if (name !== 'better-sqlite3' && name !== 'unwedge')
        symlinkSync(join(root, 'node_modules', name), join(modules, name));
    }
    const program = join(modules, 'unwedge', 'dist', 'cli', 'main.js');
    const { code, find } = doctor([], {}, program);
    expect(code).toBe(1);
    expect(find('sqlite')).toMatchObject({
      status: 'fail',
      fix: `cd ${join(home, 'project')} && npm install better-sqlite3`,
    });
    for (const command of ['status', 'events', 'report', 'version']) {
      const { stdout, stderr } = spawnSync(process.execPath, [program, command], { env: usual, encoding: 'utf8' });
      expect(stdout + stderr).toContain(
        'run `npm install better-sqlite3` (it needs a prebuilt binary or a compiler), or use Node 22.13 or newer',
      );
    }
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

  it('[E-2] judges the store of the configuration that --config or UNWEDGE_CONFIG names', () => {
    const { home, doctor } = startPatient();
    const file = join(home, 'gateway.json');
    writeFileSync(file, JSON.stringify({ store: 'gateway.sqlite' }));
    writeFileSync(join(home, 'gateway.sqlite'), 'no database at all, whoever reads it');
    for (const { troubles } of [doctor(['--config', file]), doctor([], { UNWEDGE_CONFIG: file })])
      expect(troubles).toEqual(['store.other']);
    expect(doctor(['--config', file], { UNWEDGE_DB: join(home, 'other.sqlite') }).troubles).toEqual(['store.absent']);
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
