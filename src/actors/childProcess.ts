import { execa } from 'execa';
import type { ProcessOrder, SubprocessEvent } from '../machines/subprocessEvents.ts';
import type { OutputStream, SubprocessInput } from '../machines/subprocessInput.ts';
import { AttemptError } from '../policy/failure.ts';
import { killAtExit } from './liveProcesses.ts';
import { killMarked, markName, nextMark } from './processMark.ts';
import { createOutputBuffer } from './outputBuffer.ts';
import { killOrphansNow, killTreeNow, terminateTree } from './processTree.ts';
import { spawnFailure, spawnObstacle } from './spawnFailure.ts';

/** A started command; what happens to it is sent as events. */
export interface ChildProcess {
  take(order: ProcessOrder): void;
  /** Lets go of it: what still runs, or was left behind in its group, gets SIGKILL at once; nothing is sent any more. */
  release(): void;
}

/** Starts a command in a process group of its own, without a shell. Never throws; a failed start is a `process.failed`. */
export function startChild(input: SubprocessInput, send: (event: SubprocessEvent) => void): ChildProcess {
  const fail = (error: unknown): ChildProcess => {
    send({ type: 'process.failed', error });
    return { take: noop, release: noop };
  };
  const obstacle = spawnObstacle(input);
  if (obstacle !== undefined) return fail(new AttemptError(obstacle));
  try {
    const mark = nextMark(input.clock);
    return watch(spawn(input, mark), mark, input, send);
  } catch (error) {
    return fail(new AttemptError(spawnFailure(error, input)));
  }
}

function spawn({ command, args = [], cwd, env, envMode, stdin }: SubprocessInput, mark: string) {
  return execa(command, args, {
    ...(cwd === undefined ? {} : { cwd }),
    env: { ...env, [markName]: mark },
    extendEnv: envMode !== 'only',
    stdin: stdin === undefined ? 'ignore' : 'pipe',
    stdout: 'pipe',
    stderr: 'pipe',
    shell: false,
    detached: true,
    reject: false,
    buffer: false,
    cleanup: false,
    encoding: 'buffer',
    verbose: 'none',
    windowsHide: true,
  });
}

function watch(
  child: ReturnType<typeof spawn>,
  mark: string,
  input: SubprocessInput,
  send: (event: SubprocessEvent) => void,
): ChildProcess {
  const { pid } = child;
  const { clock } = input;
  const output = { stdout: createOutputBuffer(), stderr: createOutputBuffer() };
  const unsent = { stdout: 0, stderr: 0 };
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  let hasExited = false;
  let flushing = false;
  let closed = false;
  let listener = input.onOutput;

  const hear = (chunk: Uint8Array, stream: OutputStream): void => {
    try {
      listener?.(chunk, stream);
    } catch (error) {
      listener = undefined;
      send({ type: 'process.listener_failed', error });
    }
  };

  // A flood comes in thousands of chunks a second; one event a turn is enough to judge silence and volume by.
  const flush = (): void => {
    flushing = false;
    for (const stream of ['stdout', 'stderr'] as const) {
      const bytes = unsent[stream];
      unsent[stream] = 0;
      const totalBytes = output.stdout.bytes + output.stderr.bytes;
      if (bytes > 0) send({ type: 'process.output', stream, bytes, totalBytes });
    }
  };

  const close = (): void => {
    if (closed) return;
    closed = true;
    for (const stream of [child.stdin, child.stdout, child.stderr]) stream?.destroy();
    send({ type: 'process.closed', stdout: output.stdout.capture(), stderr: output.stderr.capture() });
  };

  for (const stream of ['stdout', 'stderr'] as const) {
    child[stream].on('error', noop);
    child[stream].on('data', (chunk: Buffer) => {
      output[stream].push(chunk);
      unsent[stream] += chunk.length;
      if (!flushing) clock.nextTurn(flush);
      flushing = true;
      hear(chunk, stream);
    });
  }
  child.on('error', noop);

  if (pid === undefined) {
    // execa reports a failed start, thrown or emitted, through its result alone.
    const report = (result: unknown): void =>
      send({ type: 'process.failed', error: new AttemptError(spawnFailure(result, input)) });
    void child.then(report, report);
    return { take: noop, release: noop };
  }
  send({ type: 'process.spawned', pid });
  const forget = killAtExit(pid);
  child.once('exit', (exitCode, signal) => {
    hasExited = true;
    flush();
    send({ type: 'process.exited', exitCode: exitCode ?? undefined, signal: signal ?? undefined });
  });
  child.once('close', close);
  // A child that ends without reading its stdin breaks the pipe: its exit says all there is to say.
  child.stdin?.on('error', noop);
  child.stdin?.end(input.stdin);
  const terminate = async (graceMs: number): Promise<void> => {
    await terminateTree(pid, { graceMs, clock, exited });
    await killMarked(mark);
    send({ type: 'process.terminated' });
  };
  return {
    take(order: ProcessOrder): void {
      if (order.type === 'process.close') close();
      else void terminate(order.graceMs);
    },
    release(): void {
      if (hasExited) killOrphansNow(pid);
      else killTreeNow(pid);
      void killMarked(mark);
      forget();
      for (const stream of [child.stdin, child.stdout, child.stderr]) stream?.destroy();
      child.unref();
    },
  };
}

function noop(): void {}
