import { describe, expect, it } from 'vitest';
import { Repeats } from '../../../proxy/api/repeats.ts';

function startRepeats() {
  let now = 0;
  const repeats = new Repeats({ now: () => now });
  return {
    repeats,
    pass(ms: number) {
      now += ms;
    },
  };
}

describe('requests that follow a broken answer', () => {
  it('[E-7] wait longer with each one in a row, up to a bound', () => {
    const { repeats } = startRepeats();
    const delays = Array.from({ length: 6 }, () => {
      repeats.broke(['a']);
      return repeats.delayOf(['a']);
    });
    expect(delays).toEqual([500, 1000, 2000, 4000, 8000, 8000]);
    expect(repeats.delayOf(['b'])).toBe(0);
  });

  it('[E-7] are held back for what is left of the wait, and only when they come soon', () => {
    const { repeats, pass } = startRepeats();
    for (let count = 0; count < 4; count++) repeats.broke(['a']);
    pass(2000);
    expect(repeats.delayOf(['a'])).toBe(2000);
    pass(1);
    expect(repeats.delayOf(['a'])).toBe(0);
  });

  it('[E-7] begin anew after a minute, and after a whole answer', () => {
    const { repeats, pass } = startRepeats();
    repeats.broke(['a']);
    pass(60_000);
    repeats.broke(['a']);
    expect(repeats.delayOf(['a'])).toBe(1000);
    pass(60_001);
    repeats.broke(['a']);
    expect(repeats.delayOf(['a'])).toBe(500);
    repeats.ended(['a']);
    expect(repeats.delayOf(['a'])).toBe(0);
  });
});
