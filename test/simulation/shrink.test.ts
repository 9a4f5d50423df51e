import { describe, expect, it } from 'vitest';
import type { Result } from './play.ts';
import { report } from './report.ts';
import { shrink } from './shrink.ts';

const result = (seed: number, requirement: string | undefined): Result => {
  const violation = requirement === undefined ? undefined : { requirement, what: 'it broke', at: 5, lines: ['why'] };
  return { seed, violation, hash: '', lines: 1, simulatedMs: 5, calls: 1, reached: 60 };
};

describe('the fewest faults of a seed', () => {
  it('[Q-1] are those without which its promise is kept', async () => {
    const needed = [3, 17, 41];
    const play = (only: readonly number[]) =>
      Promise.resolve(result(1, needed.every((step) => only.includes(step)) ? 'I-1' : undefined));
    const fewest = await shrink(result(1, 'I-1'), play);
    expect(fewest?.only).toEqual(needed);
    expect(report(fewest as Result, '--whole ')).toMatch(
      /replay: npm run simulate -- --whole --seed 1 --only 3,17,41$/,
    );
  });

  it('[Q-1] may be none, and are not those of another promise', async () => {
    const none = await shrink(result(1, 'I-1'), () => Promise.resolve(result(1, 'I-1')));
    expect(none?.only).toEqual([]);
    expect(report(none as Result)).toMatch(/--seed 1 --only none$/);
    expect(await shrink(result(1, 'I-1'), () => Promise.resolve(result(1, 'I-3')))).toBeUndefined();
  });
});
