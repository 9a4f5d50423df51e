import type { Clock } from '../policy/clock.ts';

/** Longest slice, in ms: half of the 20 ms for which the event loop may be blocked, as what it leads to comes in the same turn. */
const sliceMs = 10;
/** Most items of a slice: what they tell fits into one commit. */
const mostItems = 200;

/**
 * Works through many items without blocking the event loop: in slices, with a turn of the loop after each. What is added meanwhile is worked
 * through too.
 * @param work - returns false to end it.
 */
export async function inSlices<T>(
  clock: Pick<Clock, 'now' | 'nextTurn'>,
  items: readonly T[],
  work: (item: T) => boolean,
): Promise<void> {
  let begun = clock.now();
  let done = 0;
  for (const item of items) {
    if (!work(item)) return;
    done++;
    if (done < mostItems && clock.now() - begun < sliceMs) continue;
    await new Promise<void>((resolve) => {
      clock.nextTurn(resolve);
    });
    begun = clock.now();
    done = 0;
  }
}
