import { describe, expect, it } from 'vitest';
import { emit, setup } from 'xstate';
import type { ChildSpec } from '../../src/supervisor/childSpec.ts';
import type { SubtreeOptions } from '../../src/supervisor/supervisorOptions.ts';
import { supervisorSpec } from '../../src/supervisor/supervisorLogic.ts';
import { broken, polite, stubborn, worker } from './actors.ts';
import { startRoot } from './startRoot.ts';

/** A root with a supervisor `sub` that has the children `x` and `y`. */
const startNested = (options: SubtreeOptions = {}, spec: Partial<ChildSpec> = {}) => {
  const children = ['x', 'y'].map((id) => ({ id, logic: polite, intensity: Number.POSITIVE_INFINITY }));
  const started = startRoot([{ ...supervisorSpec('sub', { children, ...options }), ...spec }]);
  return { ...started, sub: () => started.root.nested('sub') };
};

describe('a supervisor under a supervisor', () => {
  it('[V-2] restarts its own children, and its parent hears nothing', async () => {
    const { clock, sub, node } = startNested();
    sub()?.send('x', { type: 'crash' });
    await clock.advance(100);
    expect(sub()?.tree().children).toMatchObject([{ incarnation: 2 }, { incarnation: 1 }]);
    expect(node('sub')).toMatchObject({ incarnation: 1, restarts: 0 });
  });

  it('[V-2] takes dynamic children, and finds names in the whole tree', () => {
    const { root, sub } = startNested();
    const ref = sub()?.startChild({ id: 'z', logic: worker, systemId: 'the-z' });
    expect(root.whereis('the-z')).toBe(ref);
    expect(root.nested('nobody')).toBeUndefined();
  });

  it('[V-2] has clock, facts and listener of the root', async () => {
    const speaker = setup({}).createMachine({ entry: emit({ type: 'hello' }) });
    const { emitted, journal } = startNested({ children: [{ id: 'x', logic: speaker }] });
    expect(emitted).toEqual([['x', { type: 'hello' }]]);
    expect(journal).toEqual(['+x', '+sub']);
  });

  it('[V-3] that uses up its window stops its children in reverse and fails', async () => {
    const { clock, sub, journal, told } = startNested({ intensity: 1 });
    sub()?.send('x', { type: 'crash' });
    await clock.advance(100);
    journal.length = 0;
    sub()?.send('x', { type: 'crash' });
    await clock.settle();
    expect(journal).toEqual(['!x', '-y', '!sub']);
    expect(told('supervisor.gave_up')).toMatchObject([{ supervisor: 'sub', child: 'x', restarts: 1 }]);
    expect(told('child.crashed').at(-1)).toMatchObject({
      child: 'sub',
      error: expect.stringContaining('`sub` gave up') as string,
    });
  });

  it('[V-3] fails also when a child asks it to end on the way', async () => {
    const asking = setup({}).createMachine({
      initial: 'a',
      states: {
        a: { on: { shutdown: { target: 'b', actions: () => void nested.root.send('sub', { type: 'shutdown' }) } } },
        b: { after: { 10: 'c' } },
        c: { type: 'final' },
      },
    });
    const children = [
      { id: 'x', logic: worker },
      { id: 'y', logic: asking },
    ];
    const nested = startNested({ intensity: 0, children });
    nested.sub()?.send('x', { type: 'crash' });
    await nested.clock.advance(10);
    expect(nested.journal.slice(3)).toEqual(['!x', '-y', '!sub']);
  });

  it('[V-3] that gave up is restarted by its parent, with the children of its spec', async () => {
    const { clock, sub, node } = startNested({ intensity: 0 });
    sub()?.startChild({ id: 'dynamic', logic: polite });
    sub()?.send('x', { type: 'crash' });
    await clock.advance(100);
    expect(node('sub')).toMatchObject({ state: 'running', incarnation: 2 });
    expect(
      sub()
        ?.tree()
        .children?.map(({ id, state }) => [id, state]),
    ).toEqual([
      ['x', 'running'],
      ['y', 'running'],
    ]);
  });

  it('[V-3] that gives up again and again goes to quarantine at the root, which never throws', async () => {
    const { root, clock, sub, node } = startNested({ intensity: 0 });
    for (let n = 0; n < 4; n++) {
      sub()?.send('x', { type: 'crash' });
      await clock.advance(1000);
    }
    expect(node('sub')).toMatchObject({ state: 'quarantined', restarts: 3 });
    expect(root.tree().state).toBe('running');
  });

  it('[V-3] escalates over two levels', async () => {
    const inner = supervisorSpec('inner', { intensity: 0, children: [{ id: 'x', logic: worker }] });
    const { root, clock, told } = startRoot([supervisorSpec('outer', { intensity: 0, children: [inner] })]);
    root.nested('outer')?.nested('inner')?.send('x', { type: 'crash' });
    await clock.settle();
    expect(told('child.crashed').map((fact) => 'child' in fact && fact.child)).toEqual(['x', 'inner', 'outer']);
    await clock.advance(100);
    expect(root.nested('outer')?.nested('inner')?.ref('x')).toBeDefined();
  });

  it('[V-3] that is temporary and gives up is gone', async () => {
    const { root, clock, sub } = startNested({ intensity: 0 }, { restart: 'temporary' });
    sub()?.send('x', { type: 'crash' });
    await clock.advance(1000);
    expect(root.count().specs).toBe(0);
  });

  it('[V-5] is stopped in order: its children in reverse, then itself', async () => {
    const { root, journal } = startNested();
    await root.stop();
    expect(journal.slice(3)).toEqual(['-y', '-x', '-sub']);
  });

  it('[V-5] is given all the time its children need', async () => {
    const children = ['x', 'y'].map((id) => ({ id, logic: stubborn, shutdown: 5000 }));
    const { root, clock, journal } = startNested({ children });
    void root.stop();
    await clock.advance(9999);
    expect(journal.slice(3)).toEqual(['-y']);
    await clock.advance(1);
    expect(journal.slice(3)).toEqual(['-y', '-x', '-sub']);
  });

  it('[V-5] that is out of time stops what it still has at once', async () => {
    const children = ['x', 'y'].map((id) => ({ id, logic: stubborn }));
    const { root, clock, told } = startNested({ children }, { shutdown: 1000 });
    void root.stop();
    await clock.advance(1000);
    expect(told('child.stopped')).toMatchObject([
      { child: 'y', reason: 'shutdown' },
      { child: 'x', reason: 'shutdown' },
      { child: 'sub', reason: 'killed' },
    ]);
    expect(clock.pending).toBe(0);
  });

  it('[V-5] whose child fails at the start fails to start, with what had started rolled back', () => {
    const { root, journal } = startRoot([]);
    const children = [
      { id: 'x', logic: polite },
      { id: 'bad', logic: broken },
    ];
    expect(() => root.startChild(supervisorSpec('sub', { children }))).toThrow(/`sub`.*`bad` of supervisor `sub`/);
    expect(journal).toEqual(['+x', '!bad', '-x', '!sub']);
    expect(root.count().specs).toBe(0);
  });

  it('[V-1] ends normally when a significant child ends it', async () => {
    const children: ChildSpec[] = [{ id: 'x', logic: worker, restart: 'transient', significant: true }];
    const { clock, sub, node } = startNested({ children, autoShutdown: 'any_significant' }, { restart: 'transient' });
    sub()?.send('x', { type: 'finish' });
    await clock.advance(1000);
    expect(node('sub')).toMatchObject({ state: 'stopped', incarnation: 1 });
  });

  it('[V-1] refuses bad options where its spec is written', () => {
    expect(() => supervisorSpec('sub', { intensity: -1 })).toThrow('`intensity`');
    expect(() => supervisorSpec('sub', { children: [{ id: '', logic: worker }] })).toThrow('`id`');
  });

  it('[V-7] ignores events it does not know', () => {
    const { root, node } = startNested();
    root.send('sub', { type: 'whatever' });
    expect(node('sub')?.state).toBe('running');
  });
});
