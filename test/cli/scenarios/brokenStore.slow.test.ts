import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { fakeAgent } from '../../support/fakeAgent.ts';
import { hasSqlite, openDatabase } from '../../store/startStore.ts';
import { temporaryDirectory } from '../../support/temporary.ts';
import { makeHome, startMcp } from '../startMcp.ts';

const main = fileURLToPath(new URL('../../../dist/cli/main.js', import.meta.url));

const broken: readonly (readonly [what: string, make: (directory: string) => string])[] = [
  [
    'is a directory',
    (directory) => {
      mkdirSync(join(directory, 'db'));
      return join(directory, 'db');
    },
  ],
  [
    'is no database',
    (directory) => {
      writeFileSync(
        join(directory, 'db'),
        'not a database, and long enough not to be taken for an empty one'.repeat(20),
      );
      return join(directory, 'db');
    },
  ],
  ['lies behind a file', () => '/dev/null/db'],
  // Nobody makes a directory there, not even root.
  ...(process.platform === 'linux' ? [['has no directory', () => '/proc/nope/db'] as const] : []),
];

async function endOf(child: ChildProcess) {
  onTestFinished(() => void child.kill('SIGKILL'));
  let stderr = '';
  child.stderr?.on('data', (chunk) => (stderr += String(chunk)));
  child.stdin?.end();
  child.stdout?.resume();
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, lines: stderr.trimEnd().split('\n') };
}

const run = (words: readonly string[], env: NodeJS.ProcessEnv) =>
  endOf(spawn(process.execPath, [main, ...words], { env: { PATH: process.env['PATH'], ...env } }));

describe.skipIf(!hasSqlite).each(broken)('a store that %s', (_, make) => {
  it('[I-6] is one line on stderr of `unwedge run`, whose exit code is that of the command', async () => {
    const db = make(temporaryDirectory());
    const { code, lines } = await run(['run', '--db', db, '--', 'sh', '-c', 'exit 3'], {});
    expect({ code, lines }).toEqual({ code: 3, lines: [expect.stringMatching(/^unwedge: .*degraded/) as string] });
  });

  it('[I-6] is part of the one line on stderr of `unwedge hook` where there is something to record, and of none where not', async () => {
    const db = make(temporaryDirectory());
    const crash = ['sh', '-c', 'kill -KILL $$'];
    const failed = await run(['hook', '--db', db, '--', ...crash], {});
    expect(failed).toEqual({ code: 0, lines: [expect.stringContaining('not recorded: ') as string] });
    expect(await run(['hook', '--', 'true'], { UNWEDGE_DB: db })).toEqual({ code: 0, lines: [''] });
  });
});

// The store that these open is that of `unwedge run`, however it is broken.
describe.skipIf(!hasSqlite)('a store that is no database', () => {
  const noDatabase = (): string => {
    const db = join(temporaryDirectory(), 'db');
    writeFileSync(db, 'not a database, and long enough not to be taken for an empty one'.repeat(20));
    return db;
  };

  it('[I-6] is one line on stderr of `unwedge run` over a command that goes well', async () => {
    expect(await run(['run', '--', 'true'], { UNWEDGE_DB: noDatabase() })).toEqual({
      code: 0,
      lines: [expect.stringMatching(/^unwedge: .*degraded/) as string],
    });
  });

  it('[I-6] keeps no guard from declining: `unwedge hook --on-failure block`', async () => {
    const words = ['hook', '--on-failure', 'block', '--', 'sh', '-c', 'kill -KILL $$'];
    expect(await run(words, { UNWEDGE_DB: noDatabase() })).toMatchObject({ code: 2 });
  });

  it('[I-6] is one line on stderr of `unwedge mcp`, which serves its client', async () => {
    const { child, open, ask, stderr } = startMcp(makeHome(), ['--db', noDatabase()]);
    await open();
    expect((await ask('tools/list')).result).toBeDefined();
    await expect.poll(stderr).toContain('degraded');
    child.stdin.end();
    await once(child, 'exit');
    expect(stderr().match(/^unwedge: .*store.*$/gm)).toHaveLength(1);
  });

  it('[I-6] is one line on stderr of `unwedge agent`, which answers', async () => {
    const fake = fakeAgent();
    const words = ['agent', '--db', noDatabase(), '--backend', 'claude', '--command', fake.command, 'hi'];
    const { code, lines } = await run(words, { HOME: fake.directory, TMPDIR: fake.directory, ...fake.env });
    expect(code).toBe(0);
    expect(lines.filter((line) => line.includes('store'))).toEqual([
      expect.stringMatching(/^unwedge: .*degraded/) as string,
    ]);
  });
});

it('[I-6] the usual store that is no database is no line over a run that goes well, and one over a run that fails', async () => {
  const state = temporaryDirectory();
  mkdirSync(join(state, 'unwedge'));
  writeFileSync(join(state, 'unwedge', 'unwedge.sqlite'), 'not a database, and long enough for one'.repeat(20));
  const shell = ['run', '--', 'sh', '-c'];
  expect(await run([...shell, 'true'], { XDG_STATE_HOME: state })).toEqual({ code: 0, lines: [''] });
  const { lines } = await run([...shell, 'exit 3'], { XDG_STATE_HOME: state });
  expect(lines).toEqual([expect.stringMatching(/^unwedge: .*degraded/) as string]);
});

it.skipIf(!hasSqlite)('[O-10] the usual store is made by the first run, which is counted in it', async () => {
  const state = join(temporaryDirectory(), 'not', 'there', 'yet');
  expect(await run(['run', '--', 'true'], { XDG_STATE_HOME: state })).toMatchObject({ code: 0 });
  const db = join(state, 'unwedge', 'unwedge.sqlite');
  expect(openDatabase(db).prepare('SELECT count(*) AS count FROM unwedge_statistics WHERE minute >= 0').get()).toEqual({
    count: 1,
  });
});
