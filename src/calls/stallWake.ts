import { type Clock, longStallMs, wakeMs } from '../policy/clock.ts';
import type { FailureFacts, FailureKind } from '../policy/failure.ts';

/** Failures that a stall of our own event loop can make of a call. */
const ofOurStalls: ReadonlySet<FailureKind> = new Set(['timeout', 'transient', 'crash', 'watchdog', 'unknown']);

/**
 * Tells whether an attempt may have failed because our own event loop stood still: a limit passed, the server gave up a connection meanwhile.
 * @param startedAt - of the attempt, in monotonic ms.
 */
export function isInStallWake(
  startedAt: number,
  { kind, status, outcome }: FailureFacts,
  { stalls }: Pick<Clock, 'stalls'>,
): boolean {
  // A status is an answer, whenever it came.
  if (stalls === undefined || !ofOurStalls.has(kind) || status !== undefined) return false;
  const { wakeUntil } = stalls;
  const isLost = kind === 'transient' && outcome !== 'not_started';
  // An attempt that began after it can have met a connection that was given up meanwhile, and nothing else of it.
  if (startedAt >= wakeUntil - wakeMs) return isLost && startedAt < wakeUntil;
  // An attempt that began in its last moments and failed at once had nothing of it.
  return isLost || stalls.since(startedAt) >= longStallMs;
}
