import { expect, it } from 'vitest';
import { DeadlineQueue } from '../../src/calls/deadlineQueue.ts';
import { SimulatedClock } from '../../testing/simulatedClock.ts';
import { createAbandonedWork } from '../../workflow/abandonedWork.ts';

it('[I-3] work that is given up after the end of its run keeps no timer', async () => {
  const clock = new SimulatedClock();
  const deadlines = new DeadlineQueue(clock);
  const abandoned = createAbandonedWork({ clock, deadlines }, 5000, () => undefined);
  const [before, after] = [abandoned.begin(), abandoned.begin()];
  before.givenUp();
  expect(deadlines.size).toBe(1);
  abandoned.stop();
  after.givenUp();
  await clock.settle();
  expect([deadlines.size, abandoned.size, clock.pending]).toEqual([0, 0, 0]);
});
