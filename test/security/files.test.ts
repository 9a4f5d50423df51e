import {
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join, relative } from 'node:path';
import { execa } from 'execa';
import { describe, expect, it } from 'vitest';
import { tokenIn } from '../../cli/tokenFile.ts';
import { openOwnFile, writeOwnFile } from '../../src/actors/process/ownFile.ts';
import { createChildMark } from '../../src/store/sqlite/childMarks.ts';
import { ResultFiles } from '../../src/store/resultFiles.ts';
import { main } from '../cli/startServe.ts';
import { startClaude } from '../support/startClaude.ts';
import { temporaryDirectory } from '../support/temporary.ts';
import { hasSqlite } from '../store/startStore.ts';

/** Everything below a directory, by its path in it, with its mode. */
const modesBelow = (directory: string): readonly (readonly [path: string, mode: string])[] =>
  readdirSync(directory, { recursive: true, withFileTypes: true }).map((entry) => {
    const path = join(entry.parentPath, entry.name);
    return [relative(directory, path), (lstatSync(path).mode & 0o777).toString(8)];
  });

describe('files of ours', () => {
  it.skipIf(!hasSqlite)('[Q-6] are for their owner alone, whatever the umask', async () => {
    const directory = temporaryDirectory();
    const home = join(directory, 'home');
    mkdirSync(home, { mode: 0o700 });
    writeFileSync(join(directory, 'hook'), '');
    const unwedge = (...words: readonly string[]) =>
      execa(
        process.execPath,
        [
          '-e',
          `process.umask(0); process.argv.splice(1, 0, ${JSON.stringify(main)}); import(${JSON.stringify(main)})`,
          ...words,
        ],
        {
          env: {
            PATH: process.env['PATH'],
            HOME: home,
            TMPDIR: directory,
            UNWEDGE_DB: join(home, 'state', 'unwedge.db'),
          },
          extendEnv: false,
          reject: false,
          input: '{}',
          timeout: 60_000,
        },
      );
    await unwedge('run', '--name', 'one', '--', process.execPath, '-e', 'process.exit(3)');
    await unwedge('hook', '--name', 'two', '--', process.execPath, '-e', 'process.exit(3)');
    await unwedge('mcp', '--log', join(home, 'traffic.log'), '--', process.execPath, '-e', '');
    await unwedge('incident', 'one', '--out', join(home, 'incident'));
    const found = modesBelow(home);
    expect(found.map(([path]) => path)).toEqual(expect.arrayContaining([join('state', 'unwedge.db')]));
    for (const [path, mode] of found) expect.soft([path, mode]).toEqual([path, expect.stringMatching(/^[67]00$/)]);
  });

  it('[Q-6] lead nowhere else: a link in the place of one is not followed, and a file with another name is left', async () => {
    const directory = temporaryDirectory();
    const [victim, link, twin] = ['victim', 'link', 'twin'].map((name) => join(directory, name)) as [
      string,
      string,
      string,
    ];
    writeFileSync(victim, 'precious', { mode: 0o644 });
    symlinkSync(victim, link);
    linkSync(victim, twin);
    expect(() => openOwnFile(link)).toThrow('ELOOP');
    expect(() => writeOwnFile(twin, 'x')).toThrow('another name');
    const database = join(directory, 'unwedge.db');
    writeFileSync(database, '');
    for (let number = 1; number < 50; number++) symlinkSync(victim, `${database}-children-${process.pid}.${number}`);
    createChildMark(database).leave({ start: 'x' } as Parameters<ReturnType<typeof createChildMark>['leave']>[0]);
    // As a repository of others may hold it.
    const logDir = join(directory, '.logs');
    mkdirSync(logDir);
    symlinkSync(victim, join(logDir, 'claude_invocations.jsonl'));
    const { claude, settled } = await startClaude([{ text: 'hello' }], { logDir, logger: false });
    expect(await settled(claude.invokeClaude('hi'))).toMatchObject({ success: true });
    await settled(claude.stop());
    expect([readFileSync(victim, 'utf8'), statSync(victim).mode & 0o777]).toEqual(['precious', 0o644]);
  });

  it('[Q-6] are named by us: no name, handle or owner leads out of their directory', () => {
    const directory = temporaryDirectory();
    writeFileSync(join(directory, 'secret'), 'precious');
    const results = new ResultFiles(join(directory, 'results'), () => Date.now());
    for (const owner of ['../../x', '/etc/passwd', '\u0000', '.'.repeat(300)]) {
      const handle = results.keep(owner, Buffer.from('kept'));
      expect(results.read(owner, handle, 0, 10)?.part.toString()).toBe('kept');
      expect(results.read(`${owner}.`, handle, 0, 10)).toBeUndefined();
      for (const other of ['../secret', '../../secret', `${handle}/../../secret`, '', '.', `${handle}\u0000`])
        expect(results.read(owner, other, 0, 10)).toBeUndefined();
    }
    expect(readdirSync(directory).sort()).toEqual(['results', 'secret']);
  });

  it.skipIf(process.getuid?.() !== 0)('[Q-6] hold no token that another user has chosen', async () => {
    const { chownSync } = await import('node:fs');
    const file = join(temporaryDirectory(), 'token');
    writeFileSync(file, 'a-token-of-somebody-else\n');
    chownSync(file, 12_345, 12_345);
    expect(() => tokenIn(file)).toThrow('belongs to another user');
  });
});
