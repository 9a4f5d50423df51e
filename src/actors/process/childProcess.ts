import { Readable, type Writable } from 'node:stream';
import { execa } from 'execa';
import type { EndSignal, ProcessOrder, SubprocessEvent } from '../../machines/subprocessEvents.ts';
import type { OutputStream, SubprocessRun } from '../../machines/subprocessInput.ts';
import type { RegisteredChild } from '../../policy/childRecord.ts';
import { AttemptError } from '../../policy/failure.ts';
import { childEnvironment } from './childEnvironment.ts';
import { killAtExit } from './liveProcesses.ts';
import { type Executable, startMarked } from './limitMark.ts';
import { killMarked, limitFor, nextMark } from './processMark.ts';
import { createOutputBuffer } from './outputBuffer.ts';
import { isYoungestNow } from './processTable.ts';
import { killOrphansNow, killTreeNow, terminateTree } from './processTree.ts';
import { spawnFailure } from './spawnFailure.ts';
import { spawnObstacle } from './spawnObstacle.ts';

/** A started command; what happens to it is sent as events. */
export interface ChildProcess {
  take(order: ProcessOrder): void;
  /** Lets go of it: what still runs, or was left behind in its group, gets SIGKILL at once; nothing is sent any more. */
  release(): void;
}

/** Starts a command in a process group of its own, without a shell. Never throws; a failed start is a `process.failed`. */
export function startChild(input: SubprocessRun, send: (event: SubprocessEvent) => void): ChildProcess {
  const fail = (error: unknown): ChildProcess => {
    send({ type: 'process.failed', error });
    return { take: noop, release: noop };
  };
  const mark = nextMark(input.clock);
  const env = childEnvironment(input, mark);
  const obstacle = spawnObstacle({ ...input, env });
  if (obstacle !== undefined) return fail(new AttemptError(obstacle));
  const registered = input.register?.({ mark, command: input.command });
  try {
    return watch(spawn(input, env, mark), mark, registered, input, send);
  } catch (error) {
    registered?.ended();
    return fail(new AttemptError(spawnFailure(error, input)));
  }
}

/** What a child that has exited may have left in its pipes, in bytes: read even for a listener that is slow. */
const leftInPipes = 1_048_576;

function spawn(input: SubprocessRun, env: Readonly<Record<string, string>>, mark: string) {
  const { command, args = [], cwd } = input;
  return startMarked({ command, args, cwd, env }, limitFor(mark), (executable) => execute(executable, input));
}

function execute({ command, args, cwd, env }: Executable, { stdin, inherit = [], sharesGroup = false }: SubprocessRun) {
  return execa(command, args, {
    ...(cwd === undefined ? {} : { cwd }),
    env,
    extendEnv: false,
    stdin: stdin !== undefined ? 'pipe' : inherit.includes('stdin') ? 'inherit' : 'ignore',
    stdout: inherit.includes('stdout') ? 'inherit' : 'pipe',
    stderr: 'pipe',
    shell: false,
    detached: !sharesGroup,
    reject: false,
    buffer: false,
    cleanup: false,
    encoding: 'buffer',
    verbose: 'none',
    windowsHide: true,
  });
}

function watch(
  child: ReturnType<typeof execute>,
  mark: string,
  registered: RegisteredChild | undefined,
  input: SubprocessRun,
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
  let leftBytes = 0;
  let listener = input.onOutput;

  const hear = (chunk: Uint8Array, stream: OutputStream): void => {
    if (hasExited) leftBytes += chunk.length;
    try {
      const heard = listener?.(chunk, stream);
      if (heard instanceof Promise && (!hasExited || leftBytes > leftInPipes)) hold(stream, heard);
    } catch (error) {
      listener = undefined;
      send({ type: 'process.listener_failed', error });
    }
  };

  const hold = (stream: OutputStream, heard: Promise<unknown>): void => {
    const goOn = (): void => void child[stream]?.resume();
    child[stream]?.pause();
    heard.then(goOn, goOn);
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
    child[stream]?.on('error', noop);
    child[stream]?.on('data', (chunk: Buffer) => {
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
    registered?.ended();
    return { take: noop, release: noop };
  }
  const forget = killAtExit(pid, mark);
  registered?.started(pid);
  send({ type: 'process.spawned', pid });
  child.once('exit', (exitCode, signal) => {
    hasExited = true;
    for (const stream of [child.stdout, child.stderr]) stream?.resume();
    flush();
    send({ type: 'process.exited', exitCode: exitCode ?? undefined, signal: signal ?? undefined });
  });
  child.once('close', close);
  // A child that ends without reading its stdin breaks the pipe: its exit says all there is to say.
  child.stdin?.on('error', noop);
  feed(child.stdin, input.stdin);
  const terminate = async (graceMs: number, signal: EndSignal | undefined): Promise<void> => {
    await terminateTree(pid, { graceMs, signal, clock, exited });
    await killMarked(mark);
    send({ type: 'process.terminated' });
  };
  return {
    take(order: ProcessOrder): void {
      if (order.type === 'process.close') close();
      else void terminate(order.graceMs, order.signal);
    },
    release(): void {
      if (hasExited) killOrphansNow(pid);
      else killTreeNow(pid);
      if (!hasExited || !isYoungestNow(pid)) void killMarked(mark);
      forget();
      registered?.ended();
      for (const stream of [child.stdin, child.stdout, child.stderr]) stream?.destroy();
      child.unref();
    },
  };
}

function feed(stdin: Writable | null, source: SubprocessRun['stdin']): void {
  if (stdin === null) return;
  // A source that breaks has said all it will.
  if (source instanceof Readable) source.on('error', () => stdin.end()).pipe(stdin);
  else stdin.end(source);
}

function noop(): void {}
