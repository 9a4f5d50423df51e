import { describe, expect, it } from 'vitest';
import { type AnyActorRef, setup } from 'xstate';
import { type SupervisorOptions, createRootSupervisor } from '../../src/supervisor/supervisor.ts';
import { systemClock } from '../../src/runtime/systemClock.ts';
import { SimulatedClock } from '../../testing/simulatedClock.ts';
import { stubborn, worker } from './actors.ts';
import { newRoot, startRoot } from './startRoot.ts';

const boom = (): never => {
  throw new Error('boom');
};

describe('the root supervisor', () => {
  it.each<[string, Record<string, unknown>, RegExp]>([
    ['no clock', { clock: undefined }, /`clock`.*undefined/],
    ['no random', { random: undefined }, /`random`.*undefined/],
    ['an empty name', { name: '' }, /`name`.*""/],
    ['an unknown strategy', { strategy: 'simple_one_for_one' }, /`strategy`.*"simple_one_for_one"/],
    ['a negative intensity', { intensity: -1 }, /`intensity`.*-1/],
    ['a period of 0', { periodMs: 0 }, /`periodMs`.*0/],
    ['a stop limit of 0', { maxStopMs: 0 }, /`maxStopMs`.*0/],
    ['an unknown autoShutdown', { autoShutdown: 'always' }, /`autoShutdown`.*"always"/],
    ['an onEmit that is no function', { onEmit: 1 }, /`onEmit`.*1/],
    ['an inspect that is no function', { inspect: {} }, /`inspect`.*an object/],
    ['two children of one id', { children: [worker, worker].map((logic) => ({ id: 'a', logic })) }, /`id`.*"a"/],
    ['a bad child', { children: [{ id: 'a', logic: worker, restart: 'no' }] }, /`a\.restart`.*"no"/],
  ])('[V-1] is refused with %s, by option and value', (_name, options, message) => {
    const good = { clock: new SimulatedClock(), random: Math.random };
    expect(() => createRootSupervisor({ ...good, ...options } as SupervisorOptions)).toThrow(message);
  });

  it('[V-2] runs nothing before its start', () => {
    const started: number[] = [];
    newRoot({ children: [{ id: 'a', logic: worker, onStart: (_ref, incarnation) => started.push(incarnation) }] });
    expect(started).toEqual([]);
  });

  it('[V-7] survives an inspector that throws', async () => {
    const { root, clock, crash, told } = startRoot([{ id: 'a', logic: worker }], { inspect: boom });
    crash('a');
    await clock.advance(100);
    expect(root.ref('a')).toBeDefined();
    expect(told('listener.failed').length).toBeGreaterThan(0);
  });

  it('[V-7] survives facts that throw', async () => {
    const { root, clock, crash } = startRoot([{ id: 'a', logic: worker }], { facts: { tell: boom, wants: boom } });
    crash('a');
    await clock.advance(100);
    expect(root.ref('a')).toBeDefined();
    await root.stop();
  });

  it('[V-7] shows its whole tree to an inspector', () => {
    const seen = new Set<string>();
    startRoot([{ id: 'a', logic: worker }], { inspect: ({ actorRef }) => void seen.add((actorRef as AnyActorRef).id) });
    expect([...seen]).toEqual(['root', 'a']);
  });

  it('[O-6] lets who comes later hear every event of the tree, until he leaves', () => {
    const { root } = startRoot([{ id: 'a', logic: worker }]);
    const heard: string[] = [];
    const leave = root.inspect(({ type }) => heard.push(type));
    root.send('a', { type: 'finish' });
    expect(heard).toContain('@xstate.microstep');
    const length = heard.length;
    leave();
    root.startChild({ id: 'b', logic: worker });
    expect(heard).toHaveLength(length);
  });

  it('[V-7] survives one who came later and throws', () => {
    const { root, told } = startRoot([{ id: 'a', logic: worker }]);
    root.inspect(boom);
    expect(root.send('a', { type: 'finish' })).toBe(true);
    expect(told('listener.failed')).toContainEqual(expect.objectContaining({ event: 'inspect', error: 'boom' }));
  });

  it('[V-7] keeps 999 siblings untouched while one child crashes a thousand times', async () => {
    const { root, clock, crash, told } = startRoot([]);
    for (let n = 0; n < 1000; n++) root.startChild({ id: `c${n}`, logic: worker });
    for (let n = 0; n < 1000; n++) {
      crash('c500');
      await clock.advance(1);
    }
    expect(told('child.started')).toHaveLength(1003);
    expect(root.count()).toMatchObject({ active: 999, quarantined: 1 });
  });

  it('[V-4] restarts and stops on the clock of the machine', async () => {
    const root = createRootSupervisor({ clock: systemClock, random: Math.random });
    root.start();
    const back = new Promise<void>((resolve) => {
      const onStart = (_ref: AnyActorRef, incarnation: number) => incarnation === 2 && resolve();
      root.startChild({ id: 'a', logic: stubborn, shutdown: 1, backoff: { firstImmediate: true }, onStart });
    });
    root.send('a', { type: 'crash' });
    await back;
    await root.stop();
    expect(root.tree()).toMatchObject({ state: 'stopped', restarts: 1 });
  });

  it('[V-8] runs the delays of its children on its clock', async () => {
    const alarm = setup({}).createMachine({ initial: 'a', states: { a: { after: { 1000: 'b' } }, b: {} } });
    const { clock, node } = startRoot([{ id: 'a', logic: alarm }]);
    await clock.advance(1000);
    expect(node('a')?.machineState).toBe('b');
  });

  it('[V-8] hands its clock to the actor system', () => {
    const { root, clock } = startRoot([]);
    root.actor.clock.clearTimeout(root.actor.clock.setTimeout(boom, 10));
    root.actor.clock.setTimeout(boom, 10);
    expect(clock.pending).toBe(1);
  });
});

/** Entries of maps, keys of objects and copies of arrays that are gone through while `work` runs. */
function stepsDuring(work: () => void): number {
  let steps = 0;
  const count = (holder: object, name: PropertyKey, size: (self: unknown, args: unknown[]) => number) => {
    const descriptor = Object.getOwnPropertyDescriptor(holder, name) as PropertyDescriptor;
    const original = descriptor.value as (...args: unknown[]) => unknown;
    Object.defineProperty(holder, name, {
      ...descriptor,
      value(this: unknown, ...args: unknown[]) {
        steps += size(this, args);
        return original.apply(this, args);
      },
    });
    return () => Object.defineProperty(holder, name, descriptor);
  };
  const ofMap = (self: unknown) => (self as Map<unknown, unknown>).size;
  const ofObject = (_self: unknown, [object]: unknown[]) => Reflect.ownKeys(object as object).length;
  const undo = [
    ...(['values', 'keys', 'entries', 'forEach', Symbol.iterator] as const).map((name) =>
      count(Map.prototype, name, ofMap),
    ),
    ...(['values', 'forEach', Symbol.iterator] as const).map((name) => count(Set.prototype, name, ofMap)),
    ...(['keys', 'values', 'entries'] as const).map((name) => count(Object, name, ofObject)),
  ];
  try {
    work();
  } finally {
    for (const restore of undo) restore();
  }
  return steps;
}

describe('the cost of one child', () => {
  /** Steps to start, crash, restart and stop one child among `others`. */
  const steps = async (others: number) => {
    const { root, clock, crash } = startRoot([]);
    for (let n = 0; n < others; n++) root.startChild({ id: `c${n}`, logic: worker });
    const start = stepsDuring(() => void root.startChild({ id: 'a', logic: worker }));
    const fall = stepsDuring(() => {
      crash('a');
    });
    await clock.advance(100);
    const stop = stepsDuring(() => void root.stopChild('a'));
    return { start, fall, stop };
  };

  it('[V-8] is the same among 3,000 as among 10', async () => {
    expect(await steps(3000)).toEqual(await steps(10));
  });

  it('[V-8] leaves nothing of a temporary child behind', async () => {
    const { root, clock } = startRoot([]);
    for (let n = 0; n < 1000; n++) {
      root.startChild({ id: `c${n}`, logic: worker, restart: 'temporary', systemId: `name-${n}` });
      root.send(`c${n}`, { type: n % 2 === 0 ? 'finish' : 'crash' });
    }
    expect(root.count().specs).toBe(0);
    expect(root.whereis('name-1')).toBeUndefined();
    expect(clock.pending).toBe(0);
  });
});
