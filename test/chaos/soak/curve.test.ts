import { describe, expect, it } from 'vitest';
import { judgeCurves, slopeOf } from './curve.mjs';

const minutes = 60;
/** An hour, a sample each 5 s. */
const hourOf = (valueAt: (minute: number) => number) =>
  Array.from({ length: minutes * 12 }, (_, index) => ({ at: index * 5000, heap: valueAt(index / 12) }));
const rises = (valueAt: (minute: number) => number): boolean | undefined =>
  judgeCurves([{ name: 'gateway', samples: hourOf(valueAt) }], 1 / 6)[0]?.rises;

const level = 30e6;
/** As a heap breathes: not by chance, and without a period that fits. */
const breath = (minute: number): number => 4e6 * Math.abs(Math.sin(minute * 37.7));

describe('the judge of a soak', () => {
  it('[Q-7] has nothing against a curve that is flat, that breathes, or that has come to its level in the first ten minutes', () => {
    expect(rises(() => level)).toBe(false);
    expect(rises((minute) => level + breath(minute))).toBe(false);
    expect(rises((minute) => level * Math.min(1, 0.5 + minute / 20))).toBe(false);
  });

  it('[Q-7] has nothing against more work for a while, nor against a curve that falls', () => {
    expect(rises((minute) => level + breath(minute) + (minute > 40 && minute < 50 ? 20e6 : 0))).toBe(false);
    expect(rises((minute) => level - minute * 1e5)).toBe(false);
  });

  it.each([
    ['steadily', (minute: number) => level + breath(minute) + minute * 60_000],
    ['by a step that stays', (minute: number) => level + breath(minute) + (minute > 35 ? 5e6 : 0)],
    ['as a saw whose teeth grow from below', (minute: number) => level + minute * 60_000 + (minute % 3) * 2e6],
  ])('[Q-7] notices one that rises %s', (_, valueAt) => {
    expect(rises(valueAt)).toBe(true);
  });

  it('[Q-7] allows two parts in a hundred of the level, and a little', () => {
    const [judged] = judgeCurves([{ name: 'gateway', samples: hourOf(() => level) }], 1 / 6);
    expect(judged).toMatchObject({ name: 'gateway', quantity: 'heap', allowed: level * 0.02 + 1.5e6 });
    expect(judged?.text).toBe(
      'gateway: heap after a collection rises by 0 MB from a level of 30 MB, and may by 2.1 MB',
    );
  });

  it('[Q-7] draws the line that most pairs agree on', () => {
    expect(
      slopeOf([
        [0, 0],
        [1, 2],
        [2, 100],
        [3, 6],
      ]),
    ).toBe(2);
    expect(slopeOf([[0, 5]])).toBe(0);
  });
});
