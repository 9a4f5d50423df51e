import { constants } from 'node:os';
import type { ProcessExit } from '../../machines/subprocess.ts';
import type { Failure, FailureKind } from '../../policy/failure.ts';

/** Exit codes of `unwedge run` that are not the command's own. */
export const exitCodes = {
  tryLater: 75,
  timeout: 124,
  ownError: 125,
  cannotRun: 126,
  notFound: 127,
  brokenPipe: 141,
} as const;

const laterKinds: ReadonlySet<FailureKind> = new Set([
  'circuit_open',
  'too_many_requests',
  'unavailable',
  'rate_limit',
  'quota',
]);

/**
 * The exit code for a call that failed.
 * @param exit - how the last attempt's process ended; undefined when there was none.
 */
export function exitCodeOf(failure: Failure, exit: ProcessExit | undefined): number {
  if (laterKinds.has(failure.kind)) return exitCodes.tryLater;
  if (endedByLimit(failure)) return exitCodes.timeout;
  // A shell that could not run what it was to has a code of its own.
  if (exit?.exitCode !== undefined || exit?.signal !== undefined) return codeOf(exit);
  return failure.code === 'ENOENT' ? exitCodes.notFound : exitCodes.cannotRun;
}

/** A command that exits with 124 itself has ended by a limit of its own, which comes to the same. */
function endedByLimit({ kind, reason }: Failure): boolean {
  return (
    kind === 'timeout' && (reason === 'idle_timeout' || reason === 'attempt_timeout' || reason === 'overall_timeout')
  );
}

function codeOf({ exitCode, signal }: ProcessExit): number {
  if (exitCode !== undefined && exitCode !== 0) return exitCode;
  const signals: Readonly<Record<string, number>> = constants.signals;
  // An agent may say that it failed, and exit with 0.
  return signal === undefined ? 1 : 128 + (signals[signal] ?? 0);
}
