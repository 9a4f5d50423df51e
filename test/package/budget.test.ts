import { describe, expect, it } from 'vitest';
import { misfits, slack } from '../../scripts/budget.mjs';

describe('the budget of lines', () => {
  it('[U-13] is kept by every room, and no row is above what its room has', () => {
    expect(misfits()).toEqual([]);
  });

  it('[U-13] is missed by a room that grew, shrank, has no row, or whose row says no reason', () => {
    const rows = { calls: { lines: 100, why: 'as it stood' } };
    expect(misfits(rows, { calls: 100 })).toEqual([]);
    expect(misfits(rows, { calls: 100 - slack })).toEqual([]);
    expect(misfits(rows, { calls: 101 })).toEqual([expect.stringContaining('raise the row and say why')]);
    expect(misfits(rows, { calls: 99 - slack })).toEqual([expect.stringContaining('node scripts/budget.mjs')]);
    expect(misfits({}, { calls: 1 })).toEqual([expect.stringContaining('no row')]);
    expect(misfits({ calls: { lines: 1, why: ' ' } }, { calls: 1 })).toEqual([expect.stringContaining('no `why`')]);
  });
});
