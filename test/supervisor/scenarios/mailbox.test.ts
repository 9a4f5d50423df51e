import { describe, expect, it } from 'vitest';
import { type EventObject, setup } from 'xstate';
import type { ChildSpec } from '../../../src/supervisor/childSpec.ts';
import { polite } from '../actors.ts';
import { startRoot } from '../startRoot.ts';

/** A child `a` that notes what it takes, and fails at `bad`. */
const startNoting = ({
  reactions = {},
  ...spec
}: Partial<ChildSpec> & { reactions?: Record<string, () => void> } = {}) => {
  const taken: string[] = [];
  const take = (_: unknown, { type }: EventObject): void => {
    taken.push(type);
    reactions[type]?.();
    if (type === 'bad') throw new Error('bad message');
  };
  const noting = setup({ actions: { take } }).createMachine({
    on: { '*': { actions: { type: 'take', params: ({ event }) => event } } },
  });
  const started = startRoot([{ id: 'a', logic: noting, mailbox: { capacity: 3 }, ...spec }]);
  const send = (...types: string[]): boolean[] => types.map((type) => started.root.send('a', { type }));
  return { ...started, taken, send };
};

const letter = (message: string, reason: string, deadLetters: number) => ({
  type: 'message.dead_letter',
  to: 'a',
  message,
  reason,
  deadLetters,
});

describe('messages that wait for a restart', () => {
  it('[V-6] scenario 28: survive a second crash while they are handed on; the bad one is not handed on again', async () => {
    const { clock, send, taken, node, told } = startNoting();
    send('bad');
    expect(send('one', 'bad', 'two')).toEqual([true, true, true]);
    await clock.advance(100);
    expect(taken).toEqual(['bad', 'one', 'bad']);
    expect(node('a')).toMatchObject({ state: 'restarting', queued: 1 });
    await clock.advance(200);
    expect(taken).toEqual(['bad', 'one', 'bad', 'two']);
    expect(node('a')).toMatchObject({ state: 'running', incarnation: 3 });
    expect(told('message.dead_letter')).toEqual([]);
  });

  it('[V-6] scenario 28: are handed on in order, ahead of what comes during that', async () => {
    const { root, clock, send, taken } = startNoting({
      onStart: (_ref, n) => n === 2 && root.send('a', { type: 'second' }),
      reactions: { first: () => void send('third') },
    });
    send('bad', 'first');
    await clock.advance(100);
    expect(taken).toEqual(['bad', 'first', 'second', 'third']);
    expect(send('fourth')).toEqual([true]);
    expect(taken.at(-1)).toBe('fourth');
  });

  it.each([
    ['refuse', [true, true, true, false], 'four', 'mailbox_full', ['one', 'two', 'three']],
    ['drop_oldest', [true, true, true, true], 'one', 'drop_oldest', ['two', 'three', 'four']],
    ['drop_newest', [true, true, true, true], 'three', 'drop_newest', ['one', 'two', 'four']],
  ] as const)(
    '[V-6] scenario 29: with %s, what is too much is told with child, message and reason',
    async (overflow, answers, lost, reason, kept) => {
      const { clock, send, taken, told, node } = startNoting({ mailbox: { capacity: 3, overflow } });
      send('bad');
      expect(send('one', 'two', 'three', 'four')).toEqual(answers);
      expect(told('message.dead_letter')).toEqual([letter(lost, reason, 1)]);
      expect(node('a')).toMatchObject({ queued: 3, deadLetters: 1 });
      await clock.advance(100);
      expect(taken.slice(1)).toEqual(kept);
    },
  );

  it('[V-6] scenario 29: are told one by one when no restart is to come', async () => {
    const { root, send, told } = startNoting();
    send('bad', 'one', 'two');
    await root.stopChild('a');
    expect(told('message.dead_letter')).toEqual([letter('one', 'stopped', 1), letter('two', 'stopped', 2)]);
  });

  it('[V-6] scenario 29: are told as well when the child declines to start again', async () => {
    let starts = 0;
    const declining = setup({ guards: { declines: () => starts++ > 0 } }).createMachine({
      initial: 'up',
      states: { up: { always: { guard: 'declines', target: 'over' } }, over: { type: 'final' } },
    });
    const { root, clock, told, node } = startRoot([{ id: 'a', logic: declining, mailbox: { capacity: 3 } }]);
    root.ref('a')?.send({ type: 'xstate.stop' });
    root.send('a', { type: 'one' });
    await clock.advance(100);
    expect(node('a')).toMatchObject({ state: 'stopped' });
    expect(told('message.dead_letter')).toEqual([letter('one', 'stopped', 1)]);
  });

  it('[V-6] scenario 29: without a mailbox there is nothing to overflow: each is told, as in between two incarnations', () => {
    const { root, crash, told } = startRoot([{ id: 'a', logic: polite }]);
    crash('a');
    expect(root.send('a', { type: 'one' })).toBe(false);
    expect(told('message.dead_letter')).toEqual([letter('one', 'restarting', 1)]);
  });
});
