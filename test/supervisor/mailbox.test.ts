import { describe, expect, it } from 'vitest';
import { setup } from 'xstate';
import type { ChildSpec } from '../../src/supervisor/childSpec.ts';
import { type StartedRoot, startRoot } from './startRoot.ts';

interface Listening extends StartedRoot {
  /** What the child took, `number:incarnation`. */
  readonly taken: string[];
  /** Sends numbered messages. */
  readonly sendAll: (...numbers: number[]) => boolean[];
  /** Reason and number of each dead letter. */
  readonly letters: () => string[];
}

/** One child `a` that notes the messages it takes, and fails at `crash` and at the message -1. */
const startListening = (spec: Partial<ChildSpec> = {}): Listening => {
  const taken: string[] = [];
  let incarnation = 0;
  const logic = setup({}).createMachine({
    on: {
      crash: {
        actions: () => {
          throw new Error('boom');
        },
      },
      shutdown: { actions: () => {} },
      '*': {
        actions: ({ event }) => {
          taken.push(`${event.type}:${incarnation}`);
          if (event.type === '-1') throw new Error('poison');
        },
      },
    },
  });
  const onStart = (_: unknown, nth: number): void => void (incarnation = nth);
  const started = startRoot([{ id: 'a', logic, mailbox: { capacity: 3 }, onStart, ...spec }]);
  return {
    ...started,
    taken,
    sendAll: (...numbers) => numbers.map((number) => started.root.send('a', { type: String(number) })),
    letters: () =>
      started.facts.flatMap((fact) => (fact.type === 'message.dead_letter' ? [`${fact.reason} ${fact.message}`] : [])),
  };
};

describe('the mailbox of a child', () => {
  it('[V-6] holds what comes during a restart and delivers it in order to the next incarnation', async () => {
    const { clock, crash, sendAll, taken, letters, node } = startListening();
    crash('a');
    expect(sendAll(1, 2, 3)).toEqual([true, true, true]);
    expect(node('a')).toMatchObject({ state: 'restarting', queued: 3 });
    await clock.advance(99);
    expect(taken).toEqual([]);
    await clock.advance(1);
    expect(taken).toEqual(['1:2', '2:2', '3:2']);
    expect(node('a')).not.toHaveProperty('queued');
    expect(letters()).toEqual([]);
  });

  it('[V-6] lets messages to a live child pass', () => {
    const { sendAll, taken } = startListening();
    sendAll(1, 2, 3, 4);
    expect(taken).toEqual(['1:1', '2:1', '3:1', '4:1']);
  });

  it('[V-6] keeps nothing where none was asked for', async () => {
    const { clock, crash, sendAll, taken, letters } = startListening({ mailbox: undefined });
    crash('a');
    expect(sendAll(1)).toEqual([false]);
    await clock.advance(100);
    expect(taken).toEqual([]);
    expect(letters()).toEqual(['restarting 1']);
  });

  it.each([
    [undefined, [true, true, true, false, false], ['mailbox_full 4', 'mailbox_full 5'], ['1:2', '2:2', '3:2']],
    ['refuse', [true, true, true, false, false], ['mailbox_full 4', 'mailbox_full 5'], ['1:2', '2:2', '3:2']],
    ['drop_oldest', [true, true, true, true, true], ['drop_oldest 1', 'drop_oldest 2'], ['3:2', '4:2', '5:2']],
    ['drop_newest', [true, true, true, true, true], ['drop_newest 3', 'drop_newest 4'], ['1:2', '2:2', '5:2']],
  ] as const)('[V-6] that is full, with overflow %s', async (overflow, answers, dead, delivered) => {
    const { clock, crash, sendAll, taken, letters, node } = startListening({ mailbox: { capacity: 3, overflow } });
    crash('a');
    expect(sendAll(1, 2, 3, 4, 5)).toEqual(answers);
    expect(letters()).toEqual(dead);
    expect(node('a')).toMatchObject({ queued: 3, deadLetters: 2 });
    await clock.advance(100);
    expect(taken).toEqual(delivered);
  });

  it('[V-6] delivers before what a listener of the start sends', async () => {
    const started = startListening();
    const { root, facts, clock, crash, sendAll, taken } = started;
    const push = facts.push.bind(facts);
    facts.push = (fact) => {
      if (fact.type === 'child.started' && fact.incarnation === 2) root.send('a', { type: '9' });
      return push(fact);
    };
    crash('a');
    sendAll(1, 2);
    await clock.advance(100);
    expect(taken).toEqual(['1:2', '2:2', '9:2']);
  });

  it('[V-6] keeps the messages behind one that makes the child fail, and does not deliver that one again', async () => {
    const { clock, crash, sendAll, taken, letters, told } = startListening();
    crash('a');
    sendAll(1, -1, 3);
    await clock.advance(100);
    expect(taken).toEqual(['1:2', '-1:2']);
    expect(told('child.crashed').at(-1)).toMatchObject({ lastEvent: '-1', queued: 1, next: 'restart' });
    await clock.advance(200);
    expect(taken).toEqual(['1:2', '-1:2', '3:3']);
    expect(letters()).toEqual([]);
  });

  it('[V-6] holds through starts that fail', async () => {
    let starts = 0;
    const logic = setup({}).createMachine({
      entry: () => {
        starts += 1;
        if (starts === 2) throw new Error('cannot start');
      },
      on: {
        crash: {
          actions: () => {
            throw new Error('boom');
          },
        },
        '*': { actions: ({ event }) => void got.push(event.type) },
      },
    });
    const got: string[] = [];
    const { clock, crash, sendAll } = startListening({ logic });
    crash('a');
    sendAll(1);
    await clock.advance(100);
    expect([starts, got]).toEqual([2, []]);
    await clock.advance(200);
    expect([starts, got]).toEqual([3, ['1']]);
  });

  it('[V-6] holds what comes during a start, also when that fails', async () => {
    let starts = 0;
    const got: string[] = [];
    const logic = setup({}).createMachine({
      entry: () => {
        if (++starts === 2) throw new Error('cannot start');
      },
      on: { 1: { actions: () => void got.push(`1:${starts}`) } },
    });
    const onStart = (_: unknown, nth: number): void => void (nth === 2 && root.send('a', { type: '1' }));
    const { root, clock } = startListening({ logic, onStart });
    root.restartChild('a');
    await clock.advance(100);
    expect(got).toEqual(['1:3']);
  });

  it('[V-6] keeps what is behind a message that has the child restarted', async () => {
    const got: string[] = [];
    const logic = setup({}).createMachine({
      on: {
        shutdown: { actions: () => void got.push('shutdown') },
        1: { actions: () => root.restartChild('a') },
        2: { actions: () => void got.push('2') },
      },
    });
    const { root, clock, sendAll, node } = startListening({ logic, shutdown: 1000 });
    root.restartChild('a');
    sendAll(1, 2);
    await clock.advance(1000);
    expect(node('a')).toMatchObject({ state: 'stopping', incarnation: 2, queued: 1 });
    await clock.advance(1000);
    expect(got).toEqual(['shutdown', 'shutdown', '2']);
  });

  it('[V-6] keeps what it has in a quarantine that ends by time', async () => {
    const { clock, crash, sendAll, taken, letters } = startListening({ intensity: 1, quarantineMs: 1000 });
    crash('a');
    sendAll(-1, 2);
    await clock.advance(100);
    expect(taken).toEqual(['-1:2']);
    await clock.advance(1000);
    expect(taken).toEqual(['-1:2', '2:3']);
    expect(letters()).toEqual([]);
  });

  it('[V-6] holds what comes while the child is stopped for a restart', async () => {
    const { root, clock, sendAll, taken } = startListening({ shutdown: 1000 });
    root.restartChild('a');
    expect(root.state('a')).toBe('stopping');
    sendAll(1);
    await clock.advance(1000);
    expect(taken).toEqual(['1:2']);
  });

  it('[V-6] gives a child that is stopped for good what comes meanwhile', () => {
    const { root, sendAll, taken } = startListening();
    void root.stopChild('a');
    expect(sendAll(1)).toEqual([true]);
    expect(taken).toEqual(['1:1']);
  });

  it('[V-6] holds in a quarantine that ends by time', async () => {
    const { clock, crash, sendAll, taken, letters } = startListening({ intensity: 0, quarantineMs: 1000 });
    crash('a');
    expect(sendAll(1)).toEqual([true]);
    await clock.advance(1000);
    expect(taken).toEqual(['1:2']);
    expect(letters()).toEqual([]);
  });

  it('[V-6] holds nothing in a quarantine that only a hand ends', async () => {
    const { clock, crash, sendAll, letters, taken } = startListening({ intensity: 1 });
    crash('a');
    sendAll(-1, 2, 3);
    await clock.advance(100);
    expect(taken).toEqual(['-1:2']);
    expect(letters()).toEqual(['quarantined 2', 'quarantined 3']);
    expect(sendAll(4)).toEqual([false]);
    expect(letters().at(-1)).toBe('quarantined 4');
  });

  it.each<[string, (root: StartedRoot['root']) => unknown]>([
    ['the child is stopped', (root) => root.stopChild('a')],
    ['the supervisor is stopped', (root) => root.stop()],
    ['the supervisor is stopped at once', (root) => root.actor.send({ type: 'xstate.stop' })],
  ])('[V-6] makes dead letters of what it holds when %s', async (_name, stop) => {
    const { root, crash, sendAll, letters, told } = startListening();
    crash('a');
    sendAll(1, 2);
    await stop(root);
    expect(letters()).toEqual(['stopped 1', 'stopped 2']);
    expect(told('message.dead_letter').at(-1)).toMatchObject({ to: 'a', deadLetters: 2 });
  });

  it('[V-6] makes dead letters of what it holds when the child is deleted', () => {
    const { root, crash, sendAll, letters } = startListening({ intensity: 0, quarantineMs: 1000 });
    crash('a');
    sendAll(1);
    root.deleteChild('a');
    expect(letters()).toEqual(['stopped 1']);
  });

  it('[V-6] makes dead letters of what is behind a message that ends the child', async () => {
    const brief = setup({}).createMachine({ initial: 'a', states: { a: { on: { 1: 'b' } }, b: { type: 'final' } } });
    const { root, clock, sendAll, letters } = startListening({ logic: brief, restart: 'transient' });
    root.restartChild('a');
    sendAll(1, 2);
    await clock.settle();
    expect(root.state('a')).toBe('stopped');
    expect(letters()).toEqual(['stopped 2']);
  });

  it('[V-6] takes what a child sends to itself while it is given what was held, behind it', async () => {
    const got: string[] = [];
    const logic = setup({}).createMachine({
      on: {
        1: {
          actions: () => {
            got.push('1');
            root.send('a', { type: '3' });
          },
        },
        2: { actions: () => void got.push('2') },
        3: { actions: () => void got.push('3') },
      },
    });
    const { root, clock, sendAll } = startListening({ logic });
    root.restartChild('a');
    sendAll(1, 2);
    await clock.settle();
    expect(got).toEqual(['1', '2', '3']);
  });

  it('[V-8] delivers 100,000 messages in linear time', async () => {
    const { root, clock, crash, taken } = startListening({ mailbox: { capacity: 100_000 } });
    crash('a');
    for (let n = 0; n < 100_000; n++) root.send('a', { type: 'x' });
    await clock.advance(100);
    expect(taken).toHaveLength(100_000);
  });
});
