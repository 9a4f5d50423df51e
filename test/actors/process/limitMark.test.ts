import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { limitOf, startMarked } from '../../../src/actors/process/limitMark.ts';
import { limitFor, markVariable, namesMark, nextMark } from '../../../src/actors/process/processMark.ts';
import { systemClock } from '../../../src/runtime/systemClock.ts';
import { temporaryDirectory } from '../../support/temporary.ts';
import { allGone, fixture, isAlive, startProcess } from './startProcess.ts';

const env = { PATH: process.env['PATH'] };
const limit = '112345678901000001';
const started = (command: string, args: readonly string[] = [], cwd?: string) => {
  const commands: string[] = [];
  const start = startMarked({ command, args, cwd, env }, limit, (executable) => {
    commands.push(executable.command);
    const options = { cwd: executable.cwd, env: executable.env as NodeJS.ProcessEnv, stdio: 'pipe' } as const;
    return spawn(executable.command, executable.args, options);
  });
  return { start, commands };
};
const child = (start: ReturnType<typeof started>['start']) => {
  if ('error' in start) throw new Error('It was not started', { cause: start });
  return start.child;
};

describe.runIf(process.platform === 'linux')('a mark as a limit', () => {
  it('[I-3] [S-8] is not taken off by an empty environment and a session of its own', async () => {
    const script = `import { readFileSync } from 'node:fs'; console.log(readFileSync('/proc/self/limits', 'latin1'))`;
    const words = ['-i', 'setsid', '--wait', process.execPath, '--input-type=module', '-e', script];
    const env = child(started('env', words).start);
    let text = '';
    env.stdout.on('data', (chunk) => (text += String(chunk)));
    await once(env, 'close');
    expect(text).toMatch(new RegExp(`^Max realtime timeout +${limit} +unlimited`, 'm'));
  });

  it('is the same process as the command, with the arguments as they are', async () => {
    const { start, commands } = started(process.execPath, [fixture('echoArgs'), '--', '-x', '', 'a b']);
    expect(commands).toEqual(['/usr/bin/prlimit']);
    expect(limitOf(start.pid ?? Number.NaN) ?? limit).toMatch(/^(unlimited|112345678901000001)$/);
    let text = '';
    const echo = child(start);
    echo.stdout.on('data', (chunk) => (text += String(chunk)));
    expect(await once(echo, 'close')).toEqual([0, null]);
    expect(text).toContain(JSON.stringify(['--', '-x', '', 'a b']));
  });

  it.each([
    ['is not there', 'no-such-command', 'ENOENT'],
    ['is not executable', './plain', 'EACCES'],
    ['names an interpreter that is not there', './script', 'ENOENT'],
  ])("[S-4] leaves the system's own error to a command that %s", async (_, command, code) => {
    const directory = temporaryDirectory();
    writeFileSync(join(directory, 'plain'), '');
    writeFileSync(join(directory, 'script'), '#!/no/such/interpreter -x\n', { mode: 0o755 });
    const { start, commands } = started(command, [], directory);
    expect(commands).toEqual([command]);
    expect('error' in start && (await start.error)).toMatchObject({ code });
  });

  it('tells runs apart, and is none for a mark of another form', () => {
    const [one = '', two = ''] = [nextMark(systemClock), nextMark(systemClock)].map((mark) => limitFor(mark));
    expect(one).toMatch(/^1\d{17}$/);
    expect(two.slice(0, 12)).toBe(one.slice(0, 12));
    expect(two).not.toBe(one);
    expect(['', 'm', '1.2.abc.3', '1.2.12345678901.x'].map(limitFor)).toEqual([
      undefined,
      undefined,
      undefined,
      undefined,
    ]);
    expect(limitFor('1.2.00000000001.1234567')).toBe('100000000001234567');
  });

  it('[I-3] [S-8] ends a daemon without parent, environment or session in common when its run ends', async () => {
    const { actor, done, firstLine } = startProcess('daemon');
    const { pid, daemon } = JSON.parse(await firstLine) as { pid: number; daemon: number };
    expect(readFileSync(`/proc/${daemon}/environ`, 'latin1')).not.toContain('UNWEDGE_RUN');
    expect(isAlive(daemon)).toBe(true);
    actor.send({ type: 'process.kill', reason: 'cancelled' });
    await done;
    await allGone(pid, daemon);
  });
});

describe('the mark of a run', () => {
  it('[I-3] stands before those of the runs around it, up to eight', () => {
    expect(markVariable('a', undefined)).toBe('a');
    expect(markVariable('a', 'b/c')).toBe('a/b/c');
    expect(markVariable('a', 'b/c/d/e/f/g/h/i')).toBe('a/b/c/d/e/f/g/h');
    expect([namesMark('a/b', 'b'), namesMark('a/b', 'c'), namesMark('ab', 'a'), namesMark(undefined, 'a')]).toEqual([
      true,
      false,
      false,
      false,
    ]);
  });
});
