import { spawnSync } from 'node:child_process';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { createActor, toPromise } from 'xstate';
import { processLogic } from '../../../src/actors/process/process.ts';
import type { SubprocessInput } from '../../../src/machines/subprocessInput.ts';
import { AttemptError } from '../../../src/policy/failures/failure.ts';
import { systemClock } from '../../../src/runtime/systemClock.ts';
import { commandLineBytes, commandLineLimit } from '../../../src/actors/process/spawnObstacle.ts';
import { allGone, fixture, goneNow, isAlive, nextTurn, startProcess } from './startProcess.ts';

function startCommand(command: string, args: readonly string[] = [], cwd?: string) {
  const actor = createActor(processLogic, { clock: systemClock, input: { command, args, cwd, clock: systemClock } });
  const done = toPromise(actor);
  actor.start();
  return done;
}

interface Pair {
  readonly pid: number;
  readonly child: number;
}

describe('starting a program', () => {
  it('[S-1] passes metacharacters literally', async () => {
    const args = [
      '$(touch x)',
      '`id`',
      '; rm -rf /',
      '&& echo',
      '| cat',
      '> out',
      '*',
      '"quoted"',
      "it's",
      '\\',
      '\n',
      '',
    ];
    const exit = await startProcess('echoArgs', args).done;
    expect(JSON.parse(exit.stdout.text)).toEqual(args);
  });

  it('[I-3] leaves nothing to be killed at the exit of this process once it has ended, or was given up', async () => {
    const before = process.listenerCount('exit');
    await startProcess('echoArgs').done;
    expect(process.listenerCount('exit')).toBe(before);
    const { actor, firstLine } = startProcess('stubborn');
    await firstLine;
    expect(process.listenerCount('exit')).toBe(before + 1);
    actor.stop();
    expect(process.listenerCount('exit')).toBe(before);
  });

  it('[S-1] closes stdin unless it is given', async () => {
    const exit = await startProcess('echoStdin').done;
    expect(exit).toMatchObject({ reason: 'exit', exitCode: 0, stdout: { text: '\nend of input\n' } });
  });

  it('[S-1] writes the given stdin and closes it', async () => {
    const exit = await startProcess('echoStdin', [], { stdin: 'grüße' }).done;
    expect(exit.stdout.text).toBe('grüße\nend of input\n');
  });

  it('survives a child that ends without reading a large stdin', async () => {
    const exit = await startProcess('fail', ['0'], { stdin: new Uint8Array(8 * 1024 * 1024) }).done;
    expect(exit).toMatchObject({ reason: 'exit', exitCode: 0 });
  });

  it('gives only the named environment in mode only', async () => {
    const exit = await startCommandWithEnv({ envMode: 'only' });
    expect(exit.stdout.text).toMatch(/^A=1\nUNWEDGE_RUN=\S+\n$/);
  });

  it('adds to the environment of the runtime in mode extend', async () => {
    const exit = await startCommandWithEnv({ envMode: 'extend' });
    expect(exit.stdout.text).toContain('A=1\n');
    expect(exit.stdout.text).toContain('PATH=');
  });

  it('[S-1] passes only what is allowed of the environment of the runtime, beside its own', async () => {
    const exit = await startCommandWithEnv({ envAllow: ['PATH', 'NO_SUCH_VARIABLE'] });
    const names = exit.stdout.text
      .trim()
      .split('\n')
      .map((line) => line.split('=')[0]);
    expect(new Set(names)).toEqual(new Set(['A', 'PATH', 'UNWEDGE_RUN']));
  });

  it('takes a variable out that is set to undefined', async () => {
    const exit = await startCommandWithEnv({ env: { PATH: undefined } });
    expect(exit.stdout.text).not.toMatch(/^PATH=/m);
    expect(exit.stdout.text).toMatch(/^HOME=/m);
  });
});

function startCommandWithEnv(options: Partial<SubprocessInput>) {
  const input = { command: '/usr/bin/env', env: { A: '1' }, ...options, clock: systemClock };
  const actor = createActor(processLogic, { clock: systemClock, input });
  const done = toPromise(actor);
  actor.start();
  return done;
}

/** Arguments that take the system's limit and `more` bytes, almost; many, as each also takes a pointer. */
function fillCommandLine(more: number): string[] {
  const word = 'x'.repeat(20);
  const bytes = commandLineLimit() + more - commandLineBytes(['/bin/true']);
  return Array<string>(Math.floor(bytes / commandLineBytes([word]))).fill(word);
}

function startFilled(args: readonly string[]) {
  const input = { command: '/bin/true', args, envMode: 'only' as const, clock: systemClock };
  const actor = createActor(processLogic, { clock: systemClock, input });
  const done = toPromise(actor);
  actor.start();
  return done;
}

describe('starting a program that cannot be started', () => {
  it.each([
    [
      'ENOENT',
      'no-such-command-anywhere',
      [],
      undefined,
      'Cannot start "no-such-command-anywhere": there is no such command on the PATH (ENOENT)',
    ],
    ['EACCES', fixture('silent'), [], undefined, 'the file is not executable, or not ours to run (EACCES)'],
    ['EACCES', '/', [], undefined, 'Cannot start "/": it is a directory (EACCES)'],
    [
      'ENOENT',
      process.execPath,
      [],
      '/no/such/directory',
      'the working directory "/no/such/directory" does not exist (ENOENT)',
    ],
    ['ENOTDIR', process.execPath, [], fixture('silent'), 'is not a directory (ENOTDIR)'],
    ['E2BIG', process.execPath, ['x'.repeat(131_072)], undefined, 'has 131072 bytes; at most 131071 are allowed'],
    ['E2BIG', process.execPath, Array<string>(100).fill('x'.repeat(100_000)), undefined, 'bytes together; at most'],
    ['ERR_INVALID_ARG_VALUE', process.execPath, ['a\0b'], undefined, 'argument 1 cannot hold a null byte'],
  ])('[S-4] ends as spawn-error with %s', async (code, command, args, cwd, message) => {
    const exit = await startCommand(command, args, cwd);
    expect(exit).toMatchObject({ reason: 'spawn-error', pid: undefined });
    expect(exit.message).toContain(message);
    expect((exit.error as AttemptError).facts).toMatchObject({ kind: 'spawn', code, outcome: 'not_started' });
  });

  it('[S-4] takes an argument of 131071 bytes', async () => {
    const exit = await startCommand(process.execPath, ['-e', '', 'x'.repeat(131_071)]);
    expect(exit).toMatchObject({ reason: 'exit', exitCode: 0 });
  });

  it.runIf(process.platform === 'linux')('[S-4] takes what the system takes of arguments and environment', async () => {
    const fits = fillCommandLine(-4096);
    expect(spawnSync('/bin/true', fits, { env: {} }).error).toBeUndefined();
    expect(await startFilled(fits)).toMatchObject({ reason: 'exit', exitCode: 0 });
  });

  it.runIf(process.platform === 'linux')('[S-4] refuses only what the system would refuse', async () => {
    const tooMuch = fillCommandLine(4096);
    expect(spawnSync('/bin/true', tooMuch, { env: {} }).error).toMatchObject({ code: 'E2BIG' });
    const { error, message } = await startFilled(tooMuch);
    expect(message).toContain(`bytes together; at most ${commandLineLimit()} are allowed`);
    expect((error as AttemptError).facts).toMatchObject({ kind: 'spawn', code: 'E2BIG', outcome: 'not_started' });
  });

  it('[S-4] names a variable with a null byte, and not its value', async () => {
    const exit = await startCommandWithEnv({ env: { TOKEN: 'sec\0ret' } });
    expect(exit.message).toBe('Cannot start "/usr/bin/env": the variable "TOKEN" cannot hold a null byte');
  });
});

describe('ending a program', () => {
  it('[S-2] ends a silent one by the no-output limit', async () => {
    const run = startProcess('silent', [], { idleMs: 300 });
    const exit = await run.done;
    expect(exit).toMatchObject({
      reason: 'no-output-timeout',
      signal: 'SIGTERM',
      message: 'CLI produced no output for 300ms and was terminated.',
    });
    expect(isAlive(exit.pid)).toBe(false);
  });

  it('[S-2] ends a long one by the overall limit', async () => {
    const exit = await startProcess('silent', [], { overallMs: 50 }).done;
    expect(exit).toMatchObject({ message: 'CLI exceeded timeout (50ms) and was terminated.' });
  });

  it('[S-3] ends one that ignores SIGTERM, and its child with a session of its own, after the grace', async () => {
    const run = startProcess('stubborn', [], { graceMs: 300 });
    const { pid, child } = JSON.parse(await run.firstLine) as Pair;
    run.actor.send({ type: 'process.kill' });
    const exit = await run.done;
    expect(exit).toMatchObject({ reason: 'cancelled', signal: 'SIGKILL', pid });
    expect(exit.elapsedMs).toBeGreaterThanOrEqual(300);
    expect([pid, child].filter(isAlive)).toEqual([]);
  });

  it('[S-3] does not wait for the grace when all are gone', async () => {
    const run = startProcess('silent', [], { graceMs: 600_000 });
    await run.firstLine;
    run.actor.send({ type: 'shutdown' });
    expect(await run.done).toMatchObject({ reason: 'cancelled', signal: 'SIGTERM' });
  });

  it('[S-2] ends one that closed its output by the no-output limit', async () => {
    const exit = await startProcess('closesStdout', [], { idleMs: 300 }).done;
    expect(exit).toMatchObject({ reason: 'no-output-timeout' });
    expect(isAlive(exit.pid)).toBe(false);
  });

  it('[S-2] waits for the exit of one that closed its output', async () => {
    const exit = await startProcess('closesStdout', ['7'], { stdin: 'go on' }).done;
    expect(exit).toMatchObject({ reason: 'exit', exitCode: 7, stdout: { text: 'ready\n' } });
  });

  it('[S-2] ends a flood at its output limit', async () => {
    const exit = await startProcess('flood', ['50'], { maxOutputBytes: 1024 * 1024 }).done;
    expect(exit).toMatchObject({ reason: 'output-limit' });
  });

  it('[I-3] kills the whole tree at once when its actor is stopped', async () => {
    const run = startProcess('stubborn');
    const { pid, child } = JSON.parse(await run.firstLine) as Pair;
    run.actor.stop();
    expect(goneNow(pid, child)).toBe(true);
  });
});

describe('a program that leaves a child behind', () => {
  it('[S-2] [I-3] ends while the child holds the pipe, is no success then, and takes the child along', async () => {
    const run = startProcess('orphanPipe', [], { drainMs: 50 });
    const { child } = JSON.parse(await run.firstLine) as Pair;
    const stdout = { text: `{"child":${child}}\n` };
    expect(await run.done).toMatchObject({ reason: 'output-cut', exitCode: 0, stdout, outputCut: true });
    expect(goneNow(child)).toBe(true);
  });

  it('[I-3] leaves no handle that keeps the runtime alive', async () => {
    const handles = () => process.getActiveResourcesInfo().filter((name) => /Process|Pipe|Socket/.test(name)).length;
    const before = handles();
    await startProcess('orphanPipe', [], { drainMs: 50 }).done;
    // Fewer, where those of an earlier test were still closing.
    while (handles() > before) await nextTurn();
    expect(handles()).toBeLessThanOrEqual(before);
  });

  it.runIf(process.platform === 'linux')(
    '[S-3] [I-3] takes along a grandchild with a session of its own whose parent is gone',
    async () => {
      const run = startProcess('forker', [], { graceMs: 300 });
      const { pid, child } = JSON.parse(await run.firstLine) as Pair;
      run.actor.send({ type: 'process.kill' });
      expect(await run.done).toMatchObject({ reason: 'cancelled', signal: 'SIGTERM', pid });
      await allGone(child);
    },
  );

  it.runIf(process.platform === 'linux')(
    '[I-3] takes along a grandchild with a session of its own when it exits by itself',
    async () => {
      const run = startProcess('forker', ['exit']);
      const { child } = JSON.parse(await run.firstLine) as Pair;
      expect(await run.done).toMatchObject({ reason: 'exit', exitCode: 0 });
      await allGone(child);
    },
  );

  it.runIf(process.platform === 'linux')(
    '[I-3] takes along a child with a session of its own when it was killed by others',
    async () => {
      const run = startProcess('stubborn');
      const { pid, child } = JSON.parse(await run.firstLine) as Pair;
      process.kill(pid, 'SIGKILL');
      expect(await run.done).toMatchObject({ reason: 'signal', signal: 'SIGKILL' });
      await allGone(child);
    },
  );
});

/** What this process holds, and not what is only waiting to be collected. */
function heldBytes(): number {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  // The second ends what the first has left to another thread.
  collect();
  collect();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}

describe('output', () => {
  it('[S-7] is bounded in memory, counted in full', async () => {
    const megabytes = 200;
    const before = heldBytes();
    let heard = 0;
    let held: number | undefined;
    const onOutput = (chunk: Uint8Array): void => {
      heard += chunk.length;
      if (heard > (megabytes - 1) * 1024 * 1024) held ??= heldBytes();
    };
    const exit = await startProcess('flood', [String(megabytes)], { onOutput }).done;
    expect(exit.stdout.bytes).toBe(megabytes * 1024 * 1024 + 'first\nlast\n'.length);
    expect(exit.stdout.text.length).toBeLessThan(330 * 1024);
    expect(exit.stdout.text).toMatch(/^first\nx+\n\[\.\.\. \d+ bytes left out \.\.\.\]\nx+last\n$/);
    expect((held ?? Number.POSITIVE_INFINITY) - before).toBeLessThan(20 * 1024 * 1024);
  });

  it('[S-7] keeps both streams apart', async () => {
    const exit = await startProcess('fail', ['3', 'what went wrong']).done;
    expect(exit).toMatchObject({ exitCode: 3, stdout: { text: '' }, stderr: { text: 'what went wrong', bytes: 15 } });
  });

  it('[I-4] goes on when its listener throws, which is told once', async () => {
    const told: unknown[] = [];
    const run = startProcess('flood', ['5'], {
      onOutput: () => {
        throw new Error('boom');
      },
    });
    run.actor.on('listener.failed', (event) => told.push(event.error));
    expect(await run.done).toMatchObject({ reason: 'exit', exitCode: 0 });
    expect(told).toEqual(['boom']);
  });

  it('[I-3] leaves no listener on the runtime process', async () => {
    const before = process.listenerCount('exit');
    const run = startProcess('silent');
    await run.firstLine;
    run.actor.send({ type: 'process.kill' });
    await run.done;
    expect(process.listenerCount('exit')).toBe(before);
  });
});
