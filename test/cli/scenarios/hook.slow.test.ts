import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync, chmodSync } from 'node:fs';
import { once } from 'node:events';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { UsageError } from '../../../cli/errors.ts';
import { readHookArgs } from '../../../cli/hook/hookArgs.ts';
import { allGone, fixture } from '../../actors/process/startProcess.ts';
import { moment } from '../../support/moment.ts';
import { runBuilt } from '../startCli.ts';
import { program, request, startHook } from '../startHook.ts';

const pidsIn = async (file: string): Promise<number[]> => {
  while (!existsSync(file)) await moment();
  return JSON.parse(readFileSync(file, 'utf8')) as number[];
};

describe('unwedge hook', () => {
  it.each([0, 1, 2, 3, 127, 255])('[H-3] passes the exit code %i of the hook on', async (code) => {
    const { run } = startHook();
    expect(await run(['--', ...program('exit', String(code))])).toMatchObject({ code, stderr: 'it went wrong' });
  });

  it('[H-3] passes stdin, stdout and stderr on byte for byte, megabytes of them', async () => {
    const { run, spawn } = startHook();
    const bytes = Buffer.from(Array.from({ length: 3 * 1024 * 1024 }, (_, index) => (index * 7 + (index >> 8)) % 256));
    const child = spawn(['--', 'cat']);
    child.stdin.end(bytes);
    const { stdout } = await child;
    expect(Buffer.compare(Buffer.from(stdout), bytes)).toBe(0);
    expect(await run(['--', 'sh', '-c', 'cat >&2; exit 2'], 'reason\n\n')).toMatchObject({
      code: 2,
      stderr: 'reason\n\n',
      stdout: '',
    });
  });

  it('[H-3] passes a JSON decision on as it is, and a block keeps the circuit closed', async () => {
    const { run, directory } = startHook();
    const deny = '{"hookSpecificOutput":{"permissionDecision":"deny"}}';
    expect(await run(['--', ...program('print', deny)], request('PreToolUse'))).toMatchObject({
      code: 0,
      stdout: deny,
      stderr: '',
    });
    for (let count = 0; count < 6; count++) {
      expect(await run(['--', ...program('block', 'no')])).toMatchObject({ code: 2, stderr: 'no' });
    }
    expect(readdirSync(directory)).toEqual([]);
  });

  it('[H-3] takes an option that stands before its name, and never declines for it', async () => {
    const { directory } = startHook();
    const db = join(directory, 'other.sqlite');
    const env = { PATH: process.env['PATH'] ?? '' };
    const crash = ['--name', 'lint', '--', 'sh', '-c', 'kill -SEGV $$'];
    expect(await runBuilt(['--db', db, 'hook', ...crash], env)).toMatchObject({ code: 0, stdout: '' });
    expect(existsSync(`${db}-hook-lint`)).toBe(true);
    // The database gets a part of the host's time, in which a busy machine may not open it: the next answer is counted then.
    const answers = ['hook', '--name', 'lint', '--host-timeout', '1m', '--', 'false'];
    do expect(await runBuilt([`--db=${db}`, ...answers], env)).toMatchObject({ code: 1 });
    while (existsSync(`${db}-hook-lint`));
    expect(await runBuilt(['--nonsense', 'hook', ...crash], env)).toMatchObject({ code: 1 });
  });

  it('[H-3] gives arguments to the hook literally, without a shell', async () => {
    const { run } = startHook();
    const { stdout } = await run([
      '--',
      process.execPath,
      '-e',
      'console.log(JSON.stringify(process.argv.slice(1)))',
      '$HOME',
      '; ls',
      '--',
      '*',
    ]);
    expect(JSON.parse(stdout)).toEqual(['$HOME', '; ls', '--', '*']);
  });

  it('[H-3] [O-1] keeps secrets out of what it says of a hook that crashed', async () => {
    const { run } = startHook();
    const { code, stderr } = await run(['--', 'sh', '-c', 'echo "bad key sk-ant-test-SECRET123" >&2; kill -9 $$']);
    expect(code).toBe(0);
    expect(stderr).toMatch(/It crashed by SIGKILL: bad key \[redacted\]; going on without it\n$/);
    expect(stderr).not.toContain('SECRET');
  });

  it('[H-3] runs a hook that does not read its stdin', async () => {
    const { run } = startHook();
    expect(await run(['--', 'true'], 'x'.repeat(1024 * 1024))).toMatchObject({ code: 0, stderr: '' });
  });

  it('[H-3] takes all that the host writes, though the hook has closed its stdin and goes on', async () => {
    const { spawn } = startHook();
    const child = spawn(['--timeout', '1h', '--', 'sh', '-c', 'exec sleep 1000 <&-']);
    child.stdin.end('x'.repeat(4 * 1024 * 1024));
    await once(child.stdin, 'finish');
    child.kill('SIGTERM');
    expect((await child).exitCode).toBe(143);
  });

  it('[H-3] [I-3] does not wait for a grandchild that holds the pipes, and ends it', async () => {
    const { run, noneLeft } = startHook();
    const { code, stdout } = await run(['--timeout', '1h', '--', process.execPath, fixture('orphanPipe')]);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toEqual({ child: expect.any(Number) as string });
    await noneLeft();
  });

  it.each([
    ['allow', 0, 'going on without it'],
    ['block', 2, 'this is declined'],
  ])(
    '[H-3] is a failed hook, with %s, that leaves a process behind which holds its output',
    async (onFailure, code, words) => {
      const { run, noneLeft } = startHook();
      const ended = await run(['--on-failure', onFailure, '--timeout', '1h', '--', 'sh', '-c', 'sleep 1000 & exit 0']);
      expect(ended).toMatchObject({ code, stdout: '' });
      expect(ended.stderr).toContain('the end of its answer was not read');
      expect(ended.stderr).toContain(words);
      const kept = await run(['--keep-background', '--on-failure', onFailure, '--', 'sh', '-c', 'sleep 3 & exit 0']);
      expect(kept.code).toBe(0);
      await noneLeft();
    },
  );

  it('[H-3] ends within its limit though what it leaves behind goes on writing', async () => {
    const { run, noneLeft } = startHook();
    const writer = 'setInterval(() => process.stdout.write("x"), 2); process.send("begun")';
    const leaves = `const options = { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] };
      const writer = require('node:child_process').spawn(process.execPath, ['-e', ${JSON.stringify(writer)}], options);
      writer.on('message', () => process.exit(0));`;
    const ended = await run(['--on-failure', 'block', '--timeout', '3s', '--', process.execPath, '-e', leaves]);
    expect(ended).toMatchObject({ code: 2, stdout: '' });
    expect(ended.stderr).toContain('the end of its answer was not read');
    await noneLeft();
  });

  it.runIf(process.platform === 'linux').each([
    ['a session of its own', ['setsid']],
    ['a session of its own and an empty environment', ['env', '-i', 'setsid']],
  ])('[H-3] [I-3] ends what it left in %s, unless told to keep it', async (_, words) => {
    const { run, directory } = startHook();
    const leave = (file: string): string =>
      `${words.join(' ')} sh -c 'echo $$ > ${file}.new; mv ${file}.new ${file}; exec sleep 1000' >/dev/null 2>&1 & while [ ! -e ${file} ]; do :; done`;
    const [ended = '', kept = ''] = ['ended', 'kept'].map((name) => join(directory, name));
    expect(await run(['--', 'sh', '-c', leave(ended)])).toMatchObject({ code: 0, stderr: '' });
    await allGone(Number(readFileSync(ended, 'utf8')));
    await run(['--keep-background', '--', 'sh', '-c', leave(kept)]);
    const pid = Number(readFileSync(kept, 'utf8'));
    expect(() => process.kill(pid, 'SIGKILL')).not.toThrow();
  });

  it('[H-3] leaves the background alone when told to', async () => {
    const { run } = startHook();
    const { stdout } = await run(['--keep-background', '--', 'sh', '-c', 'sleep 1000 >/dev/null 2>&1 & echo $!']);
    const pid = Number(stdout);
    expect(() => process.kill(pid, 'SIGKILL')).not.toThrow();
    await allGone(pid);
  });

  it('[H-3] passes on at once what a hook says that goes on in the background', async () => {
    const { spawn } = startHook();
    const child = spawn([
      '--',
      process.execPath,
      '-e',
      'console.log(JSON.stringify({ async: true })); setInterval(() => {}, 1e6)',
    ]);
    child.stdin.end(request('PostToolUse'));
    const first = await new Promise((resolve) => child.stdout.once('data', (chunk) => resolve(String(chunk))));
    expect(first).toBe('{"async":true}\n');
    child.kill('SIGTERM');
    expect((await child).exitCode).toBe(143);
  });
});

describe('a hook that fails', () => {
  it.each([
    ['crashes by a signal', program('crash'), /It crashed by SIGKILL: about to crash; going on without it\n$/],
    [
      'is missing',
      ['no-such-hook'],
      /Cannot start "no-such-hook": there is no such command on the PATH \(ENOENT\); going on/,
    ],
    ['is a directory', ['/'], /EACCES/],
  ])('[H-3] because it %s exits 0 with one line on stderr and nothing on stdout', async (_what, command, line) => {
    const { run, events } = startHook();
    const { code, stdout, stderr } = await run(['--timeout', '1m', '--', ...command], request('PreToolUse'));
    expect({ code, stdout, lines: stderr.split('\n').length }).toEqual({ code: 0, stdout: '', lines: 2 });
    expect(stderr).toMatch(line);
    expect(await events()).toMatchObject([
      {
        event: 'hook/error',
        event_type: 'PreToolUse',
        event_action: 'Bash',
        session_key: 's1',
        error: expect.any(String) as string,
      },
    ]);
  });

  it('[H-3] because it is not executable exits 0, and 2 with --on-failure block', async () => {
    const { run, directory } = startHook();
    const file = join(directory, 'guard.sh');
    writeFileSync(file, '#!/bin/sh\n');
    chmodSync(file, 0o644);
    expect(await run(['--', file])).toMatchObject({
      code: 0,
      stderr: expect.stringContaining('not executable') as string,
    });
    const guard = await run(['--on-failure', 'block', '--', file], request('PreToolUse'));
    expect(guard).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('it is a guard, so this is declined\n') as string,
    });
  });

  it.skipIf(process.platform !== 'linux')('[H-3] [I-3] because it hangs takes along what left its tree', async () => {
    const { run, noneLeft } = startHook();
    const { code } = await run(['--timeout', '1s', '--', 'sh', '-c', '(setsid sleep 1000 &); sleep 1000']);
    expect(code).toBe(0);
    await noneLeft();
  });

  it('[H-3] because it hangs blocks with --on-failure block, but not where the agent could then never end', async () => {
    const { run } = startHook();
    const words = ['--on-failure', 'block', '--timeout', '300ms', '--', 'sleep', '1000'];
    expect(await run(words, request('PreToolUse'))).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('declined') as string,
    });
    expect(await run(words, request('Stop'))).toMatchObject({
      code: 0,
      stderr: expect.stringContaining('going on') as string,
    });
    for (const command of [['no-such-hook'], ['sh', '-c', 'kill -9 $$']]) {
      expect(await run(['--on-failure=block', '--', ...command], request('Stop'))).toMatchObject({ code: 0 });
    }
  });

  it.each([
    ['exits with 1', program('exit', '1'), 'It exited with 1: it went wrong'],
    ['exits with 127', ['sh', '-c', 'nosuch-guard'], /It exited with 127: .*nosuch-guard.*not found/],
    ['exits with 139', program('exit', '139'), 'It exited with 139: it went wrong'],
    ['exits with 255 and says nothing', ['sh', '-c', 'exit 255'], 'It exited with 255; it is'],
    ['throws', [process.execPath, '-e', 'throw new Error("no rules")'], 'It exited with 1: Error: no rules; it is'],
    ['has JSON and exits with 1', ['sh', '-c', 'echo "{}"; exit 1'], 'It exited with 1; it is'],
  ])('[H-3] because it %s blocks with --on-failure block', async (_, command, reason) => {
    const { run, events } = startHook();
    const words = ['--on-failure', 'block', '--timeout', '1m', '--', ...command];
    const guard = await run(words, request('PreToolUse'));
    expect(guard).toMatchObject({ code: 2, stdout: '' });
    expect(guard.stderr).toMatch(reason);
    expect(guard.stderr).toMatch(/^unwedge: hook \S+: [^\n]+; it is a guard, so this is declined\n$/);
    expect(await events()).toMatchObject([{ event: 'hook/error' }]);
    // The agent could never end: its host is told what the guard said.
    const stop = await run(words, request('Stop'));
    expect(stop.code).toBe(Number(/exited with (\d+)/.exec(guard.stderr)?.[1]));
  });

  it('[H-3] by an exit code lives, and is asked the next time too', async () => {
    const { run } = startHook();
    const words = ['--on-failure', 'block', '--name', 'guard', '--', ...program('exit', '1')];
    for (let count = 0; count < 6; count++)
      expect(await run(words, request('PreToolUse'))).toMatchObject({
        code: 2,
        stderr: expect.stringContaining('It exited with 1: it went wrong') as string,
      });
  });

  it.each([
    ['starts like JSON and is none', '{"decision": "block"', /Its output starts like JSON and is none; it is a guard/],
    ['has a decision nobody knows', '{"decision":"deny"}', /decision is not one of approve, block; it is a guard/],
  ])(
    '[H-3] because its JSON %s blocks with --on-failure block, and passes as it is without',
    async (_, json, reason) => {
      const { run, events } = startHook();
      const guard = await run(['--on-failure', 'block', '--', ...program('print', json)], request('PreToolUse'));
      expect(guard).toEqual({
        code: 2,
        signal: undefined,
        stdout: '',
        stderr: expect.stringMatching(reason) as string,
      });
      expect(await events()).toMatchObject([{ event: 'hook/error' }]);
      const observer = await run(['--', ...program('print', json)], request('PreToolUse'));
      expect(observer).toMatchObject({ code: 0, stdout: json, stderr: '' });
      // What is no JSON at all, or an answer as documented, is none of this.
      for (const text of ['all is well', '', '{"decision":"approve"}']) {
        const answer = await run(['--on-failure', 'block', '--', ...program('print', text)], request('PreToolUse'));
        expect(answer).toMatchObject({ code: 0, stdout: text });
      }
    },
  );

  it('[H-3] because its host waits less than it takes declines before the host gives up on it', async () => {
    const { run, directory } = startHook(null);
    mkdirSync(join(directory, '.claude'));
    const hooks = [{ type: 'command', command: 'unwedge hook --on-failure block -- "$DIR"/guard.mjs', timeout: 1 }];
    writeFileSync(join(directory, '.claude', 'settings.json'), JSON.stringify({ hooks: { PreToolUse: [{ hooks }] } }));
    const guard = join(directory, 'guard.mjs');
    writeFileSync(guard, '#!/usr/bin/env node\nsetInterval(() => undefined, 1e6);\n', { mode: 0o755 });
    const said = await run(['--timeout', '1h', '--on-failure', 'block', '--', guard], request('PreToolUse'));
    expect(said).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/did not end within 700ms|host's limit of 1s/) as string,
    });
    const told = await run(
      ['--host-timeout', '500ms', '--on-failure', 'block', '--', ...program('hang')],
      request('PreToolUse'),
    );
    expect(told).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/did not end within 250ms|host's limit of 0.5s/) as string,
    });
  });

  it('[H-3] because it floods is ended', async () => {
    const { run } = startHook();
    const { code, stdout, stderr } = await run(['--', ...program('flood')]);
    expect({ code, stdout }).toEqual({ code: 0, stdout: '' });
    expect(stderr).toContain('It wrote more than 8 MiB and was ended');
  });

  it('[H-3] because its stdin never ends is ended all the same', async () => {
    const { spawn } = startHook();
    const child = spawn(['--timeout', '300ms', '--', 'cat']);
    child.stdin.write('{"hook_event_name":');
    const { exitCode, stderr } = await child;
    expect(exitCode).toBe(0);
    expect(Buffer.from(stderr).toString()).toContain('It did not end within 300ms');
  });

  it('[H-3] [O-2] is not kept from ending by a database that cannot be used', async () => {
    const { run, directory } = startHook();
    const taken = join(directory, 'taken');
    mkdirSync(taken);
    const { code, stderr } = await run(['--db', taken, '--', 'no-such-hook']);
    expect(code).toBe(0);
    expect(stderr).toMatch(/^unwedge: hook no-such-hook: .*\(not recorded: .*\); going on without it\n$/);
  });

  it.skipIf(process.platform !== 'linux')('[H-3] ends where the directory of the database cannot be made', async () => {
    const { code, stderr } = await startHook().run(['--db', '/proc/none/hook.sqlite', '--', 'no-such-hook']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: expect.stringContaining('not recorded') as string });
  });
});

describe('unwedge hook itself', () => {
  it.each(['SIGTERM', 'SIGINT', 'SIGHUP'] as const)(
    '[H-3] [I-3] ends the hook and what is below it on %s',
    async (signal) => {
      const { spawn, directory } = startHook(null);
      const pids = join(directory, 'pids');
      const child = spawn(['--timeout', '60s', '--', ...program('hang', pids)]);
      const children = await pidsIn(pids);
      child.kill(signal);
      const { exitCode } = await child;
      expect(exitCode).toBe({ SIGTERM: 143, SIGINT: 130, SIGHUP: 129 }[signal]);
      await allGone(...children);
    },
  );

  it('[H-3] ends with the code of the hook though nobody reads its output', async () => {
    const { spawn } = startHook(null);
    const child = spawn(['--', 'sh', '-c', 'cat; exit 3']);
    child.stdout.destroy();
    child.stderr.destroy();
    child.stdin.end('x'.repeat(1024 * 1024));
    expect((await child).exitCode).toBe(3);
  });

  it.each([
    [['--timeot', '5s', '--', 'x'], 'Unknown option "--timeot"; did you mean --timeout?'],
    [
      ['--timeout', 'soon', '--', 'x'],
      'Expected `--timeout` to be a duration such as 500ms, 30s, 5m or 1h, got "soon"',
    ],
    [['--timeout', '0s', '--', 'x'], 'Expected `--timeout` to be above 0'],
    [['--host-timeout', '0s', '--', 'x'], 'Expected `--host-timeout` to be above 0'],
    [['--timeout', '5s', 'guard.sh'], 'Unexpected argument "guard.sh"; the command comes after --'],
    [['--timeout', '5s'], 'No command given'],
    [['guard.sh'], 'No command given; write it after --, as in `unwedge hook -- COMMAND`'],
    [['--'], 'No command given'],
    [[], 'No command given'],
  ])('[L-1] answers the misuse %j with one line', (words, message) => {
    expect(() => readHookArgs(words)).toThrow(
      expect.objectContaining({ message: expect.stringMatching(/^[^\n]+$/) as string }),
    );
    expect(() => readHookArgs(words)).toThrow(UsageError);
    expect(() => readHookArgs(words)).toThrow(message);
  });

  it('[L-1] says the misuse on stderr, and exits with 1', async () => {
    const { code, stderr } = await startHook(null).run(['--hlep']);
    expect({ code, stderr }).toEqual({ code: 1, stderr: 'unwedge: Unknown option "--hlep"; did you mean --help?\n' });
  });

  it('[L-1] answers misuse with exit 2 when failures are to block', async () => {
    const { run } = startHook(null);
    expect(await run(['--on-failure', 'block', '--timeout', '--', 'x'])).toMatchObject({ code: 2 });
    expect(await run(['--on-failure=block'])).toMatchObject({ code: 2 });
    // A typo must not open a guard.
    expect(await run(['--on-failure', 'blok', '--', 'x'])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('Unknown value of --on-failure "blok"; did you mean block?') as string,
    });
    expect(await run(['--', 'true', '--on-failure', 'block'])).toMatchObject({ code: 0 });
  });

  it('[L-1] explains itself', async () => {
    const { run } = startHook(null);
    const { code, stdout } = await run(['--help']);
    expect(code).toBe(0);
    expect(stdout).toContain('Usage: unwedge hook [--timeout DURATION]');
    expect(stdout).toContain('--keep-background');
  });
});
