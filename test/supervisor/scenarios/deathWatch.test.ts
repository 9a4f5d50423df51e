import { describe, expect, it } from 'vitest';
import type { Exit } from '../../../src/supervisor/exit.ts';
import { worker } from '../actors.ts';
import { startRoot } from '../startRoot.ts';

const startWatched = () => {
  const notices: [Exit, number][] = [];
  const watcher = (exit: Exit, incarnation: number) => void notices.push([exit, incarnation]);
  return { ...startRoot([{ id: 'a', logic: worker }]), notices, watcher };
};
const boom = { reason: 'failure', error: new Error('boom') };

describe('a monitor', () => {
  it('[V-6] gives one notice with the exit, however often the child dies afterwards', async () => {
    const { root, clock, crash, notices, watcher } = startWatched();
    root.monitor('a', watcher);
    crash('a');
    await clock.advance(100);
    crash('a');
    await clock.settle();
    expect(notices).toEqual([[boom, 1]]);
  });

  it('[V-6] gives one notice for two watches of one callback', () => {
    const { root, crash, notices, watcher } = startWatched();
    root.monitor('a', watcher);
    root.monitor('a', watcher);
    crash('a');
    expect(notices).toHaveLength(1);
  });

  it('[V-6] gives the last end of a child that is already dead', async () => {
    const { root, clock, crash, notices, watcher } = startWatched();
    crash('a');
    root.monitor('a', watcher);
    expect(notices).toEqual([]);
    await clock.settle();
    expect(notices).toEqual([[boom, 1]]);
  });

  it('[V-6] says so for a child nobody knows', async () => {
    const { root, clock, notices, watcher } = startWatched();
    root.monitor('nobody', watcher);
    await clock.settle();
    expect(notices).toMatchObject([
      [{ reason: 'failure', error: { message: expect.stringContaining('nobody') as string } }, 0],
    ]);
  });

  it('[V-6] gives none after it was ended, be the child live or dead', async () => {
    const { root, clock, crash, notices, watcher } = startWatched();
    root.monitor('a', watcher)();
    crash('a');
    root.monitor('a', watcher)();
    await clock.settle();
    expect(notices).toEqual([]);
  });

  it('[V-7] that throws is told and hurts nobody', async () => {
    const { root, clock, crash, told, notices, watcher } = startWatched();
    root.monitor('a', () => {
      throw new Error('mine');
    });
    root.monitor('a', watcher);
    crash('a');
    expect(notices).toHaveLength(1);
    expect(told('listener.failed')).toMatchObject([{ event: 'monitor', error: 'mine' }]);
    await clock.advance(100);
    expect(root.ref('a')).toBeDefined();
  });
});
