import type { Readable } from 'node:stream';
import { isDeepStrictEqual } from 'node:util';
import { createChildGuard } from '../process/childGuard.ts';
import { killAtExit, nextMark } from '../process/processMark.ts';
import { terminateTree } from '../process/processTree.ts';
import type { Clock } from '../../policy/clock.ts';
import { type EnvironmentSettings, mcpEnvironment } from './serverEnvironment.ts';
import { type ServerChild, startServer } from './serverSpawn.ts';

/** Everything that decides which process a server is. */
export interface ServerCommand extends EnvironmentSettings {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd?: string | undefined;
}

/** A server's process that was started before the program that is to speak to it was loaded. */
export interface HeadStart {
  readonly mark: string;
  readonly child: ServerChild;
  readonly pid: number;
  /** Whoever took it watches it now. */
  adopted(): void;
  /** Ends it and all it started. Never rejects. */
  end(): Promise<void>;
}

interface Waiting extends HeadStart {
  readonly command: ServerCommand;
  readonly env: NodeJS.ProcessEnv;
}

/** Time that a process which nobody took has to end on SIGTERM, in ms. */
const graceMs = 500;

let waiting: Waiting | undefined;

/**
 * Starts the process of a server for the first {@link takeHeadStart} of the same command: it loads while the rest of this program does. A
 * guard stands by before, and the exit of this process ends it, so that nothing is left should this process die first. A command that
 * cannot be started is left to who wants it: the second try tells why. Never throws.
 */
export function startAhead(command: ServerCommand, clock: Clock): void {
  const guard = createChildGuard(undefined);
  guard.raise();
  try {
    const mark = nextMark(clock);
    const env = mcpEnvironment(command);
    const started = startServer({ ...command, env }, mark);
    if ('error' in started) {
      guard.release();
      return;
    }
    const { child, pid } = started;
    guard.watch(pid);
    const forget = killAtExit(pid, mark);
    waiting = { mark, pid, command, env, child: held(child, forget), adopted, end };

    function adopted(): void {
      guard.release();
    }
    async function end(): Promise<void> {
      await terminateTree(pid, { graceMs, clock, exited: exitOf(child) });
      forget();
      guard.release();
    }
  } catch {
    guard.release();
  }
}

/** The process that was started for this command, once; undefined where there is none. */
export function takeHeadStart(command: ServerCommand): HeadStart | undefined {
  if (waiting === undefined || !isSame(waiting, command)) return undefined;
  const taken = waiting;
  waiting = undefined;
  return taken;
}

/** Ends the process that nobody took. Never rejects. */
export async function endHeadStart(): Promise<void> {
  const left = waiting;
  waiting = undefined;
  await left?.end();
}

function isSame({ command: own, env }: Waiting, command: ServerCommand): boolean {
  return (
    own.command === command.command &&
    own.cwd === command.cwd &&
    isDeepStrictEqual(own.args, command.args) &&
    isDeepStrictEqual(env, mcpEnvironment(command))
  );
}

/** The process with all it has said so far, for a listener that comes later. */
function held(child: ServerChild, forget: () => void): ServerChild {
  const { stdin, stdout, stderr } = child;
  const waits = new Set([stdout, stderr]);
  // Once: a stream that loses a listener of this kind goes on to flow, also where somebody has paused it since.
  const taken = (stream: Readable): Readable => (waits.delete(stream) ? stream.off('readable', noop) : stream);
  // A stream that has this listener keeps what was read; without any the exit would have it thrown away.
  for (const stream of [stdout, stderr]) stream.on('readable', noop).on('error', noop);
  stdin.on('error', noop);
  let hasExited = false;
  child.once('exit', () => {
    hasExited = true;
    forget();
  });
  return {
    get pid() {
      return child.pid;
    },
    get exitCode() {
      return child.exitCode;
    },
    get signalCode() {
      return child.signalCode;
    },
    stdin,
    get stdout() {
      return taken(stdout);
    },
    get stderr() {
      return taken(stderr);
    },
    once(event, listener) {
      if (hasExited) setImmediate(listener);
      else child.once(event, listener);
    },
  };
}

function exitOf(child: ServerChild): Promise<void> {
  return new Promise((resolve) => {
    if (child.exitCode !== null || child.signalCode !== null) resolve();
    else child.once('exit', () => resolve());
  });
}

function noop(): void {}
