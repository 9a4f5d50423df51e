import { expect, it } from 'vitest';
import { SimulatedClock } from '../../testing/simulatedClock.ts';

it.each([-1, Number.NaN, Number.POSITIVE_INFINITY])('[U-5] a simulated clock does not go by %d', async (ms) => {
  const clock = new SimulatedClock();
  const message = `Expected \`ms\` to be a number of at least 0, got ${ms}`;
  await expect(clock.advance(ms)).rejects.toThrow(message);
  expect(() => clock.stall(ms)).toThrow(message);
  expect(clock.now()).toBe(0);
});
