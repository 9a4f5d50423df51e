import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { type AddressInfo, type Socket, connect, createServer } from 'node:net';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { type EventObject, fromCallback, fromPromise, setup } from 'xstate';
import { polite, stubborn, worker } from '../actors.ts';
import { startRoot } from '../startRoot.ts';
import { visitsDuring } from '../visits.ts';
import { visitsOf } from '../visitsOfChildren.ts';

const never = Number.POSITIVE_INFINITY;
const silent = fileURLToPath(new URL('../../fixtures/silent.mjs', import.meta.url));
const boom = (): never => {
  throw new Error('boom');
};

describe('the stop of an actor', () => {
  /** A tree with this many timers pending, of a thousand actors, and one actor more that has one timer. */
  const startWithTimers = (pending: number) => {
    const started = startRoot([]);
    const { scheduler } = started.root.actor.system;
    for (let n = 0; n < 1000; n++) {
      const ref = started.root.startChild({ id: `c${n}`, logic: worker });
      for (let timer = 0; timer < pending / 1000; timer++) {
        scheduler.schedule(ref, ref, { type: 'later' }, 1_000_000, `timer ${timer}`);
      }
    }
    const ref = started.root.startChild({ id: 'a', logic: worker });
    scheduler.schedule(ref, ref, { type: 'later' }, 1_000_000, 'own');
    return started;
  };

  it.each([1000, 10_000, 100_000])('[V-8] visits its own timers only, with %s of others pending', (pending) => {
    const { root, clock } = startWithTimers(pending);
    const cleared = vi.spyOn(clock, 'clearTimeout');
    const visits = visitsDuring(() => void root.stopChild('a'));
    // What XState's own scheduler would go through at every stop.
    const scheduled = Object.keys(root.actor.system.getSnapshot()._scheduledEvents).length;
    expect(root.ref('a')).toBeUndefined();
    expect(visits + scheduled).toBeLessThan(10);
    expect(cleared.mock.calls.filter(([timer]) => timer !== undefined)).toHaveLength(1);
    expect(clock.pending).toBe(pending);
  });
});

describe('start and stop of many children', () => {
  it('[V-8] take as many steps for a child among 2,500 as among 5,000', async () => {
    const [small, large] = [await visitsOf(2500), await visitsOf(5000)];
    expect(large.starting).toBeLessThanOrEqual(small.starting);
    expect(large.stopping).toBeLessThanOrEqual(small.stopping * 1.1);
    expect(large.turns).toBeLessThanOrEqual(small.turns * 1.1);
  });
});

describe('a machine that throws in an action', () => {
  it('[I-3] [V-7] leaves no process, socket or timer behind', async () => {
    const server = createServer();
    onTestFinished(() => void server.close());
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const child = spawn(process.execPath, [silent], { stdio: ['ignore', 'pipe', 'ignore'] });
    onTestFinished(() => void child.kill('SIGKILL'));
    const actors = {
      process: fromCallback(() => () => child.kill('SIGKILL')),
      socket: fromCallback(() => {
        const socket = connect(port, '127.0.0.1');
        return () => socket.destroy();
      }),
    };
    const holder = setup({ actors, actions: { boom } }).createMachine({
      invoke: [{ src: 'process' }, { src: 'socket' }],
      initial: 'waits',
      states: { waits: { after: { 1_000_000: 'late' } }, late: {} },
      on: { crash: { actions: 'boom' } },
    });
    const accepted = once(server, 'connection');
    const { clock, crash } = startRoot([{ id: 'a', logic: holder, restart: 'temporary' }]);
    const [connection] = (await accepted) as [Socket];
    await once(child.stdout, 'data');
    const gone = [once(child, 'exit'), once(connection.resume(), 'close')];
    crash('a');
    const [[, signal]] = (await Promise.all(gone)) as [[unknown, string], unknown];
    expect([signal, clock.pending]).toEqual(['SIGKILL', 0]);
  });

  it.each<[string, (started: ReturnType<typeof startRoot>) => unknown]>([
    ['crashes', ({ crash }) => crash('a')],
    ['is stopped', ({ root }) => root.stopChild('a')],
    ['is stopped with its tree', ({ root }) => root.stop()],
  ])('[I-3] or otherwise %s is cleaned up after without `exit` actions', async (_name, end) => {
    const cleaned: string[] = [];
    const actors = {
      callback: fromCallback(() => () => void cleaned.push('callback')),
      promise: fromPromise(
        ({ signal }) =>
          new Promise(() => {
            signal.addEventListener('abort', () => cleaned.push('promise'));
          }),
      ),
    };
    const holder = setup({ actors, actions: { boom, exit: () => cleaned.push('exit') } }).createMachine({
      invoke: [{ src: 'callback' }, { src: 'promise' }],
      on: { crash: { actions: 'boom' } },
      exit: 'exit',
    });
    const started = startRoot([{ id: 'a', logic: holder, restart: 'temporary' }]);
    await end(started);
    // XState runs no `exit` action here: what a machine holds must be held by what it invokes.
    expect(cleaned.toSorted()).toEqual(['callback', 'promise']);
  });
});

describe('a child that fails at every start', () => {
  it('[V-7] lets another turn of the event loop run before each of its restarts', async () => {
    const journal: string[] = [];
    const failing = fromCallback(() => {
      journal.push('start');
      // Bounded, so that a loop that is starved ends.
      if (journal.length > 1 && journal.length < 1000) boom();
    });
    const { root, clock } = startRoot([], { intensity: never });
    root.startChild({ id: 'a', logic: failing, intensity: never, backoff: { baseMs: 0 } });
    const otherWork = (): void => {
      journal.push('other');
      if (journal.length < 100) clock.nextTurn(otherWork);
      else void root.stopChild('a');
    };
    clock.nextTurn(otherWork);
    root.restartChild('a');
    await clock.settle();
    expect(journal.slice(0, 5)).toEqual(['start', 'other', 'start', 'other', 'start']);
    expect(journal.filter((entry, n) => entry === journal[n - 1])).toEqual([]);
  });
});

describe('the shutdown protocol', () => {
  /** Tells what it hears; ends when told `done`. */
  const hearing = (heard: string[]) =>
    setup({ actions: { note: (_, { type }: EventObject) => void heard.push(type) } }).createMachine({
      initial: 'up',
      states: { up: { on: { done: 'over' } }, over: { type: 'final' } },
      on: { shutdown: { actions: { type: 'note', params: ({ event }) => event } } },
    });

  it('[V-5] sends `shutdown` once, waits for the final state, and kills nobody who got there', async () => {
    const heard: string[] = [];
    const { root, clock, told } = startRoot([{ id: 'a', logic: hearing(heard), shutdown: 1000 }]);
    const stops = [root.stopChild('a'), root.stopChild('a'), root.stop()];
    await clock.advance(999);
    root.send('a', { type: 'done' });
    await Promise.all(stops);
    expect(heard).toEqual(['shutdown']);
    expect(told('child.stopped')).toMatchObject([{ reason: 'shutdown' }]);
    expect(clock.pending).toBe(0);
  });

  it('[V-5] stops at once whose snapshot cannot take `shutdown`, sending it nothing', async () => {
    const heard: string[] = [];
    const deaf = fromCallback(({ receive }) => receive(({ type }) => void heard.push(type)));
    const { root, told } = startRoot([{ id: 'a', logic: deaf, shutdown: 'infinity' }]);
    await root.stop();
    expect(heard).toEqual([]);
    expect(told('child.stopped')).toMatchObject([{ reason: 'shutdown' }]);
  });

  it('[V-5] asks the next child only when the one before is gone', async () => {
    const { root, clock, node } = startRoot([
      { id: 'a', logic: polite },
      { id: 'b', logic: stubborn, shutdown: 1000 },
    ]);
    void root.stop();
    await clock.advance(999);
    expect([node('a')?.state, node('b')?.state]).toEqual(['running', 'stopping']);
    await clock.advance(1);
    expect([node('a')?.state, node('b')?.state]).toEqual(['stopped', 'stopped']);
  });
});
