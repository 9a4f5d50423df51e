import { describe, expect, it } from 'vitest';
import { worker } from '../actors.ts';
import { startRoot } from '../startRoot.ts';

const backoff = { baseMs: 1000, factor: 2, maxMs: 60_000, jitter: 0 };

describe('a restart that is hastened', () => {
  it('[V-4] [P-3] comes on the next turn, and the series goes on', async () => {
    const { root, clock, crash, told } = startRoot([{ id: 'a', logic: worker, backoff }]);
    crash('a');
    await clock.settle();
    root.hasten('a');
    await clock.settle();
    expect(root.state('a')).toBe('running');
    crash('a');
    await clock.settle();
    expect(told('child.restarting').at(-1)).toMatchObject({ restarts: 2, delayMs: 2000 });
  });

  it('[V-4] [P-3] comes once: not again at its own time', async () => {
    const { root, clock, crash, journal } = startRoot([{ id: 'a', logic: worker, backoff }]);
    crash('a');
    await clock.settle();
    root.hasten('a');
    root.hasten('a');
    await clock.advance(5000);
    expect(journal).toEqual(['+a', '!a', '+a']);
  });

  it('[V-4] [P-3] leaves those alone that wait for none', async () => {
    const { root, clock, journal } = startRoot([{ id: 'a', logic: worker, backoff }]);
    root.hasten('a');
    root.hasten('unknown');
    await root.stopChild('a');
    root.hasten('a');
    await clock.advance(5000);
    expect(journal).toEqual(['+a', '-a']);
  });
});
