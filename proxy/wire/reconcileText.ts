import { formatDuration } from '../../src/policy/text/face.ts';
import type { ReconcileWhy } from '../../src/calls/face.ts';

/** Describes the question about a lost answer, and its time. @param leftMs - until the next thing happens to the call that waits. */
export function reconcileText({ asks, about, held, state, inMs = 0 }: ReconcileWhy, leftMs: number): string {
  if (state === 'kept')
    return held
      ? `joins the same call, which is kept for ${formatDuration(inMs)} more; ${formatDuration(leftMs)} left`
      : `kept for ${formatDuration(inMs)} more: the same call gets its answer`;
  const what = held ? `an equal call of ${about}` : about;
  const left = formatDuration(leftMs);
  if (state === 'repeating') return `waits for ${what}, which did not happen and is made again; ${left} left`;
  if (state === 'queued') return `waits for its turn to ask ${asks} whether ${what} happened, ${left} left`;
  return `asks ${asks} whether ${what} happened, ${state === 'waiting' ? `again in ${left}` : `${left} left`}`;
}
