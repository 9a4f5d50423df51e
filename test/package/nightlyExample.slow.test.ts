import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { execa } from 'execa';
import { describe, expect, it } from 'vitest';
import { fakeClaude, type FakeRun, rateLimited } from '../support/fakeClaude.ts';
import { temporaryDirectory } from '../support/temporary.ts';

const example = fileURLToPath(new URL('../../examples/nightly.sh', import.meta.url));
const main = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));
const prompt = 'Summarise the log of today.';

const unavailable: FakeRun = { status: 503, error: 'API Error: 503 Service Unavailable' };
const noKey: FakeRun = { status: 401, error: 'API Error: 401 Invalid API key' };

/** A directory as cron would find it: the script, the prompt and an installed unwedge; on the PATH a `claude`, and an `npx` that nobody is to call. */
function makeReports(...script: readonly FakeRun[]) {
  const home = temporaryDirectory();
  const fake = fakeClaude(...script);
  const [bin, installed] = [join(home, 'bin'), join(home, 'node_modules/.bin')];
  for (const directory of [bin, installed]) mkdirSync(directory, { recursive: true });
  const program = (name: string, text: string): void => {
    writeFileSync(join(bin, name), `#!/bin/sh\n${text}\n`);
    chmodSync(join(bin, name), 0o755);
  };
  copyFileSync(example, join(home, 'nightly.sh'));
  writeFileSync(join(home, 'prompt.txt'), prompt);
  symlinkSync(main, join(installed, 'unwedge'));
  symlinkSync(process.execPath, join(bin, 'node'));
  program('claude', `exec "${fake.command}" ${fake.args.map((word) => `"${word}"`).join(' ')} "$@"`);
  program('npx', 'touch npx-was-called; exit 1');
  const env = { ...fake.env, PATH: `${bin}:/usr/bin:/bin`, HOME: home };
  const nightly = async (before = '') =>
    // As cron does it: from the home directory, by `sh -c`.
    execa('/bin/sh', ['-c', `${before}${home}/nightly.sh`], { cwd: '/', env, extendEnv: false, reject: false });
  const files = (): readonly string[] => readdirSync(home).filter((name) => /^report-|^npx-was/.test(name));
  const read = (name: string): string => readFileSync(join(home, name), 'utf8');
  return { home, env, fake, nightly, files, read };
}

describe('examples/nightly.sh', () => {
  it('[U-6] is a script that the shell understands', async () => {
    expect(await execa('bash', ['-n', example])).toMatchObject({ stdout: '', stderr: '' });
  });

  it('[L-4] tries again, keeps the answer of the attempt that succeeded, and asks once a day', async () => {
    const { fake, nightly, files, read } = makeReports(unavailable, { text: 'All is well.' });
    expect(await nightly()).toMatchObject({ exitCode: 0, stdout: '', stderr: '' });
    expect(files()).toEqual([expect.stringMatching(/^report-\d{4}-\d\d-\d\d\.json$/)]);
    expect(JSON.parse(read(files()[0] ?? ''))).toMatchObject({ ok: true, agent: { text: 'All is well.' } });
    expect(fake.runs().map(({ stdin }) => stdin)).toEqual([prompt, prompt]);
    expect(read('nightly.log')).toMatch(
      /^\d{4}-\d\d-\d\d [\d:]{8} begun\n\d{4}-\d\d-\d\d [\d:]{8} exit 0 unwedge: attempt 1 failed \(transient: API Error: 503 Service Unavailable\)[^\n]*\n$/,
    );

    expect(await nightly()).toMatchObject({ exitCode: 0, stdout: '' });
    expect(fake.runs()).toHaveLength(2);
  });

  it('[L-4] prints what cron is to mail where trying again does not help, and leaves no report', async () => {
    const { fake, nightly, files } = makeReports(noKey);
    const { exitCode, stdout } = await nightly();
    expect(exitCode).toBe(1);
    expect(stdout).toMatch(/^nightly-report: exit 1\nunwedge: auth: API Error: 401 Invalid API key; /);
    expect(files()).toEqual([expect.stringMatching(/\.part$/)]);
    expect(fake.runs()).toHaveLength(1);
  });

  it('[L-4] mails the words of this run alone, has a dated line for each, and begins anew where nothing was changed', async () => {
    const { nightly, read, fake } = makeReports(noKey, { ...noKey, error: 'API Error: 401 Expired' });
    await nightly();
    const { stdout } = await nightly();
    expect(stdout).toContain('401 Expired');
    expect(stdout).not.toContain('Invalid API key');
    expect(read('nightly.log').match(/^\d{4}-\d\d-\d\d [\d:]{8} exit 1 unwedge: auth: .*$/gm)).toHaveLength(2);
    expect(fake.runs()).toHaveLength(2);
  });

  it('[L-4] [R-12] does not begin the work anew after a run that may have changed something, and says by what it goes on', async () => {
    const acted = { status: 529, error: 'API Error: 529 Overloaded', tools: ['Bash'] };
    const { home, nightly, files, fake } = makeReports(acted, acted, acted, { text: 'All is well.' });
    const { exitCode, stdout } = await nightly();
    expect(exitCode).toBe(75);
    expect(stdout).toMatch(
      /go on with: claude --resume s-1, and have it check what its last call did\nIt is not begun anew today unless you delete \/.*\.begun$/,
    );
    const { length } = fake.runs();
    expect(await nightly()).toMatchObject({ exitCode: 0, stdout: '' });
    expect(fake.runs()).toHaveLength(length);
    rmSync(join(home, files().find((name) => name.endsWith('.begun')) ?? ''));
    await nightly();
    expect(fake.runs().length).toBeGreaterThan(length);
  });

  it.each([
    ['prompt.txt', 125, 'Cannot read the prompt'],
    ['node_modules/.bin/unwedge', 127, 'not found'],
    ['bin/claude', 127, 'claude'],
  ])(
    '[L-4] begins the work of the day once %s is there, without which nothing began: exit %i',
    async (file, code, why) => {
      const { home, nightly, files, read } = makeReports({ text: 'All is well.' });
      renameSync(join(home, file), join(home, 'away'));
      const missing = await nightly();
      expect(missing).toMatchObject({ exitCode: code, stdout: expect.stringContaining(why) as string });
      expect(missing.stdout).not.toContain('begun anew');
      expect(read('nightly.log')).toMatch(new RegExp(` begun\\n.* exit ${code} .*${why}`));
      renameSync(join(home, 'away'), join(home, file));
      expect(await nightly()).toMatchObject({ exitCode: 0, stdout: '' });
      expect(files()).toEqual([expect.stringMatching(/\.json$/)]);
    },
  );

  it.each([
    [[], false],
    [['Bash'], true],
  ])(
    '[L-4] [R-12] ends by Ctrl-C with a line in its log, and is begun anew where nothing was changed: %j',
    async (tools, stays) => {
      const { fake, home, env, files, read } = makeReports({ hang: true, tools });
      // A group of its own, as that of a terminal is: Ctrl-C reaches all of it.
      const child = spawn('/bin/sh', [join(home, 'nightly.sh')], {
        env,
        detached: true,
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      const said = Promise.all([text(child.stdout), once(child, 'close').then(([code]) => code as number)]);
      await expect.poll(() => existsSync(join(fake.directory, 'hangs'))).toBe(true);
      process.kill(-(child.pid ?? 0), 'SIGINT');
      const [stdout, code] = await said;
      expect(code).toBe(130);
      expect(stdout).toContain('nightly-report: exit 130\nunwedge: ended by SIGINT');
      expect(read('nightly.log')).toMatch(/ exit 130 unwedge: ended by SIGINT/);
      expect(files().some((name) => name.endsWith('.begun'))).toBe(stays);
    },
  );

  it('[L-4] leaves a run alone that is still under way: 75, and nothing to mail', async () => {
    const { home, fake, nightly } = makeReports({ text: 'All is well.' });
    expect(await nightly(`flock ${home}/nightly.lock `)).toMatchObject({ exitCode: 75, stdout: '', stderr: '' });
    expect(fake.runs()).toEqual([]);
    expect(await nightly()).toMatchObject({ exitCode: 0 });
  });

  it('[L-4] has its lock free, its agent ended and its work not begun anew, when unwedge is killed', async () => {
    const { home, fake, nightly, files } = makeReports({ hang: true }, { text: 'All is well.' });
    const killed = nightly();
    await expect.poll(() => fake.runs().length).toBe(1);
    const pid = fake.runs()[0]?.pid ?? 0;
    const { stdout: unwedge } = await execa('ps', ['-o', 'ppid=', '-p', String(pid)]);
    process.kill(Number(unwedge), 'SIGKILL');
    const { exitCode, stdout } = await killed;
    expect(exitCode).toBe(137);
    expect(stdout).toMatch(/^nightly-report: exit 137/);
    await expect.poll(() => existsSync(`/proc/${pid}`)).toBe(false);
    // What it had done by then is not known.
    expect(await nightly()).toMatchObject({ exitCode: 0, stdout: '' });
    expect(fake.runs()).toHaveLength(1);
    rmSync(join(home, files().find((name) => name.endsWith('.begun')) ?? ''));
    expect(await nightly()).toMatchObject({ exitCode: 0, stdout: '' });
    expect(files()).toEqual([expect.stringMatching(/\.json$/)]);
  });
});

it.each([
  ['stream-json --verbose', 2, 0],
  ['json', 1, 75],
])('[R-12] [U-6] a 429 of Claude is repeated as README says: %s', async (format, runs, exitCode) => {
  const { fake, home, env } = makeReports(rateLimited, { text: 'All is well.' });
  const words = ['run', '--attempts', '2', '--prompt-file', 'prompt.txt', '--', 'claude', '-p', '--output-format'];
  const ended = await execa(main, [...words, ...format.split(' ')], {
    cwd: home,
    env,
    extendEnv: false,
    reject: false,
  });
  expect(ended.exitCode).toBe(exitCode);
  expect(fake.runs()).toHaveLength(runs);
});
