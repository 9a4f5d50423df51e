import { describe, expect, it } from 'vitest';
import { fromCallback, setup } from 'xstate';
import type { ChildSpec } from '../../src/supervisor/childSpec.ts';
import { renewedExit } from '../../src/supervisor/exit.ts';
import { supervisorSpec } from '../../src/supervisor/supervisorLogic.ts';
import { worker } from './actors.ts';
import { startRoot } from './startRoot.ts';

const never = Number.POSITIVE_INFINITY;
const spec = (id: string) => ({ id, logic: worker, intensity: never, backoff: { maxMs: 100 } });

describe('a window that is used up', () => {
  it('[V-3] is that of each child alone: neither makes room for the other, nor takes any', async () => {
    const { clock, crash, node, told } = startRoot([spec('a'), spec('b')], { intensity: 3 });
    for (const id of ['a', 'a', 'a', 'b', 'b', 'b']) {
      crash(id);
      await clock.advance(node(id)?.nextRestartInMs ?? 0);
    }
    expect([node('a')?.state, node('b')?.state]).toEqual(['running', 'running']);
    crash('b');
    expect([node('a')?.state, node('b')?.state]).toEqual(['running', 'quarantined']);
    crash('a');
    expect(node('a')?.state).toBe('quarantined');
    expect(told('supervisor.gave_up')).toMatchObject([{ child: 'b' }, { child: 'a' }]);
  });

  it('[V-3] is answered for by the whole group, in the name of the child that crashed last', async () => {
    const { clock, crash, node, told } = startRoot([spec('a'), spec('b')], { intensity: 2, strategy: 'one_for_all' });
    for (const id of ['a', 'a', 'b']) {
      crash(id);
      await clock.advance(100);
    }
    expect(told('supervisor.gave_up')).toMatchObject([{ child: 'b' }]);
    expect(told('child.crashed').at(-1)).toMatchObject({ child: 'b', next: 'quarantine' });
    expect([node('a')?.state, node('b')?.state]).toEqual(['quarantined', 'quarantined']);
  });
});

const many = (count: number, more: Partial<ChildSpec> = {}): ChildSpec[] =>
  Array.from({ length: count }, (_, at) => ({ id: `c${at}`, logic: worker, ...more }));

/** As an MCP server is kept. */
const forEver = {
  intensity: never,
  backoff: { firstImmediate: true, baseMs: 250, factor: 2, maxMs: 5000, jitter: 0, resetAfterMs: 10_000 },
};

const givenUp: ReadonlySet<string> = new Set(['child.quarantined', 'supervisor.gave_up']);

describe('a loss of many children at once', () => {
  it.each<[string, Partial<ChildSpec>, number]>([
    ['45 that are restarted for ever', forEver, 30],
    ['45 with a window of their own', {}, 30],
    ['45 that come back after failures only', { restart: 'transient' }, 30],
    ['1,000 actors', {}, 30],
    ['45 under a root that allows 1', {}, 1],
  ])('[V-3] has each of them back after its own first wait: %s', async (name, more, intensity) => {
    const specs = many(name.startsWith('1,000') ? 1000 : 45, more);
    const { root, clock, crash, facts } = startRoot(specs, { intensity });
    for (const { id } of specs) crash(id);
    await clock.advance(100);
    expect(root.count()).toMatchObject({ active: specs.length, quarantined: 0 });
    expect(facts.filter(({ type }) => givenUp.has(type))).toEqual([]);
  });

  it('[V-3] gives nobody up who fails as often as its own window allows', async () => {
    const specs = many(45);
    const { root, clock, crash, facts } = startRoot(specs);
    for (let round = 0; round < 3; round++) {
      for (const { id } of specs) crash(id);
      await clock.advance(30_000);
    }
    expect(root.count()).toMatchObject({ active: 45, quarantined: 0 });
    expect(facts.filter(({ type }) => givenUp.has(type))).toEqual([]);
  });

  it('[V-3] has all of them back that are restarted for ever, however long their host was away', async () => {
    let isAway = false;
    const logic = fromCallback(({ receive }) => {
      if (isAway) throw new Error('connection refused');
      receive(() => {
        throw new Error('boom');
      });
    });
    const specs = many(45, { ...forEver, logic });
    const { root, clock, crash, facts, told } = startRoot(specs);
    isAway = true;
    for (const { id } of specs) crash(id);
    await clock.advance(600_000);
    expect(root.count()).toMatchObject({ active: 0, restarting: 45, quarantined: 0 });
    expect(facts.filter(({ type }) => givenUp.has(type))).toEqual([]);
    expect(told('child.restarting').every((fact) => 'delayMs' in fact && Number(fact.delayMs) <= 5000)).toBe(true);
    isAway = false;
    await clock.advance(5000);
    expect(root.count()).toMatchObject({ active: 45, restarting: 0 });
  });

  it('[V-3] [V-4] has those wait longer that fail again while the window is full: till there is room, at most their longest wait', async () => {
    const specs = many(4, { intensity: never, backoff: { maxMs: 5000, jitter: 0 } });
    const { clock, crash, node } = startRoot(specs, { intensity: 2, periodMs: 3000 });
    for (const { id } of specs) crash(id);
    await clock.advance(100);
    for (const { id } of specs) crash(id);
    expect(specs.map(({ id }) => node(id)?.nextRestartInMs)).toEqual([200, 200, 3001, 3001]);
    const short = startRoot(many(4, { intensity: never, backoff: { maxMs: 500, jitter: 0 } }), { intensity: 2 });
    for (const { id } of specs) short.crash(id);
    await short.clock.advance(100);
    for (const { id } of specs) short.crash(id);
    expect(specs.map(({ id }) => short.node(id)?.nextRestartInMs)).toEqual([200, 200, 500, 500]);
  });

  it('[V-3] hides no loop: the one child that fails again and again is ended as without it', async () => {
    const specs = many(45);
    const looping = { id: 'loop', logic: worker, intensity: 1000, backoff: { maxMs: 100, jitter: 0 } };
    const { root, clock, crash, told } = startRoot([...specs, looping]);
    for (const { id } of specs) crash(id);
    await clock.advance(100);
    for (let n = 0; n < 31; n++) {
      expect(root.state('loop')).toBe('running');
      crash('loop');
      await clock.advance(100);
    }
    expect(root.count()).toMatchObject({ active: 45, quarantined: 1 });
    expect(told('child.quarantined')).toMatchObject([{ child: 'loop', restarts: 30 }]);
  });

  it('[V-3] escalates a nested supervisor only for children that fail again', async () => {
    const sub = supervisorSpec('sub', { intensity: 3, children: many(45) });
    const { root, clock, node } = startRoot([sub]);
    const crashAll = (ids: readonly string[]): void => {
      for (const id of ids) root.nested('sub')?.send(id, { type: 'crash' });
    };
    crashAll(many(45).map(({ id }) => id));
    await clock.advance(100);
    expect([node('sub')?.incarnation, root.nested('sub')?.count().active]).toEqual([1, 45]);
    crashAll(['c0', 'c1', 'c2']);
    await clock.advance(200);
    expect(node('sub')?.incarnation).toBe(1);
    crashAll(['c3']);
    await clock.advance(100);
    expect([node('sub')?.incarnation, root.nested('sub')?.count().active]).toEqual([2, 45]);
  });
});

describe('a child that ends to be begun anew', () => {
  const renewing = setup({}).createMachine({
    initial: 'up',
    states: { up: { on: { renew: 'over' } }, over: { type: 'final' } },
    output: renewedExit,
  });

  it.each(['permanent', 'transient'] as const)('[V-3] is no restart, in no window: %s', async (restart) => {
    const backoff = { firstImmediate: true, baseMs: 250, maxMs: 5000, jitter: 0 };
    const started = startRoot([{ id: 'a', logic: renewing, restart, intensity: 0, backoff }], { intensity: 0 });
    const { root, clock, node } = started;
    const waits: (number | undefined)[] = [];
    for (let n = 0; n < 50; n++) {
      root.send('a', { type: 'renew' });
      waits.push(node('a')?.nextRestartInMs);
      await clock.advance(node('a')?.nextRestartInMs ?? 0);
      if (n === 7) root.markStable('a');
    }
    expect(node('a')).toMatchObject({ state: 'running', incarnation: 51, restarts: 0 });
    expect(waits.slice(0, 10)).toEqual([0, 250, 500, 1000, 2000, 4000, 5000, 5000, 0, 250]);
    const told: ReadonlySet<string> = new Set(started.facts.map(({ type }) => type));
    expect([...told]).toEqual(['child.started']);
    await root.stop();
  });

  it('[V-1] stays away when it was asked to end, or is temporary', async () => {
    const asked = setup({}).createMachine({
      initial: 'up',
      states: { up: { on: { shutdown: 'over', renew: 'over' } }, over: { type: 'final' } },
      output: renewedExit,
    });
    const { root, clock } = startRoot([
      { id: 'a', logic: asked },
      { id: 'b', logic: asked, restart: 'temporary' },
    ]);
    await root.stopChild('a');
    root.send('b', { type: 'renew' });
    await clock.advance(10_000);
    expect([root.state('a'), root.state('b')]).toEqual(['stopped', undefined]);
  });

  it('[V-2] leaves the others of its group alone', async () => {
    const { root, clock, node } = startRoot([{ id: 'a', logic: renewing }, spec('b')], { strategy: 'one_for_all' });
    root.send('a', { type: 'renew' });
    await clock.advance(1000);
    expect([node('a')?.incarnation, node('b')?.incarnation]).toEqual([2, 1]);
  });
});
