import { describe, expect, it } from 'vitest';
import { foldedLines } from '../../cli/replay.ts';
import type { ReplayLine } from '../../incident/replay/compare.ts';

/** A timeline of so many lines, of which those at these places differ. */
function timeline(length: number, differing: readonly number[]): readonly ReplayLine[] {
  return Array.from({ length }, (_, index) => ({ of: `kb-${index}`, isSame: !differing.includes(index) }));
}

const shown = (lines: readonly ReplayLine[]): readonly (string | number)[] =>
  foldedLines(lines).map((line) => (typeof line === 'number' ? line : line.of));

describe('the timeline of a replay', () => {
  it('[O-16] is folded to what differs and three lines around it', () => {
    const around = ['kb-17', 'kb-18', 'kb-19', 'kb-20', 'kb-21', 'kb-22', 'kb-23'];
    expect(shown(timeline(40, [20]))).toEqual([17, ...around, 16]);
    // A short run is not worth a fold.
    expect(shown(timeline(10, [0, 9]))).toEqual(timeline(10, []).map(({ of }) => of));
    expect(shown(timeline(11, [0, 10]))[4]).toBe(3);
  });

  it('[O-16] is one line where all of it is the same, unless it is short', () => {
    expect(shown(timeline(40, []))).toEqual([40]);
    expect(shown(timeline(12, []))).toHaveLength(12);
    expect(shown(timeline(13, []))).toEqual([13]);
    expect(shown([])).toEqual([]);
  });

  it('[O-16] shows what came after the record', () => {
    const lines = [...timeline(20, []), { of: 'circuit of kb', isSame: false, isAfterEnd: true as const }];
    expect(shown(lines)).toEqual([17, 'kb-17', 'kb-18', 'kb-19', 'circuit of kb']);
  });
});
