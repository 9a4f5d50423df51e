import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { failed, hasSqlite, told as stored } from '../../store/startStore.ts';
import { temporaryDirectory } from '../../support/temporary.ts';
import { ownCommand, told, typed } from '../../../cli/ownCommand.ts';
import { ownVersion } from '../../../cli/doctor/ownVersion.ts';
import { call, databaseWith, type Ran } from '../startCli.ts';

/** Commands in a text that a shell without `unwedge` would not find; the name of a proxy, as one that runs here now has, is none. */
const lost = ({ stdout, stderr }: Ran): readonly string[] =>
  `${stdout}${stderr}`
    .replaceAll(/unwedge mcp \S+ \(pid|"name": "unwedge mcp/g, '')
    .match(/(?<!npx )\bunwedge (?:[a-z]+(?:-[a-z]+)?)\b(?! (?:is|keeps))(?<!unwedge stands)/g) ?? [];

describe.skipIf(!hasSqlite)('commands that are told', () => {
  it('[L-8] are those that begin a command or stand in backticks, and no other word', () => {
    const own = 'npx unwedge';
    expect(typed('unwedge why kb; see `unwedge status`', { own })).toBe('npx unwedge why kb; see `npx unwedge status`');
    for (const text of ['unwedge 0.1.0 is first', 'put unwedge in front', '`unwedge`', 'npx unwedge why', 'unwedge'])
      expect([typed(text, { own }), told(text, { own })]).toEqual([text, text]);
    expect(typed('unwedge why kb', {})).toBe('unwedge why kb');
    expect(typed('`unwedge why $&`', { own: 'npx unwedge@$1' })).toBe('`npx unwedge@$1 why $&`');
    // The name of a proxy, as its entry in the database has it.
    const gone = 'unwedge mcp kb (pid 7) is gone: `unwedge restart kb` ends it';
    expect(told(gone, { own })).toBe('unwedge mcp kb (pid 7) is gone: `npx unwedge restart kb` ends it');
  });

  it('[L-8] [U-10] are found by npx in a clone, and elsewhere by the version', () => {
    const clone = temporaryDirectory();
    const program = join(clone, 'dist/cli/main.js');
    mkdirSync(join(clone, 'dist/cli'), { recursive: true });
    writeFileSync(program, '');
    writeFileSync(join(clone, 'package.json'), JSON.stringify({ name: 'unwedge', version: ownVersion() }));
    const env = { PATH: '/usr/bin:/bin' };
    expect(ownCommand({ env, cwd: clone, program })).toBe('npx unwedge');
    expect(ownCommand({ env, cwd: join(clone, 'dist'), program })).toBe(`npx unwedge@${ownVersion()}`);
  });

  it.each([
    ['status'],
    ['status', '--json'],
    ['status', '--tree'],
    ['why'],
    ['why', 'kb'],
    ['why', 'nobody'],
    ['alerts'],
    ['inbox'],
    ['letters'],
    ['events', '--integration', 'kb', '--session', 'nobody'],
    ['events', '--category', 'hook', '--integration', 'kb'],
    ['report'],
    ['report', '--since', '1s'],
    ['cluster'],
    ['machines'],
    ['forget', 'nobody'],
    ['incident', 'kb', '--out', 'kept'],
    ['cancel', 'nobody'],
    ['cancel', 'nobody', '--no-retry'],
    ['restart', 'nobody'],
    ['stats'],
    ['status', '--alll'],
    ['mcp'],
    ['run'],
    ['acp'],
    ['api'],
    ['drill', '--config', 'none.json'],
    ['install', 'claude', '--dry-run'],
    ['install', 'claude'],
    ['install', 'claude', '--undo'],
    ['doctor'],
  ])('[L-8] are those that a shell here finds, by %j', async (...words) => {
    const home = temporaryDirectory();
    const servers = { files: { command: 'sh', args: ['-c', 'true'] }, web: { type: 'http', url: 'https://x' } };
    writeFileSync(join(home, '.claude.json'), JSON.stringify({ mcpServers: servers }));
    const asked = { type: 'hook.failed', hook: 'guard', event: 'Stop', action: '', error: 'it hung' } as const;
    const open = Array.from({ length: 8 }, (_, at) => failed(at, { integration: 'kb' }));
    const db = await databaseWith(stored(asked), ...open);
    const env = { HOME: home, XDG_RUNTIME_DIR: home, UNWEDGE_DB: db, PATH: '/usr/bin:/bin' };
    const at = words.map((word) => (word === 'kept' ? join(home, word) : word));
    const ran = await call(at, { env, own: 'npx unwedge' });
    expect(lost(ran)).toEqual([]);
    expect(`${ran.stdout}${ran.stderr}`).not.toContain('npx npx');
  });
});

describe.skipIf(!hasSqlite)('a record that is not there yet', () => {
  const home = (): { env: Record<string, string>; state: string } => {
    const state = temporaryDirectory();
    return { env: { XDG_STATE_HOME: state, HOME: state, XDG_RUNTIME_DIR: state }, state };
  };

  it('[I-4] is told by status as nothing yet, with what records it, exit 0', async () => {
    const { env, state } = home();
    const { code, stdout, stderr } = await call(['status'], { env, columns: 80 });
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout.replaceAll(/\s+/g, ' ')).toMatch(/^Nothing is recorded yet: \S+ is not there\. .*`unwedge mcp`/);
    expect(stdout).not.toContain('0 events');
    expect(stdout.split('\n').filter((line) => line.length > 80 && line.includes(' '))).toEqual([]);
    expect(readdirSync(state)).toEqual([]);
  });

  it('[I-4] is empty data for machines', async () => {
    const { env } = home();
    const { code, stdout } = await call(['status', '--json'], { env });
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ events: 0, health: 'well', integrations: [], needs: [], attention: [] });
  });

  it.each(['why', 'alerts', 'inbox', 'letters', 'events', 'report', 'metrics'])(
    '[I-4] is an empty one for %s too, and none is made',
    async (name) => {
      const { env, state } = home();
      for (const words of [[name], ...(name === 'metrics' ? [] : [[name, '--json']])]) {
        const { code, stderr } = await call(words, { env });
        expect(code).toBe(0);
        expect(stderr).toMatch(name === 'events' ? /^No events are on record/ : /^$/);
      }
      expect(readdirSync(state)).toEqual([]);
    },
  );

  it.each([
    ['forget', 'agent:x', '--yes'],
    ['letters', '--drop', 'agent:x-m1'],
    ['alerts', '--ack', 'kb'],
    ['inbox', 'answer', 'abc', '--deny'],
    ['accept', 'kb', '--yes'],
    ['why', 'agent:x'],
  ])('[I-4] has nothing to order about, and none is made, by %j', async (...words) => {
    const { env, state } = home();
    const { code, stderr } = await call(words, { env });
    expect(code).toBe(1);
    expect(stderr).not.toBe('');
    expect(readdirSync(state)).toEqual([]);
  });

  it('[I-4] is an error where it was named: a name may be misspelt', async () => {
    const { env, state } = home();
    const missing = join(state, 'other.sqlite');
    for (const [words, more] of [
      [['status', '--db', missing], {}],
      [['status'], { UNWEDGE_DB: missing }],
    ] as const) {
      const { code, stderr } = await call(words, { env: { ...env, ...more } });
      expect([code, stderr]).toEqual([1, expect.stringContaining(`No database at ${missing}`)]);
    }
    expect(existsSync(missing)).toBe(false);
  });

  it('[I-4] is no directory of that name', async () => {
    const { env, state } = home();
    mkdirSync(join(state, 'unwedge', 'unwedge.sqlite'), { recursive: true });
    expect(await call(['status'], { env })).toMatchObject({ code: 1, stdout: '' });
  });
});
