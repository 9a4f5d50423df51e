import { describe, expect, it } from 'vitest';
import { type AnyActorLogic, type AnyActorRef, type Snapshot, fromCallback, fromPromise, setup } from 'xstate';
import { supervisorSpec } from '../../../src/supervisor/supervisorLogic.ts';
import { isSettled } from '../../support/deferred.ts';
import { polite, stubborn, worker } from '../actors.ts';
import { startRoot } from '../startRoot.ts';

const reasonsOf = ({ told }: ReturnType<typeof startRoot>) =>
  told('child.stopped').map((fact) => fact.type === 'child.stopped' && `${fact.child} ${fact.reason}`);

/** Throws when it is stopped. */
const throwingCleanup = fromCallback(() => () => {
  throw new Error('cleanup');
});

/** Is active before and after whatever happens. */
const indifferent: AnyActorLogic = {
  transition: (snapshot: Snapshot<unknown>) => snapshot,
  getInitialSnapshot: () => ({ status: 'active', output: undefined, error: undefined }),
  getPersistedSnapshot: (snapshot: Snapshot<unknown>) => snapshot,
};

describe('a child that ignores the stop', () => {
  it.each([1, 700, 5000])('[V-5] scenario 18: with a limit of %s ms is killed after exactly that', async (shutdown) => {
    const started = startRoot([{ id: 'a', logic: stubborn, shutdown }]);
    const stop = started.root.stop();
    await started.clock.advance(shutdown - 1);
    expect([await isSettled(stop), started.root.ref('a') !== undefined]).toEqual([false, true]);
    await started.clock.advance(1);
    expect(await isSettled(stop)).toBe(true);
    expect(reasonsOf(started)).toEqual(['a killed']);
  });

  it('[V-5] scenario 18: with `brutal_kill` is killed at once, unasked', async () => {
    const started = startRoot([{ id: 'a', logic: polite, shutdown: 'brutal_kill' }]);
    await started.root.stop();
    expect(reasonsOf(started)).toEqual(['a killed']);
  });

  it('[V-5] scenario 18: with `infinity` is waited for, as long as the whole stop may take', async () => {
    const started = startRoot([{ id: 'a', logic: stubborn, shutdown: 'infinity' }], { maxStopMs: 3_600_000 });
    const stop = started.root.stop();
    await started.clock.advance(3_599_999);
    expect(await isSettled(stop)).toBe(false);
    started.root.send('a', { type: 'finish' });
    expect(await isSettled(stop)).toBe(true);
    expect(reasonsOf(started)).toEqual(['a shutdown']);
  });

  it('[V-5] scenario 19: does not keep children that die of something else meanwhile from being told, nor the stop from its end', async () => {
    const started = startRoot([
      ...['crashes', 'fails', 'finishes', 'is stopped'].map((id) => ({ id, logic: worker })),
      { id: 'stubborn', logic: stubborn },
    ]);
    const stop = started.root.stop();
    for (const [id, type] of [
      ['crashes', 'crash'],
      ['fails', 'fail'],
      ['finishes', 'finish'],
      ['is stopped', 'xstate.stop'],
    ] as const) {
      started.root.send(id, { type });
    }
    await started.clock.advance(5000);
    await stop;
    expect(reasonsOf(started)).toEqual([
      'crashes failure',
      'fails failure',
      'finishes normal',
      'is stopped shutdown',
      'stubborn killed',
    ]);
    expect(started.told('child.restarting')).toEqual([]);
  });

  const detaching: Record<string, [AnyActorLogic, (ref: AnyActorRef | undefined) => void]> = {
    'is stopped by a stranger meanwhile': [stubborn, (ref) => ref?.send({ type: 'xstate.stop' })],
    'takes no notice of being stopped': [indifferent, () => undefined],
    'throws when it is stopped': [throwingCleanup, () => undefined],
  };
  it.each(Object.entries(detaching))(
    '[V-5] scenario 20: and %s cannot hang the supervisor',
    async (_name, [logic, detach]) => {
      const { root, clock } = startRoot([
        { id: 'a', logic: polite },
        { id: 'b', logic },
      ]);
      const ref = root.ref('b');
      const stop = root.stop();
      detach(ref);
      await clock.advance(5000);
      expect(await isSettled(stop)).toBe(true);
      expect(root.count().active).toBe(0);
    },
  );

  it('[V-5] [V-6] scenario 21: leaves its supervisor answerable: tree, counts, messages, other children', async () => {
    const { root, clock, node } = startRoot([
      { id: 'a', logic: worker },
      { id: 'b', logic: stubborn },
    ]);
    const stop = root.stopChild('b');
    await clock.advance(2500);
    expect(root.tree()).toMatchObject({ state: 'running', children: [{ state: 'running' }, { state: 'stopping' }] });
    expect(root.count()).toMatchObject({ specs: 2, active: 2 });
    expect(root.send('a', { type: 'crash' })).toBe(true);
    root.startChild({ id: 'c', logic: worker });
    await clock.advance(100);
    expect([node('a')?.incarnation, node('c')?.state, await isSettled(stop)]).toEqual([2, 'running', false]);
  });

  it('[V-5] scenario 21: is not waited for by the children of another supervisor that stop at the same time', async () => {
    const children = (logic: AnyActorLogic) => ({ children: [{ id: 'x', logic }] });
    const { root, clock } = startRoot([
      supervisorSpec('slow', children(stubborn)),
      supervisorSpec('quick', children(polite)),
    ]);
    const [slow, quick] = [root.stopChild('slow'), root.stopChild('quick')];
    expect([await isSettled(slow), await isSettled(quick)]).toEqual([false, true]);
    await clock.advance(5000);
    expect(await isSettled(slow)).toBe(true);
  });
});

describe('a stop that a descendant asks for', () => {
  const whose: [string, (stops: ReturnType<typeof startRoot>['root']) => Promise<void>][] = [
    ['the root', (root) => root.stop()],
    ['its own supervisor', (root) => root.stopChild('sub')],
    ['itself', (root) => root.nested('sub')?.stopChild('x') ?? Promise.resolve()],
  ];
  it.each(whose)('[V-5] scenario 22: of %s, and waits for, does not deadlock', async (_name, ask) => {
    const waiting = setup({ actors: { asks: fromPromise(() => ask(started.root)) } }).createMachine({
      initial: 'idle',
      states: {
        idle: { on: { ask: 'waits' } },
        waits: { invoke: { src: 'asks', onDone: 'over', onError: 'over' }, on: { shutdown: {} } },
        over: { type: 'final' },
      },
    });
    const children = [{ id: 'x', logic: waiting, shutdown: 'infinity' as const }];
    const started = startRoot([supervisorSpec('sub', { children })]);
    started.root.nested('sub')?.send('x', { type: 'ask' });
    await started.clock.advance(60_000);
    expect(started.root.nested('sub')?.ref('x')).toBeUndefined();
    expect(started.clock.pending).toBe(0);
  });
});

describe('the stop of a tree', () => {
  const phases = ['store', 'tools', 'sessions'];

  it('[V-5] scenario 23: goes on to the next supervisor when one uses up its time', async () => {
    const started = startRoot(
      phases.map((id) => supervisorSpec(id, { maxStopMs: 1000, children: [{ id: `${id}.x`, logic: stubborn }] })),
    );
    const stop = started.root.stop();
    await started.clock.advance(2999);
    expect(await isSettled(stop)).toBe(false);
    await started.clock.advance(1);
    expect(await isSettled(stop)).toBe(true);
    expect(reasonsOf(started)).toEqual(phases.toReversed().flatMap((id) => [`${id}.x killed`, `${id} shutdown`]));
  });

  it('[V-5] scenario 23: happens once, whoever asks and how often', async () => {
    const { root, clock, journal } = startRoot(phases.map((id) => ({ id, logic: stubborn })));
    const stops = [root.stop(), root.stopChild('tools'), root.stop()];
    await clock.advance(15_000);
    await Promise.all([...stops, root.stop()]);
    expect(journal.slice(3)).toEqual(['-sessions', '-tools', '-store']);
  });

  it('[V-5] scenario 23: takes no new child, and hears who begins to listen on its way', async () => {
    const { root, clock } = startRoot(phases.map((id) => ({ id, logic: stubborn })));
    const stop = root.stop();
    await clock.advance(5000);
    expect(() => root.startChild({ id: 'late', logic: worker })).toThrow(/to be running, it is stopping/);
    const seen: string[] = [];
    root.monitor('store', ({ reason }) => seen.push(reason));
    await clock.advance(10_000);
    await stop;
    expect(seen).toEqual(['killed']);
  });
});
