import type { Clock, Timer } from '../policy/clock.ts';
import { inTime } from '../policy/inTime.ts';

/** Time that those that are late may take after one that was not, in ms: programs that are started together do not come up within the same moment. */
const graceMs = 1000;
/** Longest that anybody is waited for, in ms. */
const longestMs = 3000;

/**
 * Waits for several servers without waiting long for one that hangs: until all are done, or none has been for a second after one was, or for three.
 * @param each - resolves with whether the server did what it was to do; one that says no keeps nobody waiting, and nobody from coming.
 */
export async function settling(clock: Clock, each: readonly Promise<boolean>[]): Promise<void> {
  let stop = (): void => undefined;
  const quiet = new Promise<void>((resolve) => (stop = resolve));
  let timer: Timer | undefined;
  let isOver = false;
  for (const one of each) {
    void one.then((done) => {
      if (!done || isOver) return;
      clock.clearTimeout(timer);
      timer = clock.setTimeout(stop, graceMs);
    });
  }
  await inTime(Promise.race([Promise.all(each), quiet]), { clock, limitMs: longestMs });
  isOver = true;
  clock.clearTimeout(timer);
}
