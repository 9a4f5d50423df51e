import { constants } from 'node:os';
import type { ProcessExit } from '../../machines/subprocess.ts';
import type { Failure } from '../../policy/failure.ts';

/** Exit codes of `unwedge run` that are not the command's own. */
export const exitCodes = {
  tryLater: 75,
  timeout: 124,
  ownError: 125,
  cannotRun: 126,
  notFound: 127,
  brokenPipe: 141,
} as const;

/**
 * The exit code for a call that failed.
 * @param exit - how the last attempt's process ended; undefined when there was none.
 */
export function exitCodeOf(failure: Failure, exit: ProcessExit | undefined): number {
  switch (failure.kind) {
    case 'circuit_open':
    case 'too_many_requests':
    case 'unavailable':
    case 'rate_limit':
    case 'quota':
      return exitCodes.tryLater;
    case 'spawn':
      // Of a shell that could not run what it was to.
      if (exit?.exitCode !== undefined) return exit.exitCode;
      return failure.code === 'ENOENT' ? exitCodes.notFound : exitCodes.cannotRun;
    default:
      return endedByLimit(failure) ? exitCodes.timeout : codeOf(exit);
  }
}

/** A command that exits with 124 itself has ended by a limit of its own, which comes to the same. */
function endedByLimit({ kind, reason }: Failure): boolean {
  return (
    kind === 'timeout' && (reason === 'idle_timeout' || reason === 'attempt_timeout' || reason === 'overall_timeout')
  );
}

function codeOf(exit: ProcessExit | undefined): number {
  if (exit === undefined) return exitCodes.cannotRun;
  if (exit.exitCode !== undefined && exit.exitCode !== 0) return exit.exitCode;
  const signals: Readonly<Record<string, number>> = constants.signals;
  // An agent may say that it failed, and exit with 0.
  return exit.signal === undefined ? 1 : 128 + (signals[exit.signal] ?? 0);
}
