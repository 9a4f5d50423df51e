import type { Failure } from '../../policy/failure.ts';
import { exitCodeOf, exitCodes } from '../run/exitCode.ts';

/** The exit code of `unwedge agent` for a turn that failed: those of `unwedge run`, and 1 for what the agent itself failed of. */
export function agentExitCode(failure: Failure): number {
  const code = exitCodeOf(failure, undefined, true);
  const isOurs = code !== exitCodes.cannotRun && code !== exitCodes.notFound;
  return isOurs || failure.kind === 'spawn' ? code : 1;
}
