import { describe, expect, it, vi } from 'vitest';
import { fromCallback, fromPromise, setup } from 'xstate';
import { supervisorSpec } from '../../src/supervisor/supervisorLogic.ts';
import { polite, stubborn, worker } from './actors.ts';
import { startRoot } from './startRoot.ts';

const reasons = ({ told }: ReturnType<typeof startRoot>) =>
  told('child.stopped').map((fact) => 'reason' in fact && fact.reason);

/** Whether a promise has settled, asked now. */
const settled = (promise: Promise<unknown>) => {
  const state = { done: false };
  void promise.then(() => (state.done = true));
  return state;
};

describe('the stop of a child', () => {
  it('[V-5] asks a machine that takes `shutdown`, and waits for its final state', async () => {
    const started = startRoot([{ id: 'a', logic: polite }]);
    const { root, clock, node } = started;
    await root.stopChild('a');
    expect(reasons(started)).toEqual(['shutdown']);
    expect(node('a')?.state).toBe('stopped');
    expect(clock.pending).toBe(0);
  });

  it.each([
    ['a machine that cannot take it', worker],
    ['a callback', fromCallback(() => {})],
    ['a promise', fromPromise(() => new Promise(() => {}))],
    [
      'a machine whose guard throws on it',
      setup({}).createMachine({
        on: {
          shutdown: {
            guard: () => {
              throw new Error('boom');
            },
          },
        },
      }),
    ],
  ])('[V-5] stops %s at once', async (_name, logic) => {
    const started = startRoot([{ id: 'a', logic }]);
    await started.root.stopChild('a');
    expect(started.root.ref('a')).toBeUndefined();
    expect(reasons(started)).toEqual(['shutdown']);
  });

  it('[V-5] kills a stubborn child after exactly its limit', async () => {
    const started = startRoot([{ id: 'a', logic: stubborn, shutdown: 700 }]);
    const stop = settled(started.root.stopChild('a'));
    await started.clock.advance(699);
    expect([stop.done, started.node('a')?.state]).toEqual([false, 'stopping']);
    await started.clock.advance(1);
    expect(stop.done).toBe(true);
    expect(reasons(started)).toEqual(['killed']);
  });

  it('[V-5] has a limit of 5 s by default', async () => {
    const { root, clock } = startRoot([{ id: 'a', logic: stubborn }]);
    void root.stopChild('a');
    await clock.advance(4999);
    expect(root.ref('a')).toBeDefined();
    await clock.advance(1);
    expect(root.ref('a')).toBeUndefined();
  });

  it('[V-5] keeps the process alive while it waits', () => {
    const { root, clock } = startRoot([{ id: 'a', logic: stubborn }]);
    const setTimeout = vi.spyOn(clock, 'setTimeout');
    void root.stopChild('a');
    expect(setTimeout.mock.calls.map((call: unknown[]) => call[2])).toEqual([{ ref: true }]);
  });

  it('[V-5] does not ask a brutal_kill child', async () => {
    const started = startRoot([{ id: 'a', logic: polite, shutdown: 'brutal_kill' }]);
    await started.root.stopChild('a');
    expect(reasons(started)).toEqual(['killed']);
  });

  it('[V-5] waits with infinity until the child is ready, within the limit of the whole stop', async () => {
    const { root, clock } = startRoot([{ id: 'a', logic: stubborn, shutdown: 'infinity' }]);
    const stop = settled(root.stopChild('a'));
    await clock.advance(59_999);
    expect(stop.done).toBe(false);
    await clock.advance(1);
    expect(stop.done).toBe(true);
  });

  it('[V-5] ends by a crash on the way out, which is told and not restarted', async () => {
    const started = startRoot([{ id: 'a', logic: stubborn }]);
    const stop = settled(started.root.stopChild('a'));
    started.crash('a');
    await started.clock.advance(60_000);
    expect(stop.done).toBe(true);
    expect(started.told('child.crashed')).toHaveLength(1);
    expect(reasons(started)).toEqual(['failure']);
    expect(started.node('a')).toMatchObject({ state: 'stopped', incarnation: 1 });
  });

  it('[V-5] takes one that leaves by another door', async () => {
    const { root, clock } = startRoot([{ id: 'a', logic: stubborn }]);
    const stop = settled(root.stopChild('a'));
    root.ref('a')?.send({ type: 'xstate.stop' });
    await clock.settle();
    expect(stop.done).toBe(true);
  });

  it('[V-5] is shared by all who ask for it, and resolves for unknown and stopped children', async () => {
    const { root, clock } = startRoot([{ id: 'a', logic: stubborn }]);
    const stops = [root.stopChild('a'), root.stopChild('a')].map(settled);
    await clock.advance(5000);
    expect(stops.map(({ done }) => done)).toEqual([true, true]);
    await root.stopChild('a');
    await root.stopChild('nobody');
  });
});

describe('the stop of a supervisor', () => {
  it('[V-5] stops the children last first, one at a time', async () => {
    const { root, clock, journal } = startRoot([
      { id: 'c', logic: polite },
      { id: 'a', logic: stubborn, shutdown: 100 },
      { id: 'b', logic: stubborn, shutdown: 100 },
    ]);
    const stop = settled(root.stop());
    await clock.advance(100);
    expect(journal.slice(3)).toEqual(['-b']);
    await clock.advance(99);
    expect([stop.done, journal.length]).toEqual([false, 4]);
    await clock.advance(1);
    expect(journal.slice(3)).toEqual(['-b', '-a', '-c']);
    expect(stop.done).toBe(true);
  });

  it('[V-5] ends the root actor and leaves no timer', async () => {
    const { root, clock } = startRoot([{ id: 'a', logic: polite }]);
    await root.stop();
    expect(root.actor.getSnapshot().status).toBe('done');
    expect(root.tree().state).toBe('stopped');
    expect(clock.pending).toBe(0);
  });

  it('[V-5] is over within its own limit, whatever the children', async () => {
    const specs = Array.from({ length: 100 }, (_, n) => ({ id: `c${n}`, logic: stubborn }));
    const { root, clock } = startRoot(specs, { maxStopMs: 12_000 });
    const setTimeout = vi.spyOn(clock, 'setTimeout');
    const stop = settled(root.stop());
    await clock.advance(11_999);
    expect([stop.done, root.count().active]).toEqual([false, 98]);
    await clock.advance(1);
    expect([stop.done, root.count().active]).toEqual([true, 0]);
    expect(setTimeout.mock.calls.map(([, delayMs]) => delayMs)).toEqual([5000, 5000, 2000]);
  });

  it('[V-5] still asks those it has no time left for', async () => {
    const started = startRoot(
      [
        { id: 'a', logic: polite },
        { id: 'b', logic: stubborn },
      ],
      { maxStopMs: 1000 },
    );
    void started.root.stop();
    await started.clock.advance(1000);
    expect(started.told('child.stopped')).toMatchObject([
      { child: 'b', reason: 'killed' },
      { child: 'a', reason: 'shutdown' },
    ]);
  });

  it('[V-5] answers meanwhile', async () => {
    const { root, clock } = startRoot([
      { id: 'a', logic: worker },
      { id: 'b', logic: stubborn },
    ]);
    void root.stop();
    await clock.advance(2500);
    expect(root.tree()).toMatchObject({ state: 'stopping', children: [{ state: 'running' }, { state: 'stopping' }] });
    expect(root.send('a', { type: 'any' })).toBe(true);
  });

  it('[V-5] is idempotent', async () => {
    const { root, clock, journal } = startRoot([{ id: 'a', logic: stubborn }]);
    const stops = [root.stop(), root.stop()].map(settled);
    await clock.advance(5000);
    expect(stops.map(({ done }) => done)).toEqual([true, true]);
    await root.stop();
    expect(journal).toEqual(['+a', '-a']);
  });

  it('[V-5] sends nothing to actors that are over, its own included', async () => {
    const warn = vi.spyOn(console, 'warn').mockImplementation(() => {});
    const { root, clock } = startRoot([
      supervisorSpec('sub', { intensity: 0, children: [{ id: 'x', logic: worker }] }),
    ]);
    root.nested('sub')?.send('x', { type: 'crash' });
    await clock.advance(100);
    const stop = root.stop();
    root.actor.stop();
    await stop;
    expect(warn).not.toHaveBeenCalled();
    warn.mockRestore();
  });

  it('[V-5] is prompt in a hanging restart loop', async () => {
    const { root, clock, crash, node } = startRoot([{ id: 'a', logic: worker, backoff: { baseMs: 20_000 } }]);
    crash('a');
    expect(node('a')?.state).toBe('restarting');
    await root.stop();
    expect(clock.pending).toBe(0);
    await clock.advance(100_000);
    expect(node('a')).toMatchObject({ state: 'stopped', incarnation: 1 });
  });

  it('[V-5] may be asked for by a child, in the middle of its action', async () => {
    let stop: Promise<void> | undefined;
    const asking = setup({}).createMachine({ on: { ask: { actions: () => void (stop = started.root.stop()) } } });
    const started = startRoot([
      { id: 'a', logic: polite },
      { id: 'b', logic: asking },
    ]);
    started.root.send('b', { type: 'ask' });
    await stop;
    expect(started.journal.slice(2)).toEqual(['-b', '-a']);
  });

  it('[V-5] may be awaited by a child, which gets no more than its limit', async () => {
    const { root, clock } = startRoot([]);
    const waiting = setup({ actors: { stop: fromPromise(() => root.stop()) } }).createMachine({
      initial: 'a',
      states: {
        a: { on: { shutdown: 'b' } },
        b: { invoke: { src: 'stop', onDone: 'c', onError: 'c' } },
        c: { type: 'final' },
      },
    });
    root.startChild({ id: 'a', logic: waiting });
    const stop = settled(root.stop());
    await clock.advance(4999);
    expect(stop.done).toBe(false);
    await clock.advance(1);
    expect(stop.done).toBe(true);
  });

  it('[V-5] reports children that die for other reasons while it waits', async () => {
    const started = startRoot([
      { id: 'a', logic: worker },
      { id: 'b', logic: stubborn },
    ]);
    void started.root.stop();
    started.crash('a');
    await started.clock.advance(5000);
    expect(started.journal.slice(2)).toEqual(['!a', '-a', '-b']);
    expect(started.root.tree().state).toBe('stopped');
  });

  it('[V-5] survives the root actor being stopped by a stranger', async () => {
    const { root, journal } = startRoot([
      { id: 'a', logic: polite },
      { id: 'b', logic: stubborn },
    ]);
    root.actor.stop();
    expect(journal).toEqual(['+a', '+b', '-b', '-a']);
    await root.stop();
  });

  it('[V-5] leaves no restart behind when a stranger stops the root actor', () => {
    const { root, clock, crash } = startRoot([{ id: 'a', logic: worker }]);
    crash('a');
    root.actor.stop();
    expect(clock.pending).toBe(0);
  });

  it('[V-5] comes to an end when the root actor is stopped while it waits', async () => {
    const { root, journal } = startRoot([{ id: 'a', logic: stubborn }]);
    const stop = root.stop();
    root.actor.stop();
    await stop;
    expect(journal).toEqual(['+a', '-a']);
  });

  it('[V-8] lets the event loop turn between batches of many children', async () => {
    const { root, clock } = startRoot([]);
    for (let n = 0; n < 1000; n++) root.startChild({ id: `c${n}`, logic: worker });
    const stop = settled(root.stop());
    await Promise.resolve();
    expect([stop.done, root.count().active]).toEqual([false, 744]);
    await clock.settle();
    expect([stop.done, root.count().active]).toEqual([true, 0]);
  });
});
