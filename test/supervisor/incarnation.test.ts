import { describe, expect, it, vi } from 'vitest';
import {
  type AnyActorLogic,
  type AnyActorRef,
  type EventObject,
  assign,
  createActor,
  emit,
  fromCallback,
  fromObservable,
  fromPromise,
  fromTransition,
  setup,
} from 'xstate';
import type { Exit } from '../../src/supervisor/exit.ts';
import { broken, worker } from './actors.ts';
import { startRoot } from './startRoot.ts';

const boom = (): never => {
  throw new Error('boom');
};

const throwers: Record<string, AnyActorLogic> = {
  'an action': worker,
  'a guard': setup({ guards: { boom } }).createMachine({ on: { crash: { guard: 'boom', actions: [] } } }),
  'an assigner': setup({}).createMachine({ context: {}, on: { crash: { actions: assign(boom) } } }),
  'an exit action': setup({}).createMachine({
    initial: 'a',
    states: { a: { exit: boom, on: { crash: 'b' } }, b: {} },
  }),
  'an event to emit': setup({}).createMachine({ on: { crash: { actions: emit(boom) } } }),
  'a transition function': fromTransition((state, event: EventObject) => (event.type === 'crash' ? boom() : state), {}),
  'a callback receiver': fromCallback(({ receive }) => receive(boom)),
  'an invoked machine': setup({ actors: { worker } }).createMachine({
    invoke: { src: 'worker', id: 'inner' },
    on: { crash: { actions: ({ self }) => self.getSnapshot().children['inner']?.send({ type: 'crash' }) } },
  }),
};

/** Makes XState itself throw at the start. */
const withoutSnapshot = {
  ...fromTransition((state: undefined) => state, undefined),
  getInitialSnapshot: () => undefined,
};

const startThrowers: Record<string, AnyActorLogic> = {
  'logic without a snapshot': withoutSnapshot as object as AnyActorLogic,
  'a callback': broken,
  'initial context': setup({}).createMachine({ context: boom }),
  'an entry action': setup({}).createMachine({ entry: boom }),
  'an observable': fromObservable(() => boom()),
};

describe('an incarnation', () => {
  it.each(Object.entries(throwers))('[V-7] that throws in %s is a crash, and comes back', async (_name, logic) => {
    const { clock, crash, told, node } = startRoot([{ id: 'a', logic }]);
    crash('a');
    expect(told('child.crashed')).toMatchObject([
      { child: 'a', incarnation: 1, error: expect.stringMatching(/boom$/) as string },
    ]);
    await clock.advance(100);
    expect(node('a')).toMatchObject({
      state: 'running',
      incarnation: 2,
      lastError: expect.stringMatching(/boom$/) as string,
    });
  });

  it.each(Object.entries(startThrowers))('[V-7] that throws in %s fails to start', (_name, logic) => {
    const { root } = startRoot([]);
    expect(() => root.startChild({ id: 'a', logic })).toThrow('Child `a` of supervisor `root` failed to start');
    expect(root.count().specs).toBe(0);
  });

  it('[V-7] whose promise rejects is a crash', async () => {
    const { clock, told } = startRoot([{ id: 'a', logic: fromPromise(() => Promise.reject(new Error('no'))) }]);
    await clock.settle();
    expect(told('child.crashed')).toMatchObject([{ error: 'no' }]);
  });

  it('[V-7] that fails at every restart is retried with backoff, one start a turn', async () => {
    let starts = 0;
    const logic = fromCallback(() => {
      starts += 1;
      if (starts > 1) boom();
    });
    const backoff = { baseMs: 0 };
    const { root, clock } = startRoot([], { intensity: Number.POSITIVE_INFINITY });
    const nextTurn = vi.spyOn(clock, 'nextTurn').mockImplementation(() => {});
    root.startChild({ id: 'a', logic, backoff, intensity: Number.POSITIVE_INFINITY });
    root.restartChild('a');
    for (let turn = 1; turn < 50; turn++) {
      expect(nextTurn).toHaveBeenCalledTimes(turn);
      nextTurn.mock.calls[turn - 1]?.[0]();
      expect(starts).toBe(turn + 1);
    }
  });

  it('[V-7] is started with onStart before it runs, each with its number', async () => {
    const seen: unknown[] = [];
    const onStart = (ref: AnyActorRef, incarnation: number) => seen.push(incarnation, ref);
    const entered = setup({}).createMachine({ entry: () => seen.push('runs'), on: { crash: { actions: boom } } });
    const { clock, crash, root } = startRoot([{ id: 'a', logic: entered, onStart }]);
    const first = root.ref('a');
    crash('a');
    await clock.advance(100);
    expect(seen).toEqual([1, first, 'runs', 2, root.ref('a'), 'runs']);
  });

  it('[V-7] lives on when a hook of its spec throws, and the throw is told', async () => {
    const { clock, crash, told, node } = startRoot([{ id: 'a', logic: worker, onStart: boom, onExit: boom }]);
    crash('a');
    await clock.advance(100);
    expect(node('a')?.state).toBe('running');
    expect(told('listener.failed').map((fact) => 'event' in fact && fact.event)).toEqual([
      'onStart',
      'onExit',
      'onStart',
    ]);
  });

  it('[V-7] hands what it emits to onEmit, also from its first moment, and a throw there is told', () => {
    const speaker = setup({}).createMachine({
      entry: emit({ type: 'hello' }),
      on: { talk: { actions: emit({ type: 'word' }) } },
    });
    const { root, emitted, told } = startRoot([{ id: 'a', logic: speaker }]);
    root.send('a', { type: 'talk' });
    expect(emitted).toEqual([
      ['a', { type: 'hello' }],
      ['a', { type: 'word' }],
    ]);
    expect(told('listener.failed')).toEqual([]);
    const guarded = startRoot([{ id: 'a', logic: speaker }], { onEmit: boom });
    expect(guarded.told('listener.failed')).toMatchObject([{ event: 'onEmit', error: 'boom' }]);
  });

  it('[V-1] has a fresh state and a new identity; the old handle is dead', async () => {
    const counter = setup({ types: { context: {} as { n: number } } }).createMachine({
      context: { n: 0 },
      on: { add: { actions: assign({ n: ({ context }) => context.n + 1 }) }, crash: { actions: boom } },
    });
    const { root, clock, crash } = startRoot([{ id: 'a', logic: counter }]);
    const old = root.ref('a');
    root.send('a', { type: 'add' });
    crash('a');
    expect(root.ref('a')).toBeUndefined();
    await clock.advance(100);
    expect(root.ref('a')).not.toBe(old);
    expect(root.ref('a')?.getSnapshot()).toMatchObject({ context: { n: 0 } });
    expect(old?.getSnapshot()).toMatchObject({ status: 'error', context: { n: 1 } });
  });

  it('[V-1] does not inherit that the one before it was asked to end', async () => {
    const exits: string[] = [];
    const onExit = ({ reason }: Exit) => exits.push(reason);
    const { root, clock } = startRoot([{ id: 'a', logic: worker, onExit }]);
    root.restartChild('a');
    await clock.settle();
    root.send('a', { type: 'finish' });
    expect(exits).toEqual(['shutdown', 'normal']);
  });

  it('[V-7] never hears timers of the one before it', async () => {
    const rung: number[] = [];
    let incarnation = 0;
    const alarm = setup({ actions: { ring: () => rung.push(incarnation), boom } }).createMachine({
      initial: 'wait',
      on: { crash: { actions: 'boom' } },
      states: { wait: { after: { 150: { actions: 'ring', target: 'rung' } } }, rung: {} },
    });
    const { clock, crash } = startRoot([{ id: 'a', logic: alarm, onStart: (_ref, n) => void (incarnation = n) }]);
    await clock.advance(100);
    crash('a');
    await clock.advance(249);
    expect(rung).toEqual([]);
    await clock.advance(1);
    expect(rung).toEqual([2]);
  });

  it('[V-7] that is stopped by a stranger is noticed', async () => {
    const { root, clock, told, node } = startRoot([{ id: 'a', logic: worker }]);
    root.ref('a')?.send({ type: 'xstate.stop' });
    expect(node('a')?.state).toBe('restarting');
    await clock.advance(100);
    expect(node('a')).toMatchObject({ state: 'running', incarnation: 2 });
    expect(told('child.crashed')).toEqual([]);
  });

  it('[V-6] gives its name back when it ends', async () => {
    const { root, clock, crash } = startRoot([{ id: 'a', logic: worker, systemId: 'the-a' }]);
    expect(root.whereis('the-a')).toBe(root.ref('a'));
    crash('a');
    expect(root.whereis('the-a')).toBeUndefined();
    await clock.advance(100);
    expect(root.whereis('the-a')).toBe(root.ref('a'));
  });

  it('[V-7] whose name a stranger took meanwhile fails to start and is retried', async () => {
    const { root, clock, crash, node } = startRoot([{ id: 'a', logic: worker, systemId: 'the-a' }]);
    crash('a');
    const thief = createActor(worker, { parent: root.actor, systemId: 'the-a' });
    thief.start();
    await clock.advance(100);
    expect(node('a')).toMatchObject({ state: 'restarting', restarts: 2 });
    expect(node('a')?.lastError).toContain("'the-a' already exists");
    thief.send({ type: 'finish' });
    await clock.advance(200);
    expect(root.whereis('the-a')).toBe(root.ref('a'));
  });
});
