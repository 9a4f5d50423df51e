import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, vi } from 'vitest';
import { type AgentArgs, agentOptions } from '../../../cli/agent/command.ts';
import { planAgent } from '../../../cli/agent/plan.ts';
import { parseWords } from '../../../cli/parse.ts';
import { codexFixture, says } from '../../agents/codex/startCodex.ts';
import { type FakeAgent, fakeAgent } from '../../support/fakeAgent.ts';
import { isAlive } from '../../support/temporary.ts';
import { call } from '../startCli.ts';

const main = fileURLToPath(new URL('../../../dist/cli/main.js', import.meta.url));

/** The built command line as a process of its own, over a fake `claude`. */
function start(fake: FakeAgent, words: readonly string[], stdin = '') {
  return startWith(
    fake,
    ['agent', '--db', ':memory:', '--backend', 'claude', '--command', fake.command, ...words],
    stdin,
  );
}

function startWith(fake: FakeAgent, words: readonly string[], stdin = '') {
  const env = { PATH: process.env['PATH'], HOME: fake.directory, TMPDIR: fake.directory, ...fake.env };
  const child = spawn(process.execPath, [main, ...words], { env });
  let stdout = '';
  let stderr = '';
  child.stdout.on('data', (chunk) => (stdout += String(chunk)));
  child.stderr.on('data', (chunk) => (stderr += String(chunk)));
  child.stdin.end(stdin);
  const ended = (once(child, 'close') as Promise<[number | null, string | null]>).then(([code, signal]) => ({
    // A signal that comes when all is done ends the process as it ends any other; a shell calls that the same.
    code: signal === 'SIGINT' ? 130 : code,
    stdout,
    stderr,
  }));
  return { child, ended };
}

/** Puts a scripted `codex` on the PATH, which answers every turn unless told otherwise. */
function withCodex(fake: FakeAgent, script: object = answers): FakeAgent {
  const program = join(fake.directory, 'codex');
  writeFileSync(program, `#!/bin/sh\nexec '${process.execPath}' '${codexFixture}'\n`, { mode: 0o755 });
  const PATH = `${fake.directory}:${process.env['PATH'] ?? ''}`;
  return { ...fake, env: { ...fake.env, PATH, FAKE_CODEX: JSON.stringify(script) } };
}

const answers = { 'turn/start': [[['usual'], says.message('done by codex'), says.completed]] };

function parsed(words: readonly string[]): AgentArgs {
  const read = parseWords(agentOptions, words, 'help', ['[PROMPT]']);
  if (read.help) throw new Error('no help was asked for');
  return read.args;
}

const ask = (words: readonly string[], stdin?: string) => start(fakeAgent(), words, stdin).ended;

/** For what happens when it does. */
const patient = { timeout: 20_000 };

const linesOf = (stdout: string) =>
  stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>);

describe('unwedge agent', () => {
  it('[L-1] prints the answer on stdout, and what to resume by on stderr', async () => {
    const { code, stdout, stderr } = await ask(['say hello']);
    expect({ code, stdout }).toEqual({ code: 0, stdout: 'hello\n' });
    expect(stderr).toMatch(/^unwedge: go on with: npx unwedge agent --backend claude --resume s-\d+ PROMPT\n$/);
  });

  it('[U-4] goes on with a conversation', async () => {
    const fake = fakeAgent();
    expect(await start(fake, ['--resume', 's-1', 'say more']).ended).toMatchObject({ code: 0, stdout: 'more\n' });
    expect(fake.starts()[0]?.args.join(' ')).toContain('--resume s-1');
  });

  it('[L-2] [O-8] says how to go on in words that a shell takes as they are, and not with what is not there', async () => {
    const { stderr } = await ask(['--resume', "s'; rm x", 'say hi']);
    expect(stderr).toContain(String.raw`--resume 's'\''; rm x'`);
    expect((await ask(['--resume', 's-1', 'fail 404 not there'])).stderr).not.toContain('go on with');
  });

  it('[L-2] [H-4] shows tools as lines on stderr, declines what is asked, and says how to allow it', async () => {
    const { stdout, stderr } = await ask(['tool rm \u001b[31m-rf']);
    expect(stdout).toBe('not done\n');
    expect(stderr.split('\n').slice(0, 4)).toEqual([
      '[Bash] rm -rf',
      'unwedge: declined: Bash (Bash needs approval)',
      '[Bash] failed',
      'unwedge: what was declined is allowed with --approve all',
    ]);
  });

  it('[O-8] lets no secret of a failure or of a tool through', async () => {
    const key = `sk-ant-${'x1'.repeat(20)}`;
    const secret = 'planted-by-name';
    for (const words of [`fail 401 bad key ${key} ${secret}`, `tool curl -u ${key} ${secret}`]) {
      for (const json of [['--json'], []]) {
        const fake = fakeAgent({ GATEWAY_TOKEN: secret });
        const { stdout, stderr } = await start(fake, [...json, '--approve', 'all', words]).ended;
        expect(stdout + stderr).toContain('[redacted]');
        expect(stdout + stderr).not.toMatch(/x1x1|planted/);
      }
    }
  });

  it('[H-4] allows all when it is told to', async () => {
    expect(await ask(['--approve', 'all', 'tool ls'])).toMatchObject({ code: 0, stdout: 'done\n' });
  });

  it('[L-2] prints each event as a line of JSON, the result last', async () => {
    const { stdout } = await ask(['--json', '--approve', 'all', 'tool ls']);
    const lines = linesOf(stdout);
    expect(lines.map(({ type }) => type)).toEqual([
      'tool.started',
      'approval.requested',
      'approval.resolved',
      'tool.ended',
      'text',
      'result',
    ]);
    expect(lines.at(-1)).toMatchObject({
      ok: true,
      exit_code: 0,
      text: 'done',
      backend: 'claude',
      effects: 'possible',
      usage: { input_tokens: 10, output_tokens: 5 },
    });
  });

  it('[L-2] lets no terminal escape of the answer through', async () => {
    const { stdout } = await ask(['say \u001b]0;title\u0007plain\u001b[2J']);
    expect(stdout).toBe(']0;titleplain[2J\n');
  });

  it('[L-4] exits with 1 for what the agent failed of, and says it in a line', async () => {
    const { code, stdout, stderr } = await ask(['fail 401 Invalid API key']);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toContain(
      'unwedge: auth: Invalid API key; trying again does not help before the credentials are right\n',
    );
  });

  it.each([
    [[], /^3 and more: \d+ characters\n$/],
    [['--stream'], /^a fragment\n3 and more: \d+ characters\n$/],
  ])('[L-4] keeps what a failed attempt said out of stdout, but with --stream: %j', async (options, expected) => {
    const { code, stdout, stderr } = await ask([...options, 'stutter a fragment']);
    expect(code).toBe(0);
    expect(stdout).toMatch(expected);
    expect(stderr).toContain('unwedge: trying again');
  });

  it('[L-4] exits with 75 when it is to be tried later', async () => {
    const { code, stdout } = await ask(['--json', 'fail 400 Credit balance is too low']);
    expect(code).toBe(75);
    expect(linesOf(stdout).at(-1)).toMatchObject({ ok: false, exit_code: 75, kind: 'quota', attempts: 1 });
  });

  it('[L-4] [I-3] exits with 124 when a limit passes, and leaves no process', async () => {
    const fake = fakeAgent();
    expect((await start(fake, ['--timeout', '1500ms', 'hang']).ended).code).toBe(124);
    expect(fake.starts().some(({ pid }) => isAlive(pid))).toBe(false);
  });

  it('[L-4] exits with 124 when the program has not started within the limit', async () => {
    const fake = withCodex(fakeAgent(), { initialize: [[]] });
    const words = ['agent', '--db', ':memory:', '--backend', 'codex', '--timeout', '1500ms', 'hi'];
    const { code, stderr } = await startWith(fake, words).ended;
    expect({ code, stderr }).toEqual({
      code: 124,
      stderr: 'unwedge: timeout: codex had not started within 1.5s; trying again may help\n',
    });
  });

  it('[L-4] exits with 127 when there is no such program, and names it', async () => {
    const { code, stderr } = await ask(['--command', '/nowhere/claude', 'hi']);
    expect(code).toBe(127);
    expect(stderr).toContain('Cannot start "/nowhere/claude"');
  });

  it('[L-4] says what to install where nothing was named and nothing is there', async () => {
    const fake = fakeAgent();
    const { code, stderr } = await startWith({ ...fake, env: { ...fake.env, PATH: fake.directory } }, [
      'agent',
      '--db',
      ':memory:',
      '--backend',
      'claude',
      'hi',
    ]).ended;
    expect(code).toBe(127);
    expect(stderr).toContain('npm install @anthropic-ai/claude-agent-sdk');
  });

  it('[R-11] [L-1] has the other backend go on, and says so', async () => {
    const fake = withCodex(fakeAgent());
    const { code, stdout, stderr } = await start(fake, ['--fallback', 'codex', 'fail 401 Invalid API key']).ended;
    expect({ code, stdout }).toEqual({ code: 0, stdout: 'done by codex\n' });
    expect(stderr).toContain('unwedge: claude failed (auth: Invalid API key); codex goes on\n');
    expect(stderr).toMatch(/^unwedge: go on with: npx unwedge agent --backend codex --resume thread-1 PROMPT$/m);
  });

  it('[R-11] [I-4] tells what both failed of, and exits as the first', async () => {
    const fake = withCodex(fakeAgent(), {
      'turn/start': [[['usual'], says.failed({ message: 'no credit at codex' })]],
    });
    const words = ['--fallback', 'codex', 'fail 401 Invalid API key'];
    const { code, stderr } = await start(fake, words).ended;
    expect(code).toBe(1);
    expect(stderr).toContain(
      'unwedge: claude failed: auth: Invalid API key; trying again does not help before the credentials are right\n',
    );
    expect(stderr).toMatch(/unwedge: codex failed too: quota: no credit at codex; try again later\n/);
  });

  it('[R-11] [L-2] has both failures in the last line of --json', async () => {
    const fake = fakeAgent();
    symlinkSync(process.execPath, join(fake.directory, 'node'));
    const env = { ...fake.env, PATH: fake.directory };
    const { code, stdout } = await start({ ...fake, env }, ['--json', '--fallback', 'codex', 'fail 401 no key']).ended;
    expect(code).toBe(1);
    expect(linesOf(stdout).at(-1)).toMatchObject({
      kind: 'auth',
      exit_code: 1,
      failures: [
        { agent: 'claude', kind: 'auth', message: 'no key' },
        { agent: 'codex', kind: 'spawn', reason: 'codex_not_found' },
      ],
    });
  });

  it('[L-1] counts and records under --name', async () => {
    const fake = fakeAgent();
    const db = join(fake.directory, 'own.sqlite');
    const words = ['agent', '--db', db, '--backend', 'claude', '--command', fake.command, '--name', 'reviewer'];
    const { stderr } = await startWith(fake, [...words, 'fail 401 no key']).ended;
    expect(stderr).toMatch(/go on with: npx unwedge agent --backend claude --name reviewer --resume s-\d+ PROMPT/);
    const { stdout } = await call(['events', '--category', 'integration', '--json', '--db', db]);
    expect(JSON.parse(stdout)).toMatchObject([{ metadata: { integration: 'reviewer', kind: 'auth' } }]);
  });

  it('[L-1] is configured under --name, and its fallback under its own', () => {
    const policies = { integrations: { reviewer: { overallMs: 7 }, claude: { overallMs: 8 }, codex: { idleMs: 9 } } };
    const words = [
      '--backend',
      'claude',
      '--name',
      'reviewer',
      '--fallback',
      'codex',
      '--no-output-timeout',
      '3s',
      'hi',
    ];
    const plan = planAgent(parsed(words), { policies });
    expect(plan).toMatchObject({ name: 'reviewer', overallMs: 7 });
    expect(plan.policies.integrations).toMatchObject({ reviewer: { idleMs: 3000 }, codex: { idleMs: 3000 } });
    expect(planAgent(parsed(['--backend', 'claude', 'hi']), { policies })).toMatchObject({
      name: 'claude',
      overallMs: 8,
    });
  });

  it('[U-4] [L-1] asks codex in the same words', async () => {
    const fake = withCodex(fakeAgent());
    const words = ['agent', '--db', ':memory:', '--backend', 'codex', '--json', 'hi'];
    const { code, stdout } = await startWith(fake, words).ended;
    expect(code).toBe(0);
    expect(linesOf(stdout).at(-1)).toMatchObject({ ok: true, text: 'done by codex', id: 'thread-1', backend: 'codex' });
  });

  it('[R-8] [I-3] interrupts the turn by Ctrl-C, and leaves no process', async () => {
    const fake = fakeAgent();
    const { child, ended } = start(fake, ['hang']);
    await vi.waitUntil(() => fake.prompts().length === 1, patient);
    child.kill('SIGINT');
    expect((await ended).code).toBe(130);
    expect(fake.starts().some(({ pid }) => isAlive(pid))).toBe(false);
  });

  it('[L-2] [L-4] says the exit code that it has in its last line, also when a signal ended it', async () => {
    const fake = fakeAgent();
    const { child, ended } = start(fake, ['--json', 'hang']);
    await vi.waitUntil(() => fake.prompts().length === 1, patient);
    child.kill('SIGTERM');
    const { code, stdout } = await ended;
    expect(code).toBe(143);
    expect(linesOf(stdout).at(-1)).toMatchObject({ exit_code: 143, kind: 'cancelled' });
  });

  it('[I-1] [I-3] ends the agent by Ctrl-C though nobody reads its answer', async () => {
    const fake = fakeAgent();
    const { child, ended } = start(fake, ['--stream', 'flood']);
    child.stdout.pause();
    await vi.waitUntil(() => child.stdout.readableLength > 0, patient);
    child.kill('SIGINT');
    await vi.waitUntil(() => fake.starts().every(({ pid }) => !isAlive(pid)), patient);
    child.stdout.resume();
    expect((await ended).code).toBe(130);
  });

  it('[I-3] ends at once by a second Ctrl-C, and leaves no process', async () => {
    const fake = fakeAgent({ FAKE_AGENT_STUBBORN: '1' });
    const { child, ended } = start(fake, ['hang']);
    await vi.waitUntil(() => fake.prompts().length === 1, patient);
    child.kill('SIGINT');
    await vi.waitUntil(() => fake.interrupted(), patient);
    child.kill('SIGINT');
    expect((await ended).code).toBe(130);
    await vi.waitUntil(() => fake.starts().every(({ pid }) => !isAlive(pid)), patient);
  });

  it('[L-1] reads the prompt from stdin or from a file', async () => {
    expect(await ask(['-'], 'say from stdin')).toMatchObject({ code: 0, stdout: 'from stdin\n' });
    const fake = fakeAgent();
    const file = join(fake.directory, 'prompt');
    writeFileSync(file, 'say from a file');
    expect(await start(fake, ['--prompt-file', file]).ended).toMatchObject({ code: 0, stdout: 'from a file\n' });
  });

  it('[S-5] takes a prompt of 1 MB', async () => {
    expect(await ask(['-'], `a ${'x'.repeat(1_048_574)}`)).toMatchObject({
      stdout: '1 and more: 1048576 characters\n',
    });
  });

  it.each([
    [['hi'], 'Missing --backend; see `unwedge agent --help`'],
    [['--backend', 'cluade', 'hi'], 'Unknown backend "cluade"; did you mean claude?'],
    [['--backend', 'claude'], 'Missing PROMPT; see `unwedge agent --help`'],
    [['--backend', 'claude', ' '], 'The prompt is empty'],
    [['--backend', 'claude', '--timeout', '0s', 'hi'], 'Expected `--timeout` to be above 0'],
    [['--backend', 'claude', '--no-output-timeout', '0ms', 'hi'], 'Expected `--no-output-timeout` to be above 0'],
    [['--backend', 'claude', '--approve', 'some', 'hi'], 'Expected `--approve` to be all or none, got "some"'],
    [['--backend', 'claude', '--cwd', '/nowhere', 'hi'], 'Expected `--cwd` to be a directory, got "/nowhere"'],
    [
      ['--backend', 'claude', '--cwd', `/${'x'.repeat(300)}`, 'hi'],
      `Expected \`--cwd\` to be a directory, got "/${'x'.repeat(98)}…"`,
    ],
    [
      ['--backend', 'claude', '--resume=--foo', 'hi'],
      'Expected `--resume` to be the id of a conversation, got "--foo"',
    ],
    [['--backend', 'claude', '--prompt-file', 'x', 'hi'], 'Expected PROMPT or `--prompt-file`, not both'],
    [
      ['--backend', 'claude', '--name', 'codex', 'hi'],
      'Expected `--name` to be no name of another backend, got "codex"',
    ],
    [['--backend', 'claude', '--fallback', 'claude', 'hi'], 'Expected `--fallback` to be another backend than claude'],
  ])('[L-1] %j is wrong usage', async (words, message) => {
    expect(await call(['agent', ...words])).toMatchObject({ code: 2, stdout: '', stderr: `unwedge: ${message}\n` });
  });
});
