import { describe, expect, it } from 'vitest';
import { DeadlineQueue, type Deadline } from '../../src/calls/deadlineQueue.ts';
import { report } from './report.ts';
import { simulate } from './simulate.ts';

describe('the simulation', () => {
  it('does the same again with the same seed, and something else with another', async () => {
    const [first, again, other] = [
      await simulate({ seed: 7 }),
      await simulate({ seed: 7 }),
      await simulate({ seed: 8 }),
    ];
    expect(again).toEqual(first);
    expect(other.hash).not.toBe(first.hash);
  });

  it('reports the promise that was not kept, the time, what led there, and how to see it again', async () => {
    class ForgetfulQueue extends DeadlineQueue {
      #set = 0;
      override set(deadline: Deadline): void {
        if (++this.#set % 5 !== 0) super.set(deadline);
      }
    }
    const createDeadlines = (clock: ConstructorParameters<typeof DeadlineQueue>[0]) => new ForgetfulQueue(clock);
    const result = await simulate({ seed: 1, createDeadlines });
    expect(result.violation?.lines.length).toBeGreaterThan(5);
    expect(report(result)).toMatch(
      /^seed 1: \[[A-Z]-\d+\] .+\nat [\d.]+ ms of simulated time, after\n[^]+\nreplay: npm run simulate -- --seed 1$/,
    );
  });
});
