import { describe, expect, it } from 'vitest';
import { inSample, type Place } from './sample.ts';

const places: readonly Place[] = Array.from({ length: 4000 }, (_, line) => ({
  file: 'src/calls/call.ts',
  mutator: 'ConditionalExpression',
  replacement: 'true',
  location: { start: { line, column: 2 }, end: { line, column: 9 } },
}));
const drawn = (seed: number, share: number) => places.filter((place) => inSample({ seed, share }, place));

describe('a sample of changes', () => {
  it('[Q-3] has its share of all places, evenly', () => {
    expect(drawn(1, 10).length).toBeGreaterThan(340);
    expect(drawn(1, 10).length).toBeLessThan(460);
    const early = drawn(1, 10).filter(({ location }) => location.start.line < 2000).length;
    expect(early / drawn(1, 10).length).toBeGreaterThan(0.4);
    expect(drawn(1, 100)).toHaveLength(4000);
  });

  it('[Q-3] is the same again by its seed, and another by another', () => {
    expect(drawn(1, 10)).toEqual(drawn(1, 10));
    expect(drawn(2, 10)).not.toEqual(drawn(1, 10));
  });

  it('[Q-3] has what a smaller one of its seed has', () => {
    const larger = new Set(drawn(1, 20));
    for (const place of drawn(1, 5)) expect(larger).toContain(place);
  });
});
