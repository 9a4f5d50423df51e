import { describe, expect, it } from 'vitest';
import type { ChildRecord } from '../../../src/policy/records/childRecord.ts';
import type { Engine } from './engine.ts';

const child: ChildRecord = {
  pid: 4711,
  start: '99@boot@ns',
  mark: '1.2.x.3',
  command: 'claude',
  startedAt: 1_767_225_600_000,
  ownerPid: 4700,
  ownerStart: '88@boot@ns',
};

/** What any engine has to do with live children. */
export function keepsChildren(engine: Engine): void {
  describe('children', () => {
    it('[S-8] are known to every runtime, at once', async () => {
      const { one, two, settle } = await engine.start();
      one.children.add(child);
      await settle();
      expect(await two.children.list()).toEqual([child]);
    });

    it('[S-8] are two where two processes had one pid', async () => {
      const { one, two, settle } = await engine.start();
      one.children.add(child);
      one.children.add({ ...child, start: '100@boot@ns' });
      await settle();
      two.children.remove(child);
      await two.flush();
      expect((await one.children.list()).map(({ start }) => start)).toEqual(['100@boot@ns']);
    });

    it('[S-8] are none when they ended before they were written', async () => {
      const { one, two } = await engine.start();
      one.children.add(child);
      one.children.remove(child);
      await one.flush();
      await one.children.reaped();
      expect(await two.children.list()).toEqual([]);
    });
  });
}
