import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openDatabase } from '../../store/startStore.ts';
import { runBuilt, runHere } from '../startCli.ts';
import { fixture, startPlace } from '../startRun.ts';

const shell = (text: string): string[] => ['--', 'sh', '-c', text];
const node = process.execPath;
const oneLine = /^unwedge: [^\n]+\n$/;

describe('unwedge run', () => {
  it('[L-4] passes output byte for byte, and the exit code', async () => {
    const { code, stdout, stderr } = await startPlace().run(
      shell(`printf '\\377\\000\\n\\r\\303'; printf 'e\\001' >&2; exit 42`),
    );
    expect({ code, stderr }).toEqual({ code: 42, stderr: 'e\u0001' });
    expect([...stdout]).toEqual([0xff, 0, 0x0a, 0x0d, 0xc3]);
  });

  it('[L-4] says once that it raises no alerts where its configuration has some', async () => {
    const place = startPlace();
    const config = join(place.directory, 'unwedge.json');
    const saidFor = async (options: object): Promise<string> => {
      writeFileSync(config, JSON.stringify(options));
      return (await place.run(['--config', config, '--', 'true'])).stderr;
    };
    const line = 'unwedge: the configuration has `alerts`, but `unwedge run` raises none\n';
    expect(await saidFor({ alerts: { failures: 3 } })).toBe(line);
    expect(await saidFor({ policies: {} })).toBe('');
  });

  it('[S-1] hands arguments on as they are, also those that look like its own', async () => {
    const words = ['--json', '--', '$HOME', '', '*', '--timeout'];
    const { stdout } = await startPlace().run(['--', node, fixture('echoArgs.mjs'), ...words]);
    expect(JSON.parse(stdout.toString())).toEqual(words);
  });

  it.each([
    ['that is not there', 127, ['nosuch-command']],
    ['that is a directory', 126, ['/tmp']],
    ['that is not executable', 126, [fixture('echoArgs.mjs')]],
  ])('[L-4] says in one line why it cannot run a command %s', async (_, expected, command) => {
    const { code, stdout, stderr } = await startPlace().run(['--', ...command]);
    expect(code).toBe(expected);
    expect(stdout).toHaveLength(0);
    expect(stderr).toMatch(oneLine);
    expect(stderr).toContain(JSON.stringify(command[0]));
  });

  it.each([
    ['--timeout', 'node exceeded timeout (200ms) and was terminated'],
    ['--no-output-timeout', 'node produced no output for 200ms and was terminated'],
    ['--attempt-timeout', 'node exceeded timeout (200ms) and was terminated'],
  ])('[L-4] [S-2] exits with 124 when %s passes', async (option, message) => {
    const { code, stderr } = await startPlace().run([option, '200ms', '--', node, fixture('silent.mjs')]);
    expect(code).toBe(124);
    expect(stderr).toMatch(oneLine);
    expect(stderr).toContain(message);
  });

  it('[L-4] exits with 128+n when a signal ended the command', async () => {
    const { code, stderr } = await startPlace().run(shell('kill -KILL $$'));
    expect(code).toBe(137);
    expect(stderr).toMatch(oneLine);
  });

  it.each([124, 126, 127, 129, 137])('[L-4] has nothing to say of a command that exits with %i', async (code) => {
    const { run, breaker } = startPlace();
    const words = ['--attempts', '3', '--retry', 'always', '--name', 'own', '--', node, '-e', `process.exit(${code})`];
    expect(await run(words)).toMatchObject({ code, stderr: '' });
    expect(breaker('own')?.failures ?? 0).toBe(0);
  });

  it('[L-4] hints at the signal that a shell may have told by its exit code', async () => {
    const { run } = startPlace();
    expect(await run(shell('echo killed >&2; exit 137'))).toMatchObject({
      code: 137,
      stderr: 'killed\nunwedge: exit code 137, as a shell tells SIGKILL\n',
    });
  });

  it.each([
    ['no command', [], 'No command given'],
    ['nothing after --', ['--'], 'No command given'],
    ['an empty command', ['--', ''], 'Expected a command'],
    ['a command without --', ['make', 'all'], 'Unexpected argument "make"; the command comes after --'],
    ['an unknown option', ['--atempts', '3', '--', 'true'], 'did you mean --attempts?'],
    ['no attempts', ['--attempts', '0', '--', 'true'], 'integer from 1 to 100'],
    ['a bad duration', ['--timeout', 'soon', '--', 'true'], 'a duration such as 500ms'],
    ['no time at all', ['--timeout', '0s', '--', 'true'], 'to be above 0'],
    ['an unknown preset', ['--policy', 'claudCli', '--', 'true'], 'did you mean claudeCli?'],
    ['an unknown agent', ['--agent', 'cluade', '--', 'true'], 'did you mean claude?'],
    ['a prompt that is not there', ['--prompt-file', '/nonexistent/p', '--', 'true'], 'Cannot read the prompt'],
  ])('[L-1] [L-4] exits with 125 and one line on stderr for %s', async (_, words, message) => {
    const { code, stdout, stderr } = await runHere(['run', ...words]);
    expect({ code, stdout }).toEqual({ code: 125, stdout: '' });
    expect(stderr).toMatch(oneLine);
    expect(stderr).toContain(message);
  });

  it('[L-1] [L-4] exits so, and says so on stderr, as a process of its own: for an empty prompt on stdin', async () => {
    const { code, stdout, stderr } = await startPlace().run(['--prompt-file', '-', '--', 'true']);
    expect({ code, stdout: stdout.toString() }).toEqual({ code: 125, stdout: '' });
    expect(stderr).toMatch(oneLine);
    expect(stderr).toContain('The prompt is empty');
  });

  it('[L-1] explains itself, though the command has a --help of its own', async () => {
    const place = startPlace();
    expect((await place.run(['--help', '--', 'true'])).stdout.toString()).toContain('Usage: unwedge run ');
    expect((await place.run(['--', 'node', '--help'])).stdout.toString()).toContain('Usage: node ');
  });

  it('[L-4] gives a single attempt its own stdin', async () => {
    const { stdout } = await startPlace().run(['--', 'cat'], 'typed');
    expect(stdout.toString()).toBe('typed');
  });

  it('[L-4] closes the stdin of a command that may be tried again', async () => {
    const { code, stdout } = await startPlace().run(['--attempts', '2', '--', 'cat'], 'typed');
    expect({ code, stdout: stdout.toString() }).toEqual({ code: 0, stdout: '' });
  });

  it('[L-2] tells all in one object with --json', async () => {
    const { code, stdout, stderr } = await startPlace().run(['--json', ...shell('echo out; echo err >&2; exit 4')]);
    expect({ code, stderr }).toEqual({ code: 4, stderr: 'err\n' });
    expect(JSON.parse(stdout.toString())).toMatchObject({
      ok: false,
      exit_code: 4,
      command_exit_code: 4,
      attempts: 1,
      kind: 'unknown',
      stdout: { text: 'out\n', bytes: 4 },
      stderr: { text: 'err\n' },
    });
  });

  it('[L-4] [O-3] has an exit code on record as an answer: named, and counted by no alert', async () => {
    const { db, run } = startPlace();
    await run(['--name', 'search', ...shell('exit 3')]);
    const events = JSON.parse((await runHere(['events', '--json', '--db', db])).stdout) as object[];
    expect(events.at(-1)).toMatchObject({
      type: 'failure',
      metadata: { integration: 'search', kind: 'unknown', alerts: false, error: 'The command exited with 3.' },
    });
    const { integrations } = JSON.parse((await runHere(['status', '--json', '--db', db])).stdout) as {
      integrations: readonly object[];
    };
    expect(integrations).toMatchObject([{ integration: 'search', failures10m: 0, failures24h: 0 }]);
  });

  it('[O-10] leaves nothing beside its database, and none at all in memory', async () => {
    const { left, run } = startPlace();
    expect((await run(['--db', ':memory:', '--', 'true'])).code).toBe(0);
    expect(left()).toEqual([]);
    expect((await run(['--', 'true'])).code).toBe(0);
    expect(left()).toEqual(['runs.sqlite']);
  });

  it.each([
    ['deletes old records of the usual file', 'usual', {}, 1],
    ['lets be those of a file that was named: a gateway may keep them for longer', 'named', {}, 2],
    ['deletes them there, too, where a retention is configured', 'named', { UNWEDGE_RETENTION_MAX_AGE: '60d' }, 1],
  ])('[O-7] %s', async (_, file, more, left) => {
    const { directory, db: named } = startPlace();
    const db = file === 'named' ? named : join(directory, 'unwedge', 'unwedge.sqlite');
    const config = join(directory, 'config.json');
    writeFileSync(config, '{}');
    const env = {
      XDG_STATE_HOME: directory,
      ...(file === 'named' && { UNWEDGE_DB: db, UNWEDGE_CONFIG: config }),
      ...more,
    };
    const fail = () => runBuilt(['run', '--', 'sh', '-c', 'exit 3'], env);
    expect((await fail()).code).toBe(3);
    openDatabase(db).exec("UPDATE events SET timestamp = 1 WHERE event_type = 'failure'");
    expect((await fail()).code).toBe(3);
    const count = openDatabase(db).prepare("SELECT count(*) AS n FROM events WHERE event_type = 'failure'").get();
    expect(count).toEqual({ n: left });
  });
});
