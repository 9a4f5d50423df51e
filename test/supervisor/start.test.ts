import { describe, expect, it } from 'vitest';
import { setup } from 'xstate';
import { broken, polite, stubborn, worker } from './actors.ts';
import { newRoot, startRoot } from './startRoot.ts';

const done = setup({}).createMachine({ initial: 'end', states: { end: { type: 'final' } } });

describe('the start of a supervisor', () => {
  it('[V-5] starts the children in the order they are given', () => {
    const { journal, root } = startRoot(['c', 'a', 'b'].map((id) => ({ id, logic: worker })));
    expect(journal).toEqual(['+c', '+a', '+b']);
    expect(root.tree()).toMatchObject({ id: 'root', state: 'running' });
  });

  it('[V-5] stops what had started, last first, when a child fails, and names that child', async () => {
    const specs = ['c', 'a', 'bad', 'b'].map((id) => ({ id, logic: id === 'bad' ? broken : polite }));
    const { root, journal, clock } = newRoot({ children: specs });
    expect(() => root.start()).toThrow('Child `bad` of supervisor `root` failed to start: cannot start');
    expect(journal).toEqual(['+c', '+a', '!bad', '-a', '-c']);
    await clock.advance(100_000);
    expect(journal).toHaveLength(5);
    expect(root.tree().state).toBe('stopped');
  });

  it('[V-5] keeps what the child threw as the cause', () => {
    const { root } = newRoot({ children: [{ id: 'bad', logic: broken, restart: 'temporary' }] });
    let thrown: unknown;
    try {
      root.start();
    } catch (error) {
      thrown = error;
    }
    expect((thrown as Error).cause).toMatchObject({ message: 'cannot start' });
  });

  it('[V-1] takes a child that ends at once as declining: its spec stays, a temporary one goes', () => {
    const { root, node } = startRoot([
      { id: 'kept', logic: done, restart: 'transient' },
      { id: 'gone', logic: done, restart: 'temporary' },
    ]);
    expect(node('kept')).toMatchObject({ state: 'stopped', incarnation: 1 });
    expect(node('gone')).toBeUndefined();
    expect(root.tree().state).toBe('running');
  });

  it('[V-5] can be stopped by a child that is starting', async () => {
    const { root, journal } = newRoot({
      children: [
        { id: 'a', logic: worker },
        { id: 'b', logic: worker, onStart: () => void root.stop() },
        { id: 'c', logic: worker },
      ],
    });
    root.start();
    await root.stop();
    expect(journal).not.toContain('+c');
    expect(root.count().active).toBe(0);
    expect(root.tree().state).toBe('stopped');
  });

  it('[V-5] gives a child that is asked to stop while it starts its time to end', async () => {
    const { root, clock, node } = startRoot([]);
    const onStart = () => void root.stopChild('a');
    root.startChild({ id: 'a', logic: stubborn, shutdown: 100, onStart });
    await clock.advance(99);
    expect(node('a')?.state).toBe('stopping');
    await clock.advance(1);
    expect(node('a')?.state).toBe('stopped');
  });

  it('[V-5] happens once, and not after a stop', async () => {
    const { root } = startRoot([]);
    expect(() => root.start()).toThrow(RangeError);
    const never = newRoot();
    await never.root.stop();
    expect(() => never.root.start()).toThrow(RangeError);
  });
});
