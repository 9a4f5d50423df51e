import type { Readable } from 'node:stream';
import type { Clock, Timer } from '../../policy/clock.ts';
import { AttemptError } from '../../policy/failures/failure.ts';
import { GatheredLines } from '../../protocol/gatheredLines.ts';
import { handsOn } from './handsOn.ts';
import { isMarkSeen, killAtExit, killMarked, nextMark } from '../process/processMark.ts';
import type { McpServerSettings } from './mcpServerOptions.ts';
import { type HeadStart, takeHeadStart } from './headStart.ts';
import { neverStarted, spawnServer } from './mcpSpawn.ts';
import type { ServerChild } from './serverSpawn.ts';
import type { ServerEnd, ServerLink, ServerLinkListener, ServerTarget } from './serverLink.ts';
import { endOfOutput, polled } from '../process/outputEnd.ts';
import { descendants, killOrphansNow, killTreeNow, terminateTree } from '../process/processTree.ts';

/** Time in ms that the output may bring nothing after the exit while another process holds it. */
const quietMs = 200;
/** Time in ms that a server that closed a pipe may take to exit before it counts as lost. */
const closedPipeMs = 1000;

/** A server that is run as a process of ours. */
export function processTarget(settings: McpServerSettings): ServerTarget {
  const { command, env, handshakeMs, pingMs, maxMessageBytes } = settings;
  return {
    command,
    secrets: env,
    handshakeMs,
    pingMs,
    maxMessageBytes,
    mayGoOn: handsOn(command, settings.args),
    open: (clock, listener) => new McpProcess(settings, clock, listener),
  };
}

/** The process of an MCP server and all it starts, from start to end. */
export class McpProcess implements ServerLink {
  /** Mark that all its descendants carry in their environment. */
  readonly mark: string;
  readonly #settings: McpServerSettings;
  readonly #clock: Clock;
  readonly #listener: ServerLinkListener;
  /** Its process, where that was started before this was loaded. */
  readonly #ahead: HeadStart | undefined;
  readonly #gathered = new GatheredLines((piece) => void this.#child?.stdin.write(piece));
  #child: ServerChild | undefined = undefined;
  #exited: Promise<void> = Promise.resolve();
  #isGone = true;
  /** Bytes of both streams. */
  #bytes = 0;
  /** From here on the system may give the pid to a stranger. */
  #buried = false;
  #end: ServerEnd | undefined = undefined;
  #timer: Timer | undefined = undefined;
  #closing: Promise<void> | undefined = undefined;

  constructor(settings: McpServerSettings, clock: Clock, listener: ServerLinkListener) {
    this.#ahead = takeHeadStart(settings);
    this.mark = this.#ahead?.mark ?? nextMark(clock);
    this.#settings = settings;
    this.#clock = clock;
    this.#listener = listener;
  }

  get pid(): number | undefined {
    return this.#child?.pid;
  }

  get end(): ServerEnd | undefined {
    return this.#end;
  }

  get exit(): Pick<ServerEnd, 'exitCode' | 'signal'> {
    return { exitCode: this.#child?.exitCode ?? undefined, signal: this.#child?.signalCode ?? undefined };
  }

  /** @throws AttemptError when there is nothing to start, the system refuses, or its end was asked for before it was started. */
  async start(): Promise<void> {
    const isWanted = (): boolean => this.#end === undefined && this.#closing === undefined;
    const ahead = this.#ahead;
    if (ahead === undefined) {
      const { child, pid } = await spawnServer(this.#settings, this.mark, isWanted);
      this.#watch(child, pid);
      return;
    }
    await Promise.resolve();
    if (!isWanted()) {
      await ahead.end();
      throw new AttemptError(neverStarted);
    }
    this.#watch(ahead.child, ahead.pid);
    ahead.adopted();
  }

  write(data: string | Uint8Array): boolean {
    const stdin = this.#child?.stdin;
    if (this.#end !== undefined || stdin?.writable !== true) return false;
    this.#gathered.write(data);
    return true;
  }

  get isFull(): boolean {
    return this.#end === undefined && this.#child?.stdin.writableNeedDrain === true;
  }

  gather(): () => void {
    return this.#gathered.gather();
  }

  pauseOutput(): void {
    // The rest in the pipe of a process that has exited is read to its end.
    if (!this.#isGone) this.#child?.stdout.pause();
  }

  resumeOutput(): void {
    this.#child?.stdout.resume();
  }

  endInput(): void {
    this.#gathered.flush();
    this.#child?.stdin.end();
  }

  get exited(): Promise<void> {
    return this.#exited;
  }

  /** Ends the server in good order: end of stdin, then SIGTERM, then SIGKILL to all that is left of it. Never rejects. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async terminate(graceMs: number): Promise<void> {
    const pid = this.#buried ? undefined : this.pid;
    if (pid !== undefined) {
      await terminateTree(pid, { graceMs, clock: this.#clock, exited: this.#exited });
      await killMarked(this.mark);
    }
    this.#buried = true;
    this.finish({ ...this.exit, fault: this.#isGone ? undefined : 'abandoned' });
  }

  killNow(): void {
    const pid = this.#buried ? undefined : this.pid;
    if (pid !== undefined) {
      (this.#isGone ? killOrphansNow : killTreeNow)(pid);
      void killMarked(this.mark);
    }
    this.finish({ ...this.exit, fault: 'abandoned' });
  }

  /** No answer is waited for any more; the process is not touched. The first end stays. */
  finish(end: ServerEnd): void {
    if (this.#end !== undefined) return;
    this.#end = end;
    this.#clock.clearTimeout(this.#timer);
    // Until the exit the pipes are read on, so that the process does not block on its way out; then others may hold them.
    void this.#exited.then(() => {
      for (const stream of [this.#child?.stdin, this.#child?.stdout, this.#child?.stderr]) stream?.destroy();
    });
    this.#listener.ended();
  }

  #watch(child: ServerChild, pid: number): void {
    const listener = this.#listener;
    this.#child = child;
    this.#isGone = false;
    const forget = killAtExit(pid, this.mark);
    const heard = (tell: (chunk: Buffer) => void) => (chunk: Buffer) => {
      this.#bytes += chunk.length;
      tell(chunk);
    };
    const output = heard((chunk) => listener.output(chunk));
    const errors = heard((chunk) => listener.errors(chunk));
    const outputEnded = endOf(child.stdout, output).then(() => listener.outputEnded());
    const errorsEnded = endOf(child.stderr, errors).then(() => listener.errorsEnded());
    child.stdin.on('error', () => this.#pipeClosed());
    child.stdin.on('drain', () => listener.drained?.());
    void outputEnded.then(() => this.#pipeClosed());
    this.#exited = new Promise((resolve) => {
      child.once('exit', () => {
        this.#isGone = true;
        forget();
        resolve();
        this.#clock.clearTimeout(this.#timer);
        void this.#drain(pid, Promise.all([outputEnded, errorsEnded]));
      });
    });
    listener.started(pid);
  }

  /** A server that closed one of its pipes is about to exit, or cannot be spoken to any more. */
  #pipeClosed(): void {
    if (this.#isGone || this.#closing !== undefined || this.#end !== undefined) return;
    this.#clock.clearTimeout(this.#timer);
    this.#timer = this.#clock.setTimeout(() => void this.#finishUnlessGone(), closedPipeMs);
  }

  /** Answers that are in the pipe are read before the server counts as gone. */
  async #drain(pid: number, ended: Promise<unknown>): Promise<void> {
    const atExit = this.#bytes;
    await endOfOutput({
      clock: this.#clock,
      ended,
      bytes: () => this.#bytes - atExit,
      isHeld: async () => this.#end !== undefined || (await descendants(pid)).length > 0 || isMarkSeen(this.mark),
      quietMs,
    });
    this.finish(this.exit);
  }

  async #finishUnlessGone(): Promise<void> {
    await polled(this.#clock);
    if (!this.#isGone) this.finish({ fault: 'pipe_closed' });
  }

  async #close(): Promise<void> {
    if (!this.#isGone) {
      this.endInput();
      await this.#exitedWithin(this.#settings.closeMs);
    }
    await this.terminate(this.#settings.closeMs);
  }

  #exitedWithin(limitMs: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = this.#clock.setTimeout(resolve, limitMs, { ref: true });
      void this.#exited.then(() => {
        this.#clock.clearTimeout(timer);
        resolve();
      });
    });
  }
}

/** Resolves when the stream gives no more, for whatever reason. */
function endOf(stream: Readable, onData: (chunk: Buffer) => void): Promise<void> {
  return new Promise((resolve) => {
    stream.on('data', onData);
    stream.on('error', noop);
    stream.once('end', resolve);
    stream.once('close', resolve);
    // A process that was started ahead may have ended before anybody listened.
    if (stream.readableEnded || stream.destroyed) resolve();
  });
}

function noop(): void {}
