import { expect, vi } from 'vitest';
import { worker } from './actors.ts';
import { startRoot } from './startRoot.ts';
import { visitsDuring } from './visits.ts';

/** Entries of maps gone through while so many children are started one by one, and while all are stopped. */
export async function visitsOf(count: number) {
  const { root, clock } = startRoot([]);
  const starting = visitsDuring(() => {
    for (let n = 0; n < count; n++) root.startChild({ id: `c${n}`, logic: worker, restart: 'temporary' });
  });
  const turns = vi.spyOn(clock, 'nextTurn');
  let stopped: Promise<void> | undefined;
  const stopping = await visitsDuring(async () => {
    stopped = root.stop();
    // Its batches are turns of the simulated loop.
    await clock.settle();
    await stopped;
  });
  expect(root.count().specs).toBe(0);
  return { starting: starting / count, stopping: stopping / count, turns: turns.mock.calls.length / count };
}
