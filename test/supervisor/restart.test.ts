import { describe, expect, it } from 'vitest';
import { fromCallback } from 'xstate';
import type { ChildSpec, Restart } from '../../src/supervisor/childSpec.ts';
import { polite, worker } from './actors.ts';
import { startRoot } from './startRoot.ts';

const never = Number.POSITIVE_INFINITY;

/** One child `a` that crashes `times` times, each time as soon as it is back. */
const crashLoop = async (times: number, spec: Partial<ChildSpec> = {}, intensity = never) => {
  const started = startRoot([{ id: 'a', logic: worker, intensity: never, ...spec }], { intensity });
  for (let n = 0; n < times; n++) {
    started.crash('a');
    await started.clock.advance(started.node('a')?.nextRestartInMs ?? 0);
  }
  return started;
};

const delaysOf = ({ told }: ReturnType<typeof startRoot>) =>
  told('child.restarting').map((fact) => 'delayMs' in fact && fact.delayMs);

/** Starts well once, then throws at every start. */
const failingFromThe2nd = () => {
  let starts = 0;
  return fromCallback(({ receive }) => {
    if (starts++ > 0) throw new Error('cannot start');
    receive(() => {
      throw new Error('boom');
    });
  });
};

describe('the restart type', () => {
  it.each<[Restart, string, boolean]>([
    ['permanent', 'finish', true],
    ['permanent', 'fail', true],
    ['permanent', 'crash', true],
    ['permanent', 'xstate.stop', true],
    ['transient', 'finish', false],
    ['transient', 'fail', true],
    ['transient', 'crash', true],
    ['transient', 'xstate.stop', false],
    ['temporary', 'finish', false],
    ['temporary', 'fail', false],
    ['temporary', 'crash', false],
    ['temporary', 'xstate.stop', false],
  ])('[V-1] %s after `%s`: restarted is %s', async (restart, event, restarted) => {
    const { root, clock } = startRoot([{ id: 'a', logic: worker, restart }]);
    root.send('a', { type: event });
    await clock.advance(1000);
    expect(root.ref('a') !== undefined).toBe(restarted);
  });

  it('[V-1] permanent: restarted however often it ends normally', async () => {
    const { root, clock, node, told } = startRoot(
      [{ id: 'a', logic: worker, restart: 'permanent', intensity: never }],
      {
        intensity: never,
      },
    );
    for (let ends = 1; ends <= 4; ends++) {
      root.send('a', { type: 'finish' });
      await clock.advance(node('a')?.nextRestartInMs ?? 0);
      expect([ends, root.ref('a') !== undefined, told('child.restarting').length]).toEqual([ends, true, ends]);
    }
  });

  it.each<Restart>(['permanent', 'transient', 'temporary'])('[V-1] %s: not restarted when stopped', async (restart) => {
    const { root, clock } = startRoot([{ id: 'a', logic: worker, restart }]);
    await root.stopChild('a');
    await clock.advance(100_000);
    expect(root.ref('a')).toBeUndefined();
    expect(root.count().specs).toBe(restart === 'temporary' ? 0 : 1);
  });

  it('[V-1] temporary: its row goes with its end', () => {
    const { root } = startRoot([{ id: 'a', logic: worker, restart: 'temporary' }]);
    root.send('a', { type: 'finish' });
    expect(root.count().specs).toBe(0);
  });

  it('[V-1] tells a failed exit with the error it was given', () => {
    const { root, told } = startRoot([{ id: 'a', logic: worker }]);
    root.send('a', { type: 'fail' });
    expect(told('child.crashed')).toMatchObject([{ child: 'a', incarnation: 1, error: 'said so' }]);
  });
});

describe('the wait before a restart', () => {
  it('[V-4] is 100 ms at first: not at 99, at 100', async () => {
    const { root, clock, crash } = startRoot([{ id: 'a', logic: worker }]);
    crash('a');
    await clock.advance(99);
    expect(root.ref('a')).toBeUndefined();
    await clock.advance(1);
    expect(root.ref('a')).toBeDefined();
  });

  it('[V-4] doubles with each crash of a series', async () => {
    expect(delaysOf(await crashLoop(10))).toEqual([100, 200, 400, 800, 1600, 3200, 6400, 12_800, 25_600, 30_000]);
  });

  it('[V-4] goes on doubling when the starts themselves fail', async () => {
    const started = startRoot([{ id: 'a', logic: failingFromThe2nd(), intensity: never }], { intensity: never });
    started.crash('a');
    await started.clock.advance(700);
    expect(delaysOf(started)).toEqual([100, 200, 400, 800]);
  });

  it.each([
    [59_999, 200],
    [60_000, 100],
  ])('[V-4] begins anew after 60 s stable: %s ms of life lead to %s ms', async (lifeMs, delayMs) => {
    const started = await crashLoop(1);
    await started.clock.advance(lifeMs);
    started.crash('a');
    expect(delaysOf(started)).toEqual([100, delayMs]);
  });

  it('[V-4] begins anew when the host says the child is stable', async () => {
    const started = await crashLoop(3);
    started.root.markStable('a');
    started.crash('a');
    expect(delaysOf(started)).toEqual([100, 200, 400, 100]);
  });

  it('[V-4] can be the next turn of the event loop, never the same one', async () => {
    const { root, clock, crash } = startRoot([{ id: 'a', logic: worker, backoff: { firstImmediate: true } }]);
    crash('a');
    expect(root.ref('a')).toBeUndefined();
    await clock.settle();
    expect(root.ref('a')).toBeDefined();
  });

  it('[V-4] is forgotten when the child is stopped meanwhile', async () => {
    const { root, clock, crash, node } = startRoot([{ id: 'a', logic: worker }]);
    crash('a');
    await root.stopChild('a');
    expect(clock.pending).toBe(0);
    await clock.advance(1000);
    expect(node('a')).toMatchObject({ state: 'stopped', incarnation: 1 });
  });

  it('[V-4] is forgotten when the child is stopped in the turn of its restart', async () => {
    const { root, clock, crash } = startRoot([{ id: 'a', logic: worker, backoff: { firstImmediate: true } }]);
    crash('a');
    await root.stopChild('a');
    await clock.settle();
    expect(root.ref('a')).toBeUndefined();
  });

  it('[V-4] is cut short by a restart by hand, and does not start the child twice', async () => {
    const { root, clock, crash, node } = startRoot([{ id: 'a', logic: worker }]);
    crash('a');
    root.restartChild('a');
    await clock.settle();
    expect(node('a')).toMatchObject({ state: 'running', incarnation: 2 });
    expect(clock.pending).toBe(0);
    await clock.advance(1000);
    expect(node('a')?.incarnation).toBe(2);
  });
});

describe('the quarantine', () => {
  it('[V-3] takes the child at the fourth crash within 5 s, after exactly three restarts', async () => {
    const three = await crashLoop(3, { intensity: 3 });
    expect(three.node('a')?.state).toBe('running');
    three.crash('a');
    expect(three.node('a')).toMatchObject({ state: 'quarantined', restarts: 3, incarnation: 4, lastError: 'boom' });
    expect(three.told('child.quarantined')).toEqual([
      { type: 'child.quarantined', child: 'a', restarts: 3, error: 'boom' },
    ]);
  });

  it('[V-3] takes a child whose restarts fail', async () => {
    const started = startRoot([{ id: 'a', logic: failingFromThe2nd() }]);
    started.crash('a');
    await started.clock.advance(100_000);
    expect(started.node('a')).toMatchObject({ state: 'quarantined', restarts: 3 });
  });

  it('[V-3] takes at the first crash with an intensity of 0', async () => {
    expect((await crashLoop(1, { intensity: 0 })).node('a')).toMatchObject({ state: 'quarantined', restarts: 0 });
  });

  it.each([
    [4999, 'quarantined'],
    [5000, 'quarantined'],
    [5001, 'restarting'],
  ])('[V-3] judges a crash %s ms after the last one: %s', async (ms, state) => {
    const { clock, crash, node } = startRoot([{ id: 'a', logic: worker, intensity: 1 }]);
    crash('a');
    await clock.advance(ms);
    crash('a');
    expect(node('a')?.state).toBe(state);
  });

  it('[V-3] lasts until it is released by hand, with a new window and series', async () => {
    const started = await crashLoop(4, { intensity: 3 });
    await started.clock.advance(1_000_000);
    expect(started.node('a')?.state).toBe('quarantined');
    started.root.restartChild('a');
    await started.clock.settle();
    expect(started.node('a')).toMatchObject({ state: 'running', incarnation: 5 });
    started.crash('a');
    expect(delaysOf(started)).toEqual([100, 200, 400, 100]);
  });

  it('[V-3] ends by time where the spec says so', async () => {
    const { clock, crash, node } = startRoot([{ id: 'a', logic: worker, intensity: 0, quarantineMs: 60_000 }]);
    crash('a');
    expect(node('a')).toMatchObject({ state: 'quarantined', nextRestartInMs: 60_000 });
    await clock.advance(59_999);
    expect(node('a')?.state).toBe('quarantined');
    await clock.advance(1);
    expect(node('a')?.state).toBe('running');
  });

  it('[V-3] that ends by time begins a new window', async () => {
    const { clock, crash, node } = startRoot([{ id: 'a', logic: worker, intensity: 1, quarantineMs: 1000 }]);
    crash('a');
    await clock.advance(100);
    crash('a');
    expect(node('a')?.state).toBe('quarantined');
    await clock.advance(1000);
    crash('a');
    expect(node('a')?.state).toBe('restarting');
  });

  it('[V-3] leaves the siblings alone', async () => {
    const { clock, crash, node } = startRoot([
      { id: 'a', logic: worker, intensity: 0 },
      { id: 'b', logic: worker },
    ]);
    crash('a');
    await clock.advance(1000);
    expect(node('b')).toMatchObject({ state: 'running', incarnation: 1, restarts: 0 });
  });
});

describe('the window of a root supervisor', () => {
  it('[V-3] allows 30 restarts in 10 s; at the next one it puts the child aside and goes on', async () => {
    const started = await crashLoop(30, { backoff: { maxMs: 100 } }, 30);
    expect(started.node('a')).toMatchObject({ state: 'running', restarts: 30 });
    started.crash('a');
    expect(started.told('supervisor.gave_up')).toEqual([
      { type: 'supervisor.gave_up', supervisor: 'root', child: 'a', restarts: 30, periodMs: 10_000 },
    ]);
    expect(started.node('a')?.state).toBe('quarantined');
    expect(started.root.tree().state).toBe('running');
  });

  it('[V-3] never has a child answer for another: one that is at its limit goes on when a neighbour fails', async () => {
    const started = await crashLoop(5, {}, 5);
    started.root.startChild({ id: 'b', logic: worker });
    started.crash('b');
    expect(started.told('supervisor.gave_up')).toEqual([]);
    await started.clock.advance(100);
    expect(['a', 'b'].map((id) => started.node(id)?.state)).toEqual(['running', 'running']);
    started.crash('a');
    expect(started.node('a')?.state).toBe('quarantined');
    expect(started.told('supervisor.gave_up')).toMatchObject([{ child: 'a' }]);
  });

  it('[V-3] gives the siblings their room back when one goes to quarantine', async () => {
    const started = await crashLoop(4, { intensity: 3 }, 3);
    started.root.startChild({ id: 'b', logic: worker });
    started.crash('b');
    expect(started.node('b')?.state).toBe('restarting');
    expect(started.told('supervisor.gave_up')).toEqual([]);
  });

  it('[V-3] forgives a child that was released from quarantine', async () => {
    const started = await crashLoop(4, { intensity: 3 }, 3);
    started.root.startChild({ id: 'b', logic: worker });
    started.root.restartChild('a');
    await started.clock.settle();
    started.crash('b');
    expect(started.told('supervisor.gave_up')).toEqual([]);
    expect(started.node('a')?.state).toBe('running');
  });

  it('[V-3] never blames a child that was stopped since', async () => {
    const started = await crashLoop(3, {}, 3);
    await started.root.stopChild('a');
    started.root.startChild({ id: 'b', logic: worker });
    started.crash('b');
    expect(started.node('a')?.state).toBe('stopped');
    expect(started.node('b')?.state).toBe('restarting');
  });
});

describe('a restart by hand', () => {
  it('[V-6] stops a live child in order first', async () => {
    const { root, clock, journal, node } = startRoot([{ id: 'a', logic: polite }]);
    root.restartChild('a');
    await clock.settle();
    expect(journal).toEqual(['+a', '-a', '+a']);
    expect(node('a')).toMatchObject({ state: 'running', incarnation: 2, restarts: 0 });
  });

  it('[V-4] begins a new series', async () => {
    const started = await crashLoop(3);
    started.root.restartChild('a');
    await started.clock.settle();
    started.crash('a');
    expect(delaysOf(started)).toEqual([100, 200, 400, 100]);
  });

  it('[V-6] gives way to a stop, which leaves nothing of a temporary child', async () => {
    const { root, clock } = startRoot([{ id: 'a', logic: worker, restart: 'temporary' }]);
    root.restartChild('a');
    await root.stopChild('a');
    expect(root.count().specs).toBe(0);
    await clock.settle();
    expect(root.ref('a')).toBeUndefined();
  });

  it('[V-6] leaves a child alone that is starting', async () => {
    const { root, clock, node } = startRoot([]);
    root.startChild({ id: 'a', logic: worker, onStart: () => root.restartChild('a') });
    await clock.settle();
    expect(node('a')).toMatchObject({ state: 'running', incarnation: 1 });
  });

  it('[V-6] brings a stopped child back', async () => {
    const { root, clock } = startRoot([{ id: 'a', logic: polite }]);
    await root.stopChild('a');
    root.restartChild('a');
    await clock.settle();
    expect(root.ref('a')).toBeDefined();
  });

  it('[V-6] refuses an id it does not know', () => {
    expect(() => startRoot([]).root.restartChild('a')).toThrow(/`root` has no child `a`/);
  });
});
