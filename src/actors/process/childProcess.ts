import { basename } from 'node:path';
import { Readable, type Writable } from 'node:stream';
import type { EndSignal, ProcessOrder, SubprocessEvent } from '../../machines/subprocessEvents.ts';
import type { OutputStream, SubprocessRun } from '../../machines/subprocessInput.ts';
import type { RegisteredChild } from '../../policy/records/childRecord.ts';
import { AttemptError, type FailureFacts } from '../../policy/failures/failure.ts';
import { childEnvironment } from './childEnvironment.ts';
import { type Execa, loadedExeca, loadExeca } from './execaPackage.ts';
import { killAtExit, isMarkSeen, killMarked, limitFor, nextMark, readCommandLine } from './processMark.ts';
import { type Executable, startMarked } from './limitMark.ts';
import { createOutputBuffer } from './outputBuffer.ts';
import { endOfOutput, mostLeft, type OutputEnd } from './outputEnd.ts';
import { isYoungestNow, type ProcessEntry } from './processTable.ts';
import { descendants, killOrphansNow, killTreeNow, orphansNow, terminateTree } from './processTree.ts';
import { spawnFailure } from './spawnFailure.ts';
import { spawnObstacle } from './spawnObstacle.ts';
import { startTurns } from './tryStart.ts';

const outputs = ['stdout', 'stderr'] as const;

/**
 * A command from the order to start it, in a process group of its own, without a shell, in a turn of its own where others are started too: it waits for its
 * turn, runs, or could not be started. What happens to it is sent as events. Never throws; a failed start is a `process.failed`.
 */
export class StartedChild {
  readonly #input: SubprocessRun;
  readonly #send: (event: SubprocessEvent) => void;
  #giveUp: () => void = noop;
  #child: WatchedChild | undefined = undefined;
  #isOver = false;

  constructor(input: SubprocessRun, send: (event: SubprocessEvent) => void) {
    this.#input = input;
    this.#send = send;
    const execa = loadedExeca();
    if (execa !== undefined) this.#wait(execa);
    else
      loadExeca().then(
        (loaded) => this.#wait(loaded),
        (error: unknown) => this.#fail(spawnFailure(error, input)),
      );
  }

  take(order: ProcessOrder): void {
    if (this.#child !== undefined) this.#child.take(order);
    else if (order.type === 'process.terminate') this.#fail(neverStarted);
  }

  /** Lets go of it: what still runs, or was left behind in its group, gets SIGKILL at once; nothing is sent any more. */
  release(): void {
    this.#giveUp();
    this.#isOver = true;
    this.#child?.release();
  }

  #wait(execa: Execa): void {
    if (!this.#isOver) this.#giveUp = startTurns.take(() => this.#start(execa));
  }

  /** Never throws: it may have waited for its turn. */
  #start(execa: Execa): void {
    try {
      this.#spawn(execa);
    } catch (error) {
      this.#fail(spawnFailure(error, this.#input));
    }
  }

  #spawn(execa: Execa): void {
    const input = this.#input;
    const mark = nextMark(input.clock);
    const env = childEnvironment(input, mark);
    const obstacle = spawnObstacle({ ...input, env });
    if (obstacle !== undefined) {
      this.#fail(obstacle);
      return;
    }
    const registered = input.register?.({ mark, command: input.command });
    const { command, args = [], cwd } = input;
    const start = startMarked({ command, args, cwd, env }, limitFor(mark), (executable) =>
      execute(execa, executable, input),
    );
    if (start.child !== undefined) {
      this.#child = new WatchedChild(start.child, start.pid, mark, registered, input, this.#send);
      return;
    }
    registered?.ended();
    void start.error.then((error) => this.#fail(spawnFailure(error, input)));
  }

  #fail(facts: FailureFacts): void {
    this.#giveUp();
    if (this.#isOver) return;
    this.#isOver = true;
    this.#send({ type: 'process.failed', error: new AttemptError(facts) });
  }
}

const neverStarted: FailureFacts = {
  kind: 'cancelled',
  message: 'It was ended before it was started',
  outcome: 'not_started',
};

function execute(
  execa: Execa,
  { command, args, cwd, env }: Executable,
  { stdin, inherit = [], sharesGroup = false }: SubprocessRun,
) {
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
class WatchedChild {
  readonly #child: ReturnType<typeof execute>;
  readonly #pid: number;
  readonly #forget: () => void;
  readonly #mark: string;
  readonly #registered: RegisteredChild | undefined;
  readonly #input: SubprocessRun;
  readonly #send: (event: SubprocessEvent) => void;
  readonly #output = { stdout: createOutputBuffer(), stderr: createOutputBuffer() };
  readonly #unsent = { stdout: 0, stderr: 0 };
  readonly #exited: Promise<void>;
  readonly #ended: Promise<unknown>;
  #listener: SubprocessRun['onOutput'];
  #hasExited = false;
  #isEnding = false;
  #flushing = false;
  #draining = false;
  #closed = false;
  #leftBytes = 0;

  constructor(
    child: ReturnType<typeof execute>,
    pid: number,
    mark: string,
    registered: RegisteredChild | undefined,
    input: SubprocessRun,
    send: (event: SubprocessEvent) => void,
  ) {
    this.#child = child;
    this.#pid = pid;
    this.#mark = mark;
    this.#registered = registered;
    this.#input = input;
    this.#send = send;
    this.#listener = input.onOutput;
    this.#exited = new Promise((resolve) => child.once('exit', () => resolve()));
    this.#ended = Promise.all(outputs.map((stream) => this.#read(stream)));
    this.#forget = killAtExit(pid, mark);
    this.#started();
  }

  take(order: ProcessOrder): void {
    if (order.type === 'process.drain') void this.#drain(order.quietMs);
    else void this.#terminate(order.graceMs, order.signal);
  }

  release(): void {
    const pid = this.#pid;
    if (this.#hasExited) killOrphansNow(pid);
    else killTreeNow(pid);
    if (!this.#hasExited || !isYoungestNow(pid)) void killMarked(this.#mark);
    this.#forget();
    this.#registered?.ended();
    this.#destroyPipes();
    this.#child.unref();
  }

  #started(): void {
    const child = this.#child;
    const pid = this.#pid;
    this.#registered?.started(pid);
    this.#send({ type: 'process.spawned', pid });
    child.once('exit', (exitCode, signal) => {
      this.#hasExited = true;
      for (const stream of outputs) child[stream]?.resume();
      this.#flush();
      this.#send({ type: 'process.exited', exitCode: exitCode ?? undefined, signal: signal ?? undefined });
    });
    child.once('close', () => this.#close('ended'));
    // A child that ends without reading its stdin breaks the pipe: its exit says all there is to say.
    child.stdin?.on('error', noop);
    feed(child.stdin, this.#input.stdin);
  }

  /** Resolves when the pipe has ended. */
  #read(stream: OutputStream): Promise<void> {
    const pipe = this.#child[stream];
    if (pipe === null) return Promise.resolve();
    pipe.on('error', noop);
    pipe.on('data', (chunk: Buffer) => {
      this.#output[stream].push(chunk);
      this.#unsent[stream] += chunk.length;
      if (!this.#flushing) this.#input.clock.nextTurn(() => this.#flush());
      this.#flushing = true;
      this.#hear(chunk, stream);
    });
    return new Promise((resolve) => {
      pipe.once('end', resolve);
      pipe.once('close', resolve);
    });
  }

  #hear(chunk: Uint8Array, stream: OutputStream): void {
    if (this.#hasExited) this.#leftBytes += chunk.length;
    try {
      const listener = this.#listener;
      const heard = listener?.(chunk, stream);
      const mayWait = !this.#isEnding && (!this.#hasExited || this.#leftBytes > mostLeft);
      if (mayWait && heard instanceof Promise) this.#hold(stream, heard);
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

  /** Reads to the end of the pipes. */
  async #drain(quietMs: number): Promise<void> {
    if (this.#draining || this.#closed) return;
    this.#draining = true;
    const end = await endOfOutput({
      clock: this.#input.clock,
      ended: this.#ended,
      bytes: () => this.#leftBytes,
      isHeld: () => this.#isHeld(),
      quietMs,
    });
    this.#close(end);
  }

  /** Tells whether a process of the run is left that may hold a pipe. */
  async #isHeld(): Promise<boolean> {
    if (!this.#hasExited) return true;
    return (await descendants(this.#pid)).length > 0 || (await isMarkSeen(this.#mark));
  }

  #close(end: OutputEnd): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#destroyPipes();
    const { stdout, stderr } = this.#output;
    const read = { stdout: stdout.capture(), stderr: stderr.capture(), isCut: end === 'held' };
    // What an end of ours is under way for was not left behind.
    const left = this.#hasExited && !this.#isEnding ? namesOf(orphansNow(this.#pid)) : [];
    this.#send({ type: 'process.closed', ...read, ...(left.length > 0 && { leftRunning: left }) });
  }

  #destroyPipes(): void {
    const { stdin, stdout, stderr } = this.#child;
    for (const stream of [stdin, stdout, stderr]) stream?.destroy();
  }

  async #terminate(graceMs: number, signal: EndSignal | undefined): Promise<void> {
    // Its reader has given it up: a slow one holds nothing back any more.
    this.#isEnding = true;
    for (const stream of outputs) this.#child[stream]?.resume();
    await terminateTree(this.#pid, { graceMs, signal, clock: this.#input.clock, exited: this.#exited });
    await killMarked(this.#mark);
    this.#send({ type: 'process.terminated' });
  }
}

/** Most processes that are named. */
const mostNames = 5;

/** Names processes, each name once, without their arguments: these may hold secrets. */
function namesOf(entries: readonly ProcessEntry[]): readonly string[] {
  const running = entries.filter(({ zombie }) => !zombie).slice(0, mostNames);
  return [...new Set(running.map(({ pid }) => basename(readCommandLine(pid)[0] ?? '') || `pid ${pid}`))];
}

function feed(stdin: Writable | null, source: SubprocessRun['stdin']): void {
  if (stdin === null) return;
  // A source that breaks has said all it will.
  if (source instanceof Readable) source.on('error', () => stdin.end()).pipe(stdin);
  else stdin.end(source);
}

function noop(): void {}
