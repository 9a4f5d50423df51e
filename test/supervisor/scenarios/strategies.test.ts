import { describe, expect, it } from 'vitest';
import { fromCallback } from 'xstate';
import type { ChildSpec } from '../../../src/supervisor/childSpec.ts';
import type { Strategy } from '../../../src/supervisor/supervisorOptions.ts';
import { polite, stubborn } from '../actors.ts';
import { startRoot } from '../startRoot.ts';

/** Children `z`, `b`, `y`, `a` in this order, which is not that of their names. */
const startGroup = (strategy: Strategy, specs: Record<string, Partial<ChildSpec>> = {}) => {
  const children = ['z', 'b', 'y', 'a'].map((id) => ({ id, logic: polite, ...specs[id] }));
  const started = startRoot(children, { strategy });
  started.journal.length = 0;
  return started;
};

/** Starts well, fails to start `times` times, then starts well again. */
const flaky = (times: number) => {
  let starts = 0;
  return fromCallback(() => {
    starts += 1;
    if (starts > 1 && starts <= 1 + times) throw new Error('not yet');
  });
};

describe('a group of children', () => {
  it('[V-2] scenario 9: one_for_all stops all in reverse and starts all in order', async () => {
    const { clock, crash, journal } = startGroup('one_for_all');
    crash('y');
    await clock.advance(100);
    expect(journal).toEqual(['!y', '-a', '-b', '-z', '+z', '+b', '+y', '+a']);
  });

  it('[V-2] scenario 9: rest_for_one stops the later ones in reverse and starts them in order', async () => {
    const { clock, crash, journal, node } = startGroup('rest_for_one');
    crash('b');
    await clock.advance(100);
    expect(journal).toEqual(['!b', '-a', '-y', '+b', '+y', '+a']);
    expect(node('z')?.incarnation).toBe(1);
  });

  it.each<[Strategy, string[], string[]]>([
    ['one_for_all', ['!b', '-a', '-y', '-z', '+z', '+b', '!y', '-b', '-z'], ['+z', '+b', '+y', '+a']],
    ['rest_for_one', ['!b', '-a', '-y', '+b', '!y'], ['+y', '+a']],
  ])(
    '[V-2] scenario 10: %s whose restart fails at another child stops what is back, uses a slot and tries all again',
    async (strategy, first, again) => {
      const { root, clock, crash, journal } = startGroup(strategy, { y: { logic: flaky(1) } });
      crash('b');
      await clock.advance(100);
      expect(journal).toEqual(first);
      expect(root.tree().restarts).toBe(2);
      await clock.advance(100);
      expect(journal.slice(first.length)).toEqual(again);
      expect(root.count().active).toBe(4);
    },
  );

  it('[V-2] [V-3] scenario 10: a group whose restart fails for ever is put aside, and no sooner than its window says', async () => {
    const { root, clock, crash, told } = startGroup('one_for_all', { y: { logic: flaky(Number.POSITIVE_INFINITY) } });
    crash('b');
    await clock.advance(100_000);
    // One slot for the crash of `b`, three for the starts of `y`.
    expect(told('child.restarting')).toHaveLength(4);
    expect(told('child.quarantined')).toMatchObject([{ child: 'y', restarts: 3 }]);
    expect(root.tree().children?.map(({ state }) => state)).toEqual(Array(4).fill('quarantined'));
  });

  it('[V-2] scenario 11: a second crash during a group restart is merged into it', async () => {
    const { root, clock, crash, journal } = startGroup('one_for_all', { y: { logic: stubborn, shutdown: 1000 } });
    crash('b');
    await clock.advance(500);
    crash('z');
    await clock.advance(500);
    expect(journal).toEqual(['!b', '-a', '!z', '-z', '-y', '+z', '+b', '+y', '+a']);
    await clock.advance(100_000);
    expect(root.tree()).toMatchObject({ restarts: 1 });
    expect(root.tree().children?.map(({ incarnation }) => incarnation)).toEqual([2, 2, 2, 2]);
  });
});
