import { describe, expect, it } from 'vitest';
import type { ChildSpec } from '../../../src/supervisor/childSpec.ts';
import { supervisorSpec } from '../../../src/supervisor/supervisorLogic.ts';
import type { AutoShutdown } from '../../../src/supervisor/supervisorOptions.ts';
import { polite, worker } from '../actors.ts';
import { startRoot } from '../startRoot.ts';

const significant = (id: string, more: Partial<ChildSpec> = {}): ChildSpec => ({
  id,
  logic: worker,
  restart: 'transient',
  significant: true,
  ...more,
});

/** What the root is after these children were told to finish, one after the other. */
const statesAfter = async (autoShutdown: AutoShutdown, children: readonly ChildSpec[], ...finishing: string[]) => {
  const { root, clock } = startRoot(children, { autoShutdown });
  const states: string[] = [];
  for (const id of finishing) {
    root.send(id, { type: 'finish' });
    await clock.settle();
    states.push(root.tree().state);
  }
  return states;
};

describe('the end of a significant child', () => {
  const plain: ChildSpec = { id: 'c', logic: worker, restart: 'transient' };
  const children = [significant('a'), significant('b'), plain];

  it('[V-1] scenario 25: ends the supervisor with any_significant, be it the first one', async () => {
    expect(await statesAfter('any_significant', children, 'c', 'a')).toEqual(['running', 'stopped']);
  });

  it('[V-1] scenario 25: ends the supervisor with all_significant, be it the last one', async () => {
    const order = ['c', 'a', 'b'];
    expect(await statesAfter('all_significant', children, ...order)).toEqual(['running', 'running', 'stopped']);
  });

  it('[V-1] scenario 25: also by a crash where it is temporary, but not where it is restarted', async () => {
    const { root, clock, crash } = startRoot([significant('a'), significant('b', { restart: 'temporary' })], {
      autoShutdown: 'any_significant',
    });
    crash('a');
    await clock.advance(100);
    expect(root.tree()).toMatchObject({ state: 'running', restarts: 1 });
    crash('b');
    await clock.settle();
    expect(root.tree().state).toBe('stopped');
  });

  it.each<AutoShutdown>(['any_significant', 'all_significant'])(
    '[V-1] scenario 25: with %s does not count when it was stopped by hand or as a bystander',
    async (autoShutdown) => {
      const { root, clock, crash } = startRoot(
        [{ id: 'a', logic: polite }, significant('b', { restart: 'temporary' }), significant('c')],
        { autoShutdown, strategy: 'one_for_all' },
      );
      crash('a');
      await clock.advance(100);
      expect(root.count().specs).toBe(2);
      await root.stopChild('c');
      await clock.settle();
      expect(root.tree()).toMatchObject({ state: 'running', children: [{ state: 'running' }, { state: 'stopped' }] });
    },
  );

  it('[V-1] scenario 25: escalates over two levels, each stopped in order, without a failure', async () => {
    const inner = supervisorSpec('inner', {
      autoShutdown: 'any_significant',
      children: [{ id: 'y', logic: polite }, significant('x')],
    });
    const outer = supervisorSpec('outer', {
      autoShutdown: 'any_significant',
      children: [
        { id: 'z', logic: polite },
        { ...inner, restart: 'transient', significant: true },
      ],
    });
    const { root, clock, journal, told, node } = startRoot([{ ...outer, restart: 'transient' }]);
    journal.length = 0;
    root.nested('outer')?.nested('inner')?.send('x', { type: 'finish' });
    await clock.advance(100_000);
    expect(journal).toEqual(['-x', '-y', '-inner', '-z', '-outer']);
    expect(told('child.crashed')).toEqual([]);
    expect(node('outer')?.state).toBe('stopped');
    expect(root.tree().state).toBe('running');
  });
});
