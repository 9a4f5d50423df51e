import { describe, expect, it } from 'vitest';
import { usualMostMs } from '../../../testing/demo/fault.ts';
import { faults } from '../../../testing/demo/faults.ts';
import { faultNames } from '../../../testing/demo/faultNames.ts';

describe('the faults of the tour', () => {
  it('are those that the command line names, in that order', () => {
    expect(faults.map(({ name }) => name)).toEqual(faultNames);
  });

  it('all say how their call must end and what must be recorded', () => {
    for (const { expected } of faults) {
      expect(expected.mostMs ?? usualMostMs).toBeGreaterThan((expected.leastMs ?? 0) + 2000);
      expect(expected.records).not.toEqual([]);
    }
  });
});
