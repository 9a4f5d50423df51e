import { spawnSync } from 'node:child_process';
import { closeSync, existsSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { commands } from '../../cli/commands.ts';
import { failed, hasSqlite, temporaryDirectory } from '../store/startStore.ts';
import { call, databaseWith, runBuilt, runHere, runUnread } from './startCli.ts';
import { main } from './startRun.ts';

const oneLine = /^unwedge: [^\n]+\n$/;

describe('the built command line', () => {
  it('[L-1] lists its commands with --help, on stdout', async () => {
    const { code, stdout, stderr } = await runBuilt(['--help']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    for (const name of Object.keys(commands)) expect(stdout).toMatch(new RegExp(`[ \n]${name}[ ,\n]`));
  });

  it('[L-8] has all of them on one screen of 80 by 40, those first by which a newcomer begins', async () => {
    const { stdout } = await runHere(['--help']);
    const lines = stdout.trimEnd().split('\n');
    expect(lines.length).toBeLessThanOrEqual(40);
    expect(lines.filter((line) => line.length > 80)).toEqual([]);
    const rows = lines.flatMap((line) => /^ {2}(\w+) {2,}\S/.exec(line)?.[1] ?? []);
    const begin = ['install', 'mcp', 'hook', 'run', 'api', 'acp', 'doctor', 'status', 'why', 'dashboard'];
    expect(rows.slice(0, begin.length)).toEqual(begin);
    const named = lines.flatMap((line) => line.split(/[ ,]+/));
    for (const name of Object.keys(commands)) expect([name, named.includes(name)]).toEqual([name, true]);
  });

  it.skipIf(!existsSync('/dev/full'))('[L-1] does not end with 0 when what it says could not be written', () => {
    const full = openSync('/dev/full', 'w');
    const { status } = spawnSync(process.execPath, [main, '--help'], { stdio: ['ignore', full, 'ignore'] });
    closeSync(full);
    expect(status).toBe(1);
  });

  it('[L-1] says what it can do here when nothing is asked, on stderr with exit 2', async () => {
    const { code, stdout, stderr } = await runBuilt([]);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(/\nNext: npx unwedge demo\n/);
  });

  it('[L-1] explains a command with --help, wherever that stands', async () => {
    const { code, stdout, stderr } = await runBuilt(['events', '--nonsense', '--help']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toContain('Usage: unwedge events ');
    expect((await runHere(['help', 'events'])).stdout).toBe(stdout);
  });

  it('[L-1] names a command it does not know in one line on stderr, exit 2', async () => {
    const { code, stdout, stderr } = await runBuilt(['evnts']);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(oneLine);
  });

  it('[L-1] keeps a word with a line break and an escape to one harmless line', async () => {
    const { code, stderr } = await runHere(['bad\nword\u001b[31m']);
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: 'unwedge: Unknown command "bad word"; see `unwedge --help`\n',
    });
  });

  it('[O-1] names the database that is missing and how to name another, exit 1', async () => {
    const path = join(temporaryDirectory(), 'none.sqlite');
    for (const { code, stdout, stderr } of [
      await runBuilt(['status', '--db', path]),
      await runHere(['events'], { UNWEDGE_DB: path }),
    ]) {
      expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
      expect(stderr).toMatch(oneLine);
      expect(stderr).toContain(path);
      expect(stderr).toContain('--db FILE or UNWEDGE_DB');
    }
  });

  it('prints its version', async () => {
    expect((await runBuilt(['--version'])).stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
    expect(JSON.parse((await runHere(['--version', '--json'])).stdout)).toHaveProperty('version');
  });
});

describe('the command line', () => {
  it.each(Object.keys(commands))('[L-1] explains %s with --help, wherever that stands', async (name) => {
    const { code, stdout, stderr } = await call([name, '--nonsense', '--help']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toContain(`Usage: unwedge ${name} `);
    expect((await call(['help', name])).stdout).toBe(stdout);
  });

  it.each([
    ['a command', ['evnts'], '"evnts"; did you mean events?'],
    ['a command nothing is near to', ['xyzzyx'], '"xyzzyx"; see `unwedge --help`'],
    ['a word of other tools', ['logs'], '"logs"; did you mean events?'],
    ['another word of theirs', ['ps'], '"ps"; did you mean status?'],
    ['a topic of help', ['help', 'stats'], '"stats"; did you mean status?'],
    ['an option', ['events', '--sinec=5m'], '"--sinec"; did you mean --since?'],
    ['an option with one dash', ['events', '-since', '5m'], '"-since"; did you mean --since?'],
    ['an option of no command', ['--versoin'], '"--versoin"; did you mean --version?'],
    ['a name of every object', ['toString'], '"toString"'],
    ['an argument', ['status', 'kb'], 'Unexpected argument "kb"'],
  ])('[L-1] names %s it does not know in one line on stderr, exit 2', async (_, words, message) => {
    const { code, stdout, stderr } = await call(words);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(oneLine);
    expect(stderr).toContain(message);
  });
});

describe.skipIf(!hasSqlite)('the built command line on a database', () => {
  it('[L-2] prints what was asked for on stdout, without colours when that is no terminal', async () => {
    const path = await databaseWith(failed(1));
    const { code, stdout, stderr } = await runBuilt(['events', '--db', path]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toContain('2026-01-01 00:00:00.001  integration/failure  kb  no answer within 30 s');
    expect(stdout).not.toContain('\u001b');
  });

  it('[L-2] prints JSON with --json for each command that reads', async () => {
    const path = await databaseWith(failed(1));
    const rows: unknown = JSON.parse((await runBuilt(['events', '--json', '--db', path])).stdout);
    expect(rows).toMatchObject([{ category: 'integration', type: 'failure', metadata: { integration: 'kb' } }]);
    const status: unknown = JSON.parse((await runHere(['--db', path, 'status', '--json'])).stdout);
    expect(status).toMatchObject({ database: path, events: 1 });
  });

  it('[O-1] reads the database of UNWEDGE_DB, and that of --db rather', async () => {
    const one = await databaseWith(failed(1));
    const two = await databaseWith(failed(1), failed(2));
    const events = async (words: string[], run = runBuilt) =>
      (JSON.parse((await run(['status', '--json', ...words], { UNWEDGE_DB: one })).stdout) as { events: number })
        .events;
    expect([await events([]), await events(['--db', two], runHere)]).toEqual([1, 2]);
  });

  it('ends quietly when nobody reads on', async () => {
    // More than a pipe holds, so that the write meets the closed end whenever that happens.
    const path = await databaseWith(...Array.from({ length: 1_000 }, (_, index) => failed(index)));
    const { code, stderr } = await runUnread(['events', '--json', '--limit', '1000', '--db', path]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  });
});
