import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { fc } from '../../support/property.ts';
import { describe, expect, it } from 'vitest';
import { TurnoverMap } from '../../../proxy/mcp/turnoverMap.ts';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as (options?: { type: 'minor' }) => void;

describe('a map with turnover', () => {
  it('[P-3] answers as a Map does, whatever comes and goes', () => {
    const step = fc.record({ key: fc.nat(700), deletes: fc.boolean() });
    fc.assert(
      fc.property(fc.array(step, { minLength: 1500, maxLength: 3000 }), (steps) => {
        const map = new Map<number, number>();
        const same = new TurnoverMap<number, number>();
        steps.forEach(({ key, deletes }, index) => {
          const [told, said] = [same, map].map((each) => (deletes ? each.delete(key) : void each.set(key, index)));
          expect([told, same.size, same.has(key), same.get(key)]).toEqual([said, map.size, map.has(key), map.get(key)]);
        });
        expect([...same.values()]).toEqual([...map.values()]);
      }),
      { numRuns: 20 },
    );
  });

  it('[P-3] lets go of what was in it without a full collection', () => {
    const map = new TurnoverMap<number, number[]>();
    for (let key = 0; key < 64; key++) map.set(key, []);
    collect();
    const before = process.memoryUsage().heapUsed;
    for (let key = 64; key < 20_000; key++) {
      map.set(
        key,
        Array.from({ length: 250 }, () => key),
      );
      map.delete(key - 64);
      if (key % 500 === 0) collect({ type: 'minor' });
    }
    // 40 MB went through it; what is still there is 64 entries, and those of the last table.
    expect(process.memoryUsage().heapUsed - before).toBeLessThan(15_000_000);
  });
});
