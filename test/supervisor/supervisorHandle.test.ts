import { describe, expect, it } from 'vitest';
import { setup } from 'xstate';
import { supervisorSpec } from '../../src/supervisor/supervisorLogic.ts';
import { broken, polite, worker } from './actors.ts';
import { newRoot, startRoot } from './startRoot.ts';

describe('dynamic children', () => {
  it('[V-2] start at once and are handed out', () => {
    const { root } = startRoot([]);
    const ref = root.startChild({ id: 'a', logic: worker });
    expect(root.ref('a')).toBe(ref);
    expect(ref.getSnapshot()).toMatchObject({ status: 'active' });
  });

  it('[V-2] are handed out also when they end at once', () => {
    const brief = setup({}).createMachine({ initial: 'a', states: { a: { type: 'final' } } });
    const { root } = startRoot([]);
    expect(root.startChild({ id: 'a', logic: brief, restart: 'temporary' }).getSnapshot()).toMatchObject({
      status: 'done',
    });
    expect(root.count().specs).toBe(0);
  });

  it('[V-2] get their input in each incarnation', async () => {
    const echo = setup({ types: { context: {} as { given: unknown } } }).createMachine({
      context: ({ input }) => ({ given: input }),
      on: {
        crash: {
          actions: () => {
            throw new Error('boom');
          },
        },
      },
    });
    const { root, clock, crash } = startRoot([{ id: 'a', logic: echo, input: 7 }]);
    crash('a');
    await clock.advance(100);
    expect(root.ref('a')?.getSnapshot()).toMatchObject({ context: { given: 7 } });
  });

  it('[V-2] that fail to start are told to the caller, leave no trace and are not retried', async () => {
    const { root, clock } = startRoot([]);
    expect(() => root.startChild({ id: 'a', logic: broken })).toThrow('Child `a` of supervisor `root`');
    expect(root.tree().children).toEqual([]);
    await clock.advance(100_000);
    expect(root.tree().children).toEqual([]);
    root.startChild({ id: 'a', logic: worker });
  });

  it('[V-2] need an id of their own, also beside a stopped child', async () => {
    const { root } = startRoot([{ id: 'a', logic: worker }]);
    expect(() => root.startChild({ id: 'a', logic: worker })).toThrow(/`id` to be unique.*"a"/);
    await root.stopChild('a');
    expect(() => root.startChild({ id: 'a', logic: worker })).toThrow(RangeError);
    root.deleteChild('a');
    root.startChild({ id: 'a', logic: worker });
  });

  it('[V-2] need a name of their own in the whole tree', () => {
    const { root } = startRoot([{ id: 'a', logic: worker, systemId: 'x' }]);
    expect(() => root.startChild({ id: 'b', logic: worker, systemId: 'x' })).toThrow(RangeError);
    expect(root.whereis('x')).toBe(root.ref('a'));
    expect(root.count().specs).toBe(1);
  });

  it('[V-2] are refused before the start and after the stop', async () => {
    const { root } = newRoot();
    expect(() => root.startChild({ id: 'a', logic: worker })).toThrow(/`root` to be running, it is stopped/);
    root.start();
    await root.stop();
    expect(() => root.startChild({ id: 'a', logic: worker })).toThrow(RangeError);
    expect(() => root.restartChild('a')).toThrow(/to be running, it is stopped/);
  });

  it('[V-2] can be started by a child that is starting', () => {
    const { root } = startRoot([]);
    const onStart = () => void root.startChild({ id: 'b', logic: worker });
    root.startChild({ id: 'a', logic: worker, onStart });
    expect(root.count().active).toBe(2);
  });

  it('[V-2] can be started under the same id from the exit of the one before', () => {
    const { root } = startRoot([]);
    const again = () => void root.startChild({ id: 'a', logic: polite });
    root.startChild({ id: 'a', logic: worker, restart: 'temporary', onExit: again });
    root.send('a', { type: 'finish' });
    expect(root.count()).toMatchObject({ specs: 1, active: 1 });
  });

  it('[V-2] are deleted only when they are down', async () => {
    const { root, crash } = startRoot([
      { id: 'a', logic: worker },
      { id: 'b', logic: worker, intensity: 0, quarantineMs: 1000 },
    ]);
    expect(() => root.deleteChild('a')).toThrow(/`a` to be stopped or quarantined, it is running/);
    crash('a');
    expect(() => root.deleteChild('a')).toThrow(/it is restarting/);
    root.deleteChild('nobody');
  });

  it('[V-2] take their timed quarantine with them when they are deleted', async () => {
    const { root, clock, crash } = startRoot([{ id: 'a', logic: worker, intensity: 0, quarantineMs: 1000 }]);
    crash('a');
    root.deleteChild('a');
    expect(clock.pending).toBe(0);
    await clock.advance(2000);
    expect(root.count().specs).toBe(0);
  });
});

describe('a message', () => {
  it('[V-6] goes to the live incarnation', () => {
    const { root, told } = startRoot([{ id: 'a', logic: worker }]);
    expect(root.send('a', { type: 'finish' })).toBe(true);
    expect(told('message.dead_letter')).toEqual([]);
  });

  it('[V-6] to nobody is a dead letter, with its reason, counted', async () => {
    const { root, crash, told, node } = startRoot([
      { id: 'a', logic: worker },
      { id: 'b', logic: worker, intensity: 0 },
      { id: 'c', logic: worker },
    ]);
    crash('a');
    crash('b');
    await root.stopChild('c');
    for (const id of ['a', 'b', 'c', 'c', 'nobody']) expect(root.send(id, { type: 'hello' })).toBe(false);
    const letter = { type: 'message.dead_letter', message: 'hello' };
    expect(told('message.dead_letter')).toEqual([
      { ...letter, to: 'a', reason: 'restarting', deadLetters: 1 },
      { ...letter, to: 'b', reason: 'quarantined', deadLetters: 1 },
      { ...letter, to: 'c', reason: 'stopped', deadLetters: 1 },
      { ...letter, to: 'c', reason: 'stopped', deadLetters: 2 },
      { ...letter, to: 'nobody', reason: 'no_child', deadLetters: 5 },
    ]);
    expect(node('c')?.deadLetters).toBe(2);
    expect(root.tree().deadLetters).toBe(5);
  });

  it('[V-6] through a nested supervisor is counted there', () => {
    const { root, node } = startRoot([supervisorSpec('sub')]);
    root.nested('sub')?.send('nobody', { type: 'hello' });
    expect(node('sub')?.deadLetters).toBe(1);
    expect(root.tree()).not.toHaveProperty('deadLetters');
  });
});

describe('the children', () => {
  it('[V-6] are listed in start order with their actors', async () => {
    const { root, crash } = startRoot([
      { id: 'b', logic: worker },
      { id: 'a', logic: worker, restart: 'transient' },
      supervisorSpec('sub', { children: [{ id: 'inner', logic: worker }] }),
    ]);
    crash('a');
    const worked = { type: 'worker', incarnation: 1 };
    expect(root.children()).toEqual([
      { ...worked, id: 'b', ref: root.ref('b'), state: 'running', restart: 'permanent' },
      { ...worked, id: 'a', ref: undefined, state: 'restarting', restart: 'transient' },
      { id: 'sub', ref: root.ref('sub'), state: 'running', type: 'supervisor', restart: 'permanent', incarnation: 1 },
    ]);
    expect(root.nested('sub')?.children()).toMatchObject([{ id: 'inner' }]);
  });

  it('[V-6] can be asked for one by one', () => {
    const { root, crash } = startRoot([
      { id: 'a', logic: worker },
      { id: 'b', logic: worker },
    ]);
    crash('b');
    expect([root.has('a'), root.has('b'), root.has('c')]).toEqual([true, true, false]);
    expect([root.state('a'), root.state('b'), root.state('c')]).toEqual(['running', 'restarting', undefined]);
  });
});
