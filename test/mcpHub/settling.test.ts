import { describe, expect, it } from 'vitest';
import { settling } from '../../src/mcpHub/settling.ts';
import { SimulatedClock } from '../../src/testing/simulatedClock.ts';
import { deferred } from '../support/deferred.ts';

function start(count: number) {
  const clock = new SimulatedClock();
  const servers = Array.from({ length: count }, () => deferred<boolean>());
  let over = false;
  void settling(
    clock,
    servers.map(({ promise }) => promise),
  ).then(() => (over = true));
  return { clock, isOver: () => over, answers: (at: number, done = true) => servers[at]?.resolve(done) };
}

describe('the wait for several servers', () => {
  it('[P-8] ends a second after one was done and no other since', async () => {
    const { clock, isOver, answers } = start(3);
    answers(0);
    await clock.advance(900);
    answers(1);
    await clock.advance(999);
    expect(isOver()).toBe(false);
    await clock.advance(1);
    expect(isOver()).toBe(true);
  });

  it('[P-8] ends after three seconds in any case; one that says no does not shorten it', async () => {
    const { clock, isOver, answers } = start(2);
    answers(0, false);
    await clock.advance(2999);
    expect(isOver()).toBe(false);
    await clock.advance(1);
    expect(isOver()).toBe(true);
  });

  it('[P-8] ends at once when all have answered', async () => {
    const { clock, isOver, answers } = start(2);
    answers(0, false);
    answers(1);
    await clock.advance(0);
    expect(isOver()).toBe(true);
  });
});
