import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { commands } from '../../cli/commands.ts';
import { hasSqlite, temporaryDirectory } from '../store/startStore.ts';
import { call } from './startCli.ts';

describe('the command line', () => {
  it.each(Object.entries(commands))('says the same of %s in the list and in its help', async (name, summary) => {
    const { stdout } = await call([name, '--help', '--json']);
    expect(JSON.parse(stdout)).toMatchObject({ name, summary });
  });

  it('[L-2] gives help as data', async () => {
    const { stdout } = await call(['--help', '--json']);
    expect(JSON.parse(stdout)).toMatchObject({ commands: Object.keys(commands).map((name) => ({ name })) });
    expect(JSON.parse((await call(['help', 'events', '--json'])).stdout)).toMatchObject({
      name: 'events',
      options: { since: { kind: 'duration' } },
    });
  });

  it('[L-1] takes options before the command', async () => {
    expect((await call(['--db', 'a b', 'status', '--nonsense'])).stderr).toContain('Unknown option "--nonsense"');
    expect((await call(['--jsno', 'status'])).stderr).toContain('did you mean --json?');
  });

  it('[L-1] wants a command', async () => {
    expect(await call(['--json'])).toEqual({
      code: 2,
      stdout: '',
      stderr: 'unwedge: No command given; see `unwedge --help`\n',
    });
  });

  it('prints the stack of a bug, cleaned, and exits 1', async () => {
    const write = () => {
      throw new Error('a bug\u001b[31m');
    };
    const { code, stderr } = await call(['--help'], { stdout: { write } });
    expect(code).toBe(1);
    expect(stderr).toMatch(/^unwedge: Error: a bug\n {2}at /);
  });

  it('[L-2] keeps a file name with a line break and an escape to one harmless line', async () => {
    const { stderr } = await call(['status', '--db', '/nonexistent/a\nb\u001b[2J']);
    expect(stderr).toMatch(/^unwedge: No database at \/nonexistent\/a b: [ -~]+\n$/);
  });

  it.skipIf(!hasSqlite)('[O-1] names the file that is no database, exit 1', async () => {
    const path = join(temporaryDirectory(), 'notes.txt');
    writeFileSync(path, 'not a database, but long enough to be taken for one\n'.repeat(100));
    const { code, stdout, stderr } = await call(['events', '--db', path]);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(
      /^unwedge: Cannot read [^\n]+notes\.txt: [^\n]+ Name another with --db FILE or UNWEDGE_DB\.\n$/,
    );
  });

  it.skipIf(!hasSqlite)('[O-1] looks in the state directory of the user when no database is named', async () => {
    const state = temporaryDirectory();
    mkdirSync(join(state, 'unwedge'));
    const { stdout } = await call(['status'], { env: { XDG_STATE_HOME: state } });
    expect(stdout).toContain(`${join(state, 'unwedge', 'unwedge.sqlite')} is not there`);
  });
});
