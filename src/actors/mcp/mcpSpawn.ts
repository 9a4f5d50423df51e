import { AttemptError, type FailureFacts } from '../../policy/failure.ts';
import type { McpServerSettings } from './mcpServerOptions.ts';
import { markName, markVariable } from '../process/processMark.ts';
import { spawnFailure } from '../process/spawnFailure.ts';
import { spawnObstacle } from '../process/spawnObstacle.ts';
import { mcpEnvironment } from './serverEnvironment.ts';
import { type ServerChild, startServer, type StartingServer } from './serverSpawn.ts';

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
  const env = mcpEnvironment(settings);
  const obstacle = spawnObstacle({ command, args, cwd, env: { ...env, [markName]: markVariable(mark) } });
  if (obstacle !== undefined) throw new AttemptError({ ...obstacle, reason: 'startup_failed' });
  const start = process.platform === 'win32' ? await loadExeca() : startServer;
  // Not before whoever asked has what it is given.
  await Promise.resolve();
  if (!isWanted()) throw new AttemptError(neverStarted);
  let child: StartingServer;
  try {
    child = start({ command, args, cwd, env }, mark);
  } catch (error) {
    throw failed(error, settings);
  }
  const { pid } = child;
  if (pid === undefined) throw failed(await new Promise((resolve) => child.once('error', resolve)), settings);
  return { child, pid };
}

/** Starts commands that are scripts, as those of npm are on Windows. It takes longer to load than all of our code. */
async function loadExeca(): Promise<typeof startServer> {
  const { execa } = await import('execa').catch((error: unknown) => {
    throw new AttemptError({ ...spawnFailure(error, { command: 'execa' }), reason: 'startup_failed' });
  });
  return ({ command, args, cwd, env }, mark) => {
    const child = execa(command, args, {
      ...(cwd !== undefined && { cwd }),
      env: { ...env, [markName]: markVariable(mark) },
      extendEnv: false,
      stdin: 'pipe',
      stdout: 'pipe',
      stderr: 'pipe',
      buffer: false,
      encoding: 'buffer',
      reject: false,
      cleanup: false,
      windowsHide: true,
    });
    // It settles only when the pipes end; what matters is told by the events, but for a start that the system refuses at once.
    void child.then(({ cause }) => (child.pid === undefined ? child.emit('error', cause) : undefined), noop);
    return child;
  };
}

function failed(error: unknown, { command, cwd }: McpServerSettings): AttemptError {
  return new AttemptError({ ...spawnFailure(error, { command, cwd }), reason: 'startup_failed' });
}

export const neverStarted: FailureFacts = {
  kind: 'crash',
  reason: 'stopped',
  message: 'The server was stopped before it was started',
  outcome: 'not_started',
};

function noop(): void {}
