import type { Readable, Writable } from 'node:stream';
import { AttemptError, type FailureFacts } from '../../policy/failure.ts';
import { type McpServerSettings, mcpEnvironment } from './mcpServerOptions.ts';
import { startMarked } from '../process/limitMark.ts';
import { limitFor, markName, markVariable } from '../process/processMark.ts';
import { spawnFailure } from '../process/spawnFailure.ts';
import { spawnObstacle } from '../process/spawnObstacle.ts';

/** A server's process, as far as it is used. */
export interface ServerChild {
  readonly pid?: number | undefined;
  readonly exitCode: number | null;
  readonly signalCode: string | null;
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly stderr: Readable;
  once(event: 'exit', listener: () => void): unknown;
}

/** A process within an object: the process is itself a promise, and awaiting it would wait for its end. */
export interface StartedServer {
  readonly child: ServerChild;
  readonly pid: number;
}

/**
 * Starts the process of a server.
 * @param mark - what all that descends from it carries in its environment.
 * @param isWanted - asked at the last moment: its end may have been asked for meanwhile.
 * @throws {@link AttemptError} when there is nothing to start, the system refuses, or it is not wanted any more.
 */
export async function spawnServer(
  settings: McpServerSettings,
  mark: string,
  isWanted: () => boolean,
): Promise<StartedServer> {
  const { command, args, cwd } = settings;
  const env = { ...mcpEnvironment(settings), [markName]: markVariable(mark) };
  const obstacle = spawnObstacle({ command, args, cwd, env });
  if (obstacle !== undefined) throw new AttemptError({ ...obstacle, reason: 'startup_failed' });
  // Loaded now: it takes longer than all of our code, and a host without processes does not need it.
  const { execa } = await import('execa').catch((error: unknown) => {
    throw new AttemptError({ ...spawnFailure(error, { command, cwd }), reason: 'startup_failed' });
  });
  if (!isWanted()) throw new AttemptError(neverStarted);
  const child = startMarked({ command, args, cwd, env }, limitFor(mark), (executable) =>
    execa(executable.command, executable.args, {
      ...(cwd !== undefined && { cwd }),
      env,
      extendEnv: false,
      stdin: 'pipe',
      stdout: 'pipe',
      stderr: 'pipe',
      buffer: false,
      encoding: 'buffer',
      reject: false,
      // A group of its own, so that one signal reaches what it starts.
      detached: process.platform !== 'win32',
      cleanup: false,
      windowsHide: true,
    }),
  );
  if (child.pid === undefined) {
    const { cause, originalMessage } = await child;
    const error = cause ?? new Error(originalMessage ?? 'unknown');
    throw new AttemptError({ ...spawnFailure(error, { command, cwd }), reason: 'startup_failed' });
  }
  // It settles only when the pipes end; what matters is told by the events.
  void child.then(noop, noop);
  return { child, pid: child.pid };
}

const neverStarted: FailureFacts = {
  kind: 'crash',
  reason: 'stopped',
  message: 'The server was stopped before it was started',
  outcome: 'not_started',
};

function noop(): void {}
