import { fstatSync, type Stats } from 'node:fs';
import type { RunPlan } from './request.ts';
import type { RunEnd } from './supervisedRun.ts';

/**
 * That the command did not get what was piped into `unwedge run`, where it failed and may have wanted that. Nothing is read to find out: what
 * is in the pipe may be for a command that follows in the same script.
 * @param stdin - what our stdin is. @defaultValue asked of the system
 */
export function stdinWords(
  { inheritsStdin, promptFile }: Pick<RunPlan, 'inheritsStdin' | 'promptFile'>,
  { outcome, attempts }: Pick<RunEnd, 'outcome' | 'attempts'>,
  stdin: () => Pick<Stats, 'isFIFO' | 'isFile' | 'size'> = () => fstatSync(0),
): readonly string[] {
  if (outcome.ok || attempts === 0 || outcome.failure.kind === 'cancelled') return [];
  if (inheritsStdin || promptFile !== undefined || !mayHoldInput(stdin)) return [];
  return ['stdin is not passed on with more than one attempt; --prompt-file - gives it to each of them'];
}

/** Not /dev/null and terminals, which are devices, nor sockets, which parents that are programs leave open. */
function mayHoldInput(stdin: () => Pick<Stats, 'isFIFO' | 'isFile' | 'size'>): boolean {
  try {
    const stats = stdin();
    return stats.isFIFO() || (stats.isFile() && stats.size > 0);
  } catch {
    // It is closed.
    return false;
  }
}
