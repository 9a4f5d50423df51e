import type { Clock } from '../src/policy/face.ts';

/** The time of this process, for what is used without a runtime: that of the runtime would bring all of it along. */
export const realClock: Pick<Clock, 'now' | 'setTimeout'> = {
  now: () => performance.now(),
  setTimeout: (callback, delayMs) => setTimeout(callback, delayMs).unref(),
};
