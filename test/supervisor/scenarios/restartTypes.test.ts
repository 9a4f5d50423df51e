import { describe, expect, it, vi } from 'vitest';
import { type AnyEventObject, assign, setup } from 'xstate';
import type { Restart } from '../../../src/supervisor/childSpec.ts';
import { failedExit } from '../../../src/supervisor/exit.ts';
import { polite } from '../actors.ts';
import { startRoot } from '../startRoot.ts';

/** Ends in each way there is. */
const mortal = setup({ types: { context: {} as { n: number } } }).createMachine({
  context: { n: 0 },
  initial: 'running',
  on: {
    add: { actions: assign({ n: ({ context }) => context.n + 1 }) },
    normal: '.normal',
    said: '.said',
    failed: '.failed',
    threw: {
      actions: () => {
        throw new Error('boom');
      },
    },
  },
  states: {
    running: {},
    normal: { type: 'final' },
    said: { type: 'final', output: { why: 'the work is done' } },
    failed: { type: 'final', output: failedExit(new Error('said so')) },
  },
  output: ({ event }: { event: AnyEventObject }): unknown => event['output'],
});

const endings = {
  'its final state': 'normal',
  'its final state, with an output': 'said',
  'a stop by a stranger': 'xstate.stop',
  'a failed exit': 'failed',
  'a throw': 'threw',
};
const restarted: Record<Restart, readonly boolean[]> = {
  permanent: [true, true, true, true, true],
  transient: [false, false, false, true, true],
  temporary: [false, false, false, false, false],
};
const matrix = (Object.keys(restarted) as Restart[]).flatMap((restart) =>
  Object.entries(endings).map(([ending, event], n) => ({ restart, ending, event, back: restarted[restart][n] })),
);

describe('the restart type', () => {
  it.each(matrix)('[V-1] scenario 6: $restart after $ending: restarted is $back', async ({ restart, event, back }) => {
    const { root, clock } = startRoot([{ id: 'a', logic: mortal, restart }]);
    root.send('a', { type: event });
    await clock.advance(100);
    expect(root.ref('a') !== undefined).toBe(back);
    expect(root.tree().restarts).toBe(back === true ? 1 : 0);
  });

  it.each(['one_for_all', 'rest_for_one'] as const)(
    '[V-1] scenario 7: a temporary bystander of %s is not restarted and trips no limit',
    async (strategy) => {
      const { root, clock, crash, told } = startRoot(
        [
          { id: 'a', logic: polite },
          { id: 'b', logic: polite, restart: 'temporary', intensity: 0 },
        ],
        { strategy, intensity: 1 },
      );
      crash('a');
      await clock.advance(100);
      expect(root.tree()).toMatchObject({ restarts: 1, children: [{ id: 'a', state: 'running', incarnation: 2 }] });
      expect(root.count().specs).toBe(1);
      expect([...told('supervisor.gave_up'), ...told('child.quarantined')]).toEqual([]);
    },
  );

  it('[V-1] scenario 8: a restarted child has fresh state and a new identity, and its old handle is dead', async () => {
    const { root, clock } = startRoot([{ id: 'a', logic: mortal }]);
    const old = root.ref('a');
    const warn = vi.spyOn(console, 'warn').mockImplementation(() => undefined);
    root.send('a', { type: 'add' });
    root.send('a', { type: 'threw' });
    await clock.advance(100);
    old?.send({ type: 'add' });
    warn.mockRestore();
    expect(root.ref('a')).not.toBe(old);
    expect(root.ref('a')?.getSnapshot()).toMatchObject({ status: 'active', context: { n: 0 } });
    expect(old?.getSnapshot()).toMatchObject({ status: 'error', context: { n: 1 } });
  });
});
