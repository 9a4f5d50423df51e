import { formatDuration } from './duration.ts';
import type { Tell } from './optionKeys.ts';

/** Limits as they are given in one place. */
interface GivenLimits {
  readonly attemptMs?: number | undefined;
  readonly overallMs?: number | undefined;
  readonly longRunningMs?: number | undefined;
}

/** Limits and those they are over before, where both are given. A limit of silence may be longer than both: there it is none. */
const pairs = [
  ['attemptMs', 'overallMs'],
  ['attemptMs', 'longRunningMs'],
] as const;

/** Refuses a limit on an attempt that is never reached, since one that is given beside it is over before. `Infinity` is no limit. */
export function limitRule(given: GivenLimits, tell: Tell): void {
  for (const [inner, outer] of pairs) {
    const innerMs = given[inner];
    const outerMs = given[outer];
    if (innerMs === undefined || outerMs === undefined || innerMs === Number.POSITIVE_INFINITY || innerMs <= outerMs)
      continue;
    tell(inner, { says: `to be at most \`${outer}\` (${formatDuration(outerMs)}), which is over before` });
    return;
  }
}
