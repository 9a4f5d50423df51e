import type { Readable, Writable } from 'node:stream';
import { childProcessModule } from '../process/processTable.ts';
import { type Executable, startMarked } from '../process/limitMark.ts';
import { limitFor, markName, markVariable } from '../process/processMark.ts';
import type { Start } from '../process/tryStart.ts';

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

/**
 * Starts the process of a server, without a shell and without anything that would have to be loaded first. Not for Windows, where a command
 * may be a script.
 * @param env - all that it gets, beside its mark.
 */
export function startServer({ command, args, cwd, env }: Executable, mark: string): Start<ServerChild> {
  const marked = { ...env, [markName]: markVariable(mark) };
  return startMarked({ command, args, cwd, env: marked }, limitFor(mark), (executable) =>
    childProcessModule().spawn(executable.command, executable.args, {
      cwd,
      env: marked,
      stdio: 'pipe',
      // A group of its own, so that one signal reaches what it starts.
      detached: true,
      windowsHide: true,
    }),
  );
}
