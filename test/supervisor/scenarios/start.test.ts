import { describe, expect, it } from 'vitest';
import { createActor, setup } from 'xstate';
import type { ChildSpec } from '../../../src/supervisor/childSpec.ts';
import type { SupervisorOptions } from '../../../src/supervisor/supervisor.ts';
import { broken, polite, worker } from '../actors.ts';
import { newRoot, startRoot } from '../startRoot.ts';

/** Is over as soon as it has started. */
const declining = setup({}).createMachine({ initial: 'end', states: { end: { type: 'final' } } });

describe('the start of a tree', () => {
  it('[V-5] scenario 1: when the third of five fails, the first two are stopped in reverse and the error names it', () => {
    const children = ['e', 'd', 'bad', 'b', 'a'].map((id) => ({ id, logic: id === 'bad' ? broken : polite }));
    const { root, journal } = newRoot({ children });
    expect(() => root.start()).toThrow('Child `bad` of supervisor `root` failed to start: cannot start');
    expect(journal).toEqual(['+e', '+d', '!bad', '-d', '-e']);
    expect(root.count()).toMatchObject({ active: 0, restarting: 0 });
  });

  it('[V-1] scenario 2: of a child that declines to run, the spec is kept and nothing runs', async () => {
    const { root, clock, node, told } = startRoot([
      { id: 'permanent', logic: declining },
      { id: 'transient', logic: declining, restart: 'transient' },
    ]);
    await clock.advance(100_000);
    for (const id of ['permanent', 'transient']) expect(node(id)).toMatchObject({ state: 'stopped', incarnation: 1 });
    expect(told('child.restarting')).toEqual([]);
    expect(root.tree().state).toBe('running');
  });

  it('[V-1] scenario 2: of a temporary child that declines to run, nothing is kept', () => {
    const { root } = startRoot([{ id: 'a', logic: declining, restart: 'temporary' }]);
    expect(root.count().specs).toBe(0);
  });

  it('[V-1] scenario 2: a child that declines when it is restarted is left at that, and can be asked again', async () => {
    let starts = 0;
    const logic = setup({ guards: { declines: () => starts++ === 1 } }).createMachine({
      initial: 'a',
      states: { a: { always: { guard: 'declines', target: 'end' } }, end: { type: 'final' } },
    });
    const { root, clock, node } = startRoot([{ id: 'a', logic }]);
    root.ref('a')?.send({ type: 'xstate.stop' });
    await clock.advance(100_000);
    expect(node('a')).toMatchObject({ state: 'stopped', incarnation: 2 });
    root.restartChild('a');
    await clock.settle();
    expect(node('a')).toMatchObject({ state: 'running', incarnation: 3 });
  });

  it.each<[string, readonly unknown[], RegExp]>([
    ['no id', [{ logic: worker }], /`id`.*undefined/],
    ['nothing to start', [{ id: 'a' }], /`a\.logic`.*undefined/],
    ['one id twice', ['a', 'b', 'a'].map((id) => ({ id, logic: worker })), /`id` to be unique.*"a"/],
    ['a significant permanent child', [{ id: 'a', logic: worker, significant: true }], /`a\.significant`.*permanent/],
    [
      'a significant child nobody looks at',
      [{ id: 'a', logic: worker, restart: 'transient', significant: true }],
      /`a\.significant`.*`autoShutdown` is never/,
    ],
  ])('[V-1] scenario 3: specs with %s are refused, and the reason is named', (_name, children, message) => {
    expect(() => newRoot({ children } as Partial<SupervisorOptions>)).toThrow(message);
  });

  it('[V-6] scenario 4: a name that a foreign actor holds refuses the child, and the owner and the supervisor live on', () => {
    const { root } = startRoot([{ id: 'a', logic: worker }]);
    const owner = createActor(worker, { parent: root.actor, systemId: 'kb' }).start();
    expect(() => root.startChild({ id: 'b', logic: worker, systemId: 'kb' })).toThrow(/"kb"/);
    expect(root.whereis('kb')).toBe(owner);
    expect(root.tree()).toMatchObject({ state: 'running', children: [{ id: 'a', state: 'running' }] });
  });

  it.each<[string, Partial<ChildSpec>, RegExp]>([
    ['a bad spec', { shutdown: -1 }, /`b\.shutdown`.*-1/],
    ['an id that is taken', { id: 'a' }, /"a"/],
    ['a name that is taken', { systemId: 'kb' }, /"kb"/],
    ['a significance nobody looks at', { restart: 'transient', significant: true }, /`b\.significant`/],
    ['a start that fails', { logic: broken }, /`b`.*cannot start/],
  ])('[V-2] scenario 5: a child refused for %s leaves no trace', async (_name, wrong, message) => {
    const { root, clock } = startRoot([{ id: 'a', logic: worker, systemId: 'kb' }]);
    const before = root.tree();
    expect(() => root.startChild({ id: 'b', logic: worker, ...wrong })).toThrow(message);
    await clock.advance(100_000);
    expect(root.tree()).toEqual(before);
    expect(clock.pending).toBe(0);
  });
});
