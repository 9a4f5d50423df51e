import { execa } from 'execa';
import { describe, expect, it } from 'vitest';
import { badKey, fakeClaude, type FakeRun, overloaded } from '../../support/fakeClaude.ts';
import { fixture, main, startPlace } from '../startRun.ts';

const stream = ['-p', '--output-format', 'stream-json', '--verbose', 'do it'];
const acted = { ...overloaded, tools: ['Bash'] };

/** Runs a fake of Claude three times at most. */
async function runClaude(script: readonly FakeRun[], words: readonly string[], options: readonly string[] = []) {
  const fake = fakeClaude(...script);
  const program = ['env', `FAKE_CLAUDE=${fake.directory}`, process.execPath, fixture('claude.mjs')];
  const own = ['--agent', 'claude', '--policy', 'toolCall', '--attempts', '3', ...options];
  const { code, stdout, stderr } = await startPlace().run([...own, '--', ...program, ...words]);
  return { code, stdout: stdout.toString(), lines: stderr.trim().split('\n'), runs: fake.runs() };
}

describe('unwedge run with more than one attempt of an agent', () => {
  it('[L-4] [R-12] goes on where it acted, also after an attempt that failed before it did', async () => {
    const { code, runs } = await runClaude([acted, overloaded, { text: 'done' }], stream);
    expect(code).toBe(0);
    expect(runs.map(({ args }) => args.includes('--resume'))).toEqual([false, true, true]);
  });

  it('[L-4] tries once what does not tell of its effects, and says in a line why and how', async () => {
    const { code, stdout, lines, runs } = await runClaude([overloaded, { text: 'done' }], ['-p', 'do it']);
    expect({ code, stdout, runs: runs.length }).toEqual({ code: 75, stdout: `${overloaded.error}\n`, runs: 1 });
    expect(lines).toEqual([
      `unwedge: overloaded: ${overloaded.error}; try again later`,
      'unwedge: not tried again: this output of Claude does not tell what it has done; ' +
        '--output-format stream-json --verbose does; --retry always begins anew',
    ]);
  });

  it('[L-4] begins anew with --retry always', async () => {
    const { code, stdout, runs } = await runClaude(
      [overloaded, { text: 'done' }],
      ['-p', 'do it'],
      ['--retry', 'always'],
    );
    expect({ code, stdout, runs: runs.length }).toEqual({ code: 0, stdout: 'done\n', runs: 2 });
  });

  it('[L-4] [R-12] does not repeat what cannot be gone on with, unless it is told to', async () => {
    const words = [...stream, '--no-session-persistence'];
    const { code, lines, runs } = await runClaude([acted, { text: 'done' }], words);
    expect({ code, runs: runs.length }).toEqual({ code: 75, runs: 1 });
    expect(lines.at(-1)).toMatch(/not tried again: Claude may have changed something.*--retry always/);
    expect(await runClaude([acted, { text: 'done' }], words, ['--retry', 'always'])).toMatchObject({ code: 0 });
  });

  it('[L-4] says nothing of attempts where none would be made', async () => {
    const { lines } = await runClaude([badKey], ['-p', 'do it']);
    expect(lines).toEqual([
      `unwedge: auth: ${badKey.error}; trying again does not help before the credentials are right`,
    ]);
  });

  it('[L-4] [O-1] keeps secrets out of all it says itself, and passes what the command wrote as it is', async () => {
    const secret = 'sk-ant-test-SECRET123';
    const leak = { status: 401, error: `API Error: 401 bad key ${secret}` };
    const said = await runClaude([leak], stream);
    expect(said.lines).toEqual([
      'unwedge: auth: API Error: 401 bad key [redacted]; trying again does not help before the credentials are right',
    ]);
    expect(said.stdout).toContain(secret);

    const asData = await runClaude([leak], [...stream, '--api-key', secret], ['--json', '--name', `with-${secret}`]);
    const { stdout, ...ours } = JSON.parse(asData.stdout) as Record<string, unknown>;
    expect(ours).toMatchObject({ message: 'API Error: 401 bad key [redacted]' });
    expect(JSON.stringify(ours)).not.toContain(secret);
    expect(stdout).toMatchObject({ text: expect.stringContaining(secret) as string });
  });

  it('[L-4] [R-12] tells where it hung that it may have changed something, and its session, in words and as data', async () => {
    const hung: FakeRun = { tools: ['Bash'], hang: true };
    const options = ['--no-output-timeout', '1s'];
    const { code, lines, runs } = await runClaude([hung], stream, options);
    expect({ code, runs: runs.length }).toEqual({ code: 124, runs: 3 });
    expect(lines.slice(-2)).toEqual([
      expect.stringMatching(/^unwedge: timeout: CLI produced no output for 1s and was terminated$/),
      'unwedge: it may have changed something, and another run begins anew; go on with: claude --resume s-1, and have it check what its last call did',
    ]);
    const effectsOf = async (run: FakeRun): Promise<unknown> =>
      JSON.parse((await runClaude([run], stream, [...options, '--json', '--attempts', '1'])).stdout);
    expect(await effectsOf(hung)).toMatchObject({ effects: 'possible', session_id: 's-1' });
    expect(await effectsOf({ hang: true })).toMatchObject({ effects: 'none', session_id: 's-1' });
    expect(await effectsOf({ text: 'done', tools: ['Bash'] })).toMatchObject({ ok: true, effects: 'possible' });
  });

  it('[L-4] [R-12] [G-13] is not retryable where it may have acted: in the report, on record, and in its last words', async () => {
    const fake = fakeClaude(acted);
    const program = ['env', `FAKE_CLAUDE=${fake.directory}`, process.execPath, fixture('claude.mjs'), ...stream];
    const place = startPlace();
    const run = (...options: readonly string[]) =>
      place.run(['--agent', 'claude', '--policy', 'toolCall', '--name', 'job', '--json', ...options, '--', ...program]);
    const { code, stdout, stderr } = await run('--attempts', '2');
    expect(code).toBe(75);
    expect(JSON.parse(stdout.toString())).toMatchObject({ kind: 'overloaded', effects: 'possible', retryable: false });
    expect(stderr).not.toContain('try again');
    const { stdout: events } = await execa(process.execPath, [main, 'events', '--failed', '--db', place.db]);
    expect(events).toMatch(/it may have taken effect; not to be tried again as it is/);
    const { stdout: always } = await run('--attempts', '2', '--retry', 'always');
    expect(JSON.parse(always.toString())).toMatchObject({ effects: 'possible', retryable: true });
  });

  it('[L-1] names what --retry takes', async () => {
    const { code, lines } = await runClaude([badKey], ['-p'], ['--retry', 'alway']);
    expect({ code, lines }).toEqual({
      code: 125,
      lines: ['unwedge: Unknown value of --retry "alway"; did you mean always?'],
    });
  });
});

const fails = (text: string): string[] => ['--', 'sh', '-c', `echo ${text} >&2; exit 1`];

describe('unwedge run that failed', () => {
  it.each([
    ['HTTP 503', 'transient: HTTP 503; trying again may help'],
    ['HTTP 529', 'overloaded: HTTP 529; try again later'],
    ['HTTP 429', 'rate_limit: HTTP 429; try again later'],
    ['Invalid API key', 'auth: Invalid API key; trying again does not help before the credentials are right'],
    ['HTTP 404', 'permanent: HTTP 404; trying again does not help'],
  ])('[L-4] [I-4] with %j says in one line what it was, and whether to try again', async (text, line) => {
    const { stderr } = await startPlace().run(fails(`"${text}"`));
    expect(stderr).toBe(`${text}\nunwedge: ${line}\n`);
  });

  it('[L-4] for no known reason says nothing of its own', async () => {
    expect((await startPlace().run(fails('oops'))).stderr).toBe('oops\n');
  });

  it('[S-9] takes what stdout says where stderr is empty', async () => {
    const { stderr } = await startPlace().run(['--', 'sh', '-c', 'echo HTTP 503; exit 1']);
    expect(stderr).toBe('unwedge: transient: HTTP 503; trying again may help\n');
  });
});
