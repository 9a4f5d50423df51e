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
    return new WatchedChild(spawn(input, env, mark), mark, registered, input, send);
  } catch (error) {
    registered?.ended();
    return fail(new AttemptError(spawnFailure(error, input)));
  }
}

/** What a child that has exited may have left in its pipes, in bytes: read even for a listener that is slow. */
const leftInPipes = 1_048_576;

const outputs = ['stdout', 'stderr'] as const;

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

/** A child that was spawned: what comes from it is told, what it is told to do is done. */
class WatchedChild implements ChildProcess {
  readonly #child: ReturnType<typeof execute>;
  readonly #mark: string;
  readonly #registered: RegisteredChild | undefined;
  readonly #input: SubprocessRun;
  readonly #send: (event: SubprocessEvent) => void;
  readonly #output = { stdout: createOutputBuffer(), stderr: createOutputBuffer() };
  readonly #unsent = { stdout: 0, stderr: 0 };
  readonly #exited: Promise<void>;
  #listener: SubprocessRun['onOutput'];
  #hasExited = false;
  #flushing = false;
  #closed = false;
  #leftBytes = 0;
  /** Undefined when it could not be started. */
  #running: { readonly pid: number; readonly forget: () => void } | undefined = undefined;

  constructor(
    child: ReturnType<typeof execute>,
    mark: string,
    registered: RegisteredChild | undefined,
    input: SubprocessRun,
    send: (event: SubprocessEvent) => void,
  ) {
    this.#child = child;
    this.#mark = mark;
    this.#registered = registered;
    this.#input = input;
    this.#send = send;
    this.#listener = input.onOutput;
    this.#exited = new Promise((resolve) => child.once('exit', () => resolve()));
    for (const stream of outputs) this.#read(stream);
    child.on('error', noop);
    const { pid } = child;
    if (pid === undefined) this.#failedToStart();
    else this.#started(pid);
  }

  take(order: ProcessOrder): void {
    if (this.#running === undefined) return;
    if (order.type === 'process.close') this.#close();
    else void this.#terminate(this.#running.pid, order.graceMs, order.signal);
  }

  release(): void {
    if (this.#running === undefined) return;
    const { pid, forget } = this.#running;
    if (this.#hasExited) killOrphansNow(pid);
    else killTreeNow(pid);
    if (!this.#hasExited || !isYoungestNow(pid)) void killMarked(this.#mark);
    forget();
    this.#registered?.ended();
    this.#destroyPipes();
    this.#child.unref();
  }

  #failedToStart(): void {
    // execa reports a failed start, thrown or emitted, through its result alone.
    const report = (result: unknown): void =>
      this.#send({ type: 'process.failed', error: new AttemptError(spawnFailure(result, this.#input)) });
    void this.#child.then(report, report);
    this.#registered?.ended();
  }

  #started(pid: number): void {
    const child = this.#child;
    this.#running = { pid, forget: killAtExit(pid, this.#mark) };
    this.#registered?.started(pid);
    this.#send({ type: 'process.spawned', pid });
    child.once('exit', (exitCode, signal) => {
      this.#hasExited = true;
      for (const stream of outputs) child[stream]?.resume();
      this.#flush();
      this.#send({ type: 'process.exited', exitCode: exitCode ?? undefined, signal: signal ?? undefined });
    });
    child.once('close', () => this.#close());
    // A child that ends without reading its stdin breaks the pipe: its exit says all there is to say.
    child.stdin?.on('error', noop);
    feed(child.stdin, this.#input.stdin);
  }

  #read(stream: OutputStream): void {
    const pipe = this.#child[stream];
    pipe?.on('error', noop);
    pipe?.on('data', (chunk: Buffer) => {
      this.#output[stream].push(chunk);
      this.#unsent[stream] += chunk.length;
      if (!this.#flushing) this.#input.clock.nextTurn(() => this.#flush());
      this.#flushing = true;
      this.#hear(chunk, stream);
    });
  }

  #hear(chunk: Uint8Array, stream: OutputStream): void {
    if (this.#hasExited) this.#leftBytes += chunk.length;
    try {
      const listener = this.#listener;
      const heard = listener?.(chunk, stream);
      if (heard instanceof Promise && (!this.#hasExited || this.#leftBytes > leftInPipes)) this.#hold(stream, heard);
    } catch (error) {
      this.#listener = undefined;
      this.#send({ type: 'process.listener_failed', error });
    }
  }

  #hold(stream: OutputStream, heard: Promise<unknown>): void {
    const pipe = this.#child[stream];
    const goOn = (): void => void pipe?.resume();
    pipe?.pause();
    heard.then(goOn, goOn);
  }

  /** A flood comes in thousands of chunks a second; one event a turn is enough to judge silence and volume by. */
  #flush(): void {
    this.#flushing = false;
    for (const stream of outputs) {
      const bytes = this.#unsent[stream];
      this.#unsent[stream] = 0;
      const totalBytes = this.#output.stdout.bytes + this.#output.stderr.bytes;
      if (bytes > 0) this.#send({ type: 'process.output', stream, bytes, totalBytes });
    }
  }

  #close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#destroyPipes();
    const { stdout, stderr } = this.#output;
    this.#send({ type: 'process.closed', stdout: stdout.capture(), stderr: stderr.capture() });
  }

  #destroyPipes(): void {
    const { stdin, stdout, stderr } = this.#child;
    for (const stream of [stdin, stdout, stderr]) stream?.destroy();
  }

  async #terminate(pid: number, graceMs: number, signal: EndSignal | undefined): Promise<void> {
    await terminateTree(pid, { graceMs, signal, clock: this.#input.clock, exited: this.#exited });
    await killMarked(this.#mark);
    this.#send({ type: 'process.terminated' });
  }
}

function feed(stdin: Writable | null, source: SubprocessRun['stdin']): void {
  if (stdin === null) return;
  // A source that breaks has said all it will.
  if (source instanceof Readable) source.on('error', () => stdin.end()).pipe(stdin);
  else stdin.end(source);
}

function noop(): void {}
