import { AttemptError, type FailureFacts } from '../../policy/failures/failure.ts';
import type { McpServerSettings } from './mcpServerOptions.ts';
import { markName, markVariable } from '../process/processMark.ts';
import { spawnFailure } from '../process/spawnFailure.ts';
import { spawnObstacle } from '../process/spawnObstacle.ts';
import { startTurns, tryStart } from '../process/tryStart.ts';
import { mcpEnvironment } from './serverEnvironment.ts';
import { type ServerChild, startServer } from './serverSpawn.ts';

/** A process within an object: the process is itself a promise, and awaiting it would wait for its end. */
interface StartedServer {
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
  await new Promise<void>((resolve) => void startTurns.take(resolve));
  if (!isWanted()) throw new AttemptError(neverStarted);
  const started = start({ command, args, cwd, env }, mark);
  if ('error' in started) {
    throw new AttemptError({ ...spawnFailure(await started.error, { command, cwd }), reason: 'startup_failed' });
  }
  return started;
}

/** Starts commands that are scripts, as those of npm are on Windows. It takes longer to load than all of our code. */
async function loadExeca(): Promise<typeof startServer> {
  const { execa } = await import('execa').catch((error: unknown) => {
    throw new AttemptError({ ...spawnFailure(error, { command: 'execa' }), reason: 'startup_failed' });
  });
  return ({ command, args, cwd, env }, mark) => {
    const started = tryStart(() =>
      execa(command, args, {
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
      }),
    );
    // It settles only when the pipes end; what matters is told by the events.
    if (!('error' in started)) void started.child.then(noop, noop);
    return started;
  };
}

export const neverStarted: FailureFacts = {
  kind: 'crash',
  reason: 'stopped',
  message: 'The server was stopped before it was started',
  outcome: 'not_started',
};

function noop(): void {}
