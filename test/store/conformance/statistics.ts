import { describe, expect, it } from 'vitest';
import { type CallFiguresRow, noFigures } from '../../../src/policy/records/callFigures.ts';
import type { Engine } from './engine.ts';

const minute = 29_000_000 * 60_000;
const row: CallFiguresRow = {
  integration: 'kb',
  tool: undefined,
  minute,
  ...noFigures,
  succeeded: 2,
  failed: { timeout: 1 },
  took: [10, 2],
};

/** What any engine has to do with figures of calls. */
export function keepsStatistics(engine: Engine): void {
  describe('figures of calls', () => {
    it('[O-10] add up by integration, tool and minute, over all runtimes', async () => {
      const { one, two } = await engine.start();
      one.statistics.add([row, { ...row, tool: 'read' }, { ...row, minute: minute + 60_000 }]);
      await one.flush();
      two.statistics.add([{ ...row, failed: { timeout: 1, auth: 3 }, took: [9, 1, 10, 1], retries: 5 }]);
      await two.flush();
      const rows = await one.statistics.read(minute);
      expect(rows).toHaveLength(3);
      expect(rows.find(({ tool, minute: at }) => tool === undefined && at === minute)).toEqual({
        ...row,
        succeeded: 4,
        failed: { timeout: 2, auth: 3 },
        retries: 5,
        took: [9, 1, 10, 3],
      });
      expect(rows.find(({ tool }) => tool === 'read')).toEqual({ ...row, tool: 'read' });
    });

    it('[O-12] add up to totals, over all minutes and runtimes', async () => {
      const { one, two } = await engine.start();
      one.statistics.add([row, { ...row, tool: 'read' }]);
      await one.flush();
      two.statistics.add([{ ...row, minute: minute + 60_000, restarts: 1 }]);
      await two.flush();
      const { integration, tool, succeeded, failed, fellBack, refused, retries, restarts, took, firstChunk } = row;
      const total = { integration, tool, succeeded, failed, fellBack, refused, retries, restarts, took, firstChunk };
      expect(await one.statistics.totals()).toEqual([
        { ...total, succeeded: 4, failed: { timeout: 2 }, took: [10, 4], restarts: 1 },
        { ...total, tool: 'read' },
      ]);
    });

    it('[O-10] are read from a minute on', async () => {
      const { one } = await engine.start();
      one.statistics.add([row, { ...row, minute: minute + 60_000 }]);
      await one.flush();
      expect((await one.statistics.read(minute + 1)).map((each) => each.minute)).toEqual([minute + 60_000]);
    });
  });
}
