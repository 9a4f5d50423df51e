import { afterEach, describe, expect, it, vi } from 'vitest';
import { createActor, fromCallback, setup } from 'xstate';
import { indexedScheduler, xstateClock } from '../../src/supervisor/scheduler.ts';
import { SimulatedClock } from '../../testing/simulatedClock.ts';
import { startRoot } from './startRoot.ts';
import { visitsDuring } from './visits.ts';

const alarm = setup({ delays: { first: 100, second: 50 } }).createMachine({
  initial: 'a',
  states: { a: { after: { first: 'b' } }, b: { after: { second: 'c' } }, c: {} },
});

const startAlarm = () => {
  const clock = new SimulatedClock();
  const actor = createActor(alarm, { clock: xstateClock(clock) });
  actor.system.scheduler = indexedScheduler(clock);
  actor.start();
  return { actor, clock };
};

afterEach(() => {
  vi.restoreAllMocks();
});

describe('the indexed scheduler', () => {
  it('[G-6] lets the event loop ask for what is there before it fires the delay `turn`', () => {
    const turns: (() => void)[] = [];
    const clock = Object.assign(new SimulatedClock(), {
      nextTurn: (callback: () => void) => void turns.push(callback),
    });
    const judge = setup({ types: { events: {} as { type: 'leave' } }, delays: { turn: 0 } }).createMachine({
      initial: 'judging',
      states: { judging: { after: { turn: 'judged' }, on: { leave: 'left' } }, judged: {}, left: {} },
    });
    const start = () => {
      const actor = createActor(judge, { clock: xstateClock(clock) });
      actor.system.scheduler = indexedScheduler(clock);
      return actor.start();
    };
    const [actor, other] = [start(), start()];
    const pass = (): void => {
      for (const callback of turns.splice(0)) callback();
    };
    pass();
    other.send({ type: 'leave' });
    pass();
    expect(actor.getSnapshot().value).toBe('judging');
    pass();
    expect([actor.getSnapshot().value, other.getSnapshot().value, clock.pending]).toEqual(['judged', 'left', 0]);
  });

  it('[V-8] fires chained delays on our clock, each at its time', async () => {
    const { actor, clock } = startAlarm();
    await clock.advance(99);
    expect(actor.getSnapshot().value).toBe('a');
    await clock.advance(1);
    expect(actor.getSnapshot().value).toBe('b');
    await clock.advance(50);
    expect(actor.getSnapshot().value).toBe('c');
  });

  it.each([
    ['silence', false],
    ['handshake', false],
    ['overall', true],
  ] as const)(
    '[G-6] counts only time in which the event loop ran for the delay `%s`: fired by then %s',
    async (name, fired) => {
      const clock = new SimulatedClock();
      const waiting = setup({ delays: { [name]: 100 } }).createMachine({
        initial: 'waiting',
        states: { waiting: { after: { [name]: 'over' } }, over: {} },
      });
      const actor = createActor(waiting, { clock: xstateClock(clock) });
      actor.system.scheduler = indexedScheduler(clock);
      actor.start();
      await clock.advance(50);
      clock.stall(1000);
      await clock.advance(49);
      expect(actor.getSnapshot().value).toBe(fired ? 'over' : 'waiting');
      await clock.advance(1);
      expect(actor.getSnapshot().value).toBe('over');
    },
  );

  it('[V-8] cancels a delay when its state is left', async () => {
    const { actor, clock } = startAlarm();
    await clock.advance(100);
    expect(clock.pending).toBe(1);
    actor.stop();
    expect(clock.pending).toBe(0);
  });

  it('[V-8] replaces a timer of the same name and keeps the other ones', async () => {
    const clock = new SimulatedClock();
    const seen: string[] = [];
    const actor = createActor(fromCallback(({ receive }) => receive((event) => seen.push(event.type)))).start();
    const scheduler = indexedScheduler(clock);
    scheduler.schedule(actor, actor, { type: 'old' }, 10, 'x');
    scheduler.schedule(actor, actor, { type: 'new' }, 20, 'x');
    scheduler.schedule(actor, actor, { type: 'nameless' }, 5, undefined);
    scheduler.cancel(actor, 'unknown');
    await clock.advance(20);
    expect(seen).toEqual(['nameless', 'new']);
  });

  it('[V-8] stops an actor without going through the timers of the others', async () => {
    const { root, clock } = startRoot([]);
    for (let n = 0; n < 2000; n++) root.startChild({ id: `c${n}`, logic: alarm });
    const cleared = vi.spyOn(clock, 'clearTimeout');
    const visits = visitsDuring(() => void root.stopChild('c1000'));
    expect(root.ref('c1000')).toBeUndefined();
    expect(visits).toBeLessThan(10);
    expect(cleared.mock.calls.filter(([timer]) => timer !== undefined)).toHaveLength(1);
    expect(clock.pending).toBe(1999);
    // What XState's own scheduler walks at every stop.
    expect(root.actor.system.getSnapshot()._scheduledEvents).toEqual({});
  });
});
