import { describe, expect, it } from 'vitest';
import { identify, seeWorld } from '../../../src/actors/process/processIdentity.ts';
import type { Fact } from '../../../src/policy/facts/facts.ts';
import type { RuntimeRow } from '../../../src/store/runtimes.ts';
import { type Engine, settled, type StartedEngine } from './engine.ts';

const now = Date.UTC(2026, 0, 1);
const world = await seeWorld();
const self = identify(world, process.pid);

const [time = '', ...where] = self.start.split('@');
/** Of an earlier process with our pid. */
const otherStart = [`${time}0`, ...where].join('@');
const noFact = (): readonly Fact[] => {
  throw new Error('Nothing is to be recorded');
};

const run = (id: string, more: Partial<RuntimeRow> = {}): RuntimeRow => ({
  id,
  pid: process.pid,
  processStart: self.start,
  startedAt: now,
  renewedAt: now,
  name: 'gateway.mjs',
  socket: undefined,
  ...more,
});

/** What any engine has to do with the runs of runtimes. */
export function keepsRuntimes(engine: Engine): void {
  async function startWith(...runs: readonly RuntimeRow[]): Promise<StartedEngine> {
    const started = await engine.start();
    for (const each of runs) started.one.runtimes.enter(each);
    await started.settle();
    return started;
  }

  describe('runtimes', () => {
    it('[L-5] are entered for every runtime to see, and renewed as one', async () => {
      const started = await startWith(run('one', { pid: 11 }), run('two', { pid: 12 }));
      started.one.runtimes.enter(run('one', { pid: 11, renewedAt: now + 60_000 }));
      await started.settle();
      expect((await started.two.runtimes.pids()).toSorted((a, b) => a - b)).toEqual([11, 12]);
    });

    it('[L-5] leave when they stop', async () => {
      const started = await startWith(run('one', { pid: 11 }), run('two', { pid: 12 }));
      started.one.runtimes.leave('one');
      await started.settle();
      expect(await started.two.runtimes.pids()).toEqual([12]);
    });

    it('[L-5] lose those that died without leaving, and no others', async () => {
      // Of a pid that was given to another process, of ourselves, and of a process that cannot be judged but was renewed of late.
      const dead = run('dead', { processStart: otherStart });
      const elsewhere = run('elsewhere', { pid: 13, processStart: '' });
      const started = await startWith(dead, run('alive'), elsewhere);
      await settled(started, started.two.runtimes.removeDead(world, now + 299_999));
      await started.settle();
      expect((await started.one.runtimes.pids()).toSorted((a, b) => a - b)).toEqual(
        [process.pid, 13].toSorted((a, b) => a - b),
      );
      await settled(started, started.two.runtimes.removeDead(world, now + 300_000));
      await started.settle();
      expect(await started.one.runtimes.pids()).toEqual([process.pid]);
    });

    it('[I-4] have the end of one that died recorded once, by the runtime that takes it off', async () => {
      const started = await startWith(run('dead', { processStart: otherStart }), run('alive'));
      const facts = ({ id }: RuntimeRow): readonly Fact[] => [{ type: 'listener.failed', event: id, error: 'it died' }];
      const looks = [started.one, started.two].map((store) => store.runtimes.removeDead(world, now, facts));
      const died = (await settled(started, Promise.all(looks))).flat();
      await started.settle();
      expect(died.map(({ id }) => id)).toEqual(['dead']);
      const events = await started.one.read({ limit: 10 });
      expect(events.map(({ metadata }) => metadata)).toMatchObject([{ event: 'dead' }]);
    });

    it('[I-4] that have left are none that died', async () => {
      const started = await startWith(run('left', { processStart: otherStart }));
      started.one.runtimes.leave('left');
      await started.settle();
      expect(await settled(started, started.two.runtimes.removeDead(world, now, noFact))).toEqual([]);
    });
  });
}
