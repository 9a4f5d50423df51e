import { EventEmitter } from 'node:events';
import { PassThrough } from 'node:stream';
import type { ProcessExit } from '../../../src/machines/face.ts';
import { AttemptError } from '../../../src/policy/failures/face.ts';
import type { Runtime } from '../../../src/runtime/face.ts';
import { runProcess } from '../../../src/integrations/subprocess/face.ts';
import type { SdkErrorListener, SdkExitListener, SdkProcess, SdkSpawnOptions } from './agentSdkTypes.ts';

/** A process that the SDK asked for and this runtime owns. */
export interface ClaudeProcess {
  /** Process that the SDK is given. */
  readonly process: SdkProcess;
  /** Exit of it, and of everything below it; undefined when there was nothing to start. Never rejects. */
  readonly gone: Promise<ProcessExit | undefined>;
  /** Ends it and everything below it: SIGTERM, grace, SIGKILL. */
  kill(): void;
}

interface ProcessSettings {
  /** Time between SIGTERM and SIGKILL, in ms. */
  readonly graceMs: number;
  /** Hears what it prints on stderr. */
  readonly onStderr?: ((text: string) => void) | undefined;
}

/** Parts of the runtime that a process needs. */
export type ProcessRuntime = Pick<Runtime, 'root' | 'bus' | 'secrets' | 'clock' | 'register'>;

/**
 * Starts the process behind a query as a temporary child of the root supervisor: in a group of its own, with its mark, on record for
 * the next start. The SDK gets streams and events as of a `ChildProcess`; whatever signal it sends, the whole tree is ended.
 */
export function startClaudeProcess(
  runtime: ProcessRuntime,
  id: string,
  { command, args, cwd, env }: SdkSpawnOptions,
  { graceMs, onStderr }: ProcessSettings,
): ClaudeProcess {
  const stdin = new PassThrough();
  const stdout = new PassThrough();
  const events = new EventEmitter();
  const controller = new AbortController();
  let exit: ProcessExit | undefined;
  let isKilled = false;
  // The SDK adds its listeners once it has the process; until then an error would have nobody to hear it.
  events.on('error', noop);
  for (const stream of [stdin, stdout]) stream.on('error', noop);

  const kill = (): void => {
    isKilled = true;
    controller.abort(stopped());
  };
  const input = {
    command,
    args,
    cwd,
    env,
    envMode: 'only' as const,
    stdin,
    graceMs,
    clock: runtime.clock,
    register: runtime.register,
    onOutput(chunk: Uint8Array, from: 'stdout' | 'stderr'): Promise<void> | undefined {
      if (from === 'stderr') onStderr?.(Buffer.from(chunk).toString());
      if (from === 'stderr' || stdout.writableEnded || stdout.write(chunk)) return undefined;
      return untilWritable(stdout);
    },
  };
  const ended = runProcess(runtime, { id, input, graceMs }, { signal: controller.signal, touch: noop }).then(
    (end) => {
      exit = end;
      return end;
    },
    () => undefined,
  );
  const gone = ended.then((end) => {
    stdin.destroy();
    stdout.end();
    // It was killed before it was there.
    if (end === undefined && isKilled) events.emit('exit', null, 'SIGTERM');
    else if (end === undefined || end.reason === 'spawn-error') events.emit('error', spawnError(command, end));
    else events.emit('exit', end.exitCode ?? null, signalOf(end));
    return end;
  });

  return {
    gone,
    kill,
    process: {
      stdin,
      stdout,
      get killed() {
        return isKilled;
      },
      get exitCode() {
        return exit?.exitCode ?? null;
      },
      get signalCode() {
        return exit === undefined ? null : signalOf(exit);
      },
      kill() {
        if (exit !== undefined) return false;
        kill();
        return true;
      },
      on: (event: 'exit' | 'error', listener: SdkExitListener | SdkErrorListener) => void events.on(event, listener),
      once: (event: 'exit' | 'error', listener: SdkExitListener | SdkErrorListener) =>
        void events.once(event, listener),
      off: (event: 'exit' | 'error', listener: SdkExitListener | SdkErrorListener) => void events.off(event, listener),
    },
  };
}

function untilWritable(stdout: PassThrough): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      stdout.off('drain', done);
      stdout.off('close', done);
      resolve();
    };
    stdout.on('drain', done);
    stdout.on('close', done);
  });
}

const signalOf = ({ signal }: ProcessExit): NodeJS.Signals | null => (signal as NodeJS.Signals | undefined) ?? null;

function spawnError(command: string, exit: ProcessExit | undefined): Error {
  return exit?.error instanceof Error ? exit.error : new Error(exit?.message ?? `${command} was not started`);
}

function stopped(): AttemptError {
  return new AttemptError({ kind: 'cancelled', message: 'Claude was ended', outcome: 'cancelled' });
}

function noop(): void {}
