import type { Clock } from '../policy/clock.ts';
import { checkDuration, checkInteger, checkName, checkNumber } from '../policy/options.ts';

/** A command to run and the limits it runs under. */
export interface SubprocessInput {
  /** Path, or name to look up on the PATH. Never goes through a shell. */
  readonly command: string;
  /** Reach the program literally. @defaultValue [] */
  readonly args?: readonly string[] | undefined;
  /** @defaultValue the working directory of the runtime */
  readonly cwd?: string | undefined;
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
  /** Whether `env` adds to the environment of the runtime or is all there is. @defaultValue 'extend' */
  readonly envMode?: 'extend' | 'only' | undefined;
  /** Written to the child, then closed. Without it the child's stdin is closed from the start. */
  readonly stdin?: string | Uint8Array | undefined;
  /** Limit on the whole run, in ms, above 0. @defaultValue no limit */
  readonly overallMs?: number | undefined;
  /** Limit without output or progress, in ms, above 0; leave it out for a command that prints only at its end. @defaultValue no limit */
  readonly idleMs?: number | undefined;
  /** Time between SIGTERM and SIGKILL, in ms, at least 0. @defaultValue 5000 */
  readonly graceMs?: number | undefined;
  /** Limit on the bytes of both streams together, at least 1. Memory is bounded with or without it. @defaultValue no limit */
  readonly maxOutputBytes?: number | undefined;
  /** How long to wait for the rest of the output after the exit, in ms, at least 0: a grandchild may hold the pipe. @defaultValue 200 */
  readonly drainMs?: number | undefined;
  /** Hears all output as it comes and may keep `chunk`. Once it throws, that is told and it is not called again. */
  readonly onOutput?: ((chunk: Uint8Array, stream: OutputStream) => void) | undefined;
  readonly clock: Clock;
}

export type OutputStream = 'stdout' | 'stderr';

/** @throws TypeError or RangeError that names the first option that is not as documented, and its value. */
export function checkSubprocess(input: SubprocessInput): SubprocessInput {
  checkName('command', input.command);
  if (input.overallMs !== undefined) checkDuration('overallMs', input.overallMs);
  if (input.idleMs !== undefined) checkDuration('idleMs', input.idleMs);
  if (input.graceMs !== undefined) checkNumber('graceMs', input.graceMs);
  if (input.maxOutputBytes !== undefined) checkInteger('maxOutputBytes', input.maxOutputBytes);
  if (input.drainMs !== undefined) checkNumber('drainMs', input.drainMs);
  return input;
}
