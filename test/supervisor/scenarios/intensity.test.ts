import { describe, expect, it } from 'vitest';
import { fromCallback } from 'xstate';
import { addRestart, createRestartWindow } from '../../../src/supervisor/restartWindow.ts';
import { supervisorSpec } from '../../../src/supervisor/supervisorLogic.ts';
import type { Strategy } from '../../../src/supervisor/supervisorOptions.ts';
import { polite, worker } from '../actors.ts';
import { startRoot } from '../startRoot.ts';

const never = Number.POSITIVE_INFINITY;
const quick = { baseMs: 0 };

/** Starts well once, then fails at every start; bounded, so that a loop that is starved ends. */
const onceOnly = () => {
  let starts = 0;
  return fromCallback(({ receive }) => {
    if (starts++ > 0 && starts < 1000) throw new Error('cannot start');
    receive(() => {
      throw new Error('boom');
    });
  });
};

describe('the restart window', () => {
  it.each([0, 1, 3])(
    '[V-3] scenario 12: with an intensity of %s it allows so many and trips at the next',
    async (n) => {
      const { clock, crash, node } = startRoot([{ id: 'a', logic: worker, intensity: n }]);
      for (let crashes = 0; crashes < n; crashes++) {
        crash('a');
        expect(node('a')?.state).toBe('restarting');
        await clock.advance(500);
      }
      crash('a');
      expect(node('a')).toMatchObject({ state: 'quarantined', restarts: n });
    },
  );

  it.each([
    [999, 'quarantined'],
    [1000, 'quarantined'],
    [1001, 'restarting'],
  ])('[V-3] scenario 13: of 1 s it judges a crash %s ms after the last, to the millisecond', async (ms, state) => {
    const { clock, crash, node } = startRoot([{ id: 'a', logic: worker, intensity: 1, periodMs: 1000 }]);
    // Off the full second, where a window in whole seconds would be wrong.
    await clock.advance(300);
    crash('a');
    await clock.advance(ms);
    crash('a');
    expect(node('a')?.state).toBe(state);
  });

  it('[V-3] scenario 14: crashes spaced just outside of it never trip it', async () => {
    const backoff = { maxMs: 100 };
    const { clock, crash, node } = startRoot([{ id: 'a', logic: worker, intensity: 1, periodMs: 1000, backoff }]);
    for (let crashes = 0; crashes < 200; crashes++) {
      crash('a');
      await clock.advance(1001);
    }
    expect(node('a')).toMatchObject({ state: 'running', restarts: 200 });
  });

  it.each<Strategy>(['one_for_one', 'rest_for_one', 'one_for_all'])(
    '[V-3] [V-5] scenario 15: %s with a child that fails at every start shows it, refuses to delete it, and is stopped at once',
    async (strategy) => {
      const looping = { id: 'a', logic: onceOnly(), intensity: never };
      const { root, clock, crash, node } = startRoot([looping], { strategy, intensity: never });
      crash('a');
      await clock.advance(10_000);
      expect(node('a')?.state).toBe('restarting');
      expect(() => root.deleteChild('a')).toThrow(/it is restarting/);
      await root.stop();
      expect([root.tree().state, clock.pending]).toEqual(['stopped', 0]);
    },
  );

  it('[V-3] [V-5] scenario 15: a child that fails at every start without any wait can be stopped and brought back', async () => {
    const looping = { id: 'a', logic: onceOnly(), intensity: never, backoff: quick };
    const { root, clock, crash, node } = startRoot([looping], { intensity: never });
    let turns = 0;
    const later = (): void => void (++turns < 50 ? clock.nextTurn(later) : root.stopChild('a'));
    clock.nextTurn(later);
    crash('a');
    await clock.settle();
    expect(node('a')).toMatchObject({ state: 'stopped', restarts: 50 });
    root.restartChild('a');
    expect(node('a')?.state).toBe('restarting');
    await root.stop();
  });

  it('[V-3] scenario 16: a supervisor that trips stops all its children, its parent applies its own rule, up to the root', async () => {
    const inner = supervisorSpec('inner', {
      intensity: 0,
      children: ['x', 'y'].map((id) => ({ id, logic: polite })),
    });
    const outer = supervisorSpec('outer', { intensity: 0, children: [inner] });
    const { root, clock, journal, node } = startRoot([{ ...outer, intensity: 1 }]);
    const crashX = () => root.nested('outer')?.nested('inner')?.send('x', { type: 'crash' });
    journal.length = 0;
    crashX();
    await clock.settle();
    expect(journal).toEqual(['!x', '-y', '!inner', '!outer']);
    await clock.advance(100);
    expect(journal.slice(4)).toEqual(['+x', '+y', '+inner', '+outer']);
    crashX();
    await clock.advance(100_000);
    expect(node('outer')).toMatchObject({ state: 'quarantined', restarts: 1 });
    expect(root.tree().state).toBe('running');
  });

  it.each([
    ['permanent', 'running'],
    ['transient', 'running'],
    ['temporary', undefined],
  ] as const)('[V-3] scenario 16: a %s supervisor that trips has failed: it is %s then', async (restart, state) => {
    const spec = supervisorSpec('sub', { intensity: 0, children: [{ id: 'x', logic: worker }] });
    const { root, clock, node } = startRoot([{ ...spec, restart }]);
    root.nested('sub')?.send('x', { type: 'crash' });
    await clock.advance(100);
    expect(node('sub')?.state).toBe(state);
  });

  it('[V-3] scenario 17: keeps no more than its intensity, however many restarts there are', async () => {
    const window = createRestartWindow(30, 10);
    for (let now = 0; now < 10_000; now++) addRestart(window, now, 'a');
    expect(window.ring).toHaveLength(30);
    const endless = createRestartWindow(never, 10);
    for (let now = 0; now < 10_000; now++) addRestart(endless, now, 'a');
    expect(endless.ring).toHaveLength(0);
  });

  it('[V-3] [V-8] scenario 17: adds a restart in the same number of steps with 10 as with 10,000 in it', () => {
    const stepsWith = (kept: number): number => {
      const window = createRestartWindow(kept, 1_000_000);
      for (let now = 0; now < kept; now++) addRestart(window, now, 'a');
      let steps = 0;
      window.ring = new Proxy(window.ring, { get: (ring, key) => (steps++, Reflect.get(ring, key) as unknown) });
      addRestart(window, kept, 'a');
      return steps;
    };
    expect(stepsWith(10_000)).toBe(stepsWith(10));
  });
});
