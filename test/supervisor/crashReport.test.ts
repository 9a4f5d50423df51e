import { describe, expect, it } from 'vitest';
import { fromCallback, fromTransition, setup } from 'xstate';
import type { FactOf } from '../../src/policy/facts/facts.ts';
import { storedEvent } from '../../src/store/record.ts';
import { createMaskedJson } from '../../src/redaction/redactFact.ts';
import { supervisorSpec } from '../../src/supervisor/supervisorLogic.ts';
import { broken, stubborn, worker } from './actors.ts';
import { type StartedRoot, newRoot, startRoot } from './startRoot.ts';

const crashesOf = ({ facts }: StartedRoot): FactOf<'child.crashed'>[] =>
  facts.flatMap((fact) => (fact.type === 'child.crashed' ? [fact] : []));

/** A machine that throws what it is told to. */
const throwing = setup({}).createMachine({
  initial: 'busy',
  states: {
    busy: { initial: 'reading', states: { reading: {} } },
  },
  on: {
    throw: {
      actions: ({ event }) => {
        throw event['error'];
      },
    },
  },
});

const crashWith = (error: unknown): FactOf<'child.crashed'> | undefined => {
  const started = startRoot([{ id: 'a', logic: throwing }]);
  const event = { type: 'throw', error };
  started.root.send('a', event);
  return crashesOf(started)[0];
};

describe('the report on a child that failed', () => {
  it('[V-6] says who, in what state, at what event, why, and what comes next', async () => {
    const started = startRoot([{ id: 'a', logic: throwing, details: () => ({ waiting: 3 }) }], { name: 'gateway' });
    await started.clock.advance(1500);
    const event = { type: 'throw', error: new Error('boom') };
    started.root.send('a', event);
    expect(crashesOf(started)).toEqual([
      {
        type: 'child.crashed',
        child: 'a',
        path: ['gateway', 'a'],
        incarnation: 1,
        elapsedMs: 1500,
        error: 'boom',
        stack: expect.stringContaining('crashReport.test') as string,
        machineState: '{"busy":"reading"}',
        lastEvent: 'throw',
        queued: 0,
        restarts: 0,
        details: { waiting: 3 },
        next: 'restart',
        nextRestartInMs: 100,
      },
    ]);
  });

  it('[V-6] follows the path through nested supervisors', () => {
    const inner = supervisorSpec('inner', { children: [{ id: 'a', logic: worker }] });
    const started = startRoot([supervisorSpec('outer', { children: [inner] })]);
    started.root.nested('outer')?.nested('inner')?.send('a', { type: 'crash' });
    expect(crashesOf(started)[0]?.path).toEqual(['root', 'outer', 'inner', 'a']);
  });

  it('[V-6] notes events that went past the supervisor, and timers', async () => {
    const timed = setup({}).createMachine({
      after: {
        50: {
          actions: () => {
            throw new Error('late');
          },
        },
      },
    });
    const started = startRoot([
      { id: 'a', logic: worker },
      { id: 'b', logic: timed },
    ]);
    started.root.ref('a')?.send({ type: 'crash' });
    await started.clock.advance(50);
    expect(crashesOf(started).map(({ lastEvent }) => lastEvent)).toEqual([
      'crash',
      expect.stringMatching(/^xstate\.after\.50\./) as string,
    ]);
  });

  it('[V-6] forgets the events of the incarnations before', async () => {
    let starts = 0;
    const logic = fromCallback(({ receive }) => {
      if (starts++ > 0) throw new Error('cannot start');
      receive(() => {
        throw new Error('boom');
      });
    });
    const started = startRoot([{ id: 'a', logic }]);
    started.crash('a');
    await started.clock.advance(100);
    const [first, second] = crashesOf(started);
    expect(first).toMatchObject({ lastEvent: 'crash', restarts: 0 });
    expect(second).toMatchObject({ incarnation: 2, restarts: 1, nextRestartInMs: 200 });
    expect(second).not.toHaveProperty('lastEvent');
    expect(second).not.toHaveProperty('machineState');
  });

  it('[V-6] cuts the type of an event, and carries nothing else of it', () => {
    const started = startRoot([{ id: 'a', logic: throwing }]);
    const event = { type: 'throw', error: 'x', password: 'hunter22' };
    started.root.send('a', event);
    expect(JSON.stringify(crashesOf(started))).not.toContain('hunter22');
    const long = startRoot([
      {
        id: 'a',
        logic: fromTransition(() => {
          throw new Error('boom');
        }, undefined),
      },
    ]);
    long.root.send('a', { type: 'x'.repeat(1000) });
    expect(crashesOf(long)[0]?.lastEvent).toBe('x'.repeat(100));
  });

  it('[V-6] names causes and the errors of an aggregate, nearest first', () => {
    const refused = new Error('connect refused');
    const aggregate = new AggregateError([new TypeError('first'), 'second'], 'all failed', { cause: refused });
    expect(crashWith(new Error('boom', { cause: aggregate }))).toMatchObject({
      error: 'boom',
      causes: ['AggregateError: all failed', 'connect refused', 'TypeError: first', 'second'],
    });
    expect(crashWith(new Error('boom'))).not.toHaveProperty('causes');
  });

  it('[V-7] survives causes in a circle and errors that throw when they are read', () => {
    const circle = new Error('round');
    circle.cause = circle;
    expect(crashWith(circle)).toMatchObject({ error: 'round' });
    const bad = new Error('x');
    Object.defineProperty(bad, 'message', {
      get() {
        throw new Error('no');
      },
    });
    expect(crashWith(bad)).toMatchObject({ error: 'an error that cannot be shown', next: 'restart' });
    expect(crashWith(new Error('boom', { cause: bad }))).toMatchObject({ causes: ['an error that cannot be shown'] });
  });

  it('[V-6] says what is done about it', async () => {
    const next = (started: StartedRoot): unknown[] =>
      crashesOf(started).map((crash) => [crash.next, crash.nextRestartInMs]);
    const crashed = (spec: object): StartedRoot => {
      const started = startRoot([{ id: 'a', logic: worker, ...spec }]);
      started.crash('a');
      return started;
    };
    expect(next(crashed({}))).toEqual([['restart', 100]]);
    expect(next(crashed({ restart: 'temporary' }))).toEqual([['stop', undefined]]);
    expect(next(crashed({ intensity: 0 }))).toEqual([['quarantine', undefined]]);
    expect(next(crashed({ intensity: 0, quarantineMs: 60_000 }))).toEqual([['quarantine', 60_000]]);
    const leaving = startRoot([{ id: 'a', logic: stubborn }]);
    void leaving.root.stopChild('a');
    leaving.crash('a');
    expect(next(leaving)).toEqual([['stop', undefined]]);
    const returning = startRoot([{ id: 'a', logic: stubborn }]);
    returning.root.restartChild('a');
    returning.crash('a');
    expect(next(returning)).toEqual([['restart', 0]]);
  });

  it('[V-6] says that a supervisor gives up with it, and that one names its child as the cause', () => {
    const sub = supervisorSpec('sub', { intensity: 0, children: [{ id: 'a', logic: worker }] });
    const started = startRoot([sub]);
    started.root.nested('sub')?.send('a', { type: 'crash' });
    expect(started.facts.slice(-5).map(({ type }) => type)).toContain('supervisor.gave_up');
    expect(crashesOf(started)[0]).toMatchObject({ path: ['root', 'sub', 'a'], next: 'escalate' });
    expect(crashesOf(started)[0]).not.toHaveProperty('nextRestartInMs');
  });

  it('[V-6] of a supervisor has what its child said among the causes', async () => {
    const sub = supervisorSpec('sub', { intensity: 0, children: [{ id: 'a', logic: worker }] });
    const started = startRoot([sub]);
    started.root.nested('sub')?.send('a', { type: 'crash' });
    await started.clock.settle();
    expect(crashesOf(started)[1]).toMatchObject({ path: ['root', 'sub'], causes: ['boom'], next: 'restart' });
  });

  it('[V-6] of a first start that failed says that it is left at that', () => {
    const started = startRoot([]);
    expect(() => started.root.startChild({ id: 'a', logic: broken })).toThrow('cannot start');
    expect(crashesOf(started)).toMatchObject([{ child: 'a', error: 'cannot start', next: 'stop' }]);
    expect(started.told('child.stopped')).toEqual([]);
  });

  it('[V-6] comes before what is done about it, when that is already so', () => {
    const seen: unknown[] = [];
    const started: StartedRoot = newRoot({
      children: [{ id: 'a', logic: worker }],
      facts: {
        tell: ({ type }) => seen.push([type, started.root.state('a')]),
        wants: () => true,
      },
    });
    started.root.start();
    started.crash('a');
    expect(seen).toEqual([
      ['child.started', 'running'],
      ['child.crashed', 'restarting'],
      ['child.restarting', 'restarting'],
    ]);
  });

  it('[V-2] lets a listener stop the child for good', async () => {
    const told: string[] = [];
    const started: StartedRoot = newRoot({
      children: [{ id: 'a', logic: worker }],
      facts: {
        tell({ type }) {
          told.push(type);
          if (type === 'child.crashed') void started.root.stopChild('a');
        },
        wants: () => true,
      },
    });
    started.root.start();
    started.crash('a');
    await started.clock.advance(100_000);
    expect(started.root.state('a')).toBe('stopped');
    expect(started.clock.pending).toBe(0);
    expect(told).toEqual(['child.started', 'child.crashed']);
  });

  it('[V-6] is not made when nobody listens', () => {
    let read = 0;
    const { root } = newRoot({
      children: [{ id: 'a', logic: worker, details: () => ({ read: ++read }) }],
      facts: { tell: () => {}, wants: () => false },
    });
    root.start();
    root.send('a', { type: 'crash' });
    expect(read).toBe(0);
  });

  it('[V-6] is stored whole, without secrets', () => {
    const token = 'sk-ant-0123456789abcdef0123';
    const error = new Error('boom', { cause: new Error(`Bearer ${token}`) });
    const started = startRoot([{ id: 'a', logic: throwing, details: () => ({ apiKey: 'hunter22', waiting: 1 }) }]);
    const event = { type: 'throw', error };
    started.root.send('a', event);
    const [crash] = crashesOf(started);
    const stored = crash === undefined ? undefined : storedEvent({ ...crash, at: 1 });
    expect(stored).toMatchObject({
      category: 'child',
      eventType: 'crashed',
      metadata: { child: 'a', path: ['root', 'a'], last_event: 'throw', next: 'restart', next_restart_in_ms: 100 },
    });
    const json = createMaskedJson()(stored?.metadata ?? {});
    expect(json).not.toContain(token);
    expect(json).not.toContain('hunter22');
    expect(JSON.parse(json)).toMatchObject({ machine_state: '{"busy":"reading"}', queued: 0, restarts: 0 });
  });
});

describe('a details hook that acts on its supervisor', () => {
  const acting = (act: (started: StartedRoot) => unknown): StartedRoot => {
    let acted = false;
    const started: StartedRoot = startRoot([
      {
        id: 'a',
        logic: worker,
        details() {
          if (!acted) {
            acted = true;
            void act(started);
          }
          return {};
        },
      },
      { id: 'b', logic: worker },
    ]);
    started.crash('a');
    return started;
  };

  it.each([
    ['stops the root', ({ root }: StartedRoot) => root.stop(), ['+a', '+b', '-b', '!a', '-a']],
    ['stops the child', ({ root }: StartedRoot) => root.stopChild('a'), ['+a', '+b', '!a', '-a']],
  ])('[V-5] [I-3] is obeyed when it %s: the child does not come back', async (_, act, journal) => {
    const started = acting(act);
    await started.clock.advance(60_000);
    expect(started.journal).toEqual(journal);
    expect(crashesOf(started)).toMatchObject([{ child: 'a', next: 'stop' }]);
    expect(started.clock.pending).toBe(0);
  });

  it('[V-5] is obeyed when it restarts the child by hand, once', async () => {
    const started = acting(({ root }) => root.restartChild('a'));
    await started.clock.advance(60_000);
    expect(started.journal).toEqual(['+a', '+b', '!a', '-a', '+a']);
    expect(crashesOf(started)).toMatchObject([{ child: 'a', next: 'restart', nextRestartInMs: 0 }]);
  });
});
