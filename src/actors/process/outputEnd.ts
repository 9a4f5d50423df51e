import type { Clock } from '../../policy/clock.ts';
import { inTime } from '../../policy/inTime.ts';

/** The pipes of a process that has exited. */
export interface LeftPipes {
  readonly clock: Clock;
  /** Resolves when all of them have ended, whatever their reader does. Never rejects. */
  readonly ended: Promise<unknown>;
  /** Counts the bytes that have come out of them since the exit. */
  readonly bytes: () => number;
  /** Tells whether a process is seen that may hold one of them. Never rejects. */
  readonly isHeld: () => Promise<boolean>;
  /** Time in ms that they may bring nothing once a holder is seen. */
  readonly quietMs: number;
  /** The same where no holder is seen, as one that runs in another namespace, in ms. @defaultValue 10000 */
  readonly unseenMs?: number | undefined;
}

/** End of the reading of pipes: by itself, or given up because a process that goes on holds one of them. */
export type OutputEnd = 'ended' | 'held';

/** Length of one turn that is counted, in ms. */
const stepMs = 20;
/** More than pipes hold, in bytes: what comes after that was written by a process that goes on. */
export const mostLeft = 1_048_576;

/**
 * Resolves when the pipes have ended. The system ends a pipe as its last holder exits, so that one which brings neither bytes nor its
 * end is held by another process; only turns in which the event loop has asked the system and got nothing are counted, each as one step
 * however long it took: a loop that stood still has not listened.
 */
export async function endOfOutput(pipes: LeftPipes): Promise<OutputEnd> {
  const { clock, bytes, isHeld, quietMs, unseenMs = 10_000 } = pipes;
  const last = Math.max(quietMs, unseenMs);
  let hasEnded = false;
  const ended = pipes.ended.then(() => {
    hasEnded = true;
  });
  const step = Math.max(1, Math.min(stepMs, quietMs));
  let quiet = 0;
  let lookAt = quietMs;
  for (let before = bytes(); ; before = bytes()) {
    await inTime(ended, { clock, limitMs: step });
    if (!hasEnded) await polled(clock);
    if (hasEnded) return 'ended';
    if (bytes() !== before && bytes() <= mostLeft) continue;
    quiet += step;
    if (quiet < lookAt) continue;
    const isSeen = await isHeld();
    // The process that held it when the others were asked may have ended since.
    await polled(clock);
    if (hasEnded) return 'ended';
    if (bytes() <= mostLeft && bytes() !== before) continue;
    if (isSeen || quiet >= last) return 'held';
    lookAt = Math.min(last, Math.max(2 * quiet, stepMs));
  }
}

/** Resolves when the event loop has asked the system for what is there, from its start to its end: the turn that runs may have asked before. */
export function polled(clock: Pick<Clock, 'nextTurn'>): Promise<void> {
  return new Promise((resolve) => {
    clock.nextTurn(() => clock.nextTurn(resolve));
  });
}
