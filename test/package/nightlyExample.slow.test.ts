import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
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
    expect(files()).toEqual([expect.stringMatching(/^report-\d{4}-\d\d-\d\d\.jsonl$/)]);
    const report = read(files()[0] ?? '')
      .trimEnd()
      .split('\n');
    expect(JSON.parse(report.at(-1) ?? '')).toMatchObject({ is_error: false, result: 'All is well.' });
    expect(fake.runs().map(({ stdin }) => stdin)).toEqual([prompt, prompt]);
    expect(read('nightly.log')).toContain('attempt 1 failed (transient: API Error: 503 Service Unavailable)');

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

  it('[L-4] leaves a run alone that is still under way: 75, and nothing to mail', async () => {
    const { home, fake, nightly } = makeReports({ text: 'All is well.' });
    expect(await nightly(`flock ${home}/nightly.lock `)).toMatchObject({ exitCode: 75, stdout: '', stderr: '' });
    expect(fake.runs()).toEqual([]);
    expect(await nightly()).toMatchObject({ exitCode: 0 });
  });

  it('[L-4] has its lock free, and its agent ended, when unwedge is killed', async () => {
    const { fake, nightly, files } = makeReports({ hang: true }, { text: 'All is well.' });
    const killed = nightly();
    await expect.poll(() => fake.runs().length).toBe(1);
    const pid = fake.runs()[0]?.pid ?? 0;
    const { stdout: unwedge } = await execa('ps', ['-o', 'ppid=', '-p', String(pid)]);
    process.kill(Number(unwedge), 'SIGKILL');
    const { exitCode, stdout } = await killed;
    expect(exitCode).toBe(137);
    expect(stdout).toMatch(/^nightly-report: exit 137/);
    await expect.poll(() => existsSync(`/proc/${pid}`)).toBe(false);
    expect(await nightly()).toMatchObject({ exitCode: 0, stdout: '' });
    expect(files()).toEqual([expect.stringMatching(/\.jsonl$/)]);
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
